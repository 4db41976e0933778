"""Read TOML into plain values."""

from __future__ import annotations

import re
import sys
from typing import Any

from registry.config_text import (
    MAX_DEPTH,
    MAX_DIGITS,
    ConfigFileError,
    check_depth,
    integer,
    last_line,
    missing_extra,
    real,
    tokens,
    too_deep,
)

__all__ = ["read_toml"]


def read_toml(path: str, text: str) -> Any:
    """Return what a TOML file holds.

    Args:
        path: the file, for messages.
        text: what it holds.

    Raises:
        ConfigFileError: it is no TOML, holds a date, or needs a package that is not installed.
    """
    # Imported where it is needed: most programs read no TOML, and Python 3.10 has no parser.
    try:
        if sys.version_info >= (3, 11):
            import tomllib
        else:
            import tomli as tomllib
    except ImportError as error:
        raise missing_extra(path, "reading TOML", "toml") from error
    check_depth(path, text)
    try:
        values = tomllib.loads(text, parse_float=lambda digits: real(path, digits))
    except tomllib.TOMLDecodeError as error:
        problem, _, place = str(error).rpartition(" (at ")
        found = re.match(r"line (\d+)", place)
        line = int(found[1]) if found else last_line(text)
        if problem.startswith("Cannot "):
            problem = f"{_statement(text, line)} gives a key again, write it once ({problem})"
        raise ConfigFileError(f"{path}:{line}", f"not TOML: {problem}") from error
    except RecursionError as error:
        raise too_deep(path) from error
    except ConfigFileError:
        raise
    except ValueError as error:  # Of `int`, which refuses what is too long.
        raise ConfigFileError(
            path, f"an integer has more than {MAX_DIGITS} digits; shorten it"
        ) from error
    _check_toml(path, values, "", 1)
    return values


def _statement(text: str, line: int) -> str:
    """Return the key or the table header of the statement that ends on a line."""
    text += "\n"
    start = equals = passed = 0
    for sign, end, depth in tokens(text):
        if sign == "=" and depth == 0:
            equals = equals or end
        elif sign == "\n" and depth == 0:
            passed += text.count("\n", start, end)
            if passed >= line:
                return text[start : (equals or end) - 1].strip()
            start, equals = end, 0
    return "this"


def _check_toml(path: str, value: Any, name: str, depth: int) -> None:
    if isinstance(value, dict | list):
        if depth > MAX_DEPTH:
            raise too_deep(path)
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            inner = f"{name}.{key}" if isinstance(key, str) else f"{name}[{key}]"
            _check_toml(path, item, inner.lstrip("."), depth + 1)
    elif isinstance(value, int):
        integer(path, hex(value), 16)
    elif not isinstance(value, str | float):
        raise ConfigFileError(
            path,
            f"the key {name!r} is a date or time; write it as a string, in quotes",
        )
