"""The values that a configuration file has for the fields of a record.

A key may stand alone, below its namespace or behind it after a dot, in any mixture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.config_file import ConfigFile
from registry.deprecation import warn_deprecated
from registry.errors import InvalidValueError, did_you_mean
from registry.reading import value_of_plain
from registry.settings import InvalidSettingsError, Setting, Settings, underscored

__all__ = ["values_of_file"]

_HINTS = (
    20  # To look for the nearest name takes time; of so many wrong ones something else is wrong.
)


def values_of_file(
    record_class: type[Any], file: ConfigFile, *, retired: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the values that a configuration file has for the fields of a record.

    A field is named alone (`tp_size`) or in its namespace, be that a mapping around it
    (`parallel: {tp_size: 8}`) or a path before it (`parallel.tp_size`); dashes stand for
    underscores; its flags without their leading dashes are names, too. Of a pair of flags,
    `no_x: true` means `x: false`, and `no_x: false` means `x: true`. Nothing below a namespace,
    or null, sets nothing. A field without a flag can be set, but one whose name also begins with an
    underscore belongs to the program.

    A value that fits the field's type is taken. A word means what it means on the command line,
    a list may stand for a set or a tuple. A field with a `type_parser` gets what that makes of the
    word, or of a mapping or list as JSON.

    Args:
        record_class: a class that `compose()` made.
        file: what `read_config_file` returned.
        retired: what to type instead, by flags that there were once, as `ArgumentParser` takes it.

    Returns:
        The values by field.

    Raises:
        InvalidSettingsError: keys that are no fields, fields that are set twice, or values that
            do not fit; one line for each, with its place.

    Warns:
        DeprecatedFlagWarning: a field has a replacement.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> file = ConfigFile("run.yaml", {"parallel": {"tp-size": 8}})
        >>> values_of_file(compose("Args", [Parallel]), file)
        {'tp_size': 8}
    """
    reader = _Reader(Settings(record_class), file, retired or {})
    reader.read(file.values, (), ())
    if reader.problems:
        raise InvalidSettingsError(reader.problems)
    for subject, replacement in reader.deprecated:
        warn_deprecated(subject, replacement, stacklevel=2)
    return reader.values


class _Reader:
    """Goes through one file and collects its values and what is wrong with it."""

    def __init__(self, settings: Settings, file: ConfigFile, retired: Mapping[str, str]) -> None:
        self._settings = settings
        self._file = file
        self._retired = {underscored(flag): instead for flag, instead in retired.items()}
        self._places: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self.problems: list[str] = []
        self.deprecated: list[tuple[str, str]] = []

    def read(
        self, mapping: Mapping[str, Any], path: tuple[str, ...], keys: tuple[str, ...]
    ) -> None:
        """Read a mapping.

        Args:
            mapping: the mapping.
            path: the parts of the path of its namespace.
            keys: the keys it stands below, as they are written.
        """
        for key, value in mapping.items():
            parts = (*path, *key.replace("-", "_").split("."))
            if ".".join(parts) in self._settings.paths:
                if isinstance(value, Mapping):
                    self.read(value, parts, (*keys, key))
                    continue
                if value is None:
                    continue
            where = self._file.where(*keys, key)
            try:
                self._read_field(parts, ".".join((*keys, key)), value, where)
            except InvalidValueError as error:
                self.problems += [f"{where}: {problem}" for problem in error.problems]

    def _read_field(self, parts: tuple[str, ...], written: str, value: Any, where: str) -> None:
        *path, spelling = parts
        setting = self._settings.find(spelling)
        if setting is None:
            raise InvalidValueError([self._unknown(parts, written)])
        if path and ".".join(path) != setting.path:
            raise InvalidValueError([self._misplaced(setting, path, written)])
        place = f"{written} ({where})"
        if setting.name in self._places:
            first = self._places[setting.name]
            raise InvalidValueError([f"{written} sets the same as {first}; remove one of them"])
        self._places[setting.name] = place
        if self._settings.is_opposite(spelling):
            value = value_of_plain(setting, value, spelling)
            self.values[setting.name] = None if value is None else not value
        else:
            self.values[setting.name] = value_of_plain(setting, value, setting.name)
        if setting.arg.deprecated:
            self.deprecated.append((f"{where}: {written}", setting.arg.deprecated))

    def _misplaced(self, setting: Setting, path: list[str], written: str) -> str:
        """Say where a field belongs that stands somewhere else."""
        inner = self._settings.find(path[-1])
        if inner is not None and not self._is_namespace(path):
            return self._below_field(inner, written)
        home = f"the namespace {setting.path}" if setting.path else "no namespace"
        return f"{written}: {setting.name} belongs to {home}; write {setting.dotted}"

    def _unknown(self, parts: tuple[str, ...], written: str) -> str:
        """Say what could be meant by a key that is no field."""
        settings = self._settings
        *path, name = parts
        if ".".join(parts) in settings.paths:
            return f"{written} is a namespace; write its settings as a mapping below it"
        if name in settings.derived:
            return f"{written} {settings.advice_on(name)}"
        if name in settings.private:
            return f"{written} is the program's own, which only the program sets"
        if name in self._retired:
            return f"{written} is retired; write {self._as_key(self._retired[name])} instead"
        if name in settings.retired:
            return f"{written} is retired: {settings.retired[name]}"
        for count in range(len(path), 0, -1):
            inner = settings.find(path[count - 1])
            if inner is not None and not self._is_namespace(path[:count]):
                return self._below_field(inner, written)
        if len(self.problems) >= _HINTS:
            return f"there is no setting {written!r}."
        place = ".".join(path)
        if self._is_namespace(path):
            hint = did_you_mean(name, settings.names_in(place))
            elsewhere = settings.names_in("")
            return f"there is no setting {written!r}.{hint or did_you_mean(name, elsewhere)}"
        hint = did_you_mean(".".join(parts), [s.dotted for s in settings.by_name.values()])
        return f"there is no setting {written!r}.{hint or did_you_mean(place, settings.paths)}"

    def _is_namespace(self, path: list[str]) -> bool:
        return not path or ".".join(path) in self._settings.paths

    @staticmethod
    def _below_field(setting: Setting, written: str) -> str:
        return f"{written}: {setting.name} takes its value as a whole, not by key after a dot"

    def _as_key(self, instead: str) -> str:
        """Return what to type on a command line as what to write in a file."""
        name, value = self._settings.replacement(instead) or (instead, "")
        return f"{name}: {value}" if value else name
