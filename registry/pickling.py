"""How a record travels: its values by position, and the names those positions had.

A pickle holds the writer's field names (compressed, the same bytes for every record of a
class), all values in that order, which of them differ from the writer's default, which were
given, and attributes that are no fields. A reader of the same class takes the values as they
come; one whose class differs matches them by name.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import pickle
import sys
import zlib
from collections.abc import Iterable
from dataclasses import MISSING
from typing import Any

from registry.errors import RecordPicklingError, RecordUnpicklingError
from registry.schema import Schema, pack_names

__all__ = ["State", "check_findable", "is_default", "restore", "state_of", "values_of"]

State = tuple[bytes, tuple[Any, ...], tuple[str, ...], tuple[str, ...], dict[str, Any]]


def values_of(record: object, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the values of some fields of a record, in the order of the names.

    Raises:
        AttributeError: one has no value, as in a record made without `__init__`.
    """
    values = vars(record)
    try:
        return tuple(map(values.__getitem__, names))
    except KeyError:
        # An attribute was deleted, or never set: as everywhere, the class answers for it.
        return tuple(getattr(record, name) for name in names)


def is_default(schema: Schema, name: str, value: object) -> bool:
    """Tell whether a value equals the default that its field would have.

    A comparison that has no plain answer, as with arrays, counts as no.
    """
    default = schema.default_of(name)
    if value is default:
        return True
    try:
        return type(value) is type(default) and bool(value == default)
    except Exception:
        return False


def state_of(record: object, schema: Schema, given: Iterable[str]) -> State:
    """Return what is pickled of a record.

    Args:
        record: the record.
        schema: the schema of its class.
        given: the names its caller gave.

    Raises:
        AttributeError: a required field has no value, as in a record made without `__init__`.
    """
    attributes = vars(record)
    names, packed, defaults = schema.names, schema.packed_names, schema.template
    try:
        values = tuple(map(attributes.__getitem__, names))
    except KeyError:
        # A record made without `__init__`, or with an attribute deleted: what it has travels.
        names = tuple(name for name in names if name in schema.required or hasattr(record, name))
        packed, defaults = pack_names(names), {name: defaults[name] for name in names}
        values = values_of(record, names)
    suspects = itertools.compress(names, map(operator.is_not, values, defaults.values()))
    changed = tuple(
        name for name in suspects if not is_default(schema, name, getattr(record, name))
    )
    extras = {}
    if names is not schema.names or len(attributes) != len(names):
        extras = {name: each for name, each in attributes.items() if name not in schema.template}
    return (packed, values, changed, tuple(given), extras)


def restore(schema: Schema, state: State) -> tuple[dict[str, Any], set[str]]:
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
    packed, values, changed, given, extras = state
    if packed == schema.packed_names:
        return {**dict(zip(schema.names, values, strict=True)), **extras}, set(given)
    names = zlib.decompress(packed).decode().split("\n") if values else []
    arrived = dict(zip(names, values, strict=True))
    unknown = [name for name in changed if name not in schema.template]
    if unknown:
        raise RecordUnpicklingError(
            schema.cls.__qualname__,
            unknown,
            "held a value when it was written, but the class has no such field here; "
            "update this side, or leave the field at its default on the other",
        )
    attributes = {
        name: arrived[name] if name in arrived else schema.default_of(name) for name in schema.names
    }
    lacking = [name for name in schema.required if attributes[name] is MISSING]
    if lacking:
        raise RecordUnpicklingError(
            schema.cls.__qualname__,
            lacking,
            "must be given here, but the class that wrote the record has no such field",
        )
    for name in schema.unset:
        if attributes[name] is MISSING:
            del attributes[name]
    return {**attributes, **extras}, {name for name in given if name in schema.template}


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
