"""Is a record what its contract file says: for tests, pre-commit and CI."""

from __future__ import annotations

import os
from typing import Any

from registry.contract import read_contract, snapshot
from registry.contract_diff import ContractChange, diff
from registry.contract_report import as_table
from registry.instance import schema_of

__all__ = ["accepted_by", "assert_contract", "check_contract", "writing_command"]


def check_contract(record_class: type[Any], path: str | os.PathLike[str]) -> list[ContractChange]:
    """Return what changed since a contract file was written.

    Args:
        record_class: a class that `compose()` made.
        path: the file that `python -m registry snapshot` wrote.

    Returns:
        The changes, the worst first; none if the file says what the record is. Any change means
        that the file has to be renewed, so that a reviewer sees it.

    Raises:
        ContractError: the file cannot be read.
    """
    return diff(read_contract(path), snapshot(record_class))


def assert_contract(record_class: type[Any], path: str | os.PathLike[str]) -> None:
    """Fail a test if a record is not what its contract file says.

    Args:
        record_class: a class that `compose()` made.
        path: the file that `python -m registry snapshot` wrote.

    Raises:
        AssertionError: something changed; the message has the table of `python -m registry
            check`, and the command that accepts the changes.
        ContractError: the file cannot be read.
    """
    changes = check_contract(record_class, path)
    if changes:
        name = f"{record_class.__module__}:{record_class.__qualname__}"
        message = f"{name} is not what {os.fspath(path)} says\n"
        advice = accepted_by(name, path, record_class)
        raise AssertionError(message + as_table(changes) + "\n" + advice)


def accepted_by(name: str, path: str | os.PathLike[str], record_class: type[Any]) -> str:
    """Return the line that says how to accept a changed contract.

    Args:
        name: the class, as `module:Class`.
        path: the contract file.
        record_class: the class.
    """
    advice = f"If this is meant: {writing_command(name, path)}"
    plugins = sorted({each.plugin for each in schema_of(record_class).declarations()} - {""})
    if plugins:
        advice += f"\nThat would write down what {', '.join(plugins)} added as well; a contract of "
        advice += "the program alone is checked and written where no plugin is loaded."
    return advice


def writing_command(name: str, path: str | os.PathLike[str]) -> str:
    """Return the command that writes a contract file.

    Args:
        name: the class, as `module:Class`.
        path: the contract file.
    """
    # Imported where it is needed: nobody needs it unless something changed.
    import shlex

    return shlex.join(["python", "-m", "registry", "snapshot", name, "-o", os.fspath(path)])
