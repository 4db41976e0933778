"""`prove`: that a change left everything that callers rely on as it was, counted."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING
from pathlib import Path
from typing import Any, NamedTuple

from registry.annotations import arg_of
from registry.canonical import UnstableError, text_of_value
from registry.cli_rules import kind_of
from registry.contract import ContractError
from registry.contract_fields import stand_in
from registry.contract_types import alike
from registry.derivation import derive
from registry.errors import RegistryError
from registry.instance import schema_of

__all__ = ["Proof", "Shape", "default_shapes", "prove", "read_shapes"]

_MOST_SHAPES = 2000


class Proof(NamedTuple):
    """How one thing compares.

    Attributes:
        what: the thing, such as "flags".
        same: how many of it are the same on both sides.
        total: how many there are on either side.
        differences: a line for each that is not.
        skipped: why it was not compared; empty where it was.
        uncompared: what has the same type on both sides, but no text by which to compare it.
    """

    what: str
    same: int
    total: int
    differences: tuple[str, ...] = ()
    skipped: str = ""
    uncompared: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.skipped:
            return f"{self.what}: not compared, {self.skipped}"
        count = len(self.differences)
        text = f"{self.what}: {self.same} / {self.total}, {count} difference{'s' * (count != 1)}"
        if self.uncompared:
            text += f", {len(self.uncompared)} not compared"
        left = [f"{each}: not compared, its value has no stable text" for each in self.uncompared]
        return "\n  ".join([text, *self.differences, *left])


class Shape(NamedTuple):
    """One launch to derive everything for.

    Attributes:
        name: what it is called.
        args: the arguments of the record.
        derived: what is known to follow from them, by derived field; may be empty.
    """

    name: str
    args: Mapping[str, Any]
    derived: Mapping[str, Any]


class Side(NamedTuple):
    """One side of the comparison.

    Attributes:
        contract: its snapshot.
        record_class: the class, or None for a file.
        names: what its module exports; None for a file.
    """

    contract: Mapping[str, Any]
    record_class: type[Any] | None = None
    names: Sequence[str] | None = None


def prove(old: Side, new: Side, shapes: Sequence[Shape] | None = None) -> list[Proof]:
    """Compare everything that callers rely on.

    Args:
        old: how it was.
        new: how it is.
        shapes: the launches for which derived values are compared; None takes `default_shapes` of
            the old class. What the table itself says of them counts as the old values where the
            old side is a file.

    Returns:
        A line of the proof for each thing.

    Raises:
        ContractError: two shapes have the same name.
    """
    counts = Counter(shape.name for shape in shapes or ())
    for name, count in counts.items():
        if count > 1:
            raise ContractError("shapes", f"has {name!r} twice; give each launch its own name")
    before, after = old.contract, new.contract
    return [
        _compared("input fields", _names(before["fields"]), _names(after["fields"])),
        _compared("derived fields", _names(before["derived"]), _names(after["derived"])),
        _compared("namespaces", _said(before, _NAMESPACE), _said(after, _NAMESPACE)),
        _compared("flags", _said(before, _FLAG), _said(after, _FLAG)),
        _compared(
            "positions",
            dict(enumerate(before["positional"], 1)),
            dict(enumerate(after["positional"], 1)),
        ),
        _compared("defaults", _said(before, _DEFAULT), _said(after, _DEFAULT)),
        _importable(old, new),
        _derived_values(old, new, shapes),
    ]


_NAMESPACE = ("namespace",)
_FLAG = ("flags", "action", "nargs", "const", "const_text", "choices", "flag_required")
_DEFAULT = ("default", "default_text", "required", "fallback", "fallback_text")


def read_shapes(path: str) -> list[Shape]:
    """Read a table of launches: a JSON list of objects with `name`, `args` and maybe `derived`.

    Args:
        path: the file.

    Raises:
        ContractError: it is no such table.
    """
    try:
        rows = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise ContractError(path, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ContractError(path, f"is no table of launches, not even JSON: {error}") from error
    shapes: dict[str, Shape] = {}
    for at, row in enumerate(rows if isinstance(rows, list) else [None], 1):
        if not isinstance(row, dict) or not isinstance(row.get("args"), dict):
            problem = 'is no list of {"name": ..., "args": {...}}; see'
            raise ContractError(path, f"{problem} row {at}")
        name, derived = str(row.get("name", at)), row.get("derived")
        if derived is not None and not isinstance(derived, dict):
            problem = f'has a "derived" that is no object of values by field; see row {at}'
            raise ContractError(path, problem)
        if name in shapes:
            raise ContractError(path, f"has {name!r} twice; see row {at}")
        shapes[name] = Shape(name, row["args"], derived or {})
    return list(shapes.values())


def default_shapes(record_class: type[Any], contract: Mapping[str, Any]) -> list[Shape]:
    """Return launches that tell derived fields apart: what they read, one and two at a time.

    Args:
        record_class: the record class.
        contract: its snapshot.

    Returns:
        The default, and every pair of other values: of a number 2, 4 and 8, of a switch the other
        state, of choices each.
    """
    types = {spec.name: spec.type for spec in dataclasses.fields(record_class)}
    read = {name for each in contract["derived"].values() for name in each.get("reads", ())}
    varied = [(name, _other_values(types[name])) for name in types if name in read]
    each = [[(name, value) for value in values] for name, values in varied]
    single = [dict([one]) for group in each for one in group]
    pairs = (
        dict(pair) for two in itertools.combinations(each, 2) for pair in itertools.product(*two)
    )
    args = itertools.islice(itertools.chain([{}], single, pairs), _MOST_SHAPES)
    return [Shape(", ".join(f"{k}={v!r}" for k, v in one.items()), one, {}) for one in args]


def _other_values(annotation: Any) -> list[Any]:
    arg = arg_of(annotation)
    if arg is not None and arg.choices:
        return list(arg.choices)
    kind = kind_of(annotation)
    if kind.is_switch:
        return [True, False]
    if int in kind.members:
        return [2, 4, 8]
    literals = [each for member in kind.members for each in getattr(member, "__args__", ())]
    return [each for each in literals if isinstance(each, str)]


def _names(half: Iterable[str]) -> dict[str, bool]:
    return dict.fromkeys(half, True)


def _said(contract: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """Return what a contract says under some keys, by field."""
    return {
        name: {key: entry[key] for key in keys if key in entry}
        for section in ("fields", "derived")
        for name, entry in contract[section].items()
    }


def _compared(what: str, old: Mapping[Any, Any], new: Mapping[Any, Any]) -> Proof:
    """Compare two mappings by their keys."""
    keys = list(dict.fromkeys([*old, *new]))
    differences = []
    for key in keys:
        if key not in new:
            differences.append(f"{key}: is gone")
        elif key not in old:
            differences.append(f"{key}: is new")
        elif not alike(old[key], new[key]):
            differences.append(f"{key}: was {_shown(old[key])} and is {_shown(new[key])}")
    return Proof(what, len(keys) - len(differences), len(keys), tuple(differences))


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value


def _importable(old: Side, new: Side) -> Proof:
    what = "importable names"
    if old.names is None or new.names is None:
        return Proof(what, 0, 0, skipped="which needs module:Class on both sides")
    return _compared(what, _names(old.names), _names(new.names))


def _derived_values(old: Side, new: Side, shapes: Sequence[Shape] | None) -> Proof:
    what = "derived values"
    if new.record_class is None:
        return Proof(what, 0, 0, skipped="which needs module:Class on the new side")
    if shapes is None and old.record_class is not None:
        shapes = default_shapes(old.record_class, old.contract)
    if old.record_class is None and not any(shape.derived for shape in shapes or ()):
        return Proof(what, 0, 0, skipped="which needs module:Class on both sides or --shapes FILE")
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for shape in shapes or ():
        names = [*old.contract["derived"]]
        if old.record_class is None:
            names = list(shape.derived)
            before |= {f"{shape.name}: {name}": _text(shape.derived[name]) for name in names}
        else:
            before |= _values(old.record_class, shape, names)
        after |= _values(new.record_class, shape, names)
    left = tuple(
        key
        for key, text in before.items()
        if isinstance(text, _TypeAlone) and alike(text, after.get(key))
    )
    for key in left:
        del before[key], after[key]
    return _compared(what, before, after)._replace(uncompared=left)


def _values(record_class: type[Any], shape: Shape, names: Iterable[str]) -> dict[str, str]:
    """Return derived values of a launch as text; of one that fails the kind of error."""
    schema = schema_of(record_class)
    types = {spec.name: spec.type for spec in dataclasses.fields(record_class)}
    needed = {
        name: stand_in(types[name])
        for name in schema.required
        if schema.default_of(name) is MISSING
    }
    try:
        view = derive(record_class(**{**needed, **shape.args}))
    except RegistryError as error:
        return {f"{shape.name}: {name}": str(error) for name in names}
    values = {}
    for name in names:
        try:
            text = _text(getattr(view, name))
        except RegistryError as error:
            text = f"({type(error).__name__})"
        values[f"{shape.name}: {name}"] = text
    return values


def _text(value: Any) -> str:
    try:
        return text_of_value(value)
    except UnstableError:
        return _TypeAlone(f"<{type(value).__qualname__}>")


class _TypeAlone(str):
    """The type of a value that has no text by which it can be told from others."""
