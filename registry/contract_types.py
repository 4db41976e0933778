"""Types and values as a contract writes them, compared: does one take all that another takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = [
    "accepts",
    "alike",
    "is_only_choices",
    "members_of",
    "reads_otherwise",
    "without_covered",
]

_WIDER = {"int": ("float", "complex"), "float": ("complex",)}
_EVERYTHING = ("Any", "object")
_READ_IN_TURN = ("int", "float", "str")
"""The types of a union in the order in which they get to read a word."""


def members_of(text: str) -> tuple[list[str], list[str]]:
    """Take a type apart.

    Args:
        text: the type, as `canonical.text_of_type` writes it.

    Returns:
        The members of the union, those of a Literal apart.

    Example:
        >>> members_of("list[int | str] | Literal['a', 'b'] | None")
        (['list[int | str]', 'None'], ["'a'", "'b'"])
    """
    types, choices = [], []
    for member in _split(text, " | "):
        if member.startswith("Literal["):
            choices += _split(member[len("Literal[") : -1], ", ")
        else:
            types.append(member)
    return types, choices


def accepts(wide: str, narrow: str) -> bool:
    """Tell whether one type takes every value of another, as far as their texts show.

    Args:
        wide: the type that should take more, as text.
        narrow: the type that should take less.

    Example:
        >>> accepts("int | None", "int"), accepts("list[str]", "list[int]")
        (True, False)
        >>> accepts("str", "Literal['a']"), accepts("Literal['a']", "str")
        (True, False)
    """
    types, choices = members_of(wide)
    if any(each in _EVERYTHING for each in types):
        return True
    narrow_types, narrow_choices = members_of(narrow)
    return all(any(_takes(each, one) for each in types) for one in narrow_types) and all(
        one in choices or any(kind in types for kind in _kinds_of(one)) for one in narrow_choices
    )


def is_only_choices(old: str, new: str) -> bool:
    """Tell whether two types differ in the choices of a Literal alone."""
    (old_types, old_choices), (new_types, new_choices) = members_of(old), members_of(new)
    return bool(old_choices and new_choices) and old_types == new_types


def without_covered(text: str) -> list[str]:
    """Return the choices of a type that none of its other members takes anyway.

    Args:
        text: the type.

    Example:
        >>> without_covered("str | Literal['a', 1]")
        ['1']
    """
    types, choices = members_of(text)
    return [one for one in choices if not any(kind in types for kind in _kinds_of(one))]


def reads_otherwise(was: str, now: str) -> bool:
    """Tell whether a word, of a command line or a file, may be read as another type than before.

    Args:
        was: the type as it was.
        now: a type that takes all of it.

    Example:
        >>> reads_otherwise("str", "int | str"), reads_otherwise("int", "int | str")
        (True, False)
        >>> reads_otherwise("Literal['1']", "int | str"), reads_otherwise("Literal['a']", "str")
        (True, False)
    """
    (types, choices), (now_types, now_choices) = members_of(was), members_of(now)
    added = [each for each in now_types if each not in types and each != "None"]
    for each in types:
        if each in _READ_IN_TURN:
            before = _READ_IN_TURN[: _READ_IN_TURN.index(each)]
            if any(one in before for one in added):
                return True
        elif each in now_types:
            if added:  # of a union with such a member, another one may read every word
                return True
        elif each != "None" and _element_reads_otherwise(each, now_types):
            return True
    numbers = [each for each in now_types if each in ("int", "float")]
    gone = [each for each in choices if each not in now_choices]
    came = [each for each in now_choices if each not in choices]
    return any(_is_text(each) and _is_number(each[1:-1], numbers) for each in gone) or (
        "str" in types and not all(map(_is_text, came))
    )


def alike(one: Any, other: Any) -> bool:
    """Tell whether two plain values are the same and of the same types: 0 is not false, nor 0.0.

    Args:
        one: a value, as JSON has them.
        other: another one.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return type(one) is type(other) and bool(one == other)


def _element_reads_otherwise(collection: str, now_types: list[str]) -> bool:
    origin, arguments = _taken_apart(collection)
    for each in now_types:
        now_origin, now_arguments = _taken_apart(each)
        if now_origin == origin:
            return any(map(reads_otherwise, arguments, now_arguments))
    return True


def _is_text(choice: str) -> bool:
    return choice[0] in "'\""


def _is_number(word: str, kinds: list[str]) -> bool:
    for kind in kinds:
        try:
            (int if kind == "int" else float)(word)
        except ValueError:
            continue
        return True
    return False


def _takes(wide: str, narrow: str) -> bool:
    if wide == narrow or wide in _WIDER.get(narrow, ()):
        return True
    origin, arguments = _taken_apart(wide)
    narrow_origin, narrow_arguments = _taken_apart(narrow)
    if origin != narrow_origin:
        return False
    if not arguments:
        return True
    if origin == "tuple" and len(arguments) == 2 and arguments[1] == "...":
        elements = [each for each in narrow_arguments if each != "..."]
        return bool(elements) and all(accepts(arguments[0], each) for each in elements)
    return len(arguments) == len(narrow_arguments) and all(
        map(accepts, arguments, narrow_arguments)
    )


def _taken_apart(text: str) -> tuple[str, list[str]]:
    origin, bracket, rest = text.partition("[")
    return (origin, _split(rest[:-1], ", ")) if bracket else (text, [])


def _kinds_of(choice: str) -> Iterator[str]:
    """Yield the types that a member of a Literal, as text, is a value of."""
    if _is_text(choice):
        yield "str"
    elif choice in ("True", "False"):
        yield "bool"
    elif choice.lstrip("-").isdigit():
        yield from ("int", "float")
    elif choice[0] == "b":
        yield "bytes"
    else:
        yield choice.rpartition(".")[0]  # a member of an enum


def _split(text: str, separator: str) -> list[str]:
    """Split a text where brackets and quotes are closed."""
    parts, depth, quote, start, at = [], 0, "", 0, 0
    while at < len(text):
        character = text[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif not depth and text.startswith(separator, at):
            parts.append(text[start:at])
            at += len(separator)
            start = at
            continue
        at += 1
    return [*parts, text[start:]] if text else []
