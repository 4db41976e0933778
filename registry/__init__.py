"""Declare settings in namespaces, compose one flat record, derive what it implies."""

from registry.cli import ArgumentParser, add_cli_args, from_cli_args
from registry.declaration import NS, A, Arg, Derived, View, derived
from registry.derivation import derive
from registry.errors import (
    AnnotationError,
    CallError,
    ComposeError,
    DeclarationError,
    DerivationCycleError,
    DerivationError,
    DuplicateFieldError,
    FactNotSetError,
    FieldDeclarationError,
    InvalidPathError,
    MissingPathError,
    MutableDefaultError,
    PathConflictError,
    ReadOnlyError,
    RecordPicklingError,
    RecordUnpicklingError,
    RegistryError,
    UnknownAttributeError,
    UnknownFieldError,
    UnresolvedNameError,
)
from registry.instance import fields_set
from registry.namespace import Namespace, default_registry
from registry.record import InputFields, collect_input_fields, compose, namespace_of
from registry.store import DerivedField, InputField, Registry

__all__ = [
    "NS",
    "A",
    "AnnotationError",
    "Arg",
    "ArgumentParser",
    "CallError",
    "ComposeError",
    "DeclarationError",
    "DerivationCycleError",
    "DerivationError",
    "Derived",
    "DerivedField",
    "DuplicateFieldError",
    "FactNotSetError",
    "FieldDeclarationError",
    "InputField",
    "InputFields",
    "InvalidPathError",
    "MissingPathError",
    "MutableDefaultError",
    "Namespace",
    "PathConflictError",
    "ReadOnlyError",
    "RecordPicklingError",
    "RecordUnpicklingError",
    "Registry",
    "RegistryError",
    "UnknownAttributeError",
    "UnknownFieldError",
    "UnresolvedNameError",
    "View",
    "add_cli_args",
    "collect_input_fields",
    "compose",
    "default_registry",
    "derive",
    "derived",
    "fields_set",
    "from_cli_args",
    "namespace_of",
]
