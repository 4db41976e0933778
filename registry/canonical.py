"""Types and values as text that is the same in every process, on every machine and Python.

For what is compared later and elsewhere: contracts and fingerprints. A value that has no such text
is an error here; what to make of it is for the caller.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import fractions
import pathlib
import re
import types
import uuid
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Final, ForwardRef, Literal, Union, get_args, get_origin

__all__ = ["UnstableError", "name_of", "text_of_type", "text_of_value"]

_NONE = type(None)
_TEXT_OF_ITSELF = (
    str,
    bytes,
    complex,
    range,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    datetime.date,
    datetime.time,
    datetime.timedelta,
)


class UnstableError(Exception):
    """A value that has no text which is the same in every process; its argument says why."""


def text_of_type(annotation: Any) -> str:
    """Return a type as text, the same for all spellings of it and on all Pythons.

    Members of unions are sorted, None last, and those of several Literals are put together.

    Args:
        annotation: an evaluated annotation; its metadata is left out.

    Example:
        >>> from typing import List, Optional
        >>> text_of_type(Optional[List[int]]), text_of_type(None | list[int])
        ('list[int] | None', 'list[int] | None')
    """
    members = list(_members(annotation, ()))
    choices = dict.fromkeys(text for kind, text in members if kind == "choice")
    others = sorted({text for kind, text in members if kind == "type"} - {"None"})
    if choices:
        others.append(f"Literal[{', '.join(choices)}]")
    if ("type", "None") in members:
        others.append("None")
    return " | ".join(others)


def _members(annotation: Any, within: tuple[Any, ...]) -> collections.abc.Iterator[tuple[str, str]]:
    """Yield the members of a type, each as its kind, "type" or "choice", and its text."""
    origin = get_origin(annotation)
    if origin in (Annotated, Final, ClassVar):
        yield from _members(get_args(annotation)[0], within)
    elif origin in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _members(member, within)
    elif origin is Literal:
        for value in get_args(annotation):
            if value is None:
                yield ("type", "None")
            else:
                yield ("choice", text_of_value(value))
    elif not isinstance(annotation, type) and hasattr(annotation, "__value__"):
        # An alias may use itself, as one of JSON values does; there its name has to do.
        if annotation in within:
            yield ("type", annotation.__name__)
        else:
            yield from _members(annotation.__value__, (*within, annotation))
    else:
        yield ("type", _text_of_one(annotation, origin))


def _text_of_one(annotation: Any, origin: Any) -> str:
    if annotation in (None, _NONE):
        return "None"
    if annotation is Any:
        return "Any"
    if annotation is Ellipsis:
        return "..."
    if isinstance(annotation, list):  # the parameters of a Callable
        return f"[{', '.join(map(text_of_type, annotation))}]"
    if isinstance(annotation, ForwardRef):
        return annotation.__forward_arg__
    if hasattr(annotation, "__supertype__"):  # a NewType
        return f"{name_of(annotation)}({text_of_type(annotation.__supertype__)})"
    if origin is None:
        return name_of(annotation)
    # Python 3.10 gives the empty tuple type one element, the empty tuple.
    arguments = [text_of_type(each) for each in get_args(annotation) if each != ()]
    return (
        f"{name_of(origin)}[{', '.join(arguments) or '()'}]"
        if _is_narrowed(annotation)
        else (name_of(origin))
    )


def _is_narrowed(annotation: Any) -> bool:
    return bool(get_args(annotation)) or isinstance(annotation, types.GenericAlias)


def name_of(named: Any) -> str:
    """Return where a class or function is found, as dotted path.

    Args:
        named: a class, function, type variable or the like. Of a builtin it is the bare name;
            private modules, in which some Pythons keep what others keep in public ones, are left
            out.

    Example:
        >>> name_of(int), name_of(pathlib.PurePath)
        ('int', 'pathlib.PurePath')
    """
    name = getattr(named, "__qualname__", None) or getattr(named, "__name__", None) or str(named)
    module = getattr(named, "__module__", None) or ""
    parts = [part for part in module.split(".") if not part.startswith("_") or part == "__main__"]
    return name if module in ("builtins", "typing") else ".".join([*parts, name])


def text_of_value(value: Any) -> str:
    """Return a value as text by which it can be told from others, in whatever process.

    Equal numbers have the same text, be they int or float; a bool is no number. Sets are sorted,
    dicts by their keys.

    Args:
        value: any value.

    Raises:
        UnstableError: it has none, as an object without a `__fingerprint__` method or a lambda.

    Example:
        >>> text_of_value({"b", "a"}), text_of_value([1.0, None]), text_of_value(max)
        ("{'a', 'b'}", '[1, None]', '<max>')
    """
    try:
        return _text(value)
    except RecursionError:
        raise UnstableError("contains itself, or nests too deeply") from None


def _text(value: Any) -> str:
    kind = type(value)
    if value is None or kind is bool:
        return repr(value)
    if isinstance(value, enum.Enum):
        # The name, but a combination of flags has none on some Pythons.
        named = value.name in kind.__members__
        return f"{name_of(kind)}.{value.name if named else _text(value.value)}"
    for kinds, make in _RULES:
        if isinstance(value, kinds):
            prefix = "" if kind in kinds else name_of(kind)
            return f"{prefix}({make(value)})" if prefix else make(value)
    # What is said of an instance, as by is_dataclass, may be said of its class, too.
    # On Python 3.10 isinstance takes list[int] for a class.
    if issubclass(kind, type | types.FunctionType | types.BuiltinFunctionType):
        return _text_of_named(value)
    if getattr(kind, "__fingerprint__", None) is not None:
        return f"{name_of(kind)}({_text(_own(value))})"
    if dataclasses.is_dataclass(value):
        parts = (f"{each.name}={_text(_held(value, each.name))}" for each in _compared(value))
        return f"{name_of(kind)}({', '.join(parts)})"
    if get_origin(value) is not None:
        return f"<{text_of_type(value)}>"
    raise UnstableError(f"is a {kind.__qualname__}, which has no text that is always the same")


def _compared(value: Any) -> list[dataclasses.Field[Any]]:
    return [each for each in dataclasses.fields(value) if each.compare]


def _own(value: Any) -> Any:
    kind = type(value)
    try:
        return kind.__fingerprint__(value)
    except Exception as error:
        problem = f"is a {kind.__qualname__}, whose __fingerprint__ failed: "
        raise UnstableError(f"{problem}{type(error).__name__}: {error}") from error


def _held(value: Any, name: str) -> Any:
    try:
        return getattr(value, name)
    except AttributeError:
        raise UnstableError(f"is a {type(value).__qualname__} that lacks its {name!r}") from None


def _text_of_named(value: Any) -> str:
    text = name_of(value)
    if "<" in text:
        raise UnstableError(f"is {text}, which has no name under which others would find it")
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        raise UnstableError(f"is the method {text} of an object")
    return f"<{text}>"


def _text_of_int(value: int) -> str:
    # Beyond some digits, at least 640, Python refuses decimal text.
    return int.__repr__(value) if value.bit_length() < 2000 else hex(value)


def _text_of_float(value: float) -> str:
    whole = value.is_integer()  # also false for infinities and NaN
    return _text_of_int(int(value)) if whole else float.__repr__(value)


def _text_of_plain(value: Any) -> str:
    # A subclass is named before it; its own repr may say less.
    base: Any = next(each for each in type(value).__mro__ if each in _PLAIN)
    # Which characters a repr escapes differs between Pythons; what is not ASCII always is here.
    return str(base.__repr__(value)).encode("ascii", "backslashreplace").decode("ascii")


def _listed(opening: str, closing: str) -> Callable[[Any], str]:
    return lambda value: opening + ", ".join(map(_text, value)) + closing


def _text_of_tuple(value: tuple[Any, ...]) -> str:
    return f"({', '.join(map(_text, value))}{',' * (len(value) == 1)})"


def _text_of_set(value: Any) -> str:
    return "{" + ", ".join(sorted(map(_text, value))) + "}" if value else "set()"


def _text_of_mapping(value: Mapping[Any, Any]) -> str:
    items = sorted((_text(key), _text(item)) for key, item in value.items())
    return "{" + ", ".join(f"{key}: {item}" for key, item in items) + "}"


_PLAIN = frozenset({*_TEXT_OF_ITSELF, datetime.datetime})
_Rule = tuple[tuple[type, ...], Callable[[Any], str]]
_RULES: tuple[_Rule, ...] = (
    ((int,), _text_of_int),
    ((float,), _text_of_float),
    ((str,), _text_of_plain),
    (_TEXT_OF_ITSELF[1:], _text_of_plain),
    ((list,), _listed("[", "]")),
    ((tuple,), _text_of_tuple),
    ((set, frozenset), _text_of_set),
    ((dict, types.MappingProxyType), _text_of_mapping),
    ((pathlib.PurePath,), lambda value: f"{name_of(pathlib.PurePath)}({value.as_posix()!a})"),
    ((re.Pattern,), lambda value: f"re.compile({_text(value.pattern)}, {value.flags})"),
)
"""The text of a value, by the classes it is an instance of; a subclass is named before it."""
