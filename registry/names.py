"""Finding the field that a name or dotted path of a configuration means."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from registry.errors import OverrideError, UnknownFieldError, did_you_mean
from registry.lazy import lazy

__all__ = ["Names"]


class Names:
    """The names of one configuration.

    Args:
        fields: every field, input or derived.
        namespaces: the path of every field that has one.
        declared: the paths of all namespaces, those without fields included.
    """

    def __init__(
        self, fields: Collection[str], namespaces: Mapping[str, str], declared: Iterable[str]
    ) -> None:
        self._fields = fields
        self._declared = tuple(declared)
        self.namespaces = namespaces

    @lazy
    def paths(self) -> dict[str, list[str]]:
        """The leaves of every namespace by its path, the paths above it included, sorted."""
        paths: dict[str, list[str]] = {}
        for path in (*self._declared, *self.namespaces.values()):
            parts = path.split(".")
            for end in range(1, len(parts) + 1):
                paths.setdefault(".".join(parts[:end]), [])
        for name, path in self.namespaces.items():
            paths[path].append(name)
        return dict(sorted(paths.items()))

    @lazy
    def below(self) -> dict[str, dict[str, str]]:
        """The paths right below every path, by the name that leads there; `""` is the top."""
        below: dict[str, dict[str, str]] = {}
        for path in self.paths:
            above, _, leaf = path.rpartition(".")
            below.setdefault(above, {})[leaf] = path
        return below

    def by_field(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return values given by name or dotted path by the name of the field.

        Raises:
            UnknownFieldError: a name means no field.
            OverrideError: two of them mean the same.
        """
        named: dict[str, Any] = {}
        for name, value in given.items():
            field = self.field_named(name)
            if field in named:
                raise OverrideError(field, "it is given twice, by its name and by its path")
            named[field] = value
        return named

    def field_named(self, name: str) -> str:
        """Return the field that a name or dotted path means.

        Raises:
            UnknownFieldError: it means none; the message says what it is instead.
        """
        if not isinstance(name, str):
            kind = type(name).__name__
            raise UnknownFieldError("the configuration", str(name), f" A name is a str, no {kind}.")
        path, dot, field = name.rpartition(".")
        actual = self.namespaces.get(field)
        if field in self._fields:
            if not dot or path == actual:
                return field
            hint = f" It is in {actual!r}." if actual else " It is in none."
            raise UnknownFieldError(f"the namespace {path!r}", field, hint)
        within = [each for each in self.paths if each == name or each.endswith(f".{name}")]
        if within:
            leaves = ", ".join(self.paths[within[0]][:3]) or "those of its parts"
            hint = f" It is the namespace {within[0]!r}; name its fields, such as {leaves}."
        else:
            hint = did_you_mean(field, self._fields)
        raise UnknownFieldError("the configuration", name, hint)
