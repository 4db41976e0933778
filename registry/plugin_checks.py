"""Whether what a plugin declares can be a part of the program's record and command line.

A fault that would show when a parser is built, a record is read or a value is derived is found
here, while it is known whose it is. Knows nothing of how plugins are found.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from dataclasses import MISSING
from typing import Any

from registry.declaration import Arg
from registry.errors import FieldDeclarationError, InvalidValueError, RegistryError
from registry.store import Declaration, DerivedField, InputField, Registry
from registry.values import problems_with

__all__ = ["check_declarations"]


def check_declarations(declarations: Sequence[Declaration], registry: Registry) -> None:
    """Refuse declarations of which the record of a program cannot be composed, used and read.

    Those that are not in the registry are passed over: they are on no record of the program.

    Args:
        declarations: what one plugin declares; the annotations evaluate.
        registry: where the program's fields are declared, too.

    Raises:
        FieldDeclarationError: a flag is taken, a type has none, a field has no default, or the
            function of a derived field is not there.
        InvalidValueError: a default does not fit its own type or choices.
    """
    own = [each for each in declarations if each in registry.declarations]
    for declaration in own:
        for field in declaration.inputs.values():
            _check_default(field)
        for derived in declaration.derived.values():
            _check_function(derived)
    flagged = [
        (field, arg)
        for declaration in own
        for field in declaration.inputs.values()
        if (arg := _flag_arg(field)) is not None
    ]
    if flagged:
        _check_flags(flagged, registry)


def _check_default(field: InputField) -> None:
    if field.required:
        problem = (
            "has no default; a field of a plugin needs one, for records that were made and "
            "command lines that were written without the plugin"
        )
        raise _fault(field, problem)
    value = field.default
    if value is MISSING:
        try:
            value = field.default_factory()
        except Exception as error:
            problem = f"has a default_factory that fails: {type(error).__name__}: {error}"
            raise _fault(field, problem) from error
    # None for a type without it is how some say "unset".
    problems = [] if value is None else [*problems_with(field.name, field.type, value)]
    if problems:
        place = field.declaration.where(field.name)
        raise InvalidValueError([f"{place}: the default of {each}" for each in problems])


def _check_function(field: DerivedField) -> None:
    """Refuse a path to a function that is not there, without importing what is not loaded."""
    path = field.derived.fn
    if not isinstance(path, str):
        return
    module, _, attributes = path.partition(":")
    absent = _absent_module(module)
    if absent:
        raise _fault(field, f"names the function {path!r}, but there is no module {absent!r}")
    found: Any = sys.modules.get(module)
    for name in attributes.split(".") if found is not None else ():
        if not hasattr(found, name):
            raise _fault(field, f"names the function {path!r}, but there is no {name!r} in it")
        found = getattr(found, name)


def _absent_module(module: str) -> str:
    """Return the first part of a module's path that cannot be found, or nothing."""
    parts = module.split(".")
    within: Any = None
    for end in range(1, len(parts) + 1):
        name = ".".join(parts[:end])
        loaded = sys.modules.get(name)
        if loaded is not None:
            within = getattr(loaded, "__path__", ())
            continue
        if end == 1:
            spec = importlib.util.find_spec(name)
        else:
            spec = importlib.machinery.PathFinder.find_spec(name, within)
        if spec is None:
            return name
        within = spec.submodule_search_locations or ()
    return ""


def _flag_arg(field: InputField) -> Arg | None:
    arg = field.arg
    return None if arg is None or arg.no_cli or not field.options.get("init", True) else arg


def _check_flags(flagged: Sequence[tuple[InputField, Arg]], registry: Registry) -> None:
    # argparse is loaded only where a plugin has flags.
    from registry.cli_types import flags_of

    mine = {field.name for field, _ in flagged}
    taken = {
        flag: field
        for name, field in registry.input.items()
        if name not in mine and (arg := _flag_arg(field)) is not None
        for flag in flags_of(name, arg)
    }
    for field, arg in flagged:
        for flag in _option_strings(field, arg):
            holder = _holder(flag, taken)
            if flag in registry.reserved_flags:
                raise _fault(field, f"has the flag {flag}, which is an option of the program")
            if holder is not None:
                owner = (
                    f"{holder.declaration}.{holder.name} ({holder.declaration.where(holder.name)})"
                )
                raise _fault(field, f"has the flag {flag}, which is that of {owner}")
            taken[flag] = field


def _holder(flag: str, taken: Mapping[str, InputField]) -> InputField | None:
    """Return the field that has a flag; one for true and false has another that begins so."""
    if flag in taken:
        return taken[flag]
    field = taken.get("--" + flag[len("--no-") :]) if flag.startswith("--no-") else None
    arg = None if field is None else field.arg
    if field is None or arg is None or flag not in _option_strings(field, arg):
        return None
    return field


def _option_strings(field: InputField, arg: Arg) -> Sequence[str]:
    """Return the flags that argparse gives a field, which it has to take.

    Raises:
        FieldDeclarationError: it does not.
    """
    import argparse

    from registry.cli_types import flags_of, options_of

    default = field.default
    if field.default_factory is not MISSING:
        default = field.default_factory()
    try:
        options = options_of("", field.type, arg, default)
        parser = argparse.ArgumentParser(add_help=False)
        added = parser.add_argument(*flags_of(field.name, arg), dest=field.name, **options)
    except FieldDeclarationError as error:
        raise _fault(field, error.problem) from error
    except (TypeError, ValueError) as error:
        raise _fault(field, f"has an Arg that argparse does not take: {error}") from error
    return added.option_strings


def _fault(field: InputField | DerivedField, problem: str) -> RegistryError:
    where = field.declaration.where(field.name)
    return FieldDeclarationError(where, f"{field.cls.__qualname__}.{field.name}", problem)
