"""A record out of parsed arguments, and of the files and variables that stand under them."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

from registry.annotations import arg_of
from registry.cli_keys import KeyedValues, merged
from registry.cli_layers import layers_of
from registry.cli_types import flags_of
from registry.declaration import Arg
from registry.deprecation import warn_deprecated
from registry.instance import schema_of
from registry.schema import Schema

__all__ = ["from_cli_args", "is_required"]


def from_cli_args(
    record_class: type[Any],
    args: argparse.Namespace,
    *,
    environ: Mapping[str, str] | None = None,
) -> Any:
    """Build a record from parsed arguments, and from what stands under them.

    The command line counts most, then the environment, then the last configuration file. Keys of
    a mapping that were typed one at a time merge with what is under them.

    Args:
        record_class: a class that `compose()` made.
        args: what the parser returned. Attributes that are no fields of the record belong to
            the program and are passed over.
        environ: the environment variables, if `add_cli_args` was given a prefix for them; None
            takes those of the process.

    Returns:
        The record; `fields_set` of it are the fields that were given anywhere.

    Raises:
        CallError: a required field is not in `args`, and nothing stands under the command line.
        MissingSettingsError: a required field is given nowhere.
        ConfigFileError: a configuration file cannot be read.
        InvalidSettingsError: a file or the environment has what the record cannot take.

    Warns:
        DeprecatedFlagWarning: for each field that was given and is declared deprecated.
    """
    given = vars(args)
    typed = {name: given[name] for name in schema_of(record_class).names if name in given}
    for spec in dataclasses.fields(record_class):
        arg = arg_of(spec.type) if spec.name in typed else None
        if arg is not None and arg.deprecated and not arg.no_cli:
            warn_deprecated(flags_of(spec.name, arg)[0], arg.deprecated, stacklevel=2)
    noted = layers_of(record_class, given)
    if noted is not None:
        # Imported where it is needed: reading files takes as long to load as all of the above.
        from registry import layers

        environ = os.environ if environ is None else environ
        under = layers.values_under(record_class, noted, environ)
        values = under | {name: _over(under.get(name), value) for name, value in typed.items()}
        missing = (name for name in _required(record_class) if name not in values)
        layers.require(record_class, missing, noted, environ)
    else:
        values = {name: _over(None, value) for name, value in typed.items()}
    return record_class(**values)


def is_required(schema: Schema, name: str, arg: Arg | None) -> bool:
    """Tell whether a field must be given, on the command line or in what stands under it.

    Args:
        schema: that of the record.
        name: the field.
        arg: what its declaration says.
    """
    return name in schema.required if arg is None or arg.required is None else arg.required


def _over(under: Any, typed: Any) -> Any:
    """Return what a field gets by what was typed for it and what stands under that."""
    if type(typed) is not KeyedValues:
        return typed
    return merged(under, typed) if typed.alone and isinstance(under, Mapping) else dict(typed)


def _required(record_class: type[Any]) -> Iterator[str]:
    schema = schema_of(record_class)
    for spec in dataclasses.fields(record_class):
        if is_required(schema, spec.name, arg_of(spec.type)):
            yield spec.name
