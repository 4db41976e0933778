"""Annotations, read without evaluating them and evaluated where they were written.

At class creation only the names count (`declared_annotations`, `special_form`); the types are
made at first need (`resolve_annotations`), among the names of the class's own body and module.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import inspect
import operator
import re
import sys
import types
import typing
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

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
_HEAD = r"\s*([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*(\[)?"
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
        return _get_annotations(cls, "STRING")
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
    if not isinstance(annotation, str):
        core = _core(annotation)
        return None if type(core) in _PLAIN else _anatomy_of(core).form
    match = re.match(_HEAD, annotation)
    if match is None:
        return None
    form = _look_up(match[1], names)
    if form is Annotated and match[2]:
        return special_form(annotation[match.end() :], names)
    return _name_of_form(form)


def _name_of_form(form: object) -> str | None:
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
    scope: dict[str, Any] | None = None
    resolved = {}
    for name, annotation in _evaluable_annotations(cls).items():
        if name not in fields:
            continue
        anatomy = _anatomy_of(_core(annotation))
        if anatomy.has_text:
            if scope is None:
                body = {each: value for each, value in vars(cls).items() if each not in fields}
                scope = {**origin.locals(), **body}
            annotation = _evaluate(cls, origin, name, annotation, scope)
            anatomy = _anatomy_of(_core(annotation))
        problem = _misplaced_arg(anatomy, annotation)
        if problem is not None:
            subject = f"{cls.__qualname__}.{name}"
            raise AnnotationError(origin.where(name), subject, _text_of(annotation), problem)
        resolved[name] = annotation
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
        return _get_annotations(cls, "FORWARDREF")
    return declared_annotations(cls)


def _get_annotations(cls: type, form: str) -> dict[str, Any]:
    # Imported where it is needed: it would be a tenth of the time that importing us takes.
    from typing_extensions import Format, get_annotations

    return get_annotations(cls, format=Format[form])


class _Anatomy:
    """What the structure of a type object says, whoever declares it.

    Attributes:
        form: "ClassVar", "InitVar" or "KW_ONLY" if it marks something other than a field.
        has_text: whether some part of it is still text.
        has_arg: whether some part of it is annotated with an `Arg`.
    """

    __slots__ = ("form", "has_arg", "has_text")

    def __init__(self, form: str | None, has_text: bool, has_arg: bool) -> None:
        self.form = form
        self.has_text = has_text
        self.has_arg = has_arg


def _core(annotation: Any) -> Any:
    """Return the type below the outermost metadata, which differs from field to field."""
    return annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation


# Neither a class nor a union with `|` is a special form, and most fields have one of these.
_PLAIN = (type, types.UnionType)


def _anatomy_of(core: Any) -> _Anatomy:
    if type(core) is type:
        return _NOTHING_SPECIAL
    try:
        return _anatomy(core)
    except TypeError:  # unhashable, such as a Literal of lists
        return _anatomy.__wrapped__(core)


_NOTHING_SPECIAL = _Anatomy(None, False, False)


@functools.lru_cache(maxsize=4096)
def _anatomy(core: Any) -> _Anatomy:
    form = get_origin(core) or core
    if isinstance(form, dataclasses.InitVar):
        form = dataclasses.InitVar
    return _Anatomy(_name_of_form(form), _has_text(core), _has_arg(core))


def _has_text(annotation: object) -> bool:
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


def _has_arg(annotation: object) -> bool:
    markers = getattr(annotation, "__metadata__", ())
    return any(isinstance(marker, Arg) for marker in markers) or any(
        map(_has_arg, get_args(annotation))
    )


def _evaluate(
    cls: type, origin: Origin, name: str, annotation: object, scope: dict[str, Any]
) -> Any:
    # A class, since only there get_type_hints accepts what a class body may hold, such as Final.
    holder = type(cls.__name__, (), {"__annotations__": {name: annotation}})
    subject = f"{cls.__qualname__}.{name}"
    text = annotation if isinstance(annotation, str) else _text_of(annotation)
    # Imported where it is needed, as above.
    from typing_extensions import get_type_hints

    try:
        hints = get_type_hints(holder, origin.globals, scope, include_extras=True)
        if sys.version_info < (3, 11) and _has_text(hints[name]):
            holder.__annotations__[name] = _with_references(hints[name])
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


def _with_references(annotation: Any) -> Any:
    """Mark text inside builtin generics, such as `list["Later"]`, for Python 3.10 to evaluate."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, str):
        return typing.ForwardRef(annotation)
    if isinstance(annotation, list):
        return [_with_references(each) for each in annotation]
    if origin is Annotated:
        return Annotated[(_with_references(arguments[0]), *arguments[1:])]
    if origin in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, map(_with_references, arguments))
    if isinstance(annotation, types.GenericAlias):
        return types.GenericAlias(origin, tuple(map(_with_references, arguments)))
    return annotation


def _text_of(annotation: object) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))


def _misplaced_arg(anatomy: _Anatomy, annotation: Any) -> str | None:
    """Say what is wrong with an `Arg` that would go unread: a second one, or one in the type."""
    if anatomy.has_arg:
        return "has its Arg inside the type; write it outermost: A[int | None, Arg(...)]"
    markers = getattr(annotation, "__metadata__", ())
    if len(markers) > 1 and sum(isinstance(marker, Arg | str) for marker in markers) > 1:
        return "has more than one Arg or bare string; one Arg says it all"
    return None
