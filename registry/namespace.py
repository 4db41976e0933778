"""The metaclass that registers a class's fields when the class is created, and `Namespace`.

There is no decorator and no second step: a class statement either is a whole declaration or
raises and leaves the registry as it was. Nothing is evaluated here; see `annotations`.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import inspect
import keyword
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING
from types import FrameType
from typing import Annotated, Any, NoReturn, get_origin

from registry.anatomy import special_form
from registry.annotations import declared_annotations
from registry.declaration import Arg, Derived, check_path
from registry.errors import (
    ComposeError,
    DeclarationError,
    FieldDeclarationError,
    MissingPathError,
    MutableDefaultError,
    ReadOnlyError,
)
from registry.rules import Check, Resolver, Rule
from registry.source import Origin
from registry.store import Declaration, DerivedField, InputField, Registry

__all__ = ["Namespace", "NamespaceMeta", "declarations_of", "default_registry"]

default_registry = Registry("default")
"""The registry of every `Namespace` subclass that names no other."""


class NamespaceMeta(abc.ABCMeta):
    """The metaclass of `Namespace`. It derives from ABCMeta so that namespaces mix with ABCs."""

    __ns_registry__: Registry

    def __new__(
        mcls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        *,
        registry: Registry | None = None,
        **keywords: Any,
    ) -> NamespaceMeta:
        """Create the class; `registry` starts a family on another registry."""
        frame = _statement_frame(body.get("__module__"))
        # Python would take the module from the frame that runs type.__new__, which is abc's.
        body = {"__module__": frame.f_globals.get("__name__", "__main__"), **body}
        cls = super().__new__(mcls, name, bases, body, **keywords)
        origin = Origin(frame, cls.__module__, cls.__qualname__)
        own = _registry_for(cls, bases, registry, origin)
        if own is not None:
            type.__setattr__(cls, "__ns_registry__", own)
            declaration = _declare(cls, body, origin)
            if declaration is not None:
                type.__setattr__(cls, "__ns_declaration__", declaration)
                own.register(declaration)
        return cls

    def __init__(
        cls,
        name: str,
        bases: tuple[type, ...],
        body: dict[str, Any],
        *,
        registry: Registry | None = None,
        **keywords: Any,
    ) -> None:
        super().__init__(name, bases, body, **keywords)

    def __call__(cls, *args: Any, **keywords: Any) -> NoReturn:
        """Refuse to make an instance: a namespace declares, a record holds values."""
        raise ComposeError(
            cls.__qualname__,
            "a namespace class has no instances; build a record class with "
            f"compose('Settings', [{cls.__name__}]) and call that",
        )

    def __setattr__(cls, name: str, value: Any) -> None:
        """Refuse to change a declared field, which records already made would not notice."""
        _refuse_change(cls, name)
        super().__setattr__(name, value)

    def __delattr__(cls, name: str) -> None:
        """Refuse to remove a declared field, as `__setattr__` does."""
        _refuse_change(cls, name)
        super().__delattr__(name)


def declarations_of(cls: type) -> Iterator[Declaration]:
    """Yield what a namespace class and its bases declare, the bases first.

    Args:
        cls: any class; one that is no namespace yields nothing.
    """
    for base in reversed(cls.__mro__):
        declaration = base.__dict__.get("__ns_declaration__")
        if declaration is not None:
            yield declaration


def _refuse_change(cls: type, name: str) -> None:
    advice = None
    for declaration in declarations_of(cls):
        if name == "_NS_PATH":
            advice = "give a subclass a path of its own"
        elif name in declaration.inputs:
            advice = "pass compose(..., defaults={...}) for another default"
        elif name in declaration.derived:
            advice = "a configuration takes another value with context.override(...)"
    if advice is not None:
        raise ReadOnlyError(f"the declaration of {cls.__qualname__}", name, advice)


def _statement_frame(module: str | None) -> FrameType:
    """Find the frame of the class statement, past the metaclasses between it and here."""
    callers = []
    frame = inspect.currentframe().f_back  # type: ignore[union-attr]
    while frame is not None:
        name = frame.f_globals.get("__name__")
        if name not in {"abc", "types"} and not _is_in_metaclass(frame):
            if name == module:
                return frame
            callers.append(frame)
        frame = frame.f_back
    return callers[0]


def _is_in_metaclass(frame: FrameType) -> bool:
    code = frame.f_code
    first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    return isinstance(first, type) and issubclass(first, NamespaceMeta)


def _registry_for(
    cls: type, bases: tuple[type, ...], given: Registry | None, origin: Origin
) -> Registry | None:
    inherited = {
        id(base.__ns_registry__): base.__ns_registry__
        for base in bases
        if isinstance(base, NamespaceMeta)
    }
    if given is not None and not isinstance(given, Registry):
        problem = f"has registry={given!r}; pass a Registry, such as Registry('train')"
        raise DeclarationError(str(origin), cls.__qualname__, problem)
    if given is not None:
        return given
    if len(inherited) > 1:
        names = ", ".join(repr(each) for each in inherited.values())
        problem = f"inherits from namespaces of several registries ({names}); say which: registry="
        raise DeclarationError(str(origin), cls.__qualname__, problem)
    return next(iter(inherited.values()), default_registry)


_MARKS = (Derived, Rule)


def _declare(cls: type, body: Mapping[str, Any], origin: Origin) -> Declaration | None:
    """Read one class body; None for a mixin."""
    annotations = _annotations_of(cls, origin)
    annotations.pop("_NS_PATH", None)
    others = {name: value for name, value in body.items() if name not in annotations}
    names = collections.ChainMap(others, dict(origin.locals()), origin.globals)
    fields = []
    for name, annotation in annotations.items():
        form = special_form(annotation, names)
        if form == "ClassVar" or _is_dunder(name):
            continue
        if form is not None or keyword.iskeyword(name) or not name.isidentifier():
            _refuse_form(cls, origin, name, form)
        fields.append(name)
    marked = {name: each for name, each in body.items() if isinstance(each, _MARKS)}
    derived = {name: each for name, each in marked.items() if isinstance(each, Derived)}
    rules = {name: each for name, each in marked.items() if isinstance(each, Rule)}
    path = getattr(cls, "_NS_PATH", None)
    if path is None and not fields and not derived and not rules:
        _check_unannotated(cls, origin, body, annotations)
        return None
    if path is None:
        raise MissingPathError(
            str(origin),
            cls.__qualname__,
            f"declares {', '.join([*fields, *derived, *rules])} but has no path; "
            f'add the line _NS_PATH = "{cls.__name__.lower()}"',
        )
    declaration = Declaration(cls, check_path(path, str(origin), cls.__qualname__), origin)
    _check_unannotated(cls, origin, body, annotations)
    for name in fields:
        declaration.inputs[name] = _input_field(declaration, name, body.get(name, MISSING))
    for name, value in derived.items():
        declaration.derived[name] = DerivedField(name, declaration, value)
    for name, rule in rules.items():
        if isinstance(rule, Resolver):
            declaration.resolvers[name] = rule
        elif isinstance(rule, Check):
            declaration.checks[name] = rule
    return declaration


def _annotations_of(cls: type, origin: Origin) -> dict[str, Any]:
    try:
        return declared_annotations(cls)
    except Exception as error:  # on Python 3.14 only; earlier ones raise it in the class body
        problem = f"has an annotation that does not evaluate: {type(error).__name__}: {error}"
        raise DeclarationError(str(origin), cls.__qualname__, problem) from error


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _refuse(cls: type, origin: Origin, name: str, problem: str) -> NoReturn:
    raise FieldDeclarationError(origin.where(name), f"{cls.__qualname__}.{name}", problem)


def _refuse_form(cls: type, origin: Origin, name: str, form: str | None) -> NoReturn:
    if form == "InitVar":
        _refuse(
            cls,
            origin,
            name,
            "is an InitVar; a record holds every input it is given, so that it can be pickled "
            "and compared. Declare it as a plain field",
        )
    if form == "KW_ONLY":
        _refuse(
            cls,
            origin,
            name,
            "is the KW_ONLY marker; the order of a record is chosen by compose(order=...). Use "
            "field(kw_only=True) for one field",
        )
    _refuse(
        cls,
        origin,
        name,
        f"is no name an attribute can have; call it {name}_ and give its flag with "
        f'Arg(cli_name="--{name}")',
    )


def _check_unannotated(
    cls: type, origin: Origin, body: Mapping[str, Any], annotations: Mapping[str, Any]
) -> None:
    inputs = {name for each in declarations_of(cls) for name in each.inputs}
    derived = {name for each in declarations_of(cls) for name in each.derived}
    for name, value in body.items():
        if name in annotations:
            continue
        if isinstance(value, dataclasses.Field | Arg) or get_origin(value) is Annotated:
            _refuse(
                cls,
                origin,
                name,
                "has no annotation, so it would not become a field; "
                f"write {name}: A[int, Arg(...)] = default",
            )
        if name in inputs and not isinstance(value, Derived):
            _refuse(
                cls,
                origin,
                name,
                "has no annotation and hides an inherited field, whose default it would not "
                f"change; pass compose(..., defaults={{{name!r}: ...}})",
            )
        if name in derived and not isinstance(value, Derived):
            _refuse(
                cls,
                origin,
                name,
                "hides an inherited derived field, whose value it would not change; "
                "derive one of another name",
            )


_NO_OPTIONS: Mapping[str, Any] = types.MappingProxyType({})

# The defaults that most fields have, and that nothing has to be asked about.
_SIMPLE = (type(None), bool, int, float, str)


def _input_field(declaration: Declaration, name: str, default: Any) -> InputField:
    if default is MISSING or type(default) in _SIMPLE:
        return InputField(name, declaration, default, MISSING, _NO_OPTIONS)
    cls, origin = declaration.cls, declaration.origin
    if isinstance(default, Derived):
        _refuse(cls, origin, name, "is derived and has an annotation; a derived field has none")
    if isinstance(default, Arg) or get_origin(default) is Annotated:
        _refuse(
            cls,
            origin,
            name,
            f"has its Arg as default; it belongs in the annotation: {name}: A[int, Arg(...)]",
        )
    if isinstance(default, property):
        _refuse(cls, origin, name, "is a property and has an annotation; use @derived for it")
    if not isinstance(default, dataclasses.Field):
        check_default(default, origin.where, f"{cls.__qualname__}.{name}", name)
        return InputField(name, declaration, default, MISSING, _NO_OPTIONS)
    if not default.init:
        _refuse(cls, origin, name, "is field(init=False); what nobody can give is @derived")
    # As on a dataclass, the class attribute answers with the default, not with the Field.
    if default.default is MISSING:
        type.__delattr__(cls, name)
    else:
        check_default(default.default, origin.where, f"{cls.__qualname__}.{name}", name)
        type.__setattr__(cls, name, default.default)
    return InputField(
        name, declaration, default.default, default.default_factory, field_options(default)
    )


def check_default(default: Any, where: Any, subject: str, name: str) -> None:
    """Refuse a default that all records would share and could change.

    Args:
        default: the default value.
        where: a function that gives `file:line` for a field's name.
        subject: the field, for the message.
        name: the field's name.

    Raises:
        MutableDefaultError: its class is unhashable, which dataclasses take for mutable, too.
    """
    if type(default).__hash__ is None:
        kind = type(default).__name__
        factory = f"lambda: {kind}(...)"
        if isinstance(default, list | dict | set):
            factory = f"lambda: {default!r}" if default else kind
        raise MutableDefaultError(
            where(name),
            subject,
            f"has the mutable default {default!r}, which all records would share; "
            f"use field(default_factory={factory})",
        )


def field_options(field: dataclasses.Field[Any]) -> dict[str, Any]:
    """Return what was given to `dataclasses.field()` besides the default.

    Args:
        field: the field object, from a class body or from `defaults`.
    """
    plain = dataclasses.field()
    return {
        name: value
        for name in ("repr", "hash", "compare", "metadata", "kw_only")
        if (value := getattr(field, name)) != getattr(plain, name) and value is not MISSING
    }


class Namespace(metaclass=NamespaceMeta):
    """Base of all namespaces: a subclass with `_NS_PATH` declares the fields of one.

    Annotated names are input fields, names bound to `@derived` or `Derived(...)` are derived
    fields. They are registered when the class is created. A subclass without `_NS_PATH` of its
    own adds fields to its parent's namespace. The class keyword `registry=` starts a family
    on another registry than the default one; subclasses follow.

    Raises:
        RegistryError: the class statement is no valid declaration; one subclass for each
            thing that can be wrong.

    Example:
        >>> from registry import A, Registry, compose, namespace_of
        >>> class Optimizer(Namespace, registry=Registry("train")):
        ...     _NS_PATH = "optimizer"
        ...     learning_rate: A[float, "Step size."] = 3e-4
        >>> namespace_of(compose("TrainArgs", [Optimizer]))
        {'learning_rate': 'optimizer'}
    """
