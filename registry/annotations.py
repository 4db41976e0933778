"""Annotations, read without evaluating them and evaluated where they were written.

At class creation only the names count (`declared_annotations`, `special_form`); the types are
made at first need (`resolve_annotations`), among the names of the class's own body and module.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import re
import sys
import typing
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from typing_extensions import (
    Format,
    get_annotations,
    get_type_hints,
)

from registry.declaration import Arg
from registry.errors import AnnotationError, UnresolvedNameError
from registry.source import Origin

__all__ = [
    "arg_of",
    "declared_annotations",
    "resolve_annotations",
    "special_form",
]

_SPECIAL_FORMS: dict[str, object] = {
    "ClassVar": ClassVar,
    "InitVar": dataclasses.InitVar,
    "KW_ONLY": dataclasses.KW_ONLY,
    "Annotated": Annotated,
}
_HEAD = re.compile(r"\s*([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*(\[)?")
_UNDEFINED = object()


def declared_annotations(cls: type) -> dict[str, Any]:
    """Return the annotations in the body of one class, none of them evaluated.

    Args:
        cls: any class. What its bases annotate is not included.

    Returns:
        By name: the text, where annotations are lazy or postponed, otherwise the object.

    Example:
        >>> class Point:
        ...     x: Undefined
        >>> declared_annotations(Point)
        {'x': 'Undefined'}
    """
    if sys.version_info >= (3, 14):
        return get_annotations(cls, format=Format.STRING)
    # Older Pythons keep the evaluated objects or the text, and must not be asked for others.
    return dict(inspect.get_annotations(cls))


def special_form(annotation: object, names: Mapping[str, Any]) -> str | None:
    """Tell whether an annotation marks something other than a field.

    Args:
        annotation: an annotation as `declared_annotations` gives it.
        names: the names in sight of the class.

    Returns:
        "ClassVar", "InitVar", "KW_ONLY", or None for a field. Text is judged by the object its
        first name stands for, whatever it was imported as; a name nobody can see, such as one
        imported for type checking only, by its spelling.

    Example:
        >>> special_form("t.ClassVar[int]", {"t": typing})
        'ClassVar'
    """
    if isinstance(annotation, str):
        match = _HEAD.match(annotation)
        if match is None:
            return None
        form = _look_up(match[1], names)
        if form is Annotated and match[2]:
            return special_form(annotation[match.end() :], names)
    else:
        if get_origin(annotation) is Annotated:
            return special_form(get_args(annotation)[0], names)
        form = get_origin(annotation) or annotation
        if isinstance(form, dataclasses.InitVar):
            form = dataclasses.InitVar
    return next(
        (name for name in ("ClassVar", "InitVar", "KW_ONLY") if form is _SPECIAL_FORMS[name]), None
    )


def _look_up(dotted: str, names: Mapping[str, Any]) -> object:
    first, *rest = (part.strip() for part in dotted.split("."))
    found = names.get(first, getattr(builtins, first, _UNDEFINED))
    if found is _UNDEFINED:
        return _SPECIAL_FORMS.get((first, *rest)[-1], _UNDEFINED)
    for part in rest:
        found = getattr(found, part, _UNDEFINED)
    return found


def resolve_annotations(cls: type, origin: Origin, fields: Collection[str]) -> dict[str, Any]:
    """Evaluate the annotations of a class's fields.

    Args:
        cls: the class that declares them.
        origin: where its class statement stands.
        fields: the names of its fields. They are no names an annotation can use: a field
            called `type` does not hide the builtin from `type[int]`.

    Returns:
        The type objects by name, metadata included. Strings nested in them, such as
        `list["Later"]`, are evaluated, too.

    Raises:
        UnresolvedNameError: an annotation needs a name that cannot be found.
        AnnotationError: an annotation does not evaluate for another reason, or has its `Arg`
            where nothing would read it.
    """
    body = {name: value for name, value in vars(cls).items() if name not in fields}
    scope = {**origin.locals(), **body}
    resolved = {}
    for name, annotation in _evaluable_annotations(cls).items():
        if name not in fields:
            continue
        if not _has_text(annotation):
            resolved[name] = annotation
        else:
            resolved[name] = _evaluate(cls, origin, name, annotation, scope)
        _check_markers(cls, origin, name, resolved[name])
    origin.forget_locals()
    return resolved


def arg_of(annotation: object) -> Arg | None:
    """Return what an evaluated annotation says to the operator.

    Args:
        annotation: a type object with its metadata.

    Returns:
        Its `Arg`, one made of its bare string, or None where it has neither.

    Example:
        >>> from registry import A
        >>> arg_of(A[int, "Width in ranks."])
        Arg(help='Width in ranks.')
    """
    for marker in getattr(annotation, "__metadata__", ()):
        if isinstance(marker, Arg):
            return marker
        if isinstance(marker, str):
            return Arg(help=marker)
    return None


def _evaluable_annotations(cls: type) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        # Names that are not there yet become ForwardRefs that remember their scope.
        return get_annotations(cls, format=Format.FORWARDREF)
    return declared_annotations(cls)


def _has_text(annotation: object) -> bool:
    """Tell whether some part of an annotation is still text."""
    if isinstance(annotation, str | typing.ForwardRef):
        return True
    origin = get_origin(annotation)
    if origin is None or origin is Literal:
        return False
    # The metadata of Annotated follows its type and is data, not annotation.
    parts = get_args(annotation)[:1] if origin is Annotated else get_args(annotation)
    return any(
        any(map(_has_text, part)) if isinstance(part, list) else _has_text(part) for part in parts
    )


def _evaluate(
    cls: type, origin: Origin, name: str, annotation: object, scope: dict[str, Any]
) -> Any:
    # A class, since only there get_type_hints accepts what a class body may hold, such as Final.
    holder = type(cls.__name__, (), {"__annotations__": {name: annotation}})
    subject = f"{cls.__qualname__}.{name}"
    text = annotation if isinstance(annotation, str) else _text_of(annotation)
    try:
        hints = get_type_hints(holder, origin.globals, scope, include_extras=True)
    except NameError as error:
        problem = f"needs the name {error.name!r}, which neither the class body nor "
        problem += f"{origin.module} has"
        if error.name in origin.imports_for_type_checking():
            problem += "; it is imported under TYPE_CHECKING only, import it unconditionally"
        raise UnresolvedNameError(origin.where(name), subject, text, problem) from error
    except Exception as error:
        problem = f"does not evaluate to a type: {type(error).__name__}: {error}"
        raise AnnotationError(origin.where(name), subject, text, problem) from error
    return hints[name]


def _text_of(annotation: object) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))


def _check_markers(cls: type, origin: Origin, name: str, annotation: object) -> None:
    """Refuse an `Arg` that would go unread: a second one, or one inside the type."""
    markers = getattr(annotation, "__metadata__", ())
    readable = [marker for marker in markers if isinstance(marker, Arg | str)]
    if len(readable) > 1:
        problem = "has more than one Arg or bare string; one Arg says it all"
    elif any(map(_has_arg, get_args(annotation))):
        problem = "has its Arg inside the type; write it outermost: A[int | None, Arg(...)]"
    else:
        return
    subject = f"{cls.__qualname__}.{name}"
    raise AnnotationError(origin.where(name), subject, _text_of(annotation), problem)


def _has_arg(annotation: object) -> bool:
    markers = getattr(annotation, "__metadata__", ())
    return any(isinstance(marker, Arg) for marker in markers) or any(
        map(_has_arg, get_args(annotation))
    )
