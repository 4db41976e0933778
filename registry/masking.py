"""Keeping secrets out of what is shown: values, what is derived from them, errors about them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

__all__ = ["Mask"]


class Mask:
    """Shows values, secrets as `***`.

    What is derived from a secret is one, too, since it may contain it.

    Args:
        secrets: the fields declared `Arg(secret=True)`.
        *reads: what each derived field read, by field; mappings that may still grow.

    Example:
        >>> mask = Mask({"api_key"}, {"header": ["api_key"], "width": ["tp_size"]})
        >>> mask.show("header", "Bearer x"), mask.show("width", 2), mask.show("api_key", None)
        ("'***'", '2', 'None')
    """

    def __init__(self, secrets: Collection[str], *reads: Mapping[str, Iterable[str]]) -> None:
        self._secrets = secrets
        self._reads = reads

    def covers(self, name: str) -> bool:
        """Tell whether a field is secret or derived from one that is."""
        if not self._secrets:
            return False
        seen = {name}
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each in self._secrets:
                return True
            new = {read for reads in self._reads for read in reads.get(each, ())} - seen
            seen |= new
            waiting += new
        return False

    def masked(self, name: str, value: Any) -> Any:
        """Return a value as it may be shown: a secret that has one reads `***`."""
        return "***" if value is not None and self.covers(name) else value

    def show(self, name: str, value: Any) -> str:
        """Return a value as text for people, a secret as `'***'`."""
        return repr(self.masked(name, value))

    def told(self, error: Exception, values: Mapping[str, Any]) -> tuple[str, Exception | None]:
        """Retell someone else's error without the secrets in it.

        Args:
            error: the error.
            values: the values that it may speak of, by field.

        Returns:
            Its text, secrets as `***`, and what may be given as the cause of our error: the
            error itself, or None if a traceback would show a secret with it.
        """
        text = said = f"{type(error).__name__}: {error}"
        hidden = {
            part
            for name, value in values.items()
            # A number derived from a secret, such as its length, is in too many texts by chance.
            if self.covers(name) and (name in self._secrets or isinstance(value, str))
            for part in _texts_of(value)
        }
        for part in sorted(hidden, key=len, reverse=True):
            text = text.replace(part, "***")
        return text, error if text == said else None


def _texts_of(value: Any) -> Iterator[str]:
    """Yield what texts that speak of a value would contain."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from _texts_of(item)
    elif value is not None and value != "":
        yield str(value)
        if isinstance(value, str):
            yield repr(value)[1:-1]
