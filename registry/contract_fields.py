"""What a contract says of one field: plain values, the same on every Python.

A key stands only where there is something to say.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import enum
import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any, Literal, get_args, get_origin

from registry.annotations import arg_of
from registry.canonical import UnstableError, name_of, text_of_type, text_of_value
from registry.cli_choices import word_of
from registry.cli_keys import MergeKeys
from registry.cli_rules import kind_of
from registry.cli_types import flags_of, options_of
from registry.declaration import Arg
from registry.derivation import Derivation
from registry.errors import RegistryError
from registry.schema import Schema
from registry.store import DerivedField

__all__ = ["described_derived", "described_inputs", "stand_in"]


def described_inputs(schema: Schema) -> dict[str, dict[str, Any]]:
    """Return what there is to know of the input fields of a record, by name.

    Args:
        schema: the schema of the record class.
    """
    came_with = {
        name: _came_with(each.plugin)
        for each in (schema.source or tuple)()
        if each.plugin
        for name in each.inputs
    }
    return {
        spec.name: _input(schema, spec) | came_with.get(spec.name, {})
        for spec in dataclasses.fields(schema.cls)
    }


def described_derived(schema: Schema) -> dict[str, dict[str, Any]]:
    """Return what there is to know of the derived fields of a record, by name.

    Args:
        schema: the schema of the record class.
    """
    derived = {
        name: field for each in schema.declarations() for name, field in each.derived.items()
    }
    reads = _trial(schema, derived)
    return {name: _derived(field, sorted(reads.get(name, ()))) for name, field in derived.items()}


def stand_in(annotation: Any) -> Any:
    """Return a value of a type, for a required field that nobody gave one.

    Args:
        annotation: an evaluated annotation. One of its choices, an empty collection, 1, "x" or the
            like; None for a type that none of these is of.
    """
    arg = arg_of(annotation)
    if arg is not None and arg.choices:
        return next(iter(arg.choices))
    for member in kind_of(annotation).members:
        if get_origin(member) is Literal:
            return get_args(member)[0]
        kind = get_origin(member) or member
        if kind in _STAND_INS:
            return _STAND_INS[kind]()
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return next(iter(kind))
    return None


_STAND_INS: dict[Any, Callable[[], Any]] = {
    bool: lambda: False,
    int: lambda: 1,
    float: lambda: 1.0,
    str: lambda: "x",
    list: list,
    dict: dict,
    set: set,
    tuple: tuple,
}


def _input(schema: Schema, spec: dataclasses.Field[Any]) -> dict[str, Any]:
    name = spec.name
    arg = arg_of(spec.type)
    default = schema.default_of(name)
    said = {
        "namespace": schema.namespaces.get(name),
        "type": text_of_type(spec.type),
        **_default(schema, name, default),
    }
    if name in schema.default_origins:
        said["default_by"] = schema.default_origins[name][1]
    if spec.kw_only:
        said["keyword_only"] = True
    if not spec.init:
        said["init"] = False
    said |= _choices(spec.type, arg)
    if arg is None:
        return said
    if not arg.no_cli and spec.init:
        said |= _flags(schema, name, spec.type, arg, default)
    if arg.resolvable:
        said["resolvable"] = True
    if arg.fallback is not None:
        said |= _plain("fallback", "***" if arg.secret else arg.fallback)
    if arg.secret:
        said["secret"] = True
    if not arg.fingerprint:
        said["fingerprint"] = False
    if arg.deprecated:
        said["deprecated"] = arg.deprecated
    if arg.help:
        said["help"] = _digest(arg.help)
    return said


def _default(schema: Schema, name: str, default: Any) -> dict[str, Any]:
    if name in schema.required:
        return {"required": True}
    if default is MISSING:
        return {}
    factory = schema.factories.get(name)
    if name in schema.secrets:
        return {"default": None if default is None else "***"}
    plain = _plain("default", default)
    if factory is not None and plain != _plain("default", factory()):
        # Another one each time, such as a new id.
        return {"default_text": f"made anew by {name_of(factory)}"}
    return plain


def _plain(key: str, value: Any) -> dict[str, Any]:
    """Return a value under a key, or its text under another where JSON has no such value."""
    if _is_json(value):
        return {key: value}
    try:
        return {f"{key}_text": text_of_value(value)}
    except UnstableError:
        named = value if isinstance(value, type) or callable(value) else type(value)
        return {f"{key}_text": f"<{name_of(named)}>"}


def _is_json(value: Any) -> bool:
    if type(value) is list:
        return all(map(_is_json, value))
    if type(value) is dict:
        return all(type(key) is str and _is_json(key) for key in value) and all(
            map(_is_json, value.values())
        )
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is str:
        return not _HALF.search(value)  # half a character is not UTF-8
    if type(value) is int:
        return value.bit_length() < 2000  # beyond some digits Python neither writes nor reads it
    return value is None or type(value) is bool


_HALF = re.compile("[\ud800-\udfff]")


def _choices(annotation: Any, arg: Arg | None) -> dict[str, Any]:
    if arg is not None and arg.choices is not None:
        words = list(map(word_of, arg.choices))
    else:
        words = list(map(_word_of_member, _members_of_enums(annotation)))
    if words and arg is not None and arg.secret:
        words = ["***"]  # that there are choices, but not which
    return {"choices": sorted(set(words))} if words else {}


def _word_of_member(member: enum.Enum) -> str:
    # The text of any other value may differ between processes.
    plain = isinstance(member.value, str | int | float | None)
    return word_of(member) if plain else member.name


def _members_of_enums(annotation: Any) -> list[enum.Enum]:
    """Return what a field, or a collection that it takes, consists of if all of it is of enums."""
    kind = kind_of(annotation)
    members = [each for each in kind.members if each is not type(None)]
    if members and all(get_origin(each) in _COLLECTIONS for each in members):
        members = kind.elements
    if not all(isinstance(each, enum.EnumMeta) for each in members):
        return []
    return [member for each in members for member in each.__members__.values()]


_COLLECTIONS = (list, tuple, set, frozenset)


def _flags(schema: Schema, name: str, annotation: Any, arg: Arg, default: Any) -> dict[str, Any]:
    options = options_of(f"{schema.cls.__qualname__}.{name}", annotation, arg, default)
    flags = flags_of(name, arg)
    action = options.get("action")
    if action is argparse.BooleanOptionalAction:
        flags += [f"--no-{flag[2:]}" for flag in flags if flag.startswith("--")]
    said: dict[str, Any] = {"flags": flags}
    if isinstance(action, type):
        # How a collection is stored its type says; the class for it has a name of no meaning.
        action = _ACTIONS.get(action, name_of(action) if "<" not in name_of(action) else None)
    if action is not None:
        said["action"] = action
    if "nargs" in options:
        said["nargs"] = options["nargs"]
    if "const" in options:
        said |= _plain("const", "***" if arg.secret else options["const"])
    if arg.type_parser is not None:
        said["parser"] = getattr(arg.type_parser, "__qualname__", type(arg.type_parser).__name__)
    must = name in schema.required
    if arg.required is not None and arg.required is not must:
        said["flag_required"] = arg.required
    return said


_ACTIONS = {MergeKeys: "merge_keys", argparse.BooleanOptionalAction: "boolean_optional"}


def _derived(field: DerivedField, reads: list[str]) -> dict[str, Any]:
    declared = field.type
    said: dict[str, Any] = {"namespace": field.namespace}
    if declared is not None:
        said["type"] = text_of_type(declared)
    if field.derived.fn is None:
        said["fact"] = True
        if field.default is not MISSING:
            said |= _plain("default", field.default)
    if reads:
        said["reads"] = reads
    if field.doc:
        said["help"] = _digest(field.doc)
    return said | _came_with(field.declaration.plugin)


def _came_with(plugin: str) -> dict[str, str]:
    """Return the plugin that declares a field, without its version: that changes nothing here."""
    name, _, distribution = plugin.partition(" (")
    return {"plugin": f"{name} ({distribution.split(' ')[0]})"} if plugin else {}


def _trial(schema: Schema, derived: Mapping[str, DerivedField]) -> Mapping[str, Mapping[str, Any]]:
    """Derive everything from defaults once, to see what is read.

    No resolver takes part: what it decides may depend on the machine.
    """
    types = {spec.name: spec.type for spec in dataclasses.fields(schema.cls)}
    values = {}
    for name in schema.names:
        value = schema.default_of(name)
        arg = arg_of(types[name])
        if value is MISSING:
            value = stand_in(types[name])
        elif value is None and arg is not None:
            value = arg.fallback
        values[name] = value
    derivation = Derivation(schema.cls.__qualname__, values, derived, schema.secrets)
    for name, field in derived.items():
        if field.derived.fn is not None:
            field.derived.function()  # an import that fails is no failed derivation
            with contextlib.suppress(RegistryError):
                derivation.value(name)
    return derivation.reads


def _digest(text: str) -> str:
    """Return what changes when a text does, so that a long one does not fill the contract."""
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]
