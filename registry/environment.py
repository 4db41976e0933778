"""The values that environment variables have for the fields of a record."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from registry.deprecation import warn_deprecated
from registry.errors import InvalidValueError
from registry.reading import value_of_text
from registry.settings import InvalidSettingsError, Settings, underscored

__all__ = ["UnknownVariableWarning", "nearest", "values_of_environment"]

# As everywhere in the environment. A file has true and false of its own.
_SWITCHED = {"1": "true", "0": "false"}


class UnknownVariableWarning(UserWarning):
    """A variable has the prefix of a program, and nearly the name of one of its fields."""


def values_of_environment(
    record_class: type[Any],
    prefix: str,
    environ: Mapping[str, str],
    *,
    retired: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the values that environment variables have for the fields of a record.

    A variable is called like a name of its field, in capitals behind the prefix:
    `SERVER_TP_SIZE`. Its text is read as on the command line; the words of a field that takes
    several are split as in a shell. A switch is true or false, or 1 or 0. Variables with the prefix
    that have nothing to do with the record belong to others.

    Args:
        record_class: a class that `compose()` made.
        prefix: what the names of the variables begin with.
        environ: the variables, such as `os.environ`.
        retired: what to type instead, by flags that there were once, as `ArgumentParser` takes it.

    Returns:
        The values by field.

    Raises:
        InvalidSettingsError: a text does not fit its field, a field is set twice, or a variable
            names what cannot be set, or two fields; one line for each.

    Warns:
        UnknownVariableWarning: a variable is nearly that of a field, or has a namespace in it.
        DeprecatedFlagWarning: a field has a replacement.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> Args = compose("Args", [Parallel])
        >>> values_of_environment(Args, "SERVER_", {"SERVER_TP_SIZE": "8", "HOME": "/root"})
        {'tp_size': 8}
    """
    reader = _Reader(Settings(record_class), prefix, retired or {})
    for variable, text in environ.items():
        if variable.startswith(prefix):
            try:
                reader.read(variable, text)
            except InvalidValueError as error:
                reader.problems += error.problems
    if reader.problems:
        raise InvalidSettingsError(reader.problems)
    for message in reader.unknown:
        warnings.warn(UnknownVariableWarning(message), stacklevel=2)
    for subject, replacement in reader.deprecated:
        warn_deprecated(subject, replacement, stacklevel=2)
    return reader.values


class _Reader:
    """Takes variables one by one and collects their values and what is wrong with them."""

    def __init__(self, settings: Settings, prefix: str, retired: Mapping[str, str]) -> None:
        self._settings = settings
        self._prefix = prefix
        self._spellings: dict[str, str] = {}
        self._ambiguous: dict[str, str] = {}
        for name in (*settings.spellings, *settings.opposites):
            variable = prefix + name.upper()
            first = self._spellings.setdefault(variable, name)
            if first != name and not settings.mean_the_same(first, name):
                self._ambiguous[variable] = name
        self._derived = {prefix + name.upper(): name for name in settings.derived}
        self._retired = {
            prefix + underscored(flag).upper(): instead for flag, instead in retired.items()
        }
        self._variables: dict[str, str] = {}
        self.values: dict[str, Any] = {}
        self.problems: list[str] = []
        self.unknown: list[str] = []
        self.deprecated: list[tuple[str, str]] = []

    def read(self, variable: str, text: str) -> None:
        """Read one variable.

        Args:
            variable: its name.
            text: its text.

        Raises:
            InvalidValueError: it cannot be taken.
        """
        spelling = self._spellings.get(variable, "")
        if variable in self._ambiguous:
            both = f"{spelling} and {self._ambiguous[variable]}, which differ in case alone"
            raise InvalidValueError([f"{variable} could set {both}; set them some other way"])
        setting = self._settings.find(spelling)
        if setting is None:
            self._read_unknown(variable)
            return
        first = self._variables.setdefault(setting.name, variable)
        if first != variable:
            raise InvalidValueError([f"{variable} sets the same as {first}; unset one of them"])
        if setting.is_switch:
            text = _SWITCHED.get(text, text)
        value = value_of_text(setting, text, variable)
        opposite = self._settings.is_opposite(spelling) and value is not None
        self.values[setting.name] = not value if opposite else value
        if setting.arg.deprecated:
            self.deprecated.append((variable, setting.arg.deprecated))

    def _read_unknown(self, variable: str) -> None:
        if variable in self._derived:
            advice = self._settings.advice_on(self._derived[variable])
            raise InvalidValueError([f"{variable} {advice}"])
        if variable in self._retired:
            instead = self._retired[variable]
            name, value = self._settings.replacement(instead) or ("", "")
            if name:
                instead = f"{self._prefix}{name.upper()}" + (f"={value}" if value else "")
            raise InvalidValueError([f"{variable} is retired; set {instead} instead"])
        gone = {self._prefix + each.upper(): each for each in self._settings.retired}
        if variable in gone:
            advice = self._settings.retired[gone[variable]]
            raise InvalidValueError([f"{variable} is retired: {advice}"])
        name = self._without_namespace(variable)
        if name:
            problem = f"the variable {variable} sets nothing; its name has no namespace in it."
            self.unknown.append(f"{problem} Did you mean {name!r}?")
            return
        near = nearest(variable, self._spellings, self._prefix)
        if near:
            self.unknown.append(f"the variable {variable} sets nothing. Did you mean {near!r}?")

    def _without_namespace(self, variable: str) -> str:
        """Return the variable that is meant by one with a path before the field, or nothing."""
        rest = _single(variable.removeprefix(self._prefix)).upper()
        known = {_single(each.removeprefix(self._prefix)): each for each in self._spellings}
        for path in self._settings.paths:
            start = _single(path.replace(".", "_").upper()) + "_"
            if rest.startswith(start) and rest.removeprefix(start) in known:
                return known[rest.removeprefix(start)]
        return ""


def _single(name: str) -> str:
    """Return a name with one underscore where there are several."""
    return re.sub("_+", "_", name)


def nearest(variable: str, variables: Iterable[str], prefix: str) -> str:
    """Return the variable that is nearest to one, or an empty string.

    Args:
        variable: its name.
        variables: the names of the others.
        prefix: what they all begin with, which would make all of them alike.
    """
    # Imported where it is needed: nobody needs it until something is wrong.
    import difflib

    names = [each.removeprefix(prefix) for each in variables]
    near = difflib.get_close_matches(variable.removeprefix(prefix).upper(), names, 1, 0.75)
    return prefix + near[0] if near else ""
