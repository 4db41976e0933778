"""`compose()`: from namespaces to one flat record class.

It hands the input half of the declarations to the standard `dataclass` decorator, with
everything it would generate turned off; `instance.Record` does that work.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import keyword
import types
from collections.abc import Iterable, Mapping, Set
from dataclasses import MISSING
from typing import Any

from registry.defaults import Default
from registry.errors import ComposeError, UnknownFieldError, did_you_mean
from registry.inputs import arrange, in_order, listed, merge
from registry.instance import Record, install_schema, is_record_class, schema_of
from registry.lookup import namespace_of
from registry.namespace import NamespaceMeta, check_default, default_registry
from registry.retirement import checked
from registry.schema import Schema, Source, declared_by, init_vars
from registry.store import Declaration, InputField, Registry

__all__ = ["compose"]


def compose(
    cls_name: str,
    namespaces: Iterable[type] | None = None,
    *,
    registry: Registry | None = None,
    order: Iterable[str] = (),
    bases: tuple[type, ...] = (),
    namespace: Mapping[str, Any] | None = None,
    module: str | None = None,
    defaults: Mapping[str, Any] | None = None,
    frozen: bool = False,
    doc: str | None = None,
    retired: Mapping[str, str] | None = None,
) -> type[Any]:
    """Make one flat record class of the input fields of some namespaces.

    The result is a dataclass: `dataclasses.fields`, `asdict`, `replace`, `inspect.signature`,
    pattern matching and `@dataclass` subclasses work as on a hand-written one. Derived fields
    are never on it. Named after `dataclasses.make_dataclass`.

    Args:
        cls_name: name of the class.
        namespaces: namespace classes whose fields the record has, inherited ones included.
            None takes all of the registry.
        registry: where they are declared; None is the default registry, or the one that
            `namespaces` belong to.
        order: field names that come first, in this order: the positional signature. Names
            nobody declares are skipped, the others follow in declaration order. A required
            field that would follow one with a default is keyword-only.
        bases: further base classes. Fields of a dataclass among them come first; a composed
            record among them brings its namespaces and derived fields along.
        namespace: further attributes of the class, such as methods.
        module: `__module__` of the class, under which pickle looks for it; None is the
            caller's.
        defaults: other defaults for this record, by field name; a value or a
            `dataclasses.field(default_factory=...)`, or a `Default`, which says who set it.
        frozen: whether assigning to an instance is refused.
        doc: docstring of the class.
        retired: fields that there were once, each with since when and what to use instead. One
            that `order` has keeps its place, so that no later position changes its meaning.
            Giving a value to one, by position or name, is an error that says so.

    Returns:
        The record class. Bind it to `cls_name` at module level to pickle its instances.

    Raises:
        ComposeError: an argument does not make sense; the message says which.
        UnknownFieldError: `defaults` names a field that nobody declares.
        MutableDefaultError: `defaults` has a value that all records would share.
        DuplicateFieldError: two namespaces of different registries declare the same name.
        AnnotationError: an annotation cannot be evaluated.

    Example:
        >>> from registry import A, Namespace, Registry
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        ...     dp_size: A[int, "Data-parallel replicas."] = 1
        >>> Args = compose("Args", [Parallel], order=["dp_size"])
        >>> Args(2)
        Args(dp_size=2)
    """
    if not isinstance(cls_name, str) or not cls_name.isidentifier() or keyword.iskeyword(cls_name):
        raise ComposeError("compose()", f"{cls_name!r} is no name a class can have")
    if module is None:
        caller = inspect.currentframe().f_back  # type: ignore[union-attr]
        module = caller.f_globals.get("__name__", "__main__") if caller is not None else "__main__"
    bases = _checked_bases(cls_name, bases)
    records = [base for base in bases if isinstance(base, type) and is_record_class(base)]
    own = _own_source(cls_name, namespaces, registry)
    source = functools.partial(
        declared_by, (*(schema_of(each).declarations for each in records), own)
    )
    inherited = _on_records(records)
    entries = _entries(source(), set(own()), inherited)
    origins = {name: each for name, each in (defaults or {}).items() if isinstance(each, Default)}
    values_of = {name: each.value for name, each in origins.items()}
    overrides = _checked_defaults(cls_name, entries, {**(defaults or {}), **values_of})
    gone = checked(cls_name, retired or {}, entries)
    order = order if isinstance(order, str) else tuple(order)
    placed = {
        name: entry
        for name, entry in in_order(entries, order, cls_name).items()
        if name not in inherited or name in overrides
    }
    annotations, values, paths = arrange(placed, overrides, _have_defaults(bases))
    body = {
        **_checked_body(cls_name, namespace or {}, annotations),
        **values,
        "__annotations__": dict(annotations),
        "__module__": module,
        "__doc__": doc or f"{len(annotations)} settings in {len(set(paths.values()))} namespaces.",
    }
    # From 3.13 on the decorator would write this one, and nothing turns that off.
    body.setdefault("__replace__", Record.__replace__)
    if frozen:
        body.setdefault("__hash__", _hash)
    cls = types.new_class(
        cls_name, bases if records else (Record, *bases), {}, lambda ns: ns.update(body)
    )
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen)(cls)
    places = list(order)
    for base in records:
        paths = {**namespace_of(base), **paths}
        gone = {**schema_of(base).retired, **gone}
        places = [*schema_of(base).positional, *places]
    install_schema(cls, Schema(cls, paths, source, gone, places, origins))
    return cls


def _own_source(
    cls_name: str, namespaces: Iterable[type] | None, registry: Registry | None
) -> Source:
    """Return where the declarations to compose are found, now and later."""
    if registry is not None and not isinstance(registry, Registry):
        raise ComposeError(cls_name, f"takes a Registry, not {registry!r}")
    if namespaces is None:
        whole = default_registry if registry is None else registry
        return lambda: whole.declarations
    declarations = tuple(listed(namespaces, cls_name, registry))
    return lambda: declarations


def _entries(
    declarations: Iterable[Declaration], own: Set[Declaration], inherited: Set[str]
) -> dict[str, InputField]:
    """Return the fields to choose from: those of one's own, and those that bases have."""
    return {
        name: entry
        for name, entry in merge(declarations).items()
        if entry.declaration in own or name in inherited
    }


def _on_records(records: Iterable[type]) -> set[str]:
    """Return the fields that record classes have from their own namespaces."""
    schemas = [schema_of(each) for each in records]
    return {
        name
        for schema in schemas
        for name in merge(schema.declarations())
        if name in schema.template
    }


def _checked_bases(cls_name: str, bases: tuple[type, ...]) -> tuple[type, ...]:
    if isinstance(bases, type):
        raise ComposeError(cls_name, f"takes bases as a tuple: ({bases.__qualname__},)")
    for base in bases:
        if isinstance(base, NamespaceMeta):
            raise ComposeError(
                cls_name,
                f"the base {base.__qualname__} is a namespace; pass it in namespaces= instead",
            )
        if dataclasses.is_dataclass(base) and (hidden := init_vars(base)):
            raise ComposeError(
                cls_name,
                f"the base {base.__qualname__} has InitVar {', '.join(hidden)}; "
                "a record holds every input it is given",
            )
    return tuple(bases)


def _checked_defaults(
    cls_name: str, entries: Mapping[str, InputField], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    for name, value in defaults.items():
        if name not in entries:
            hint = did_you_mean(name, entries)
            raise UnknownFieldError(f"{cls_name} (in defaults=)", name, hint)
        default = value
        if isinstance(value, dataclasses.Field):
            if not value.init:
                problem = f"defaults= has field(init=False) for {name!r}, which a caller may give"
                raise ComposeError(cls_name, problem)
            default = value.default
        check_default(default, entries[name].declaration.where, f"{cls_name}.{name}", name)
    return dict(defaults)


def _checked_body(
    cls_name: str, body: Mapping[str, Any], annotations: Mapping[str, Any]
) -> Mapping[str, Any]:
    if "__annotations__" in body:
        problem = "namespace= has annotations; what a caller may give is declared in a namespace"
        raise ComposeError(cls_name, problem)
    for name in body:
        if name in annotations:
            raise ComposeError(
                cls_name,
                f"namespace= has {name!r}, which is a field; pass defaults= for its default",
            )
    return body


def _have_defaults(bases: Iterable[type]) -> bool:
    """Tell whether a base brings a field with a default, behind which all must have one."""
    return any(
        not spec.kw_only and not (spec.default is MISSING and spec.default_factory is MISSING)
        for base in bases
        if dataclasses.is_dataclass(base)
        for spec in dataclasses.fields(base)
    )


def _hash(self: Record) -> int:
    return hash(tuple(getattr(self, name) for name in schema_of(type(self)).hashed))
