"""Does a value fit a type: a table of rules, `_RULES`.

`int` is taken where `float` is declared, `bool` never where a number is. A type outside the table
is judged by the class it stands for.
"""

from __future__ import annotations

import collections.abc
import functools
import types
import typing
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from typing_extensions import is_typeddict

__all__ = ["described", "fits"]

_NONE = type(None)
_Predicate = Callable[[Any], bool]


def fits(value: object, annotation: Any) -> bool:
    """Tell whether a value is one of a type.

    Args:
        value: the value.
        annotation: an evaluated annotation.

    Example:
        >>> fits(1, float), fits(True, int), fits([1, "2"], list[int])
        (True, False, False)
    """
    return _predicate(annotation)(value)


def described(annotation: Any) -> str:
    """Return a type as text for messages.

    Args:
        annotation: an evaluated annotation.

    Example:
        >>> described(int | None)
        'int or None'
    """
    if get_origin(annotation) is Annotated:
        return described(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return " or ".join(map(described, get_args(annotation)))
    if get_origin(annotation) is Literal:
        return " or ".join(map(repr, get_args(annotation)))
    if annotation in (None, _NONE):
        return "None"
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation.__qualname__
    return str(annotation).replace("typing.", "")


def _predicate(annotation: Any) -> _Predicate:
    try:
        return _cached_predicate(annotation)
    except TypeError:  # an annotation with unhashable metadata
        return _make_predicate(annotation)


def _make_predicate(annotation: Any) -> _Predicate:
    origin = get_origin(annotation) or annotation
    for kinds, make in _RULES:
        if origin in kinds:
            return make(annotation)
    if isinstance(origin, typing.TypeVar):
        return _one_of(origin.__constraints__ or (origin.__bound__ or Any,))
    for attribute in ("__supertype__", "__value__"):  # NewType, type aliases
        if not isinstance(origin, type) and hasattr(origin, attribute):
            # Looked up when it is needed: an alias may use itself, as one of JSON values does.
            return lambda value: fits(value, getattr(origin, attribute))
    if is_typeddict(origin):
        return _instance_of(dict)
    if isinstance(origin, type) and not _is_opaque_protocol(origin):
        if issubclass(origin, collections.abc.Mapping):
            return _mapping(annotation)
        if issubclass(origin, collections.abc.Collection) and not issubclass(origin, str | bytes):
            return _collection(annotation)
        return _instance_of(origin)
    return _anything


_cached_predicate = functools.lru_cache(maxsize=4096)(_make_predicate)


def _is_opaque_protocol(origin: type) -> bool:
    return getattr(origin, "_is_protocol", False) and not getattr(
        origin, "_is_runtime_protocol", False
    )


def _anything(value: object) -> bool:
    return True


def _instance_of(*classes: type) -> _Predicate:
    return lambda value: isinstance(value, classes)


def _number(*classes: type) -> Callable[[Any], _Predicate]:
    return lambda annotation: (
        lambda value: isinstance(value, classes) and not isinstance(value, bool)
    )


def _inner(annotation: Any) -> _Predicate:
    inner = get_args(annotation)
    return _predicate(inner[0]) if inner else _anything


def _literal(annotation: Any) -> _Predicate:
    # 1 == True, but an operator who may write 1 or 2 may not write true.
    members = [(type(member), member) for member in get_args(annotation)]
    return lambda value: any(type(value) is kind and value == member for kind, member in members)


def _union(annotation: Any) -> _Predicate:
    return _one_of(get_args(annotation))


def _one_of(annotations: Iterable[Any]) -> _Predicate:
    predicates = [_predicate(each) for each in annotations]
    return lambda value: any(predicate(value) for predicate in predicates)


def _collection(annotation: Any) -> _Predicate:
    origin = get_origin(annotation) or annotation
    element = _inner(annotation)
    # A string is a sequence of strings, which is never what list-like settings mean.
    return lambda value: (
        isinstance(value, origin)
        and not isinstance(value, str | bytes)
        and all(map(element, value))
    )


def _tuple(annotation: Any) -> _Predicate:
    if annotation is tuple or annotation is typing.Tuple:  # noqa: UP006  both spell any tuple
        return _instance_of(tuple)
    # Python 3.10 gives the empty tuple type one element, the empty tuple.
    elements = tuple(each for each in get_args(annotation) if each != ())
    if elements and elements[-1] is Ellipsis:
        element = _predicate(elements[0])
        return lambda value: isinstance(value, tuple) and all(map(element, value))
    predicates = [_predicate(each) for each in elements]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(predicates)
        and all(predicate(each) for predicate, each in zip(predicates, value, strict=True))
    )


def _class(annotation: Any) -> _Predicate:
    base = get_args(annotation)[0] if get_args(annotation) else object
    # A base that is no plain class, such as a union or a type variable, is taken on trust.
    if not isinstance(base, type) or get_origin(base) is not None or _is_opaque_protocol(base):
        base = object
    return lambda value: isinstance(value, type) and issubclass(value, base)


def _mapping(annotation: Any) -> _Predicate:
    origin = get_origin(annotation) or annotation
    arguments = get_args(annotation)
    if len(arguments) != 2:
        return _instance_of(origin)
    key, item = map(_predicate, arguments)
    return lambda value: (
        isinstance(value, origin) and all(map(key, value.keys())) and all(map(item, value.values()))
    )


_Rule = tuple[Iterable[Any], Callable[[Any], _Predicate]]

_RULES: tuple[_Rule, ...] = (
    ((Any, object), lambda annotation: _anything),
    ((None, _NONE), lambda annotation: _instance_of(_NONE)),
    ((int,), _number(int)),
    ((float,), _number(int, float)),
    ((complex,), _number(int, float, complex)),
    ((Annotated, typing.Final, typing.ClassVar), _inner),
    ((Literal,), _literal),
    ((Union, types.UnionType), _union),
    ((tuple,), _tuple),
    ((type,), _class),
    ((collections.abc.Callable,), lambda annotation: callable),
)
"""What the types that settings use accept, by the type or what it is a variant of."""
