"""Declare settings in namespaces, compose one flat record, derive what it implies."""

import importlib
from typing import TYPE_CHECKING, Any

from registry.access import live
from registry.declaration import NS, A, Arg, Derived, View, derived
from registry.derivation import derive
from registry.errors import (
    AnnotationError,
    CallError,
    CheckError,
    ClosedViewError,
    ComposeError,
    DeclarationError,
    DerivationCycleError,
    DerivationError,
    DroppedOverridesWarning,
    DuplicateFieldError,
    FactNotSetError,
    FieldDeclarationError,
    InvalidPathError,
    InvalidValueError,
    MissingPathError,
    MutableDefaultError,
    NotPicklableError,
    NotPublishedError,
    OverrideError,
    PathConflictError,
    ReadOnlyError,
    RegistryError,
    ResolutionError,
    UnknownAttributeError,
    UnknownFieldError,
    UnknownNamespaceError,
    UnresolvedNameError,
)
from registry.inputs import InputFields, collect_input_fields
from registry.instance import fields_set
from registry.lookup import namespace_of
from registry.namespace import Namespace, default_registry
from registry.record import compose
from registry.rules import ResolverView, check, resolver
from registry.store import DerivedField, InputField, Registry

if TYPE_CHECKING:
    from registry.bags import Bag
    from registry.changes import Changes, ChangesError
    from registry.cli import add_cli_args
    from registry.cli_parser import ArgumentParser
    from registry.cli_reader import from_argv
    from registry.cli_record import from_cli_args
    from registry.cli_words import CommandLineError
    from registry.cli_writer import to_argv
    from registry.completion import add_completion
    from registry.config_dump import dump, load
    from registry.config_file import ConfigFile, ConfigFileError, read_config_file
    from registry.config_plain import to_dict
    from registry.config_values import values_of_file
    from registry.context import Context
    from registry.defaults import Default, Defaults
    from registry.deprecation import DeprecatedFlagWarning
    from registry.environment import UnknownVariableWarning, values_of_environment
    from registry.explanation import Explanation, Layer
    from registry.journal import Addition, note_addition
    from registry.layers import MissingSettingsError
    from registry.levels import Change
    from registry.pickling import RecordPicklingError, RecordUnpicklingError
    from registry.plugin_loading import Plugin, PluginError, PluginWarning
    from registry.plugins import load_plugins
    from registry.publication import bag, current, publish, reset
    from registry.settings import InvalidSettingsError
    from registry.values import validate
    from registry.writing import UnwritableError

__all__ = [
    "NS",
    "A",
    "Addition",
    "AnnotationError",
    "Arg",
    "ArgumentParser",
    "Bag",
    "CallError",
    "Change",
    "Changes",
    "ChangesError",
    "CheckError",
    "ClosedViewError",
    "CommandLineError",
    "ComposeError",
    "ConfigFile",
    "ConfigFileError",
    "Context",
    "DeclarationError",
    "Default",
    "Defaults",
    "DeprecatedFlagWarning",
    "DerivationCycleError",
    "DerivationError",
    "Derived",
    "DerivedField",
    "DroppedOverridesWarning",
    "DuplicateFieldError",
    "Explanation",
    "FactNotSetError",
    "FieldDeclarationError",
    "InputField",
    "InputFields",
    "InvalidPathError",
    "InvalidSettingsError",
    "InvalidValueError",
    "Layer",
    "MissingPathError",
    "MissingSettingsError",
    "MutableDefaultError",
    "Namespace",
    "NotPicklableError",
    "NotPublishedError",
    "OverrideError",
    "PathConflictError",
    "Plugin",
    "PluginError",
    "PluginWarning",
    "ReadOnlyError",
    "RecordPicklingError",
    "RecordUnpicklingError",
    "Registry",
    "RegistryError",
    "ResolutionError",
    "ResolverView",
    "UnknownAttributeError",
    "UnknownFieldError",
    "UnknownNamespaceError",
    "UnknownVariableWarning",
    "UnresolvedNameError",
    "UnwritableError",
    "View",
    "add_cli_args",
    "add_completion",
    "bag",
    "check",
    "collect_input_fields",
    "compose",
    "current",
    "default_registry",
    "derive",
    "derived",
    "dump",
    "fields_set",
    "from_argv",
    "from_cli_args",
    "live",
    "load",
    "load_plugins",
    "namespace_of",
    "note_addition",
    "publish",
    "read_config_file",
    "reset",
    "resolver",
    "to_argv",
    "to_dict",
    "validate",
    "values_of_environment",
    "values_of_file",
]


# A process parses flags once and publishes once, and many that import declarations do neither.
# Loading these at first use takes 40 % off the time that importing the package takes.
_AT_FIRST_USE = {
    "ArgumentParser": "cli_parser",
    "Addition": "journal",
    "Bag": "bags",
    "Change": "levels",
    "Changes": "changes",
    "ChangesError": "changes",
    "CommandLineError": "cli_words",
    "ConfigFile": "config_file",
    "ConfigFileError": "config_file",
    "Context": "context",
    "Default": "defaults",
    "Defaults": "defaults",
    "DeprecatedFlagWarning": "deprecation",
    "Explanation": "explanation",
    "InvalidSettingsError": "settings",
    "Layer": "explanation",
    "MissingSettingsError": "layers",
    "Plugin": "plugin_loading",
    "PluginError": "plugin_loading",
    "PluginWarning": "plugin_loading",
    "RecordPicklingError": "pickling",
    "RecordUnpicklingError": "pickling",
    "UnknownVariableWarning": "environment",
    "UnwritableError": "writing",
    "add_cli_args": "cli",
    "add_completion": "completion",
    "bag": "publication",
    "current": "publication",
    "dump": "config_dump",
    "from_argv": "cli_reader",
    "from_cli_args": "cli_record",
    "load": "config_dump",
    "load_plugins": "plugins",
    "note_addition": "journal",
    "publish": "publication",
    "read_config_file": "config_file",
    "reset": "publication",
    "to_argv": "cli_writer",
    "to_dict": "config_plain",
    "validate": "values",
    "values_of_environment": "environment",
    "values_of_file": "config_values",
}


def __getattr__(name: str) -> Any:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"registry.{_AT_FIRST_USE[name]}")
    globals()[name] = value = getattr(module, name)
    return value
