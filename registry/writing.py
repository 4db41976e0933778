"""What writing a record has in common, as words or as a file: which fields, and which texts.

Nothing that is written is taken on trust: those who write a value read it back and compare.
"""

from __future__ import annotations

import contextlib
import decimal
import enum
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from registry.annotations import arg_of
from registry.declaration import Arg
from registry.errors import RegistryError, UnknownFieldError, did_you_mean
from registry.instance import fields_given, require_record, schema_of

__all__ = [
    "Item",
    "UnwritableError",
    "in_order",
    "items_of",
    "plain_of",
    "same",
    "texts_of",
]

_NUMBERS = (int, float)


class UnwritableError(RegistryError, TypeError, ValueError):
    """A record that cannot be written so that it can be read back.

    Attributes:
        problems: a sentence for each field, with its place.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


class Item(NamedTuple):
    """A field to write.

    Attributes:
        name: the field.
        value: its value.
        arg: what its declaration says; an empty one where it says nothing.
        has_flag: whether the command line can set it.
        is_initial: whether the constructor takes it.
        is_default: whether it may be left out and the record is still equal.
        where: `file:line` of its declaration, empty where that is not known.
    """

    name: str
    value: Any
    arg: Arg
    has_flag: bool
    is_initial: bool
    is_default: bool
    where: str

    @property
    def is_masked(self) -> bool:
        """Whether a value stands there that must not be shown."""
        return self.arg.secret and self.value is not None

    def problem(self, why: str) -> str:
        """Return the sentence that it cannot be written.

        Args:
            why: the reason. The value is not shown, it may be secret; its type is.
        """
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.name}, whose value is of type {type(self.value).__name__}, {why}"


def items_of(record: Any, caller: str, exclude: Collection[str]) -> list[Item]:
    """Return the fields to write, in record order: those that are set or differ from the default.

    Args:
        record: an instance of a composed class.
        caller: the function that writes, for the message.
        exclude: fields to leave out.

    Raises:
        ComposeError: it is no composed record.
        UnknownFieldError: `exclude` names what is no field.
    """
    require_record(record, caller)
    schema = schema_of(type(record))
    if isinstance(exclude, str):
        exclude = (exclude,)
    for name in exclude:
        if name not in schema.template:
            hint = did_you_mean(name, schema.names)
            raise UnknownFieldError(type(record).__qualname__, name, hint)
    declarations = () if schema.source is None else schema.source()
    places = {name: each.where(name) for each in declarations for name in each.inputs}
    given = fields_given(record)
    items = []
    for spec in fields(type(record)):
        value = getattr(record, spec.name, MISSING)
        is_default = value is MISSING or schema.is_default(spec.name, value)
        if spec.name in exclude or (is_default and spec.name not in given):
            continue
        arg = arg_of(spec.type)
        has_flag = arg is not None and not arg.no_cli and spec.init
        where = places.get(spec.name, "")
        items.append(Item(spec.name, value, arg or Arg(), has_flag, spec.init, is_default, where))
    return items


def same(left: Any, right: Any) -> bool:
    """Tell whether two values are equal, NaN to NaN, and neither a bool where the other is not.

    Args:
        left: one value.
        right: the other. A comparison that has no plain answer, as with arrays, counts as no.

    Example:
        >>> same([float("nan")], [float("nan")]), same(1, True), same(1, 1.0)
        (True, False, True)
    """
    if isinstance(left, bool) is not isinstance(right, bool):
        return False
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple) and type(left) is type(right):
        return len(left) == len(right) and all(map(same, left, right))
    try:
        nan = type(left) is type(right) and left != left and right != right
        return bool(nan or left == right)
    except Exception:
        return False


def in_order(values: Collection[Any]) -> list[Any]:
    """Return the items of a collection, those of a set in an order that is always the same."""
    if not isinstance(values, set | frozenset):
        return list(values)
    items = list(values)
    if all(isinstance(each, str) for each in items) or all(
        type(each) in _NUMBERS for each in items
    ):
        return sorted(items)
    return sorted(items, key=lambda each: (type(each).__name__, _shown(each)))


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except Exception:  # whatever it raises; such values have no order
        return ""


def plain_of(value: Any) -> Any:
    """Return a value as what YAML, TOML and JSON can hold, as far as it is made of that.

    Args:
        value: any value. Sets and tuples become lists, a member of an enum its value.

    Example:
        >>> plain_of({"sizes": {8, 1}, "pair": (1, "a")})
        {'sizes': [1, 8], 'pair': [1, 'a']}
    """
    if isinstance(value, enum.Enum):
        return plain_of(value.value)
    if isinstance(value, Mapping):
        return {key: plain_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_of(item) for item in in_order(value)]
    return value


def texts_of(value: Any) -> Iterator[str]:
    """Yield the texts that may stand for a value, the plainest first.

    Args:
        value: any value. Which text its field reads as the value is for the caller to find out.

    Example:
        >>> next(texts_of(True)), next(texts_of({"a": 1}))
        ('true', '{"a": 1}')
    """
    # What is not of plain values has no JSON, nor what nests in itself or without end.
    # And whatever the `__str__` of a value raises, it has no text.
    for texts in (_words_of(value), _json_of(value)):
        with contextlib.suppress(Exception):
            yield from texts


def _words_of(value: Any) -> Iterator[str]:
    if isinstance(value, enum.Enum):
        yield from (str(value.value), value.name)
    elif isinstance(value, str):
        yield str.__str__(value)
    elif value is None:
        yield from ("none", "null", "")
    elif not isinstance(value, bool | list | tuple | set | frozenset | Mapping):
        yield str(value)  # refused where there are too many digits
        if isinstance(value, float) and "e" in str(value):
            # Without an exponent, argparse takes it for a number even if it is negative.
            yield f"{decimal.Decimal(str(value)):f}"


def _json_of(value: Any) -> Iterator[str]:
    # Escapes as well: they pass where the text itself does not.
    yield json.dumps(plain_of(value), ensure_ascii=False)
    yield json.dumps(plain_of(value))
