"""Annotations, read without evaluating them and evaluated where they were written.

At class creation only the names count (`declared_annotations`); the types are made at first need
(`resolve_annotations`), among the names of the class's own body and module.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Annotated, Any, get_args, get_origin

from registry.anatomy import anatomy_of, problem_with
from registry.declaration import Arg
from registry.errors import AnnotationError, UnresolvedNameError
from registry.source import Origin

if sys.version_info >= (3, 14):
    import annotationlib

__all__ = [
    "arg_of",
    "declared_annotations",
    "resolve_annotations",
    "resolve_return",
]


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
        try:
            return annotationlib.get_annotations(cls, format=annotationlib.Format.STRING)
        except Exception:
            # Python cannot spell all of them unevaluated, such as one with an f-string.
            return _evaluated_without(cls, ())
    # Older Pythons keep the evaluated objects or the text, and must not be asked for others.
    return dict(inspect.get_annotations(cls))


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
    scope: Mapping[str, Any] | None = None
    resolved = {}
    for name, annotation in _evaluable_annotations(cls, fields).items():
        if name not in fields:
            continue
        anatomy = anatomy_of(annotation)
        if anatomy.has_text or _unresolved_metadata(annotation):
            if scope is None:
                scope = _scope_of(cls, origin, fields)
            try:
                annotation = _evaluate(annotation, origin.globals, scope)
            except Exception as error:
                raise _explained(error, cls, origin, name, _as_written(cls, name)) from error
            anatomy = anatomy_of(annotation)
        problem = problem_with(anatomy, annotation)
        if problem is not None:
            subject = f"{cls.__qualname__}.{name}"
            raise AnnotationError(origin.where(name), subject, _as_written(cls, name), problem)
        resolved[name] = annotation
    origin.forget_locals()
    return resolved


def resolve_return(
    function: Callable[..., Any], name: str, cls: type, origin: Origin, fields: Collection[str]
) -> Any:
    """Evaluate what the function of a derived field is annotated to return.

    Args:
        function: the function; what its parameters are annotated with is not looked at.
        name: the derived field.
        cls: the class that declares it.
        origin: where its class statement stands.
        fields: the names of the input fields of `cls`.

    Returns:
        The type object, or None where the function has no such annotation.

    Raises:
        UnresolvedNameError: the annotation needs a name that cannot be found.
        AnnotationError: the annotation does not evaluate for another reason.
    """
    # Imported where it is needed: it would be a tenth of the time that importing us takes.
    from typing_extensions import Format, get_annotations

    annotations = get_annotations(function, format=Format.FORWARDREF)
    if "return" not in annotations:
        return None
    annotation = annotations["return"]
    names: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", origin.globals)
    scope = _scope_of(cls, origin, fields) if names is origin.globals else {}
    try:
        return _evaluate(annotation, names, scope)
    except Exception as error:
        raise _explained(error, cls, origin, name, _text_of(annotation)) from error


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


def _evaluable_annotations(cls: type, fields: Collection[str]) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        return _evaluated_without(cls, fields)
    return declared_annotations(cls)


if sys.version_info >= (3, 14):

    def _evaluated_without(cls: type, hidden: Collection[str]) -> dict[str, Any]:
        """Evaluate lazy annotations in a class body that lacks some names.

        Names that are not there yet become ForwardRefs that remember their scope.
        """
        annotate = cls.__annotate__
        if annotate is None:  # the future import has made them text
            return dict(inspect.get_annotations(cls))
        if isinstance(annotate, types.FunctionType) and annotate.__closure__:
            body = {name: value for name, value in vars(cls).items() if name not in hidden}
            cells = zip(annotate.__code__.co_freevars, annotate.__closure__, strict=True)
            annotate = types.FunctionType(
                annotate.__code__,
                annotate.__globals__,
                closure=tuple(
                    types.CellType(body) if name == "__classdict__" else cell
                    for name, cell in cells
                ),
            )
        form = annotationlib.Format.FORWARDREF
        return annotationlib.call_annotate_function(annotate, form, owner=cls)


def _evaluate(annotation: Any, names: dict[str, Any], scope: Mapping[str, Any]) -> Any:
    # Imported where it is needed, as above.
    from typing_extensions import evaluate_forward_ref, get_type_hints

    for reference in _unresolved_metadata(annotation):
        evaluate_forward_ref(reference, globals=names, locals=scope)
    # A class, since only there get_type_hints accepts what a class body may hold, such as Final.
    holder = type("Holder", (), {"__annotations__": {"it": annotation}})
    hints = get_type_hints(holder, names, scope, include_extras=True)
    if sys.version_info < (3, 11) and anatomy_of(hints["it"]).has_text:
        holder.__annotations__["it"] = _with_references(hints["it"])
        hints = get_type_hints(holder, names, scope, include_extras=True)
    return hints["it"]


def _explained(
    error: Exception, cls: type, origin: Origin, name: str, written: str
) -> AnnotationError:
    subject = f"{cls.__qualname__}.{name}"
    if not isinstance(error, NameError):
        problem = f"does not evaluate to a type: {type(error).__name__}: {error}"
        return AnnotationError(origin.where(name), subject, written, problem)
    problem = f"needs the name {error.name!r}, which neither the class body nor "
    problem += f"{origin.module} has"
    if error.name in origin.imports_for_type_checking():
        problem += "; it is imported under TYPE_CHECKING only, import it unconditionally"
    return UnresolvedNameError(origin.where(name), subject, written, problem)


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


def _scope_of(cls: type, origin: Origin, fields: Collection[str]) -> dict[str, Any]:
    """Return the names that text in a class body can use, besides those of its module."""
    parameters = getattr(cls, "__type_params__", ())
    body = {name: value for name, value in vars(cls).items() if name not in fields}
    return {**origin.locals(), **{each.__name__: each for each in parameters}, **body}


def _unresolved_metadata(annotation: Any) -> list[typing.ForwardRef]:
    """Return the names in metadata that lazy annotations, which put up with them, did not find."""
    if sys.version_info < (3, 14):
        return []
    markers = getattr(annotation, "__metadata__", ())
    parts = [part for each in markers if isinstance(each, Arg) for part in vars(each).values()]
    return [part for part in (*markers, *parts) if isinstance(part, typing.ForwardRef)]


def _as_written(cls: type, name: str) -> str:
    return _text_of(declared_annotations(cls)[name])


def _text_of(annotation: object) -> str:
    return str(getattr(annotation, "__forward_arg__", annotation))
