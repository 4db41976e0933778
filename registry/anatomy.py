"""What the structure of an annotation says, without evaluating it.

An annotation is text or a type object; the same questions are asked of both, of some hundreds
of fields that share a few dozen types. Knows nothing of where an annotation was written.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import re
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin

from registry.declaration import Arg

__all__ = ["Anatomy", "anatomy_of", "problem_with", "special_form"]

_SPECIAL_FORMS: dict[str, object] = {
    "ClassVar": ClassVar,
    "InitVar": dataclasses.InitVar,
    "KW_ONLY": dataclasses.KW_ONLY,
    "Annotated": Annotated,
}
_HEAD = r"[\s'\"]*([^\W\d]\w*(?:\s*\.\s*[^\W\d]\w*)*)\s*(\[)?"
_UNDEFINED = object()


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
        if isinstance(core, typing.ForwardRef):
            return special_form(core.__forward_arg__, names)
        plain = type(core) in _PLAIN and core is not dataclasses.InitVar
        return None if plain else anatomy_of(core).form
    match = re.match(_HEAD, annotation)
    if match is None:
        return None
    form = _look_up(match[1], names)
    if form is Annotated and match[2]:
        return special_form(annotation[match.end() :], names)
    return _name_of_form(form)


class Anatomy:
    """What the structure of a type object says, whoever declares it.

    Attributes:
        form: "ClassVar", "InitVar" or "KW_ONLY" if it marks something other than a field.
        has_text: whether some part of it is still text.
        has_arg: whether some part of it is annotated with an `Arg`.
        is_type: whether it can be a type at all, unlike a number or a function.
    """

    __slots__ = ("form", "has_arg", "has_text", "is_type")

    def __init__(self, form: str | None, has_text: bool, has_arg: bool, is_type: bool) -> None:
        self.form = form
        self.has_text = has_text
        self.has_arg = has_arg
        self.is_type = is_type


def anatomy_of(annotation: Any) -> Anatomy:
    """Return what there is to know of a type object, below its outermost metadata.

    Args:
        annotation: a type object or text.

    Example:
        >>> anatomy_of(list["Later"]).has_text
        True
    """
    core = _core(annotation)
    if type(core) is type and core is not dataclasses.InitVar:
        return _NOTHING_SPECIAL
    try:
        return _anatomy(core)
    except TypeError:  # unhashable, such as a Literal of lists
        return _anatomy.__wrapped__(core)


def problem_with(anatomy: Anatomy, annotation: Any) -> str | None:
    """Say why an evaluated annotation is no type, or has an `Arg` that would go unread.

    Args:
        anatomy: what `anatomy_of` returns for it.
        annotation: the type object, metadata included.

    Returns:
        The rest of a sentence that begins with the annotation, or None where all is well.

    Example:
        >>> problem_with(anatomy_of(3), 3)
        'does not evaluate to a type, but to 3'
    """
    if not anatomy.is_type:
        return f"does not evaluate to a type, but to {_core(annotation)!r}"
    if anatomy.form is not None:
        return f"is a {anatomy.form}, by a name that was not there when the class was created"
    if anatomy.has_arg:
        return "has its Arg inside the type; write it outermost: A[int | None, Arg(...)]"
    markers = getattr(annotation, "__metadata__", ())
    if len(markers) > 1 and sum(isinstance(marker, Arg | str) for marker in markers) > 1:
        return "has more than one Arg or bare string; one Arg says it all"
    return None


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


def _core(annotation: Any) -> Any:
    """Return the type below the outermost metadata, which differs from field to field."""
    return annotation.__origin__ if hasattr(annotation, "__metadata__") else annotation


# Neither a class nor a union with `|` is a special form, and most fields have one of these.
_PLAIN = (type, types.UnionType)

# What is written where a type belongs by mistake, such as the function `any`. Python takes all.
_NO_TYPE: tuple[type, ...] = (
    *(bool, int, float, complex, bytes, tuple, list, dict, set, frozenset),
    *(types.ModuleType, types.FunctionType, types.BuiltinFunctionType),
)

_NOTHING_SPECIAL = Anatomy(None, has_text=False, has_arg=False, is_type=True)


@functools.lru_cache(maxsize=4096)
def _anatomy(core: Any) -> Anatomy:
    form = get_origin(core) or core
    if isinstance(form, dataclasses.InitVar):
        form = dataclasses.InitVar
    is_type = not isinstance(core, _NO_TYPE)
    return Anatomy(_name_of_form(form), _has_text(core), _has_arg(core), is_type)


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
