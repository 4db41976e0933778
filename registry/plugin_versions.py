"""Whether this version is the one that a plugin was written for.

Reads the plain half of what a distribution requires; the rest is left to the installer.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator

from registry.installed import Entry
from registry.plugin_modules import is_within

__all__ = ["explained", "unmet"]

_OURS = "namespace-registry"
_REQUIREMENT = re.compile(r"([\w.-]+)\s*(?:\[[^]]*\])?\s*\(?([^();]*)\)?\s*")
_CLAUSE = re.compile(r"(>=|>|==)\s*(\d+(?:\.\d+)*)")
_UNKNOWN_KEYWORD = re.compile(r"(\w+)[\w.]*\(\) got an unexpected keyword argument")


def unmet(entry: Entry) -> str:
    """Return what is wrong with the version that is installed, or nothing.

    Args:
        entry: a plugin. Only `>=`, `>` and `==` with versions that consist of numbers are
            compared, and only where no marker makes them conditional.
    """
    installed = _our_version()
    if not re.fullmatch(r"\d+(\.\d+)*", installed):
        return ""
    for requirement in _required(entry):
        match = _REQUIREMENT.fullmatch(requirement)
        for clause in match[2].split(",") if match else ():
            parts = _CLAUSE.fullmatch(clause.strip())
            if parts and not _holds(_numbers(installed), parts[1], _numbers(parts[2])):
                return f"requires {requirement}, but {_OURS} {installed} is installed here"
    return ""


def explained(error: BaseException, entry: Entry, group: str) -> str:
    """Return why a plugin does not load, with the versions where these may be the reason.

    Args:
        error: what it raised.
        entry: the plugin.
        group: its group.
    """
    problem = f"does not load: {type(error).__name__}: {error}"
    if not _asks_us(error, group.partition(".")[0]):
        return problem
    required = ", ".join(_required(entry))
    needs = f"; {entry.distribution} requires {required}" if required else ""
    return f"{problem}. {_OURS} {_our_version()} is installed here{needs}"


def _required(entry: Entry) -> Iterator[str]:
    """Yield what a plugin's distribution requires of this one."""
    for each in entry.requires:
        name = re.match(r"[\w.-]+", each)
        if name and re.sub(r"[-_.]+", "-", name[0]).lower() == _OURS:
            yield each


def _holds(installed: list[int], operator: str, required: list[int]) -> bool:
    if operator == "==":
        return installed == required
    return installed > required if operator == ">" else installed >= required


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version; zeros at its end tell nothing."""
    numbers = [int(part) for part in version.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return numbers


def _asks_us(error: BaseException, host: str) -> bool:
    """Tell whether an error says that this project or its host lacks something."""
    if isinstance(error, ImportError):
        wanted = error.name or ""
    elif isinstance(error, AttributeError):
        wanted = str(getattr(error.obj, "__name__", ""))
    elif isinstance(error, TypeError) and (match := _UNKNOWN_KEYWORD.match(str(error))):
        return any(
            match[1] in getattr(sys.modules.get(each), "__all__", ()) for each in (host, "registry")
        )
    else:
        return False
    return any(is_within(wanted, each) for each in (host, "registry"))


def _our_version() -> str:
    try:
        return importlib.metadata.version(_OURS)
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"
