"""Values that a configuration keeps: copies of its own, and whether two of them are the same."""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from typing import Any

__all__ = ["copied", "is_equal", "is_fixed", "is_same"]

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
_FIXED = (enum.Enum, type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)


def is_fixed(value: object) -> bool:
    """Tell whether a value is one that nothing can change inside: a number, a text, a class.

    Example:
        >>> is_fixed(8), is_fixed((8, "a")), is_fixed([8])
        (True, True, False)
    """
    kind = type(value)
    if kind is tuple or kind is frozenset:
        return all(map(is_fixed, value))  # type: ignore[call-overload]
    return kind in _PLAIN or isinstance(value, _FIXED)


def copied(value: Any) -> Any:
    """Return a value whose lists, dicts and sets are copies, so that nobody else changes them.

    Other mutable objects are shared: how to copy them is for those who made them to know.

    Example:
        >>> sizes = [[8]]
        >>> mine = copied(sizes)
        >>> sizes[0].append(16)
        >>> mine
        [[8]]
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return kind(map(copied, value))
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    return set(value) if kind is set else value


def is_same(one: Any, other: Any) -> bool:
    """Tell whether nobody could tell two values apart.

    Numbers, texts, lists and the like are compared, with their types and signs; an object of
    another kind is the same as itself only, since what its `==` leaves out may matter.

    Example:
        >>> is_same([1], [1]), is_same([1], [True]), is_same(0.0, -0.0)
        (True, False, False)
    """
    return _compared(one, other, lambda one, other: False)


def is_equal(one: Any, other: Any) -> bool:
    """Tell whether two values say the same: as `is_same`, but other objects by their `==`.

    A comparison without a plain answer, as one of arrays, counts as no.

    Example:
        >>> from pathlib import Path
        >>> is_equal([Path("a")], [Path("a")]), is_same([Path("a")], [Path("a")])
        (True, False)
    """
    return _compared(one, other, _by_operator)


def _compared(one: Any, other: Any, objects: Callable[[Any, Any], bool]) -> bool:
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is list or kind is tuple:
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_compared(*pair, objects) for pair in pairs)
    if kind is dict:
        return _compared(list(one), list(other), objects) and all(
            _compared(one[key], other[key], objects) for key in one
        )
    if kind is set or kind is frozenset:
        return {(type(each), each) for each in one} == {(type(each), each) for each in other}
    if kind is float or kind is complex:
        return repr(one) == repr(other)  # tells the zeros apart, and no NaN from another
    return bool(one == other) if kind in _PLAIN else objects(one, other)


def _by_operator(one: Any, other: Any) -> bool:
    try:
        return (one == other) is True
    except Exception:
        return False
