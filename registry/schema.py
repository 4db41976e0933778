"""What a record class knows about its fields, worked out once so that instances are cheap.

A schema is derived from `dataclasses.fields()` of the class, so it fits composed classes and
`@dataclass` subclasses of them alike. Knows nothing of how a class was composed.
"""

from __future__ import annotations

import functools
import inspect
import zlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any

from registry.annotations import arg_of
from registry.errors import CallError, ComposeError, did_you_mean
from registry.store import Declaration

__all__ = ["Schema", "is_missing"]


def is_missing(value: object) -> bool:
    """Tell whether a value is `dataclasses.MISSING`, or a copy of it from another process.

    The marker loses its identity where a class is pickled by value.
    """
    return type(value) is type(MISSING)


class Schema:
    """The fields of one record class, arranged for building, checking and pickling.

    Args:
        cls: the record class, a dataclass.
        namespaces: path of each field's namespace, by field name.
        source: returns the declarations that the record was composed of, as they are by now,
            or None where they are not in this process.

    Attributes:
        names: all fields, in record order.
        template: by name, in record order, the default; MISSING where an instance needs its own.
        factories: the default factories by name.
        initial: the fields that the constructor takes, in order.
        positional: those of them that can be given by position.
        required: the fields that must be given, in order.
    """

    def __init__(
        self,
        cls: type,
        namespaces: Mapping[str, str],
        source: Callable[[], tuple[Declaration, ...]] | None,
    ) -> None:
        self.cls = cls
        self.namespaces = dict(namespaces)
        self.source = source
        specs = fields(cls)
        self.names = tuple(spec.name for spec in specs)
        self.template = {
            spec.name: MISSING if is_missing(spec.default) else spec.default for spec in specs
        }
        self.factories: dict[str, Callable[[], Any]] = {
            spec.name: spec.default_factory  # type: ignore[misc]
            for spec in specs
            if not is_missing(spec.default_factory)
        }
        self.initial = tuple(spec.name for spec in specs if spec.init)
        self.positional = tuple(spec.name for spec in specs if spec.init and not spec.kw_only)
        self.required = tuple(
            name
            for name, default in self.template.items()
            if default is MISSING and name not in self.factories
        )
        self.compared = tuple(spec.name for spec in specs if spec.compare)
        self.hashed = tuple(spec.name for spec in specs if _is_hashed(spec))
        self.printed = tuple(spec.name for spec in specs if spec.repr)

    def __reduce__(self) -> tuple[Any, ...]:
        # Only a class pickled by value takes its schema along; there it is worked out anew.
        return (TravelledSchema, (self.namespaces,))

    @functools.cached_property
    def packed_names(self) -> bytes:
        """The field names in order, compressed: what a pickle says about its writer."""
        return zlib.compress("\n".join(self.names).encode(), 9)

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the class, as on a dataclass with a generated `__init__`."""
        kinds = inspect.Parameter
        specs = {spec.name: spec for spec in fields(self.cls)}
        keyword_only = [name for name in self.names if name not in self.positional]
        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    kinds.KEYWORD_ONLY if name in keyword_only else kinds.POSITIONAL_OR_KEYWORD,
                    default=self._shown_default(name),
                    annotation=specs[name].type,
                )
                for name in (*self.positional, *keyword_only)
            ],
            return_annotation=None,
        )

    @functools.cached_property
    def secrets(self) -> frozenset[str]:
        """The fields whose values must not be shown."""
        args = {spec.name: arg_of(spec.type) for spec in fields(self.cls)}
        return frozenset(name for name, arg in args.items() if arg is not None and arg.secret)

    def masked(self, name: str, value: Any) -> Any:
        """Return a value as it may be shown: a secret that has one reads `***`."""
        return "***" if name in self.secrets and value is not None else value

    def show(self, name: str, value: Any) -> str:
        """Return a value as text for people, a secret as `'***'`."""
        return repr(self.masked(name, value))

    def declarations(self) -> tuple[Declaration, ...]:
        """Return the declarations behind the record.

        Raises:
            ComposeError: the class came to this process by value, without them.
        """
        if self.source is None:
            raise ComposeError(
                self.cls.__qualname__,
                "was pickled by value, and what it was composed of did not come along; put its "
                "namespaces in a module that both processes import",
            )
        return self.source()

    def default_of(self, name: str) -> Any:
        """Return the default of a field, a fresh one where a factory makes it, or MISSING."""
        factory = self.factories.get(name)
        return self.template[name] if factory is None else factory()

    def bind(self, args: tuple[Any, ...], values: dict[str, Any]) -> dict[str, Any]:
        """Name the positional arguments of a call.

        Args:
            args: the positional arguments.
            values: the keyword arguments.

        Returns:
            All arguments by name.

        Raises:
            CallError: there are too many, or one is given twice.
        """
        if len(args) > len(self.positional):
            least = 1 + sum(name in self.positional for name in self.required)
            most = 1 + len(self.positional)
            takes = f"{most}" if least == most else f"from {least} to {most}"
            raise CallError(
                self.cls.__qualname__,
                f"takes {takes} positional argument{'s' * (most != 1)} "
                f"but {1 + len(args)} were given",
            )
        given = dict(zip(self.positional, args, strict=False))
        for name in given:
            if name in values:
                raise CallError(self.cls.__qualname__, f"got multiple values for argument {name!r}")
        return {**given, **values}

    def refuse_unknown(self, values: Mapping[str, Any]) -> None:
        """Raise CallError for the first name that is no field."""
        name = next(name for name in values if name not in self.template)
        raise CallError(
            self.cls.__qualname__,
            f"got an unexpected keyword argument {name!r}.{did_you_mean(name, self.names)}",
        )

    def refuse_missing(self, values: Mapping[str, Any]) -> None:
        """Raise CallError for the required fields that were not given."""
        missing = [name for name in self.required if values[name] is MISSING]
        kind = "positional" if missing[0] in self.positional else "keyword-only"
        missing = [name for name in missing if (name in self.positional) == (kind == "positional")]
        quoted = [repr(name) for name in missing]
        listed = quoted[0]
        if len(quoted) > 1:
            listed = ", ".join(quoted[:-1]) + "," * (len(quoted) > 2) + " and " + quoted[-1]
        raise CallError(
            self.cls.__qualname__,
            f"missing {len(missing)} required {kind} argument{'s' * (len(missing) > 1)}: {listed}",
        )

    def _shown_default(self, name: str) -> Any:
        if name in self.required:
            return inspect.Parameter.empty
        return _FACTORY if name in self.factories else self.template[name]


class TravelledSchema:
    """Stands for the schema of a class that was pickled by value, until it is worked out anew.

    Args:
        namespaces: path of each field's namespace, by field name.
    """

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        self.namespaces = namespaces


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _is_hashed(spec: Field[Any]) -> bool:
    return spec.compare if spec.hash is None else spec.hash
