"""The contract of a record: what callers, scripts, files and plugins rely on, written down.

A snapshot is plain data: the positional order, and what there is to know of every field. The same
declarations give the same one on every Python. Comparing two is in `contract_diff`.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
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

    Raises:
        ContractError: it has a value that JSON has no text for.
    """
    sections = []
    for key, value in contract.items():
        if key in _SECTIONS and value:
            if isinstance(value, dict):
                lines = [f"  {_item(contract, key, *each)}" for each in value.items()]
            else:
                lines = [f"  {_item(contract, key, each)}" for each in value]
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
        ContractError: it cannot be written, or the encoding lacks a character.
    """
    try:
        # In bytes: line ends are part of the text on every system.
        _replace(Path(os.path.realpath(path)), text.encode(encoding))
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        problem = f"is written in {encoding}, which has no {character!r}; save it as UTF-8"
        raise ContractError(str(path), problem) from error
    except (OSError, ValueError) as error:  # a ValueError: a null in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise ContractError(str(path), f"cannot be written: {reason}") from error


def _replace(target: Path, content: bytes) -> None:
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        raise OSError("what is there is no regular file")
    # A name may have 255 bytes, and a character up to 4.
    beside = target.with_name(f"{target.name[:50]}.{os.getpid()}.new")
    try:
        beside.write_bytes(content)
        if mode is not None:
            beside.chmod(stat.S_IMODE(mode))
        os.replace(beside, target)
    except OSError:
        with contextlib.suppress(OSError):  # why there is nothing to remove was the error
            beside.unlink(missing_ok=True)
        raise


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
        texts: Any = (
            value.values() if section == "retired" and isinstance(value, Mapping) else value
        )
        if not isinstance(value, kind) or not all(isinstance(each, str) for each in texts):
            raise ContractError(source, f"is damaged: {section!r} is not what a snapshot has")
    for section in ("fields", "derived"):
        for name, entry in contract[section].items():
            _require_entry(entry, f"{section}.{name}", source)


def _require_entry(entry: object, subject: str, source: str) -> None:
    if not isinstance(entry, Mapping):
        problem = f"is damaged: {subject} has to be a mapping, not {_short(entry)}"
        raise ContractError(source, problem)
    for key, value in entry.items():
        kind = _KINDS.get(key)
        if kind is not None and not _is_of(value, kind):
            problem = f"is damaged: {key!r} of {subject} has to be {kind}, not {_short(value)}"
            raise ContractError(source, problem)


def _short(value: object) -> str:
    try:
        text = ascii(value)
    except (ValueError, RecursionError):  # a number of too many digits, or too deep
        return f"this {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_of(value: Any, kind: str) -> bool:
    if kind == "a list of texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if kind == "true or false":
        return isinstance(value, bool)
    if kind == "a text or null":
        return value is None or isinstance(value, str)
    if kind == "a text or a number":
        return isinstance(value, str | int) and not isinstance(value, bool)
    return isinstance(value, str)


_KINDS = {
    "namespace": "a text or null",
    "nargs": "a text or a number",
    **dict.fromkeys(("choices", "flags", "reads"), "a list of texts"),
    **dict.fromkeys(
        ("required", "keyword_only", "init", "flag_required", "resolvable", "secret"),
        "true or false",
    ),
    **dict.fromkeys(("fingerprint", "fact"), "true or false"),
    **dict.fromkeys(
        ("type", "default_text", "default_by", "fallback_text", "const_text"), "a text"
    ),
    **dict.fromkeys(("action", "parser", "deprecated", "help", "plugin"), "a text"),
}
"""What the entry of a field has under a key; under those that are not here it is any value."""


def _item(contract: Mapping[str, Any], section: str, name: str, *entry: Any) -> str:
    """Return a name, or a name and what there is to know of it, as JSON."""
    try:
        text = ": ".join(map(_json, (name, *entry)))
        text.encode("utf-8")
    except (ValueError, TypeError, RecursionError) as error:
        problem = f"{section}.{name!a} cannot be written: {error}"
        raise ContractError(str(contract.get("record", "a contract")), problem) from error
    return text


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
