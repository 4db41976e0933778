"""Write plain values as the text of a YAML, TOML or JSON file.

In YAML and TOML each setting is one line, its value written as in JSON as far as that goes: a
text always stands in quotes, so that none is taken for a number or a word such as true.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

__all__ = ["lacking", "text_of"]

# What JSON leaves as it is, and some other format or a file in UTF-8 does not.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = ("true", "false", "null", "inf", "nan")


def text_of(suffix: str, values: Mapping[str, Any], paths: Collection[str]) -> str:
    """Return the text of a file.

    Args:
        suffix: ".yaml", ".yml", ".toml" or ".json".
        values: plain values.
        paths: those of the mappings that are namespaces, and get a section of their own.

    Example:
        >>> print(text_of(".toml", {"a": 1, "exec": {"moe": {"b": ["x"]}}}, ["exec", "exec.moe"]))
        a = 1
        <BLANKLINE>
        [exec.moe]
        b = ["x"]
        <BLANKLINE>
    """
    if suffix == ".json":
        return _escaped(json.dumps(values, indent=2, ensure_ascii=False)) + "\n"
    if suffix == ".toml":
        return "\n".join(_toml(values, "", paths)) + "\n"
    return "\n".join(_yaml(values, "", paths)) + "\n" if values else "{}\n"


def lacking(suffix: str, value: Any) -> str:
    """Return what a format has not that a plain value needs, or an empty string.

    Args:
        suffix: as in `text_of`.
        value: the value.

    Example:
        >>> lacking(".toml", [None]), lacking(".yaml", [None])
        ('TOML has no null, YAML and JSON have', '')
    """
    if isinstance(value, dict | list):
        items = value.values() if isinstance(value, dict) else value
        return next(filter(None, (lacking(suffix, item) for item in items)), "")
    if suffix == ".toml" and value is None:
        return "TOML has no null, YAML and JSON have"
    if suffix == ".json" and isinstance(value, float) and not math.isfinite(value):
        return "JSON has no infinity and no NaN, YAML and TOML have"
    return ""


def _yaml(values: Mapping[str, Any], path: str, paths: Collection[str]) -> Iterator[str]:
    indent = "  " * path.count(".")
    for key, value in values.items():
        inner = path + key
        if isinstance(value, dict) and inner in paths:
            yield f"{indent}{_key(key)}:"
            yield from _yaml(value, inner + ".", paths)
        else:
            yield f"{indent}{_key(key)}: {_written(value, ': ', '.inf', '.nan')}"


def _toml(values: Mapping[str, Any], path: str, paths: Collection[str]) -> Iterator[str]:
    sections = {
        key: value
        for key, value in values.items()
        if isinstance(value, dict) and path + key in paths
    }
    if path and len(sections) < len(values):
        yield f"[{'.'.join(map(_key, path[:-1].split('.')))}]"
    for key, value in values.items():
        if key not in sections:
            yield f"{_key(key)} = {_written(value, ' = ', 'inf', 'nan')}"
    for position, (key, value) in enumerate(sections.items()):
        if position or len(sections) < len(values):
            yield ""
        yield from _toml(value, f"{path}{key}.", paths)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) and key.lower() not in _WORDS else _quoted(key)


def _written(value: Any, colon: str, infinity: str, nan: str) -> str:
    """Return a value on one line, by how its format writes what the formats differ in."""
    if isinstance(value, dict):
        items = (
            f"{_quoted(key)}{colon}{_written(item, colon, infinity, nan)}"
            for key, item in value.items()
        )
        return f"{{{', '.join(items)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_written(item, colon, infinity, nan) for item in value)}]"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, float) and not math.isfinite(value):
        return nan if math.isnan(value) else infinity if value > 0 else "-" + infinity
    return json.dumps(value)


def _quoted(text: str) -> str:
    return _escaped(json.dumps(text, ensure_ascii=False))


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
