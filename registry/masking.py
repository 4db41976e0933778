"""Keeping secrets out of what is shown: values, what is made of them, errors about them."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import MISSING
from typing import Any

from registry.lazy import lazy

__all__ = ["Mask", "text_of"]


def text_of(value: object) -> str:
    """Return the `repr` of a value, or what stands for it where that fails.

    Args:
        value: any value.

    Example:
        >>> text_of("a")
        "'a'"
    """
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__qualname__} whose repr raised {type(error).__name__}>"


class Mask:
    """Shows values, secrets as `***`.

    What is made of a secret is one, too, since it may contain it.

    Args:
        secrets: the fields declared `Arg(secret=True)`.
        reads: what each derived or decided field was made of, by field.

    Example:
        >>> mask = Mask({"api_key"}, {"header": ["api_key"], "width": ["tp_size"]})
        >>> mask.show("header", "Bearer x"), mask.show("width", 2), mask.show("api_key", None)
        ("'***'", '2', 'None')
    """

    def __init__(self, secrets: Collection[str], reads: Mapping[str, Iterable[str]]) -> None:
        self._secrets = secrets
        self._reads = reads

    @lazy
    def _covered(self) -> Collection[str]:
        if not self._secrets:
            return self._secrets
        readers: dict[str, list[str]] = {}
        for reader, reads in self._reads.items():
            for read in reads:
                readers.setdefault(read, []).append(reader)
        covered = set(self._secrets)
        waiting = list(self._secrets)
        while waiting:
            new = set(readers.get(waiting.pop(), ())) - covered
            covered |= new
            waiting += new
        return covered

    def covers(self, name: str) -> bool:
        """Tell whether a field is secret or made of one that is."""
        return name in self._covered

    def masked(self, name: str, value: Any) -> Any:
        """Return a value as it may be shown: a secret that has one reads `***`."""
        return "***" if value is not None and self.covers(name) else value

    def show(self, name: str, value: Any) -> str:
        """Return a value as text for people, a secret as `'***'`."""
        return text_of(self.masked(name, value))

    def taints(self, reads: Mapping[str, Any]) -> bool:
        """Tell whether something that was read is secret, so that what came of it may be, too.

        Args:
            reads: what was read, with the value; MISSING where there was none.
        """
        return any(
            self.covers(name)
            for name, value in reads.items()
            if value is not None and value is not MISSING
        )

    def told(
        self, error: Exception, reads: Mapping[str, Any], *values: Mapping[str, Any]
    ) -> tuple[str, Exception | None]:
        """Retell someone else's error without the secrets in it.

        Args:
            error: the error.
            reads: what the code that raised it had read, with the value.
            *values: the values that it may speak of, by field, however they came there.

        Returns:
            Its text, and what may be given as the cause of our error: the error itself, or None
            if a traceback would show a secret with it.
        """
        kind = type(error).__name__
        if self.taints(reads):
            # The text may hold a part of the secret, or another form of it.
            *_, raised = traceback.walk_tb(error.__traceback__)
            where = f"{raised[0].f_code.co_filename}:{raised[1]}"
            return f"{kind} at {where}, whose text is not shown, since a secret was read", None
        try:
            text = f"{kind}: {error}"
            whole = "".join(traceback.format_exception(error))
        except Exception:
            return f"{kind}, whose text cannot be shown", None
        hidden = {
            part
            for each in values
            for name, value in each.items()
            # A number made of a secret, such as its length, is in too many texts by chance.
            if self.covers(name) and (name in self._secrets or isinstance(value, str))
            for part in _texts_of(value)
        }
        for part in sorted(hidden, key=len, reverse=True):
            text = text.replace(part, "***")
        # The whole has the causes, notes and members of a group as well.
        return text, None if any(part in whole for part in hidden) else error


def _texts_of(value: Any) -> Iterator[str]:
    """Yield what texts that speak of a value would contain."""
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts_of(item)
    elif value is not None and value != "":
        yield str(value)
        if isinstance(value, str):
            yield repr(value)[1:-1]
