"""What a command is given to work on: a file, or a class as `module:Class`."""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sys
from types import ModuleType
from typing import Any

from registry.contract import ContractError, read_contract, snapshot
from registry.errors import did_you_mean
from registry.instance import is_record_class
from registry.proof import Side

__all__ = ["class_named", "side_of"]

_CLASS = r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*"


def class_named(operand: str) -> type[Any]:
    """Return the record class that `module:Class` names.

    Args:
        operand: the text.

    Raises:
        ContractError: it is not of that form, there is no such module or class, or the class is
            no record class.
    """
    if not re.fullmatch(_CLASS, operand):
        raise ContractError(operand, "is no class; name one as module:Class")
    module_name, _, path = operand.partition(":")
    module = _module(operand, module_name)
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and is_record_class(found):
        return found
    # Not vars(): a module may make its record when it is first asked for it.
    records = [
        name
        for name in dir(module)
        if isinstance(each := getattr(module, name, None), type) and is_record_class(each)
    ]
    if found is not None:
        problem = f"is no record class; {module_name} has {', '.join(records) or 'none'}"
        raise ContractError(operand, problem)
    hint = did_you_mean(path, records)
    if not hint:
        hint = f" Its record classes: {', '.join(records)}." if records else " It has no records."
    raise ContractError(operand, f"the module {module_name} has no {path!r}.{hint}")


def side_of(operand: str) -> Side:
    """Return what an operand says, be it a file or a class.

    Args:
        operand: a path or `module:Class`.

    Raises:
        ContractError: it is neither, or cannot be read.
    """
    if os.path.exists(operand) or not re.fullmatch(_CLASS, operand):
        return Side(read_contract(operand))
    record_class = class_named(operand)
    module = sys.modules[operand.partition(":")[0]]
    names = getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
    return Side(snapshot(record_class), record_class, list(names))


def _module(operand: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if name != missing and not name.startswith(missing + "."):
            problem = f"the module {name} needs {missing!r}, which is not installed"
            raise ContractError(operand, problem) from error
        parent, _, leaf = missing.rpartition(".")
        paths = getattr(sys.modules.get(parent), "__path__", None) if parent else None
        known = {each.name for each in pkgutil.iter_modules(paths)} if not parent or paths else ()
        hint = did_you_mean(leaf, known)
        raise ContractError(operand, f"there is no module {missing!r}.{hint}") from error
    except (Exception, SystemExit) as error:  # a script may exit where it is imported
        problem = f"the module {name} cannot be imported: {type(error).__name__}: {error}"
        raise ContractError(operand, problem) from error
