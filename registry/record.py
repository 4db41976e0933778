"""From namespaces to one flat record class, and back to the namespace of a field.

`compose()` hands the input half of the declarations to the standard `dataclass` decorator,
with everything it would generate turned off; `instance.Record` does that work.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import keyword
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple, overload

from typing_extensions import get_type_hints

from registry.declaration import NS
from registry.errors import ComposeError, DuplicateFieldError, UnknownFieldError, did_you_mean
from registry.instance import Record, schema_of
from registry.namespace import (
    NamespaceMeta,
    check_default,
    declarations_of,
    default_registry,
    field_options,
)
from registry.schema import Schema
from registry.store import Declaration, DerivedField, InputField, Registry

__all__ = ["InputFields", "collect_input_fields", "compose", "namespace_of"]


class InputFields(NamedTuple):
    """The input half of some namespaces, for those who build their own class.

    Attributes:
        annotations: the evaluated type of every field, metadata included.
        defaults: what a dataclass body would bind the name to: the default, or a
            `dataclasses.field(...)` where it takes more to say it. Fields without are left out.
        namespaces: the dotted path of every field's namespace.
    """

    annotations: Mapping[str, Any]
    defaults: Mapping[str, Any]
    namespaces: Mapping[str, str]


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
    declarations = _declarations(namespaces, "collect_input_fields()")
    entries = _in_order(_merge(declarations), order, "collect_input_fields()")
    return _arrange(entries, {}, False)


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
        bases: further base classes. Fields of a dataclass among them come first.
        namespace: further attributes of the class, such as methods.
        module: `__module__` of the class, under which pickle looks for it; None is the
            caller's.
        defaults: other defaults for this record, by field name; a value or a
            `dataclasses.field(default_factory=...)`.
        frozen: whether assigning to an instance is refused.
        doc: docstring of the class.

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
    source = _source(cls_name, namespaces, registry)
    declarations = source()
    entries = _in_order(_merge(declarations), order, cls_name)
    overrides = _checked_defaults(cls_name, entries, defaults or {})
    annotations, values, paths = _arrange(entries, overrides, _have_defaults(cls_name, bases))
    body = {
        **_checked_body(cls_name, namespace or {}, annotations),
        **values,
        "__annotations__": dict(annotations),
        "__module__": module,
        "__doc__": doc or f"{len(annotations)} settings in {len(set(paths.values()))} namespaces.",
    }
    if frozen:
        body.setdefault("__hash__", _hash)
    if not any(isinstance(base, type) and issubclass(base, Record) for base in bases):
        bases = (Record, *bases)
    cls = types.new_class(cls_name, bases, {}, lambda ns: ns.update(body))
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen)(cls)
    inherited = itertools.chain.from_iterable(
        namespace_of(base).items() for base in reversed(cls.__mro__[1:]) if _is_record(base)
    )
    type.__setattr__(cls, "__record_schema__", Schema(cls, {**dict(inherited), **paths}, source))
    return cls


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
    if name not in known:
        raise UnknownFieldError(cls.__qualname__, name, _why_absent(cls, name, known))
    return known[name]


def _source(
    cls_name: str, namespaces: Iterable[type] | None, registry: Registry | None
) -> Callable[[], tuple[Declaration, ...]]:
    """Return where the declarations to compose are found, now and later."""
    if namespaces is None:
        whole = default_registry if registry is None else registry
        return lambda: whole.declarations
    classes = list(namespaces)
    declarations = tuple(_declarations(classes, cls_name))
    for each in classes:
        owner = each.__ns_registry__  # type: ignore[attr-defined]
        if registry is not None and owner is not registry:
            raise ComposeError(
                cls_name, f"{each.__qualname__} belongs to {owner!r}, not to {registry!r}"
            )
    return lambda: declarations


def _declarations(namespaces: Iterable[type], record: str) -> list[Declaration]:
    if isinstance(namespaces, type):
        raise ComposeError(record, f"takes a list of namespaces: [{namespaces.__qualname__}]")
    found: dict[int, Declaration] = {}
    for each in namespaces:
        if not isinstance(each, NamespaceMeta):
            raise ComposeError(record, f"{each!r} is no Namespace class")
        found.update((id(declaration), declaration) for declaration in declarations_of(each))
    return list(found.values())


def _merge(declarations: Iterable[Declaration]) -> dict[str, InputField]:
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


def _in_order(
    entries: Mapping[str, InputField], order: Iterable[str], record: str
) -> dict[str, InputField]:
    if isinstance(order, str):
        raise ComposeError(record, f"takes order as a list of names: [{order!r}]")
    first = {name: entries[name] for name in order if name in entries}
    return {**first, **entries}


def _checked_defaults(
    cls_name: str, entries: Mapping[str, InputField], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    for name, value in defaults.items():
        if name not in entries:
            hint = did_you_mean(name, entries)
            raise UnknownFieldError(f"{cls_name} (in defaults=)", name, hint)
        default = value.default if isinstance(value, dataclasses.Field) else value
        check_default(default, entries[name].declaration.where, f"{cls_name}.{name}", name)
    return dict(defaults)


def _checked_body(
    cls_name: str, body: Mapping[str, Any], annotations: Mapping[str, Any]
) -> Mapping[str, Any]:
    for name in body:
        if name in annotations:
            raise ComposeError(
                cls_name,
                f"namespace= has {name!r}, which is a field; pass defaults= for its default",
            )
    return body


def _have_defaults(cls_name: str, bases: tuple[type, ...]) -> bool:
    """Tell whether a base brings a field with a default, behind which all must have one."""
    found = False
    for base in bases:
        if not dataclasses.is_dataclass(base):
            continue
        specs = dataclasses.fields(base)
        initials = getattr(base, "__dataclass_fields__", {}).keys() - {s.name for s in specs}
        hidden = [name for name in initials if "ClassVar" not in str(_raw_type(base, name))]
        if hidden:
            raise ComposeError(
                cls_name,
                f"the base {base.__qualname__} has InitVar {', '.join(sorted(hidden))}; "
                "a record holds every input it is given",
            )
        found = found or any(
            not spec.kw_only and not (spec.default is MISSING and spec.default_factory is MISSING)
            for spec in specs
        )
    return found


def _raw_type(cls: type, name: str) -> object:
    return getattr(cls, "__dataclass_fields__")[name].type  # noqa: B009


def _arrange(
    entries: Mapping[str, InputField], overrides: Mapping[str, Any], after_default: bool
) -> InputFields:
    """Say each field as a dataclass body would; required ones after a default by keyword."""
    annotations = {name: entry.type for name, entry in entries.items()}
    namespaces = {name: entry.namespace for name, entry in entries.items()}
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


def _hash(self: Record) -> int:
    return hash(tuple(getattr(self, name) for name in schema_of(type(self)).hashed))


def _is_record(cls: type) -> bool:
    return issubclass(cls, Record) and cls is not Record


def _paths_of_dataclass(cls: type) -> dict[str, str]:
    known = schema_of(cls).namespaces if _is_record(cls) else {}
    paths = {}
    hints: dict[str, Any] | None = None
    for spec in dataclasses.fields(cls):
        path = known.get(spec.name)
        if (path is None and not _is_record(cls)) or (path is None and spec.name not in known):
            if hints is None:
                hints = get_type_hints(cls, include_extras=True)
            path = _marked_path(hints.get(spec.name))
        if path is not None:
            paths[spec.name] = path
    return paths


def _marked_path(annotation: object) -> str | None:
    markers: Iterator[NS] = (
        marker for marker in getattr(annotation, "__metadata__", ()) if isinstance(marker, NS)
    )
    return next((marker.path for marker in markers), None)


def _why_absent(cls: type, name: str, known: Mapping[str, str]) -> str:
    if _is_record(cls):
        for each in (schema_of(cls).source or tuple)():
            if name in each.derived:
                return f" It is derived, in the namespace {each.path!r}, and on no record."
    return did_you_mean(name, known)
