"""The contract of a record: what callers, scripts, files and plugins rely on, written down.

A snapshot is plain data: the positional order, and what there is to know of every field. The same
declarations give the same one on every Python. Comparing two is in `contract_diff`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from registry.contract_fields import described_derived, described_inputs
from registry.errors import RegistryError
from registry.instance import schema_of

__all__ = ["ContractError", "read_contract", "snapshot", "text_of_contract", "write_contract"]

FORMAT = 1
"""The version of what a snapshot contains."""

_SECTIONS = ("positional", "retired", "fields", "derived")


class ContractError(RegistryError, ValueError):
    """A contract that cannot be made or read.

    Attributes:
        source: the file or class.
        problem: what is wrong with it, and what to do.
    """

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(source, problem)
        self.source = source
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.source}: {self.problem}"


def snapshot(record_class: type[Any]) -> dict[str, Any]:
    """Return the contract of a record class as plain values, as JSON has them.

    Args:
        record_class: a class that `compose()` made, or a subclass of one.

    Returns:
        `format`, the version of what follows; `record`, the name of the class; `positional`, the
        names in order, retired ones in their places; `retired`, what to use instead of each;
        `fields` and `derived`, by name what there is to know of each: its namespace and type,
        and, where there is something to say, among others its default, choices and flags. Of help
        texts there is a digest, of a secret's default `***`. `reads` of a derived field is what
        it reads in a record of defaults, with something in the place of required fields.

    Raises:
        ComposeError: it is no record class.
        FieldDeclarationError: a field cannot become the flag that its `Arg` asks for.
        ImportError: the function of a derived field cannot be imported.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int | None, "Tensor-parallel width in ranks."] = 1
        >>> contract = snapshot(compose("Args", [Parallel]))
        >>> contract["positional"], contract["fields"]["tp_size"]["type"]
        (['tp_size'], 'int | None')
    """
    schema = schema_of(record_class)
    return {
        "format": FORMAT,
        "record": f"{record_class.__module__}.{record_class.__qualname__}",
        "positional": list(schema.positional),
        "retired": dict(sorted(schema.retired.items())),
        "fields": dict(sorted(described_inputs(schema).items())),
        "derived": dict(sorted(described_derived(schema).items())),
    }


def text_of_contract(contract: Mapping[str, Any]) -> str:
    """Return a snapshot as JSON with one field to the line, for reviews.

    Args:
        contract: what `snapshot` returned.
    """
    sections = []
    for key, value in contract.items():
        if key in _SECTIONS and value:
            if isinstance(value, dict):
                lines = [f"  {_json(name)}: {_json(each)}" for name, each in value.items()]
            else:
                lines = [f"  {_json(each)}" for each in value]
            opening, closing = "{}" if isinstance(value, dict) else "[]"
            text = opening + "\n" + ",\n".join(lines) + f"\n {closing}"
        else:
            text = _json(value)
        sections.append(f" {_json(key)}: {text}")
    return "{\n" + ",\n".join(sections) + "\n}\n"


def write_contract(contract: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a snapshot to a file, complete or not at all.

    Args:
        contract: what `snapshot` returned.
        path: the file.

    Raises:
        ContractError: it cannot be written.
    """
    replace_file(path, text_of_contract(contract))


def replace_file(path: str | os.PathLike[str], text: str, encoding: str = "utf-8") -> None:
    """Put a text in the place of a file, complete or not at all.

    Args:
        path: the file.
        text: what it shall contain.
        encoding: how it is written; the permissions stay those of the file.

    Raises:
        ContractError: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    beside = target.with_name(f"{target.name}.{os.getpid()}.new")
    try:
        # In bytes: line ends are part of the text on every system.
        beside.write_bytes(text.encode(encoding))
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise ContractError(str(path), f"cannot be written: {reason}") from error


def read_contract(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a snapshot from a file.

    Args:
        path: the file.

    Raises:
        ContractError: there is no such file, it is no snapshot, or one of another format.
    """
    source = os.fspath(path)
    try:
        contract = json.loads(Path(path).read_bytes())
    except OSError as error:
        raise ContractError(source, f"cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ContractError(source, f"is no contract, not even JSON: {error}") from error
    require_contract(contract, source)
    return dict(contract)


def require_contract(contract: object, source: str) -> None:
    """Refuse what is no snapshot of the format that this version reads.

    Args:
        contract: what was given as one.
        source: where it is from, for the message.

    Raises:
        ContractError: it is none.
    """
    if not isinstance(contract, Mapping) or "format" not in contract:
        problem = "is no contract; `python -m registry snapshot module:Class -o FILE` writes one"
        raise ContractError(source, problem)
    if contract["format"] != FORMAT:
        problem = f"has the format {contract['format']!r}, but this version reads {FORMAT}; write "
        problem += "it anew with `python -m registry snapshot module:Class -o FILE`"
        raise ContractError(source, problem)
    for section in _SECTIONS:
        kind = list if section == "positional" else Mapping
        value = contract.get(section)
        inner: Any = value.values() if isinstance(value, Mapping) else value
        item = Mapping if section in ("fields", "derived") else str
        if not isinstance(value, kind) or not all(isinstance(each, item) for each in inner):
            raise ContractError(source, f"is damaged: {section!r} is not what a snapshot has")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
