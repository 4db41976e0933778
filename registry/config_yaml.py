"""Read YAML into plain values, by the core schema of YAML 1.2.

Values are built from the events of the parser alone, so no tag ever builds an object.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from registry.config_text import (
    MAX_DEPTH,
    ConfigFileError,
    Key,
    integer,
    kind_of,
    last_line,
    missing_extra,
    real,
    too_deep,
)

__all__ = ["YamlReader"]

_MAX_COPIED = 1_000_000
_CORE = "tag:yaml.org,2002:"
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + x: float(sign + "inf") for sign in ("", "+", "-") for x in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_REAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class YamlReader:
    """Builds plain values from the events of the parser, and nothing else from them.

    Args:
        path: the file, for messages.
        text: what it holds.

    Raises:
        ConfigFileError: YAML needs a package that is not installed, or a character is not allowed.
    """

    def __init__(self, path: str, text: str) -> None:
        # Imported where it is needed: an optional extra.
        try:
            import yaml
        except ImportError as error:
            raise missing_extra(path, "reading YAML", "yaml") from error
        self._path = path
        self._last = last_line(text)
        self._yaml = yaml
        self._anchors: dict[str, tuple[Any, Mapping[str | int, Key]] | None] = {}
        self._copied = 0
        if found := _NOT_YAML.search(text):
            line = text.count("\n", 0, found.start()) + 1
            raise ConfigFileError(
                f"{path}:{line}",
                f"YAML does not allow the character {found[0]!r}; write it as an escape "
                "in a string in double quotes",
            )
        # The parser in C is ten times faster, but not in every build of PyYAML.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._events: Iterator[Any] = iter(yaml.parse(text, Loader=loader))

    def read(self) -> tuple[Any, Mapping[str | int, Key]]:
        """Return what the file holds, and the lines of its keys.

        Raises:
            ConfigFileError: it is no YAML, or more than plain values.
        """
        yaml = self._yaml
        result: tuple[Any, Mapping[str | int, Key]] | None = None
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                if result is not None:
                    raise self._error(
                        event, "a second YAML document starts here; write one document only"
                    )
                result = self._node(self._next(), 1)
        return result or (None, {})

    def _next(self) -> Any:
        try:
            return next(self._events)
        except self._yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = min(mark.line + 1, self._last) if mark is not None else 0
            where = f"{self._path}:{line}" if line else self._path
            problem = getattr(error, "problem", None) or str(error)
            # The parser in Python adds what was written, which may be a secret without its quotes.
            problem = re.sub(r"(tag handle) .*", r"\1", problem, flags=re.DOTALL)
            if "maximum nesting depth" in problem:
                raise too_deep(where) from error
            parts = ("not YAML", getattr(error, "context", None), problem)
            raise ConfigFileError(where, ": ".join(filter(None, parts))) from error
        except (ValueError, OverflowError) as error:  # Of `chr`, in the parser in Python.
            raise ConfigFileError(self._path, f"not YAML: an escape is wrong: {error}") from error

    def _where(self, event: Any) -> str:
        return f"{self._path}:{event.start_mark.line + 1}"

    def _error(self, event: Any, problem: str) -> ConfigFileError:
        return ConfigFileError(self._where(event), problem)

    def _node(self, event: Any, depth: int) -> tuple[Any, Mapping[str | int, Key]]:
        yaml, name = self._yaml, event.anchor
        if isinstance(event, yaml.AliasEvent):
            if name not in self._anchors:
                raise self._error(
                    event,
                    "an alias has no anchor before it; define one, "
                    "or write a text that begins with * in quotes",
                )
            found = self._anchors[name]
            if found is None:
                raise self._error(event, "an alias stands inside of its own anchor; remove it")
            # A copy, or a change of one setting would change another.
            return self._copy(event, found[0], depth), found[1]
        if name is not None:
            if name in self._anchors:
                raise self._error(
                    event,
                    "an anchor is defined twice; rename one, "
                    "or write a text that begins with & in quotes",
                )
            self._anchors[name] = None
        result: tuple[Any, Mapping[str | int, Key]]
        if isinstance(event, yaml.ScalarEvent):
            result = self._scalar(event), {}
        elif depth > MAX_DEPTH:
            raise too_deep(self._where(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            result = self._sequence(event, depth)
        else:
            result = self._mapping(event, depth)
        if name is not None:
            self._anchors[name] = result
        return result

    def _copy(self, event: Any, value: Any, depth: int) -> Any:
        self._copied += 1
        if self._copied > _MAX_COPIED:
            raise self._error(
                event, f"the aliases stand for more than {_MAX_COPIED} values; use fewer of them"
            )
        if not isinstance(value, dict | list):
            return value
        if depth > MAX_DEPTH:
            raise too_deep(self._where(event))
        if isinstance(value, list):
            return [self._copy(event, item, depth + 1) for item in value]
        return {key: self._copy(event, item, depth + 1) for key, item in value.items()}

    def _scalar(self, event: Any) -> Any:
        text, tag, where = event.value, event.tag, self._where(event)
        if tag in ("!", _CORE + "str") or (tag is None and not event.implicit[0]):
            return text
        value = text
        if text in _WORDS:
            value = _WORDS[text]
        elif _INTEGER.fullmatch(text):
            value = integer(where, text, {"0o": 8, "0x": 16}.get(text[:2], 10))
        elif _REAL.fullmatch(text):
            value = real(where, text)
        if tag == _CORE + "float" and type(value) is int:
            value = real(where, str(value))
        kinds = {"null": type(None), "bool": bool, "int": int, "float": float}
        if tag is not None and type(value) is not kinds.get(tag.removeprefix(_CORE)):
            raise self._bad_tag(event)
        return value

    def _bad_tag(self, event: Any) -> ConfigFileError:
        return self._error(
            event,
            "a tag is not allowed here; write a plain value, in quotes if it begins with !",
        )

    def _sequence(self, start: Any, depth: int) -> tuple[list[Any], Mapping[str | int, Key]]:
        if start.tag not in (None, "!", _CORE + "seq"):
            raise self._bad_tag(start)
        values: list[Any] = []
        keys: dict[str | int, Key] = {}
        while not isinstance(event := self._next(), self._yaml.SequenceEndEvent):
            value, inside = self._node(event, depth + 1)
            if inside:
                keys[len(values)] = Key(event.start_mark.line + 1, inside)
            values.append(value)
        return values, keys

    def _mapping(self, start: Any, depth: int) -> tuple[dict[str, Any], Mapping[str | int, Key]]:
        yaml = self._yaml
        if start.tag not in (None, "!", _CORE + "map"):
            raise self._bad_tag(start)
        values: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        keys: dict[str | int, Key] = {}
        merged_keys: dict[str | int, Key] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            plain = isinstance(event, yaml.ScalarEvent) and event.tag is None and event.implicit[0]
            key, _ = self._node(event, depth + 1)
            merge = plain and key == "<<"
            if not isinstance(key, str):
                advice = "it in quotes" if plain else "a string"
                raise self._error(
                    event, f"a key must be a string, not {kind_of(key)}; write {advice}"
                )
            if key in keys and not merge:
                raise self._error(
                    event,
                    f"the key {key!r} is already given on line {keys[key].line}; "
                    "remove one of them",
                )
            value, inside = self._node(self._next(), depth + 1)
            if not merge:
                values[key] = value
                keys[key] = Key(event.start_mark.line + 1, inside)
                continue
            many = isinstance(value, list)
            for number, item in enumerate(value if many else [value]):
                if not isinstance(item, dict):
                    raise self._error(
                        event, f"<< merges mappings, not {kind_of(item)}; write an alias of one"
                    )
                below = (inside[number].inside if item else {}) if many else inside
                # The earlier mapping wins. Not `{**item, **merged}`, whose time for a long list
                # of small mappings would grow with the square.
                for name, setting in item.items():
                    merged.setdefault(name, setting)
                for name, place in below.items():
                    merged_keys.setdefault(name, place)
        return {**merged, **values}, {**merged_keys, **keys}
