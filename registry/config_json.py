"""Read JSON into plain values, from a file or a word of a command line."""

from __future__ import annotations

import json
from typing import Any

from registry.config_text import ConfigFileError, check_depth, integer, real, too_deep

__all__ = ["plain_json", "read_json"]


def read_json(path: str, text: str) -> Any:
    """Return what a JSON file holds, None if it is empty.

    Args:
        path: the file, for messages.
        text: what it holds.

    Raises:
        ConfigFileError: it is no JSON, gives a key twice, or holds no plain value.
    """
    if not text.strip(" \t\r\n"):
        return None
    try:
        return plain_json(path, text)
    except json.JSONDecodeError as error:
        raise ConfigFileError(f"{path}:{error.lineno}", f"not JSON: {error.msg}") from error


def plain_json(where: str, text: str) -> Any:
    """Return the plain value that a text stands for.

    Args:
        where: its place, for messages.
        text: the text.

    Raises:
        json.JSONDecodeError: it is no JSON.
        ConfigFileError: it gives a key twice, or holds no plain value.

    Example:
        >>> plain_json("", '{"decode": {"max_bs": 64}}')
        {'decode': {'max_bs': 64}}
    """

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in pairs:
            if key in values:
                raise ConfigFileError(where, f"the key {key!r} is given twice; remove one of them")
            values[key] = value
        return values

    def constant(name: str) -> None:
        raise ConfigFileError(where, f"{name} is not JSON; write a number, a string or null")

    check_depth(where, text)
    try:
        return json.loads(
            text,
            object_pairs_hook=mapping,
            parse_constant=constant,
            parse_int=lambda digits: integer(where, digits),
            parse_float=lambda digits: real(where, digits),
        )
    except RecursionError as error:
        raise too_deep(where) from error
