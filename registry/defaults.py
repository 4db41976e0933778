"""Defaults that plugins change before a record is composed, each with who changed it.

Knows nothing of how plugins are found.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from registry.errors import ComposeError, UnknownFieldError, did_you_mean
from registry.journal import note_addition
from registry.namespace import check_default
from registry.store import Registry

__all__ = ["Default", "Defaults"]


class Default(NamedTuple):
    """A default for `compose(defaults=...)` that says where it comes from.

    Attributes:
        value: the default.
        source: who set it.
        where: `file:line` of that.
    """

    value: Any
    source: str
    where: str


class Defaults:
    """The defaults of a record that others may change until it is composed.

    Args:
        registry: where the fields are declared.
        record: name of the record class, for messages.
        package: the package that offers `set` to plugins, where it does so in a function.

    Example:
        >>> from registry import Namespace, compose
        >>> mine = Registry("mine")
        >>> class Parallel(Namespace, registry=mine):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        >>> defaults = Defaults(mine, "Args")
        >>> defaults.set("tp_size", 2)
        >>> compose("Args", [Parallel], defaults=defaults.close()).tp_size
        2
    """

    def __init__(self, registry: Registry, record: str, package: str = "registry") -> None:
        self._package = package
        self._registry = registry
        self._record = record
        # Several may set the same value; each of them may be taken back alone.
        self._set: dict[str, list[Default]] = {}
        self._closed = False

    def set(self, name: str, value: Any) -> None:
        """Change the default of a field, while a plugin is loaded.

        Args:
            name: the field.
            value: its new default, of a type that cannot be changed in place.

        Raises:
            UnknownFieldError: nobody declares the field.
            MutableDefaultError: all records would share the value.
            InvalidValueError: it does not fit the field's type or choices.
            ComposeError: another module has set another default for it, or the record is
                composed already.
        """
        # Only programs with plugins that change defaults need it.
        from registry.values import check_values

        fields = self._registry.input
        if name not in fields:
            raise UnknownFieldError("set_default()", name, did_you_mean(name, fields))
        if self._closed:
            problem = (
                f"is composed already, with its default of {name!r}; set_default() has a place in "
                "the module of a plugin, and a running configuration is changed by "
                "context.override(...)"
            )
            raise ComposeError(self._record, problem)
        entry = fields[name]
        check_default(value, entry.declaration.where, f"{self._record}.{name}", name)
        secret = entry.arg is not None and entry.arg.secret
        check_values({name: entry}, {name: value}, hidden=secret)
        standing = self._set.setdefault(name, [])
        for earlier in standing:
            if not (earlier.value is value or earlier.value == value):
                problem = f"has its default of {name!r} set by {earlier.source} ({earlier.where})"
                raise ComposeError(self._record, f"{problem} already; only one plugin may")
        shown = "***" if secret else repr(value)
        added = note_addition("default", name, shown, lambda: take_back(), package=self._package)
        default = Default(value, added.module, added.where)
        standing.append(default)

        def take_back() -> None:
            standing[:] = [each for each in standing if each is not default]

    def close(self) -> dict[str, Default]:
        """Return the defaults that were set, and refuse others from now on."""
        self._closed = True
        return {name: standing[0] for name, standing in self._set.items() if standing}
