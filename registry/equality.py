"""Values that a configuration keeps: copies of its own, and whether two of them are the same."""

from __future__ import annotations

from typing import Any

__all__ = ["copied", "is_plain", "is_same"]

_PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})


def is_plain(value: object) -> bool:
    """Tell whether a value is a number, text or the like, which nothing can change.

    Example:
        >>> is_plain(8), is_plain([8])
        (True, False)
    """
    return type(value) in _PLAIN


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
    """Tell whether two values are equal and of the same types, whatever they contain.

    A comparison without a plain answer, as one of arrays, counts as no.

    Example:
        >>> is_same([1], [1]), is_same([1], [True])
        (True, False)
    """
    if one is other:
        return True
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is list or kind is tuple:
        return len(one) == len(other) and all(map(is_same, one, other))
    if kind is dict:
        return is_same(list(one), list(other)) and all(is_same(one[key], other[key]) for key in one)
    try:
        return bool(one == other)
    except Exception:
        return False
