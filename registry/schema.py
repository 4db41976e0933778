"""What a record class knows about its fields, worked out once so that instances are cheap.

A schema is derived from `dataclasses.fields()` of the class, so it fits composed classes and
`@dataclass` subclasses of them alike. Knows nothing of how a class was composed.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, InitVar, field, fields, make_dataclass
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from registry.annotations import arg_of
from registry.errors import CallError, ComposeError, did_you_mean
from registry.lazy import lazy
from registry.retirement import Retired, refuse_return, with_places
from registry.store import Declaration

__all__ = ["Schema", "Source", "TravelledSchema", "declared_by", "init_vars"]

Source = Callable[[], tuple[Declaration, ...]]
"""Returns the declarations that a record is composed of, as they are by now."""


def declared_by(sources: Iterable[Source]) -> tuple[Declaration, ...]:
    """Return the declarations of several sources, each once.

    Args:
        sources: functions that return declarations, as `Schema` keeps one.
    """
    return tuple(dict.fromkeys(each for source in sources for each in source()))


def init_vars(cls: type) -> list[str]:
    """Return the names that a dataclass takes as `InitVar`: inputs that no instance holds.

    Args:
        cls: a dataclass.
    """
    specs: Mapping[str, Field[Any]] = getattr(cls, "__dataclass_fields__")  # noqa: B009
    held = {spec.name for spec in fields(cls)}
    return [name for name in specs if name not in held and _is_init_var(specs[name].type)]


class Schema:
    """The fields of one record class, arranged for building, checking and pickling.

    Args:
        cls: the record class, a dataclass.
        namespaces: path of each field's namespace, by field name.
        source: returns the declarations that the record was composed of, as they are by now,
            or None where they are not in this process.
        retired: what to use instead of fields that there were once, by name.
        order: where those of them that had a position stood among the others.
        default_origins: the defaults that others than the declarations set, by field name, each
            with who set it and where.
        identity: what no other class has, of one that was pickled by value.

    Attributes:
        names: all fields, in record order.
        template: by name, in record order, the default; MISSING where an instance needs its own.
        factories: the default factories by name.
        initial: the fields that the constructor takes, in order.
        positional: those of them that can be given by position, and retired ones in their places.
        required: the fields that must be given, in order.
        fixed: the fields that a `@dataclass` subclass declared with `init=False`.
        unset: those of them that have no value before the program assigns one.
    """

    def __init__(
        self,
        cls: type,
        namespaces: Mapping[str, str],
        source: Source | None,
        retired: Mapping[str, str] = MappingProxyType({}),
        order: Iterable[str] = (),
        default_origins: Mapping[str, tuple[Any, str, str]] | None = None,
        identity: str = "",
    ) -> None:
        self.cls = cls
        self.namespaces = dict(namespaces)
        self.source = source
        self.default_origins = dict(default_origins or {})
        # What finds this schema again when the class comes back by value; made at first need.
        self.identity = identity
        if identity:
            _alive.setdefault(identity, self)
        # What pickles say about the class; `pickling` works it out at first need.
        self.packed: tuple[bytes, tuple[str, ...]] | None = None
        specs = fields(cls)
        self.names = tuple(spec.name for spec in specs)
        self.template = {
            spec.name: MISSING if _is_missing(spec.default) else spec.default for spec in specs
        }
        self.factories: dict[str, Callable[[], Any]] = {
            spec.name: spec.default_factory  # type: ignore[misc]
            for spec in specs
            if not _is_missing(spec.default_factory)
        }
        self.initial = tuple(spec.name for spec in specs if spec.init)
        by_position = [spec.name for spec in specs if spec.init and not spec.kw_only]
        refuse_return(cls.__qualname__, retired, self.template)
        self.retired = dict(retired)
        self.positional = with_places(by_position, self.retired, order)
        self.fixed = frozenset(spec.name for spec in specs if not spec.init)
        lacking = [
            name
            for name, default in self.template.items()
            if default is MISSING and name not in self.factories
        ]
        self.required = tuple(name for name in lacking if name not in self.fixed)
        self.unset = tuple(name for name in lacking if name in self.fixed)

    def __reduce__(self) -> tuple[Any, ...]:
        # Only a class pickled by value takes its schema along; there it is worked out anew.
        if not self.identity:
            self.identity = os.urandom(8).hex()
            _alive[self.identity] = self
        parts = (self.namespaces, self.retired, self.positional, self.identity)
        return (TravelledSchema, parts)

    @lazy
    def signature(self) -> inspect.Signature:
        """The signature of the class, as on a dataclass with a generated `__init__`."""
        kinds = inspect.Parameter
        specs = {spec.name: spec for spec in fields(self.cls)}
        keyword_only = [name for name in self.initial if specs[name].kw_only]
        return inspect.Signature(
            [
                inspect.Parameter(
                    name,
                    kinds.KEYWORD_ONLY if name in keyword_only else kinds.POSITIONAL_OR_KEYWORD,
                    default=self._shown_default(name),
                    annotation=specs[name].type if name in specs else kinds.empty,
                )
                for name in (*self.positional, *keyword_only)
            ],
            return_annotation=None,
        )

    @lazy
    def compared(self) -> tuple[str, ...]:
        """The fields that equality compares."""
        return tuple(spec.name for spec in fields(self.cls) if spec.compare)

    @lazy
    def hashed(self) -> tuple[str, ...]:
        """The fields that the hash of a frozen record takes."""
        return tuple(spec.name for spec in fields(self.cls) if _is_hashed(spec))

    @lazy
    def printed(self) -> tuple[str, ...]:
        """The fields that `repr` may show."""
        return tuple(spec.name for spec in fields(self.cls) if spec.repr and spec.init)

    @lazy
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

    def plugins(self) -> dict[str, list[str]]:
        """Return the fields that plugins declare, by plugin."""
        found: dict[str, list[str]] = {}
        for each in () if self.source is None else self.source():
            if each.plugin:
                mine = [name for name in each.inputs if name in self.template]
                found.setdefault(each.plugin, []).extend(mine)
        return found

    def is_default(self, name: str, value: object) -> bool:
        """Tell whether a value equals the default that its field would have.

        A comparison that has no plain answer, as with arrays, counts as no.
        """
        default = self.default_of(name)
        if value is default:
            return True
        try:
            return type(value) is type(default) and bool(value == default)
        except Exception:
            return False

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
            CallError: there are too many, one is given twice, or one is retired.
        """
        if self.retired and not self.retired.keys().isdisjoint(self.positional[: len(args)]):
            raise self.call_error(args, values)
        bound = {**dict(zip(self.positional, args, strict=False)), **values}
        if len(bound) != len(args) + len(values):
            raise self.call_error(args, values)
        return bound

    def call_error(self, args: tuple[Any, ...], values: Mapping[str, Any]) -> CallError:
        """Return what is wrong with a call, the faults looked for in Python's own order.

        Args:
            args: the positional arguments.
            values: the keyword arguments, at least one of both wrong or missing.
        """
        taken = self.positional[: len(args)]
        for place, name in enumerate(taken, 1):
            if name in self.retired:
                problem = f"got a value at position {place} for {name!r}, which is retired: "
                problem += f"{self.retired[name]}; pass what follows it by name"
                return CallError(self.cls.__qualname__, problem)
        for name in values:
            if name in self.retired:
                problem = f"got {name!r}, which is retired: {self.retired[name]}"
                return CallError(self.cls.__qualname__, problem)
            if name not in self.initial:
                hint = did_you_mean(name, self.initial)
                problem = f"got an unexpected keyword argument {name!r}{hint and '.' + hint}"
                return CallError(self.cls.__qualname__, problem)
            if name in taken:
                problem = f"got multiple values for argument {name!r}"
                return CallError(self.cls.__qualname__, problem)
        if len(args) > len(self.positional):
            return CallError(self.cls.__qualname__, self._too_many(args, values))
        absent = [
            name
            for name in self.required
            if name not in taken and values.get(name, MISSING) is MISSING
        ]
        return CallError(self.cls.__qualname__, self._missing(absent))

    def _too_many(self, args: tuple[Any, ...], values: Mapping[str, Any]) -> str:
        least = 1 + sum(name in self.positional for name in self.required)
        most = 1 + len(self.positional)
        takes = f"{most}" if least == most else f"from {least} to {most}"
        by_keyword = sum(name not in self.positional for name in values)
        also = (
            f" positional arguments (and {by_keyword} keyword-only argument" if by_keyword else ""
        )
        also += "s" * (by_keyword > 1) + ")" * bool(by_keyword)
        return (
            f"takes {takes} positional argument{'s' * (most != 1)} "
            f"but {1 + len(args)}{also} were given"
        )

    def _missing(self, absent: list[str]) -> str:
        kind = "positional" if absent[0] in self.positional else "keyword-only"
        quoted = [
            repr(name) for name in absent if (name in self.positional) == (kind == "positional")
        ]
        listed = quoted[0]
        if len(quoted) > 1:
            listed = ", ".join(quoted[:-1]) + "," * (len(quoted) > 2) + " and " + quoted[-1]
        return f"missing {len(quoted)} required {kind} argument{'s' * (len(quoted) > 1)}: {listed}"

    def hint(self, name: str) -> str:
        """Return a sentence, with a leading space, on what to use instead of a name, or nothing."""
        if name in self.retired:
            return f" It is retired: {self.retired[name]}."
        return did_you_mean(name, self.names)

    def _shown_default(self, name: str) -> Any:
        if name in self.retired:
            after = self.positional[self.positional.index(name) :]
            must = any(each in self.required for each in after)
            return inspect.Parameter.empty if must else Retired(self.retired[name])
        if name in self.required:
            return inspect.Parameter.empty
        return _factory_mark() if name in self.factories else self.template[name]


class TravelledSchema:
    """Stands for the schema of a class that was pickled by value, until it is worked out anew.

    Args:
        namespaces: path of each field's namespace, by field name.
        retired: what to use instead of retired fields, by name.
        order: the positional fields, the retired ones in their places.
        identity: what no other class has.
    """

    def __init__(
        self,
        namespaces: Mapping[str, str],
        retired: Mapping[str, str],
        order: Sequence[str],
        identity: str,
    ) -> None:
        self.namespaces = namespaces
        self.retired = retired
        self.order = order
        self.identity = identity
        # Held on to: this is about to take the place of it, which may be all that keeps it.
        self._known = _alive.get(identity)

    def __reduce__(self) -> tuple[Any, ...]:
        return (TravelledSchema, (self.namespaces, self.retired, self.order, self.identity))

    def settled(self, cls: type) -> Schema:
        """Return the schema of a class, the one it was pickled from where that is at hand.

        Unpickling a class by value in a process that has it sets all attributes of it again.

        Args:
            cls: the class that it came with.
        """
        known = self._known
        if known is not None and known.cls is cls:
            return known
        # Another copy of the pickler may have made a second class of the same declarations.
        return Schema(
            cls,
            self.namespaces,
            known.source if known else None,
            self.retired,
            self.order,
            known.default_origins if known else None,
            self.identity,
        )


_alive: WeakValueDictionary[str, Schema] = WeakValueDictionary()
"""The schemas of the classes in this process that were pickled by value, by identity."""


@functools.cache
def _factory_mark() -> Any:
    """Return what signatures of dataclasses have for a default that a factory makes."""
    example = make_dataclass("Example", [("items", list, field(default_factory=list))])
    return inspect.signature(example).parameters["items"].default


def _is_missing(value: object) -> bool:
    # A copy of the marker, too: it loses its identity where a class is pickled by value.
    return type(value) is type(MISSING)


def _is_init_var(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.partition("[")[0].rpartition(".")[2].strip() == "InitVar"
    return annotation is InitVar or isinstance(annotation, InitVar)


def _is_hashed(spec: Field[Any]) -> bool:
    return spec.compare if spec.hash is None else spec.hash
