"""Which namespace a field belongs to, asked of a record, a namespace class or any dataclass.

Reads what others have declared and composed; changes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, overload

from registry.declaration import NS
from registry.errors import ComposeError, UnknownFieldError, did_you_mean
from registry.instance import is_record_class, schema_of
from registry.namespace import NamespaceMeta, declarations_of

__all__ = ["namespace_of"]


@overload
def namespace_of(record_or_class: Any) -> dict[str, str]: ...
@overload
def namespace_of(record_or_class: Any, name: str) -> str: ...
def namespace_of(record_or_class: Any, name: str | None = None) -> dict[str, str] | str:
    """Tell which namespace the fields of a record or class belong to.

    Args:
        record_or_class: a composed record or its class, a subclass of one, a namespace class,
            or any dataclass whose fields are marked with `NS`.
        name: one field; None asks for all.

    Returns:
        The dotted path of the field's namespace; without `name` a dict of all input fields to
        their paths, in order. Fields that are in no namespace are left out. Asked about a
        namespace class by name, it answers for derived fields, too.

    Raises:
        UnknownFieldError: there is no field `name`, or it is in no namespace.
        TypeError: the object is nothing of the above (as ComposeError).

    Example:
        >>> from registry import Namespace, Registry
        >>> class Moe(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "exec.moe"
        ...     moe_runner_backend: str = "auto"
        >>> namespace_of(Moe), namespace_of(Moe, "moe_runner_backend")
        ({'moe_runner_backend': 'exec.moe'}, 'exec.moe')
    """
    cls = record_or_class if isinstance(record_or_class, type) else type(record_or_class)
    if isinstance(cls, NamespaceMeta):
        paths = {each: d.path for d in declarations_of(cls) for each in d.inputs}
        known = {each: d.path for d in declarations_of(cls) for each in d.derived} | paths
    elif dataclasses.is_dataclass(cls):
        paths = known = _paths_of_dataclass(cls)
    else:
        raise ComposeError(
            cls.__qualname__, "is neither a record nor a namespace class nor a dataclass"
        )
    if name is None:
        return paths
    if name in known:
        return known[name]
    if dataclasses.is_dataclass(cls) and name in (spec.name for spec in dataclasses.fields(cls)):
        hint = ' It is in no namespace; a marker such as A[int, NS("bench")] places it in one.'
        raise UnknownFieldError(f"namespace_of({cls.__qualname__})", name, hint)
    raise UnknownFieldError(cls.__qualname__, name, _why_absent(cls, name, known))


def _paths_of_dataclass(cls: type) -> dict[str, str]:
    known = schema_of(cls).namespaces if is_record_class(cls) else {}
    types = {spec.name: spec.type for spec in dataclasses.fields(cls)}
    if any(isinstance(types[name], str) for name in types.keys() - known.keys()):
        # Imported where it is needed: composed records know the answer without it.
        from typing_extensions import get_type_hints

        hints = get_type_hints(cls, include_extras=True)
        types = {name: hints[name] for name in types}
    paths = {name: known.get(name) or _marked_path(types[name]) for name in types}
    return {name: path for name, path in paths.items() if path is not None}


def _marked_path(annotation: object) -> str | None:
    markers = getattr(annotation, "__metadata__", ())
    return next((marker.path for marker in markers if isinstance(marker, NS)), None)


def _why_absent(cls: type, name: str, known: Mapping[str, str]) -> str:
    if is_record_class(cls):
        for each in (schema_of(cls).source or tuple)():
            if name in each.derived:
                return f" It is derived, in the namespace {each.path!r}, and on no record."
    return did_you_mean(name, known)
