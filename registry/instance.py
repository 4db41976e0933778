"""What every record instance does: being built, assigned, compared, shown, copied and pickled.

`compose()` makes classes that derive from `Record`, which does all this from the class's
`Schema` instead of generated code. It has no public names, so that no field name is reserved.
"""

from __future__ import annotations

import copy
import functools
import inspect
import reprlib
from collections.abc import Iterable
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, ClassVar, SupportsIndex, TypeGuard

from registry.errors import ComposeError, UnknownAttributeError
from registry.schema import Schema, TravelledSchema, declared_by, init_vars

__all__ = [
    "Record",
    "fields_given",
    "fields_set",
    "install_schema",
    "is_record_class",
    "made_of",
    "require_record",
    "schema_of",
]

_set = object.__setattr__

_GENERATED = ("__init__", "__repr__", "__replace__")
"""Methods that the dataclass decorator would write, but that Record has better."""


class _Signature:
    """Answers `inspect.signature` for record classes, at first need."""

    def __get__(self, instance: object, owner: type[Record]) -> Any:
        if owner is Record:
            raise AttributeError("__signature__")
        if owner.__init__ is Record.__init__:
            return schema_of(owner).signature
        written = inspect.signature(owner.__init__)
        return written.replace(parameters=list(written.parameters.values())[1:])


class Record:
    """Base of all composed records. Users get it through `compose()`.

    The values live in the instance's `__dict__`, in record order. The names that the caller
    gave are kept beside it, in a slot, so that `vars(record)` holds the settings alone.
    """

    __slots__ = ("__dict__", "__fields_set__", "__weakref__")

    if TYPE_CHECKING:
        # Not at run time, where get_type_hints() of a record would list them.
        __record_schema__: ClassVar[Schema | TravelledSchema]
        __record_written__: ClassVar[frozenset[str]]
        __fields_set__: set[str]

    __signature__ = _Signature()

    def __init_subclass__(cls, **keywords: Any) -> None:
        """Note what the class body itself has, before a decorator adds to it."""
        super().__init_subclass__(**keywords)
        written = frozenset(name for name in _GENERATED if name in cls.__dict__)
        type.__setattr__(cls, "__record_written__", written)
        bases = cls.__mro__[1:]
        if cls.__new__ is object.__new__ and any("__record_schema__" in b.__dict__ for b in bases):
            type.__setattr__(cls, "__new__", staticmethod(_new_of_subclass))

    def __init__(self, /, *args: Any, **values: Any) -> None:
        schema = type(self).__record_schema__
        if not isinstance(schema, Schema):
            schema = schema_of(type(self))
        if args:
            values = schema.bind(args, values)
        # One merge in C stands in for a generated function of as many parameters as fields:
        # under a tenth of its time at 499 fields. A name that is no field makes it longer.
        state = {**schema.template, **values}
        if len(state) != len(schema.template) or (
            schema.fixed and not schema.fixed.isdisjoint(values)
        ):
            raise schema.call_error((), values)
        for name in schema.required:
            if state[name] is MISSING:
                raise schema.call_error((), values)
        for name, factory in schema.factories.items():
            if state[name] is MISSING:
                state[name] = factory()
        for name in schema.unset:
            del state[name]
        _set(self, "__dict__", state)
        _set(self, "__fields_set__", set(values))
        post_init = getattr(self, "__post_init__", None)
        if post_init is not None:
            post_init()

    def __setattr__(self, name: str, value: Any) -> None:
        cls = type(self)
        if name in schema_of(cls).template:
            super().__setattr__(name, value)
            fields_given(self).add(name)
        elif name.startswith("_") or any(name in base.__dict__ for base in cls.__mro__):
            super().__setattr__(name, value)
        else:
            raise UnknownAttributeError(cls.__qualname__, name, schema_of(cls).hint(name))

    def __delattr__(self, name: str) -> None:
        super().__delattr__(name)
        # From here on the default answers, if there is one.
        fields_given(self).discard(name)

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        names = schema_of(type(self)).compared
        return _values_of(self, names) == _values_of(other, names)

    @reprlib.recursive_repr()
    def __repr__(self) -> str:
        schema = schema_of(type(self))
        given = fields_given(self)
        values = ((name, getattr(self, name, MISSING)) for name in schema.printed)
        shown = (
            f"{name}={schema.show(name, value)}"
            for name, value in values
            if value is not MISSING and (name in given or not schema.is_default(name, value))
        )
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __copy__(self) -> Record:
        return _duplicate(self, dict(vars(self)))

    def __deepcopy__(self, memo: dict[int, Any]) -> Record:
        duplicate = _duplicate(self, {})
        memo[id(self)] = duplicate
        vars(duplicate).update(copy.deepcopy(vars(self), memo))
        return duplicate

    def __replace__(self, /, **changes: Any) -> Record:
        """Return a copy with some fields changed, for `copy.replace` of Python 3.13."""
        schema = schema_of(type(self))
        extras = {name: value for name, value in vars(self).items() if name not in schema.template}
        replaced = type(self)(**{name: getattr(self, name) for name in schema.initial} | changes)
        _set(replaced, "__dict__", {**vars(replaced), **extras})
        _set(replaced, "__fields_set__", fields_given(self) | changes.keys())
        return replaced

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        # Imported where it is needed, here and below: many processes pickle no record.
        from registry.pickling import check_findable

        check_findable(type(self))
        return super().__reduce_ex__(max(protocol.__index__(), 2))

    def __getstate__(self) -> tuple[Any, ...]:
        from registry.pickling import state_of

        return state_of(self, schema_of(type(self)), fields_given(self))

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        from registry.pickling import restore

        values, given = restore(schema_of(type(self)), state)
        _set(self, "__dict__", values)
        _set(self, "__fields_set__", given)


def _new_of_subclass(cls: type[Record], /, *args: Any, **values: Any) -> Record:
    """Make an instance; before the first one, the schema, which may replace `__init__`."""
    schema_of(cls)
    return super(Record, cls).__new__(cls)


def is_record_class(cls: type) -> TypeGuard[type[Record]]:
    """Tell whether `compose()` made a class, or one that it derives from."""
    return issubclass(cls, Record) and cls is not Record


def schema_of(cls: type) -> Schema:
    """Return what a record class knows about its fields.

    Args:
        cls: a class that `compose()` made, or a subclass of one. The schema of a
            `@dataclass` subclass is made when it is first asked for, since the decorator
            runs after the class statement.

    Raises:
        ComposeError: it is no such class.
    """
    own = cls.__dict__.get("__record_schema__")
    if isinstance(own, Schema):
        return own
    if not is_record_class(cls):
        raise ComposeError(cls.__qualname__, "is no record class; compose() makes them")
    if own is None and "__dataclass_fields__" not in cls.__dict__:
        return schema_of(_record_base(cls))
    return _adopt(cls, own)


def fields_given(record: Record) -> set[str]:
    """Return the set in which a record keeps the names its caller gave.

    Args:
        record: the record; one made without its `__init__` starts an empty set.
    """
    try:
        return record.__fields_set__
    except AttributeError:
        _set(record, "__fields_set__", set())
        return record.__fields_set__


def require_record(what: object, caller: str) -> None:
    """Refuse what is no composed record, such as the parsed arguments that one is made of.

    Args:
        what: what a function was given as a record.
        caller: the function, for the message.

    Raises:
        ComposeError: it is no composed record.
    """
    if isinstance(what, Record):
        return
    if isinstance(what, type):
        shown = f"the class {what.__qualname__}"
    elif what is None or isinstance(what, int | float):
        shown = repr(what)
    else:
        # Not its repr: a mapping or namespace of settings would show the secrets among them.
        shown = f"a {type(what).__name__}"
    raise ComposeError(caller, f"takes an instance of a composed record, not {shown}")


def fields_set(record: Any) -> frozenset[str]:
    """Tell which fields the caller gave, as opposed to those that hold a default.

    "Not set" and "set to the default" are different facts. Assigning a field counts as
    setting it. The answer survives pickle, copies and `copy.replace`; `dataclasses.replace`
    passes every field to the constructor, so after it all of them count as given.

    Args:
        record: an instance of a composed class.

    Returns:
        The names of the fields.

    Raises:
        TypeError: it is no composed record (as ComposeError).

    Example:
        >>> from registry import Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        ...     dp_size: int = 1
        >>> fields_set(compose("Args", [Parallel])(tp_size=1))
        frozenset({'tp_size'})
    """
    if not isinstance(record, Record):
        raise ComposeError(type(record).__qualname__, "is no composed record; fields_set takes one")
    return frozenset(fields_given(record))


def made_of(cls: type[Record], values: dict[str, Any], given: Iterable[str]) -> Record:
    """Make a record without running any code of its class.

    Args:
        cls: the record class.
        values: what its `__dict__` will be.
        given: the names that count as given by the caller.
    """
    made = cls.__new__(cls)
    _set(made, "__dict__", values)
    _set(made, "__fields_set__", set(given))
    return made


def _values_of(record: object, names: tuple[str, ...]) -> tuple[Any, ...]:
    values = vars(record)
    try:
        return tuple(map(values.__getitem__, names))
    except KeyError:
        # An attribute was deleted, or never set: as everywhere, the class answers for it.
        return tuple(getattr(record, name) for name in names)


def _record_base(cls: type) -> type:
    return next(base for base in cls.__mro__[1:] if issubclass(base, Record))


def _adopt(cls: type[Record], travelled: TravelledSchema | None) -> Schema:
    """Work out the schema of a class that compose() did not finish in this process."""
    if travelled is not None:
        schema = travelled.settled(cls)
    else:
        _check_subclass(cls)
        schema = _inherited(cls)
        for name in _GENERATED:
            # The generated `__init__` assigns every field, given or not, and so would count
            # all of them as set; the others do not know of secrets and of what was set.
            if name in cls.__dict__ and name not in cls.__record_written__:
                type.__setattr__(cls, name, getattr(Record, name))
    install_schema(cls, schema)
    return schema


def install_schema(cls: type, schema: Schema) -> None:
    """Give a record class its schema.

    Args:
        cls: the class.
        schema: what is known about its fields.
    """
    type.__setattr__(cls, "__record_schema__", schema)
    if schema.retired:
        # A class pattern names what stands at a position, too; one written by hand is let be.
        left = tuple(name for name in schema.positional if name not in schema.retired)
        if cls.__dict__.get("__match_args__") == left:
            type.__setattr__(cls, "__match_args__", schema.positional)


def _inherited(cls: type[Record]) -> Schema:
    bases = [schema_of(base) for base in cls.__bases__ if is_record_class(base)]
    sources = [base.source for base in bases if base.source is not None]
    return Schema(
        cls,
        {name: path for base in reversed(bases) for name, path in base.namespaces.items()},
        functools.partial(declared_by, sources) if len(sources) == len(bases) else None,
        {name: advice for base in reversed(bases) for name, advice in base.retired.items()},
        [name for base in reversed(bases) for name in base.positional],
    )


def _check_subclass(cls: type[Record]) -> None:
    problem = None
    if cls.__dict__.get("__slots__"):
        problem = "a subclass of a record cannot have slots; write @dataclass without slots=True"
    elif hidden := init_vars(cls):
        problem = f"has InitVar {', '.join(hidden)}; a record holds every input it is given"
    if problem is not None:
        raise ComposeError(cls.__qualname__, problem)


def _duplicate(record: Record, values: dict[str, Any]) -> Record:
    return made_of(type(record), values, fields_given(record))
