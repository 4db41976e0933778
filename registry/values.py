"""Does a value fit its declared type and choices: the one check at every door but the constructor.

What a type accepts is a table of rules, `_RULES`. `int` is taken where `float` is declared,
`bool` never where a number is. A type outside the table is judged by the class it stands for.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from typing_extensions import is_typeddict

from registry.annotations import arg_of
from registry.declaration import Arg
from registry.errors import InvalidValueError, did_you_mean
from registry.instance import require_record, schema_of
from registry.masking import text_of
from registry.store import DerivedField, InputField

__all__ = [
    "check_derived",
    "check_values",
    "described",
    "fits",
    "no_choice",
    "problems_with",
    "validate",
]

_NONE = type(None)
_Predicate = Callable[[Any], bool]


def validate(record: Any) -> None:
    """Check all values of a record against their declared types and choices.

    The constructor does not check, as on any dataclass; publishing does. A default is the
    declaration's own affair and is not checked: `None` for `int` is how some say "unset".

    Args:
        record: an instance of a composed class.

    Raises:
        InvalidValueError: some values do not fit; the message has a line for each, with the
            place of the declaration where that is known.
        ComposeError: it is no composed record (a TypeError).

    Example:
        >>> from registry import Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        >>> validate(compose("Args", [Parallel])(tp_size="8"))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        registry.errors.InvalidValueError: ...: tp_size must be int, not '8' (str)
    """
    require_record(record, "validate()")
    schema = schema_of(type(record))
    declarations = () if schema.source is None else schema.source()
    inputs = {name: field for each in declarations for name, field in each.inputs.items()}
    problems = []
    for spec in dataclasses.fields(schema.cls):
        default = schema.template[spec.name]
        value = getattr(record, spec.name, default)
        if value is not default:
            where = (
                f"{inputs[spec.name].declaration.where(spec.name)}: " if spec.name in inputs else ""
            )
            problems += [where + problem for problem in problems_with(spec.name, spec.type, value)]
    if problems:
        raise InvalidValueError(problems)


def check_values(
    fields: Mapping[str, InputField], values: Mapping[str, Any], *, hidden: bool = False
) -> None:
    """Check some values against the declarations of their fields.

    Args:
        fields: the declarations by name.
        values: the values by name; a name that `fields` lacks is passed over.
        hidden: whether messages leave out the values, as they do those of secrets.

    Raises:
        InvalidValueError: some values do not fit; the message has a line for each, with the
            place of the declaration.
    """
    problems = [
        f"{field.declaration.where(name)}: {problem}"
        for name, value in values.items()
        if (field := fields.get(name)) is not None
        for problem in problems_with(name, field.type, value, hidden)
    ]
    if problems:
        raise InvalidValueError(problems)


def check_derived(field: DerivedField, value: Any, *, hidden: bool = False) -> None:
    """Check a value that a derived field is pinned to, or a run-time fact is given.

    Args:
        field: the declaration; one that states no type takes anything.
        value: the value.
        hidden: whether the message leaves it out.

    Raises:
        InvalidValueError: the value does not fit.
    """
    declared = field.type
    if declared is not None and not fits(value, declared):
        place = field.declaration.where(field.name)
        raise InvalidValueError([f"{place}: {_mismatch(field.name, declared, value, hidden)}"])


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


def problems_with(name: str, annotation: Any, value: Any, hidden: bool = False) -> Iterator[str]:
    """Yield what is wrong with a value for a field, a sentence for each fault.

    Args:
        name: the field.
        annotation: its evaluated type, with its `Arg` if it has one.
        value: the value.
        hidden: whether it must not be shown; a secret never is.
    """
    arg = arg_of(annotation)
    hidden = hidden or (arg is not None and arg.secret)
    if not fits(value, annotation) and not _made_by_parser(arg, annotation, value):
        yield _mismatch(name, annotation, value, hidden)
    elif arg is not None and arg.choices is not None and value is not None:
        items = value if isinstance(value, list | set | frozenset | tuple) else [value]
        for item in items:
            if item not in arg.choices:
                yield no_choice(name, map(str, arg.choices), item, hidden)


def no_choice(name: str, words: Iterable[str], value: Any, hidden: bool = False) -> str:
    """Return the sentence that a value is none of those that a field takes.

    Args:
        name: the field.
        words: what it takes, as an operator writes it.
        value: what was given.
        hidden: whether the value must not be shown.
    """
    words = list(words)
    hint = "" if hidden else did_you_mean(str(value), words)
    shown = "***" if hidden else text_of(value)
    return f"{name} must be one of {', '.join(words)}, not {shown}.{hint}"


def _made_by_parser(arg: Arg | None, annotation: Any, value: Any) -> bool:
    """Tell whether the parser of a field that is declared as text makes such a value of one.

    Such a parser is its own authority: it may make a dict of the text that the type speaks of.
    """
    if arg is None or arg.type_parser is None or not isinstance(value, dict | list):
        return False
    several = arg.nargs not in (None, "?")
    if not fits([""] if several else "", annotation):
        return False
    items = value if several and isinstance(value, list) else [value]
    try:
        texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
        return bool([arg.type_parser(text) for text in texts] == items)
    except Exception:  # whatever it raises, it does not make such a value
        return False


def _mismatch(name: str, annotation: Any, value: Any, hidden: bool) -> str:
    shown = "***" if hidden else text_of(value)
    return f"{name} must be {described(annotation)}, not {shown} ({type(value).__name__})"


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
