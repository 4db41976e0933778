"""Options that hold a mapping take one key at a time: `--graph.decode.max_bs 64`.

A whole JSON object and single keys of it merge in the order in which they were typed. Two whole
objects do not: as with any option, the last one counts.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from registry.value_types import fits

__all__ = ["KeyedText", "KeyedValues", "MergeKeys", "keyed", "merged"]


class KeyedText(str):
    """The text of one key of a mapping, as a word of a command line.

    Attributes:
        keys: the key, and those of the mappings around it, the outermost first.
        text: what was typed for it.
    """

    keys: tuple[str, ...]
    text: str

    def __new__(cls, text: str, keys: Sequence[str]) -> KeyedText:
        """Make the word out of what was typed and where it belongs."""
        # As a word it begins with a dot: argparse would take one with a dash for a flag.
        made = super().__new__(cls, f".{'.'.join(keys)}={text}")
        made.keys = tuple(keys)
        made.text = text
        return made


class KeyedValues(dict[str, Any]):
    """A mapping that was typed key by key: what is typed before and after merges with it.

    Attributes:
        alone: whether it holds single keys alone, and no whole mapping among them.
    """

    alone = True


def keyed(parse: Callable[[str], Any], annotation: Any) -> Callable[[str], Any]:
    """Return a parser of a mapping that takes the text of one key as well.

    Args:
        parse: turns the text of the whole mapping into the mapping; of one key, it is given
            an object with that key alone, so that it can refuse it.
        annotation: the type of the option. Where it takes the value as text only, text it is.
    """

    def parse_text(text: str) -> Any:
        if not isinstance(text, KeyedText):
            return parse(text)
        candidates: list[Any] = [text.text]
        with contextlib.suppress(ValueError, RecursionError):  # no JSON: text it is
            candidates.insert(0, json.loads(text.text))
        nested = [_nested(text.keys, value) for value in candidates]
        try:
            chosen = next((each for each in nested if fits(each, annotation)), nested[0])
            if chosen is not nested[-1]:
                _require_plain(text.text)
            written = json.dumps(chosen)
        except RecursionError as error:
            problem = "expected JSON, but it is nested too deeply"
            raise argparse.ArgumentTypeError(problem) from error
        return KeyedValues(parse(written))

    return parse_text


class MergeKeys(argparse.Action):
    """Stores a mapping, or merges keys of one into what was typed before."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Take what one occurrence of the option gave."""
        before: Any = getattr(namespace, self.dest, None)
        kinds = (type(before), type(values))
        if KeyedValues in kinds and isinstance(before, dict) and isinstance(values, dict):
            alone = all(isinstance(each, KeyedValues) and each.alone for each in (before, values))
            try:
                values = KeyedValues(merged(before, values))
            except RecursionError as error:
                raise argparse.ArgumentError(self, "the value is nested too deeply") from error
            values.alone = alone
        setattr(namespace, self.dest, values)


def merged(lower: Mapping[str, Any], upper: Mapping[str, Any]) -> dict[str, Any]:
    """Return two mappings as one, mappings inside of them merged likewise.

    Args:
        lower: what counts where `upper` says nothing.
        upper: what counts otherwise.

    Example:
        >>> merged({"decode": {"bs": [1], "max_bs": 8}}, {"decode": {"max_bs": 64}})
        {'decode': {'bs': [1], 'max_bs': 64}}
    """
    result = dict(lower)
    for key, value in upper.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = merged(below, value)
        result[key] = value
    return result


def _require_plain(text: str) -> None:
    """Refuse JSON that a file could not have, such as with one key twice."""
    # Imported where it is needed: few command lines have JSON.
    from registry.config_json import plain_json
    from registry.config_text import ConfigFileError

    try:
        plain_json("", text)
    except ConfigFileError as error:
        raise argparse.ArgumentTypeError(f"expected JSON, but {error.problem}") from error


def _nested(keys: Sequence[str], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return value  # type: ignore[no-any-return]
