"""How a record travels: what its class says once, and what the record says beside it.

A pickle holds the writer's field names and defaults (compressed, the same bytes for every record
of a class) and, by name, only the values that are not those defaults. A reader of the same
class copies its own defaults and puts the values in; one whose class differs matches all by name.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import pickle
import sys
import warnings
import zlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from registry.annotations import arg_of
from registry.errors import RegistryError
from registry.journal import noted
from registry.schema import Schema

__all__ = [
    "MissingChoiceWarning",
    "RecordPicklingError",
    "RecordUnpicklingError",
    "State",
    "check_findable",
    "restore",
    "state_of",
]

_PROTOCOL = 4
"""The protocol of the packed defaults: fixed, so that equal classes pack to equal bytes."""


_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


class RecordPicklingError(RegistryError, pickle.PicklingError):
    """A record whose class the reading process could not find.

    Attributes:
        module: the module in which it would be looked for.
        qualname: the name under which it would be looked for.
    """

    def __init__(self, module: str, qualname: str) -> None:
        super().__init__(module, qualname)
        self.module = module
        self.qualname = qualname

    def __str__(self) -> str:
        return (
            f"cannot pickle a {self.qualname}: the class is not {self.module}.{self.qualname}, "
            "where a reader would look for it. Bind what compose() returned to that name at "
            "module level, or pass compose(..., module=...) the module that has it"
        )


class RecordUnpicklingError(RegistryError, pickle.UnpicklingError):
    """A pickled record that does not fit the class as this process has it.

    Attributes:
        record: the record class.
        fields: the names it is about.
        problem: what is wrong with them.
    """

    def __init__(self, record: str, fields: Sequence[str], problem: str) -> None:
        super().__init__(record, fields, problem)
        self.record = record
        self.fields = tuple(fields)
        self.problem = problem

    def __str__(self) -> str:
        return f"cannot unpickle a {self.record}: {', '.join(self.fields)} {self.problem}"


class MissingChoiceWarning(UserWarning):
    """A record arrived with a choice that a plugin had added there, and that is none here."""


class State(NamedTuple):
    """What is pickled of a record, as a plain tuple.

    Attributes:
        packed: the writer's field names and defaults, as `_pack` makes them.
        values: the values that are not the defaults in `packed`, by field.
        at_default: those of them that equal the default all the same, such as an empty list.
        given: the fields that the caller gave.
        extras: attributes that are no fields.
    """

    packed: bytes
    values: Mapping[str, Any]
    at_default: tuple[str, ...]
    given: tuple[str, ...]
    extras: Mapping[str, Any]


def state_of(record: object, schema: Schema, given: Iterable[str]) -> tuple[Any, ...]:
    """Return what is pickled of a record.

    Args:
        record: the record.
        schema: the schema of its class.
        given: the names its caller gave.

    Returns:
        The parts of a `State`.

    Raises:
        AttributeError: a required field has no value, as in a record made without `__init__`.
    """
    attributes = vars(record)
    packed, unpackable = _packed(schema)
    # Almost always the attributes are the fields, in order; telling so costs two C loops.
    current: Mapping[str, Any] = attributes
    if tuple(attributes) != schema.names:
        current = _in_order(record, schema)
    changed = itertools.compress(
        schema.names, map(operator.is_not, current.values(), schema.template.values())
    )
    values = {name: current[name] for name in (*changed, *unpackable)}
    at_default = tuple(name for name, value in values.items() if schema.is_default(name, value))
    extras = {}
    if current is not attributes:
        extras = {name: each for name, each in attributes.items() if name not in schema.template}
    return (packed, values, at_default, tuple(given), extras)


def restore(schema: Schema, state: tuple[Any, ...]) -> tuple[dict[str, Any], set[str]]:
    """Fit a pickled state to the class as this process has it.

    Args:
        schema: the schema of the reader's class.
        state: what the writer's `state_of` returned.

    Returns:
        The attributes of the record, and the names that the caller had given.

    Raises:
        RecordUnpicklingError: a field that this class does not have holds something other
            than the writer's default, or one it requires was unknown to the writer.
    """
    arrived = State(*state)
    given = set(arrived.given)
    if arrived.packed == _packed(schema)[0]:
        attributes = {**schema.template, **arrived.values}
    else:
        attributes = _matched(schema, arrived)
        given &= attributes.keys()
    for name in schema.factories:
        if attributes[name] is MISSING:
            attributes[name] = schema.default_of(name)
    for name in schema.unset:
        if attributes[name] is MISSING:
            del attributes[name]
    return {**attributes, **arrived.extras} if arrived.extras else attributes, given


def _matched(schema: Schema, arrived: State) -> dict[str, Any]:
    """Match what another version of the class wrote to the fields of this one, by name."""
    defaults, plugins, added = _unpacked(arrived.packed)
    unknown = [
        name
        for name in arrived.values
        if name not in schema.template and name not in arrived.at_default
    ]
    if unknown:
        retired = [
            f"{name} is retired: {schema.retired[name]}; "
            for name in unknown
            if name in schema.retired
        ]
        raise RecordUnpicklingError(
            schema.cls.__qualname__,
            unknown,
            "held a value when it was written, but the class has no such field here; "
            + "".join(retired)
            + _way_out(unknown, plugins),
        )
    written = {**defaults, **arrived.values}
    attributes = {
        name: written[name] if name in written else schema.default_of(name) for name in schema.names
    }
    lacking = [name for name in schema.required if attributes[name] is MISSING]
    if lacking:
        raise RecordUnpicklingError(
            schema.cls.__qualname__,
            lacking,
            "must be given here, but the class that wrote the record has no such field",
        )
    if added:
        _warn_of_choices(schema, attributes, added)
    return attributes


def _warn_of_choices(
    schema: Schema, attributes: Mapping[str, Any], added: Mapping[str, str]
) -> None:
    """Name who had added a choice that is none here: publishing will refuse it."""
    for spec in fields(schema.cls):
        value = attributes[spec.name]
        if type(value) is not str or value not in added:
            continue
        arg = arg_of(spec.type)
        if arg is not None and arg.choices is not None and value not in arg.choices:
            problem = (
                f"a {schema.cls.__qualname__} arrived with "
                f"{spec.name}={schema.show(spec.name, value)}, which is no choice here: "
                f"{added[value]} added it where the record was made; install or enable that plugin"
            )
            # Of whoever unpickles: above it are only this module and `__setstate__`.
            warnings.warn(problem, MissingChoiceWarning, stacklevel=5)


def _way_out(unknown: Iterable[str], plugins: Mapping[str, Sequence[str]]) -> str:
    origins = {
        plugin: ", ".join(mine)
        for plugin, fields in plugins.items()
        if (mine := [name for name in unknown if name in fields])
    }
    if not origins:
        return "update this side, or leave the field at its default on the other"
    listed = ", ".join(f"{plugin} for {names}" for plugin, names in origins.items())
    return f"install or enable the plugin it came from: {listed}"


def _in_order(record: object, schema: Schema) -> dict[str, Any]:
    """Return the fields of a record made without `__init__`, or with an attribute deleted."""
    values = {}
    for name in schema.names:
        # As everywhere, the class answers for what the instance does not have.
        must = name in schema.required
        values[name] = getattr(record, name) if must else getattr(record, name, MISSING)
    return values


def _packed(schema: Schema) -> tuple[bytes, tuple[str, ...]]:
    """Return a class's field names and defaults as bytes, and the defaults that do not pack."""
    if schema.packed is None:
        schema.packed = _pack(schema.template, schema.plugins())
    return schema.packed


def _pack(
    template: Mapping[str, Any], plugins: Mapping[str, Sequence[str]]
) -> tuple[bytes, tuple[str, ...]]:
    # A default such as an enum member travels with each record, by whatever pickles that: the
    # reader may know its class by another way than by name.
    others = [name for name, default in template.items() if not _is_plain(default)]
    unpackable = tuple(name for name in others if template[name] is not MISSING)
    return _compressed(template, frozenset(others), plugins), unpackable


def _compressed(
    template: Mapping[str, Any], without: Set[str], plugins: Mapping[str, Sequence[str]]
) -> bytes:
    # One text and one tuple of values compress to two thirds of what a mapping takes.
    defaults = tuple(None if name in without else each for name, each in template.items())
    parts: tuple[Any, ...] = (
        "\n".join(template),
        defaults,
        tuple(name for name in template if name in without),
    )
    added = _added_choices()
    if plugins or added:
        parts = (*parts, dict(plugins))
    if added:
        parts = (*parts, added)
    return zlib.compress(pickle.dumps(parts, _PROTOCOL), 9)


def _added_choices() -> dict[str, str]:
    """Return the choices that were added to lists of the program, each with the module it was."""
    # As text, which is all that is noted; several that were added at once stand together.
    return {
        word: each.module
        for each in noted()
        if each.kind == "choices"
        for word in each.value.split(", ")
    }


def _unpacked(
    packed: bytes,
) -> tuple[dict[str, Any], Mapping[str, Sequence[str]], Mapping[str, str]]:
    """Return the writer's defaults by name, its plugins with their fields, and added choices."""
    names, defaults, without, *more = pickle.loads(zlib.decompress(packed))
    written = dict(zip(names.split("\n") if defaults else (), defaults, strict=True))
    kept = {name: default for name, default in written.items() if name not in without}
    plugins, added = (*more, {}, {})[:2]
    return kept, plugins, added


def _is_plain(value: object) -> bool:
    return type(value) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))


def check_findable(cls: type) -> None:
    """Refuse to pickle a record whose class a reader could not import.

    Args:
        cls: the record class.

    Raises:
        RecordPicklingError: its module does not have it under its name. A pickler that sends
            such classes by value, as cloudpickle does, is let through.
    """
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    if found is not cls and not _is_pickled_by_value():
        raise RecordPicklingError(cls.__module__, cls.__qualname__)


def _is_pickled_by_value() -> bool:
    """Tell whether a pickler with a say over classes is at work further up the stack."""
    frame = inspect.currentframe()
    while frame is not None:
        pickler = frame.f_locals.get("self")
        if isinstance(pickler, pickle.Pickler) and hasattr(pickler, "reducer_override"):
            return True
        frame = frame.f_back
    return False
