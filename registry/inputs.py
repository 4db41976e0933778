"""The input half of some namespaces, in record order: what a record class is made of.

Knows nothing of record classes, so that others can build their own from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from typing import Any

from registry.errors import ComposeError, DuplicateFieldError
from registry.namespace import NamespaceMeta, declarations_of, field_options
from registry.store import Declaration, DerivedField, InputField, Registry

__all__ = ["InputFields", "arrange", "collect_input_fields", "in_order", "listed", "merge"]


class InputFields:
    """The input half of some namespaces, for those who build their own class.

    It unpacks: `annotations, defaults, namespaces = collect_input_fields([...])`.

    Attributes:
        annotations: the evaluated type of every field, metadata included.
        defaults: what a dataclass body would bind the name to: the default, or a
            `dataclasses.field(...)` where it takes more to say it. Fields without are left out.
        namespaces: the dotted path of every field's namespace.
    """

    __slots__ = ("annotations", "defaults", "namespaces")

    def __init__(
        self,
        annotations: Mapping[str, Any],
        defaults: Mapping[str, Any],
        namespaces: Mapping[str, str],
    ) -> None:
        self.annotations = annotations
        self.defaults = defaults
        self.namespaces = namespaces

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter((self.annotations, self.defaults, self.namespaces))


def collect_input_fields(namespaces: Iterable[type], order: Iterable[str] = ()) -> InputFields:
    """Return the input half of some namespaces in record order.

    Args:
        namespaces: namespace classes. The fields that a class inherits come along.
        order: names that come first, in this order; those nobody declares are skipped. The
            others follow in declaration order.

    Returns:
        Three mappings by field name, all in record order. A required field that would follow
        one with a default is `field(kw_only=True)` in `defaults`.

    Raises:
        ComposeError: an entry of `namespaces` is no namespace class, or `order` is one string.
        DuplicateFieldError: two namespaces of different registries declare the same name.
        AnnotationError: an annotation cannot be evaluated.

    Example:
        >>> from registry import Namespace, Registry
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        >>> fields = collect_input_fields([Parallel])
        >>> fields.annotations, fields.defaults, fields.namespaces
        ({'tp_size': <class 'int'>}, {'tp_size': 1}, {'tp_size': 'parallel'})
    """
    declarations = listed(namespaces, "collect_input_fields()")
    entries = in_order(merge(declarations), order, "collect_input_fields()")
    return arrange(entries, {}, False)


def listed(
    namespaces: Iterable[type], record: str, registry: Registry | None = None
) -> list[Declaration]:
    """Return what some namespace classes declare, what they inherit included.

    Args:
        namespaces: the classes.
        record: what they are for, in messages.
        registry: where all of them must be declared; None leaves it open.

    Raises:
        ComposeError: one is no namespace class, belongs to another registry, or is there as
            it was before its module ran again and as it is since.
    """
    if isinstance(namespaces, type):
        raise ComposeError(record, f"takes a list of namespaces: [{namespaces.__qualname__}]")
    found: list[Declaration] = []
    for each in namespaces:
        if not isinstance(each, NamespaceMeta):
            raise ComposeError(record, f"{each!r} is no Namespace class")
        if registry not in (None, each.__ns_registry__):
            raise ComposeError(
                record,
                f"{each.__qualname__} belongs to {each.__ns_registry__!r}, not to {registry!r}",
            )
        for new in declarations_of(each):
            if new in found:
                continue
            if any(new.is_rerun_of(other) for other in found):
                raise ComposeError(
                    record,
                    f"{new} ({new.where()}) is there twice, from two runs of its class statement; "
                    "after a reload, import it anew and reload what derives from it",
                )
            found.append(new)
    return found


def merge(declarations: Iterable[Declaration]) -> dict[str, InputField]:
    """Return the input fields of some declarations by name.

    Args:
        declarations: the class statements, each once.

    Raises:
        DuplicateFieldError: two of them declare the same name, be it input or derived.
    """
    merged: dict[str, InputField | DerivedField] = {}
    for declaration in declarations:
        for field in declaration.fields():
            other = merged.setdefault(field.name, field)
            if other is not field:
                first = f"{other.declaration} ({other.declaration.where(field.name)})"
                raise DuplicateFieldError(
                    field.name, first, str(declaration), declaration.where(field.name)
                )
    return {name: field for name, field in merged.items() if isinstance(field, InputField)}


def in_order(
    entries: Mapping[str, InputField], order: Iterable[str], record: str
) -> dict[str, InputField]:
    """Return the fields, those named in `order` first.

    Args:
        entries: the fields by name, in declaration order.
        order: the names that come first; those that `entries` lacks are skipped.
        record: what they are for, in messages.

    Raises:
        ComposeError: `order` is one string.
    """
    if isinstance(order, str):
        raise ComposeError(record, f"takes order as a list of names: [{order!r}]")
    first = {name: entries[name] for name in order if name in entries}
    return {**first, **entries}


def arrange(
    entries: Mapping[str, InputField], overrides: Mapping[str, Any], after_default: bool
) -> InputFields:
    """Say each field as a dataclass body would; required ones after a default by keyword.

    Args:
        entries: the fields by name, in record order.
        overrides: other defaults by name, a value or a `dataclasses.field(...)`.
        after_default: whether a field with a default comes before all of them.
    """
    declarations = {id(entry.declaration): entry.declaration for entry in entries.values()}
    types = {name: kind for each in declarations.values() for name, kind in each.types.items()}
    annotations = {name: types[name] for name in entries}
    namespaces = {name: entry.declaration.path for name, entry in entries.items()}
    defaults: dict[str, Any] = {}
    for name, entry in entries.items():
        default, factory, options = entry.default, entry.default_factory, entry.options
        if name in overrides:
            given: Any = overrides[name]
            default, factory = given, MISSING
            if isinstance(given, dataclasses.Field):
                options = {**options, **field_options(given)}
                default, factory = given.default, given.default_factory
        keyword_only = options.get("kw_only", False)
        if default is MISSING and factory is MISSING:
            if after_default and not keyword_only:
                options = {**options, "kw_only": True}
        elif not keyword_only:
            after_default = True
        if options or factory is not MISSING:
            parts: dict[str, Any] = {"default": default, "default_factory": factory, **options}
            defaults[name] = dataclasses.field(
                **{key: value for key, value in parts.items() if value is not MISSING}
            )
        elif default is not MISSING:
            defaults[name] = default
    return InputFields(annotations, defaults, namespaces)
