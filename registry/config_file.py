"""Read a configuration file into plain values, and know where each key stands.

Whatever a file holds, it is read or refused quickly, with one message. Knows nothing of records
or fields.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Any

from registry.config_json import read_json
from registry.config_text import ConfigFileError, Key, kind_of, kind_of_file
from registry.config_toml import read_toml
from registry.config_yaml import YamlReader

__all__ = ["ConfigFile", "ConfigFileError", "read_config_file"]

_MAX_BYTES = 16 * 1024 * 1024


class ConfigFile:
    """The values of one file.

    Args:
        path: the file.
        values: its settings.
        keys: the lines of the keys, as far as they are known.

    Attributes:
        path: the path as it was given.
        values: the top-level mapping, made of plain values.
    """

    __slots__ = ("_keys", "path", "values")

    def __init__(
        self, path: str, values: dict[str, Any], keys: Mapping[str | int, Key] | None = None
    ) -> None:
        self.path = path
        self.values = values
        self._keys = keys or {}

    def where(self, *keys: str) -> str:
        """Return the place of a key.

        Args:
            keys: the key, after those of the mappings around it.

        Returns:
            `path:line`, or `path` for a key that is not there and in formats whose parser
            tells no lines (TOML and JSON).

        Example:
            >>> ConfigFile("run.json", {"model": {"width": 8}}).where("model", "width")
            'run.json'
        """
        line, level = 0, self._keys
        for key in keys:
            if key not in level:
                return self.path
            line, level = level[key]
        return f"{self.path}:{line}" if line else self.path


def read_config_file(path: str | os.PathLike[str]) -> ConfigFile:
    """Read a YAML, TOML or JSON file.

    Args:
        path: a regular file. Its suffix, `.yaml`, `.yml`, `.toml` or `.json`, tells the format.

    Returns:
        The file's values, none for a file that is empty.

    Raises:
        ConfigFileError: it cannot be read, is not what its suffix says, gives a key twice, or
            holds something that is no plain value.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     path = pathlib.Path(directory, "run.json")
        ...     _ = path.write_text('{"tp_size": 8}')
        ...     read_config_file(path).values
        {'tp_size': 8}
    """
    path = os.fspath(path)
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in (".yaml", ".yml", ".toml", ".json"):
        raise ConfigFileError(
            path,
            "the suffix tells the format of a configuration file; "
            "name it .yaml (or .yml), .toml or .json",
        )
    text = _text_of(path)
    keys: Mapping[str | int, Key] = {}
    if suffix == ".toml":
        values = read_toml(path, text)
    elif suffix == ".json":
        values = read_json(path, text)
    else:
        values, keys = YamlReader(path, text).read()
    if values is None:
        values = {}
    if not isinstance(values, dict):
        raise ConfigFileError(
            path,
            f"a mapping of settings was expected, but the file holds {kind_of(values)}; "
            "write each setting with its name",
        )
    return ConfigFile(path, values, keys)


def _text_of(path: str) -> str:
    advice = f"a configuration file has at most {_MAX_BYTES} bytes"
    try:
        with open(path, "rb", opener=_opened) as file:
            status = os.fstat(file.fileno())
            # A device or a pipe may have no end, or nothing to read for now.
            if not stat.S_ISREG(status.st_mode):
                problem = f"this is {kind_of_file(status.st_mode)}; write the settings to a file"
                raise ConfigFileError(path, problem)
            if status.st_size > _MAX_BYTES:
                raise ConfigFileError(path, f"the file has {status.st_size} bytes; {advice}")
            # It may grow meanwhile.
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise ConfigFileError(path, "there is no such file; check the path") from error
    except IsADirectoryError as error:
        raise ConfigFileError(path, "this is a directory; give the path of a file in it") from error
    except OSError as error:
        raise ConfigFileError(path, f"the file cannot be read: {error.strerror}") from error
    except ConfigFileError:
        raise
    except ValueError as error:
        raise ConfigFileError(path, f"this cannot be the path of a file: {error}") from error
    if len(data) > _MAX_BYTES:
        raise ConfigFileError(path, f"the file has more than {_MAX_BYTES} bytes; {advice}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigFileError(
            f"{path}:{line}",
            f"the byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8",
        ) from error


def _opened(path: str, flags: int) -> int:
    # Otherwise a pipe that nobody writes to would never open.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
