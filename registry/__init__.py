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
    from registry.contract import ContractError, read_contract, snapshot, write_contract
    from registry.contract_check import assert_contract, check_contract
    from registry.contract_diff import ContractChange, diff
    from registry.defaults import Default, Defaults
    from registry.deprecation import DeprecatedFlagWarning
    from registry.environment import UnknownVariableWarning, values_of_environment
    from registry.explanation import Explanation, Layer
    from registry.fingerprints import (
        FingerprintDifference,
        FingerprintError,
        explain_fingerprint,
        fingerprint,
    )
    from registry.freezing import freeze
    from registry.journal import Addition, note_addition
    from registry.layers import MissingSettingsError
    from registry.levels import Change
    from registry.pickling import (
        MissingChoiceWarning,
        RecordPicklingError,
        RecordUnpicklingError,
    )
    from registry.plugin_contents import Plugin
    from registry.plugin_loading import PluginError, PluginWarning
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
    "ContractChange",
    "ContractError",
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
    "FingerprintDifference",
    "FingerprintError",
    "InputField",
    "InputFields",
    "InvalidPathError",
    "InvalidSettingsError",
    "InvalidValueError",
    "Layer",
    "MissingChoiceWarning",
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
    "assert_contract",
    "bag",
    "check",
    "check_contract",
    "collect_input_fields",
    "compose",
    "current",
    "default_registry",
    "derive",
    "derived",
    "diff",
    "dump",
    "explain_fingerprint",
    "fields_set",
    "fingerprint",
    "freeze",
    "from_argv",
    "from_cli_args",
    "live",
    "load",
    "load_plugins",
    "namespace_of",
    "note_addition",
    "publish",
    "read_config_file",
    "read_contract",
    "reset",
    "resolver",
    "snapshot",
    "to_argv",
    "to_dict",
    "validate",
    "values_of_environment",
    "values_of_file",
    "write_contract",
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
    "ContractChange": "contract_diff",
    "ContractError": "contract",
    "DeprecatedFlagWarning": "deprecation",
    "Explanation": "explanation",
    "FingerprintDifference": "fingerprints",
    "FingerprintError": "fingerprints",
    "InvalidSettingsError": "settings",
    "Layer": "explanation",
    "MissingSettingsError": "layers",
    "Plugin": "plugin_contents",
    "PluginError": "plugin_loading",
    "PluginWarning": "plugin_loading",
    "RecordPicklingError": "pickling",
    "MissingChoiceWarning": "pickling",
    "RecordUnpicklingError": "pickling",
    "UnknownVariableWarning": "environment",
    "UnwritableError": "writing",
    "add_cli_args": "cli",
    "add_completion": "completion",
    "assert_contract": "contract_check",
    "bag": "publication",
    "check_contract": "contract_check",
    "current": "publication",
    "diff": "contract_diff",
    "dump": "config_dump",
    "explain_fingerprint": "fingerprints",
    "fingerprint": "fingerprints",
    "freeze": "freezing",
    "from_argv": "cli_reader",
    "from_cli_args": "cli_record",
    "load": "config_dump",
    "load_plugins": "plugins",
    "note_addition": "journal",
    "publish": "publication",
    "read_config_file": "config_file",
    "read_contract": "contract",
    "reset": "publication",
    "snapshot": "contract",
    "to_argv": "cli_writer",
    "to_dict": "config_plain",
    "validate": "values",
    "values_of_environment": "environment",
    "values_of_file": "config_values",
    "write_contract": "contract",
}


def __getattr__(name: str) -> Any:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"registry.{_AT_FIRST_USE[name]}")
    globals()[name] = value = getattr(module, name)
    return value
