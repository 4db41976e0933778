"""A record as a configuration file, and back.

A file is read back before it takes its name, so a name never stands for half a file, or for one
that says something else than the record.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from registry.config_file import ConfigFileError, read_config_file
from registry.config_plain import PlainField, nested_by_path, plain_fields
from registry.config_text import kind_of_file
from registry.config_values import values_of_file
from registry.config_writer import lacking, text_of
from registry.instance import schema_of
from registry.layers import MissingSettingsError
from registry.writing import UnwritableError, same

__all__ = ["dump", "load"]

_SUFFIXES = (".yaml", ".yml", ".toml", ".json")


def dump(
    record: Any,
    path: str | os.PathLike[str],
    *,
    nested: bool = False,
    reveal: bool = False,
    exclude: Collection[str] = (),
) -> None:
    """Write a record to a YAML, TOML or JSON file, which `load` reads.

    What is written is what `to_dict` returns. A file that is there is replaced in one step, and
    keeps its permissions; one with secrets in it only its owner can read.

    Args:
        record: an instance of a composed class.
        path: the file. Its suffix, `.yaml`, `.yml`, `.toml` or `.json`, tells the format. YAML
            takes the extra `[yaml]`, TOML the extra `[toml]`.
        nested: as in `to_dict`.
        reveal: as in `to_dict`.
        exclude: as in `to_dict`.

    Raises:
        UnwritableError: fields hold what such a file cannot, such as None in TOML; one line for
            each.
        ConfigFileError: the file cannot be written, is read-only or no regular file, its suffix
            is another one, or its format needs a package that is not installed.
        ComposeError: it is no composed record (a TypeError).
        UnknownFieldError: `exclude` names what is no field.

    Example:
        >>> import pathlib, tempfile
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> Args = compose("Args", [Parallel])
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = pathlib.Path(directory, "run.toml")
        ...     dump(Args(tp_size=8), path, nested=True)
        ...     print(path.read_text(), load(Args, path))
        [parallel]
        tp_size = 8
         Args(tp_size=8)
    """
    path = os.fspath(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in _SUFFIXES:
        problem = "the suffix tells the format to write; name it .yaml (or .yml), .toml or .json"
        raise ConfigFileError(path, problem)
    fields = _without_lacking(plain_fields(record, "dump()", reveal, exclude), suffix)
    private = reveal and any(each.item.is_masked for each in fields)
    with _replacing(path, suffix, private) as file:
        _require_format(path, file)
        if not _reads_back(file, suffix, _values(fields, nested)):
            wrong = [
                each.problem(f"does not come back from a {suffix} file as it is")
                for each in fields
                if not _reads_back(file, suffix, _values([each], nested))
            ]
            # Each by itself would do: together they are too much.
            too_much = [f"{path}: the file would be larger than what is read of a file"]
            raise UnwritableError(wrong or too_much)


def load(
    record_class: type[Any],
    path: str | os.PathLike[str],
    *,
    retired: Mapping[str, str] | None = None,
) -> Any:
    """Read a record from a YAML, TOML or JSON file.

    Args:
        record_class: a class that `compose()` made.
        path: the file, which `read_config_file` reads.
        retired: what to write instead, by flags that there were once, as `ArgumentParser` takes it.

    Returns:
        The record; `fields_set` of it are the fields that the file has.

    Raises:
        ConfigFileError: the file cannot be read.
        InvalidSettingsError: it has what the record cannot take, among that a masked secret.
        MissingSettingsError: it lacks required fields.
    """
    file = read_config_file(path)
    values = values_of_file(record_class, file, retired=retired)
    missing = [name for name in schema_of(record_class).required if name not in values]
    if missing:
        lines = [f"{file.path}: {name} is required; write it in the file" for name in missing]
        raise MissingSettingsError(lines)
    return record_class(**values)


def _values(fields: Collection[PlainField], nested: bool) -> dict[str, Any]:
    return nested_by_path(fields) if nested else {each.key: each.value for each in fields}


def _without_lacking(fields: Collection[PlainField], suffix: str) -> list[PlainField]:
    """Leave out fields at a default that the format does not have, and refuse other values."""
    lacks = {each.key: lacking(suffix, each.value) for each in fields}
    problems = [
        each.problem(f"cannot be written: {lacks[each.key]}")
        for each in fields
        if lacks[each.key] and not each.item.is_default
    ]
    if problems:
        raise UnwritableError(problems)
    return [each for each in fields if not lacks[each.key]]


def _reads_back(file: str, suffix: str, values: dict[str, Any]) -> bool:
    """Write values to a file, and tell whether they come back from it."""
    try:
        text = text_of(file, suffix, values)
        with open(file, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        return same(read_config_file(file).values, values)
    except (ValueError, RecursionError):  # too many digits, too deep
        return False


def _require_format(path: str, empty: str) -> None:
    """Refuse a format that cannot be read or written here, which an empty file shows."""
    try:
        read_config_file(empty)
        text_of(empty, os.path.splitext(empty)[1].lower(), {})
    except ConfigFileError as error:
        raise ConfigFileError(path, error.problem) from error


@contextlib.contextmanager
def _replacing(path: str, suffix: str, private: bool) -> Iterator[str]:
    """Give the name of a new file, which takes the place of another one in the end."""
    try:
        # Of a link, what it points to is replaced.
        target = os.path.realpath(path)
        directory, name = os.path.split(target)
        beside = os.path.join(directory, f".{name}.{secrets.token_hex(4)}{suffix}")
        # The mode counts from the start: secrets are in no file that others can open.
        mode = 0o600 if private else 0o666
        replaced = _mode_of(path, target)
        os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    except OSError as error:
        raise _unwritten(path, error) from error
    except ConfigFileError:
        raise
    except ValueError as error:
        raise ConfigFileError(path, f"this cannot be the path of a file: {error}") from error
    try:
        yield beside
        if not private and replaced is not None:
            # In the end: until then the new file is written and read, whatever the old one allows.
            os.chmod(beside, replaced)
        os.replace(beside, target)
    except OSError as error:
        raise _unwritten(path, error) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(beside)


def _mode_of(path: str, target: str) -> int | None:
    """Return the permissions of a file that is to be replaced, or None if there is none.

    Raises:
        ConfigFileError: something else than a file is there, or one that may not be written.
        OSError: it cannot be found out.
    """
    try:
        mode = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        raise ConfigFileError(path, f"this is {kind_of_file(mode)}, only a file can be replaced")
    if not os.access(target, os.W_OK):
        raise ConfigFileError(path, "the file cannot be written: it is read-only")
    return stat.S_IMODE(mode)


def _unwritten(path: str, error: OSError) -> ConfigFileError:
    return ConfigFileError(path, f"the file cannot be written: {error.strerror}")
