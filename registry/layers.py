"""The values that stand under a command line: those of files, and of the environment above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from registry.cli_layers import Layers
from registry.config_file import read_config_file
from registry.config_values import values_of_file
from registry.environment import nearest, values_of_environment
from registry.errors import RegistryError
from registry.settings import Setting, Settings

__all__ = ["MissingSettingsError", "require", "values_under"]


class MissingSettingsError(RegistryError, TypeError):
    """Required fields that neither the command line nor what is under it gives.

    Attributes:
        problems: a sentence for each, with the ways to give it.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(tuple(problems))
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(self.problems)


def values_under(
    record_class: type[Any], layers: Layers, environ: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the files and the environment say; a later file counts more, and that most.

    Args:
        record_class: a class that `compose()` made.
        layers: what stands under the command line.
        environ: the environment variables.

    Raises:
        ConfigFileError: a file cannot be read.
        InvalidSettingsError: a file or the environment has what the record cannot take.
    """
    values: dict[str, Any] = {}
    for path in layers.files:
        file = read_config_file(path)
        values.update(values_of_file(record_class, file, retired=layers.retired))
    prefix = layers.env_prefix
    if prefix is not None:
        values.update(values_of_environment(record_class, prefix, environ, retired=layers.retired))
    return values


def require(
    record_class: type[Any],
    names: Iterable[str],
    layers: Layers,
    environ: Mapping[str, str],
) -> None:
    """Refuse to go on without some fields.

    Args:
        record_class: the record class.
        names: the required fields that nothing gives.
        layers: what stands under the command line.
        environ: the environment variables.

    Raises:
        MissingSettingsError: there are such fields; the message says how each can be given.
    """
    names = list(names)
    if not names:
        return
    settings = Settings(record_class)
    # What the program keeps for itself is missed by the constructor.
    missing = [settings.by_name[name] for name in names if name in settings.by_name]
    if missing:
        known = {name.upper() for name in settings.spellings}
        prefix = layers.env_prefix or ""
        unknown = [
            each
            for each in environ
            if each.startswith(prefix) and each.removeprefix(prefix) not in known
        ]
        raise MissingSettingsError([_missing(setting, layers, unknown) for setting in missing])


def _missing(setting: Setting, layers: Layers, unknown: Iterable[str]) -> str:
    """Say how a field can be given.

    Args:
        setting: the field.
        layers: what stands under the command line.
        unknown: the variables that have the prefix and are no fields.
    """
    ways = [f"type {setting.flags[0]}"] if setting.flags else []
    if layers.config is not None:
        place = layers.files[-1] if layers.files else f"a file and type {layers.config} FILE"
        ways.append(f"write {setting.name} in {place}")
    near = ""
    if layers.env_prefix is not None:
        variable = layers.env_prefix + setting.name.upper()
        ways.append(f"set the variable {variable}")
        near = nearest(variable, unknown, layers.env_prefix)
    hint = f". There is a variable {near}; was it meant?" if near else ""
    return f"{setting.name} is required: {', or '.join(ways)}{hint}"
