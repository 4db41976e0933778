"""Write plain values as the text of a YAML, TOML or JSON file, with the libraries for that."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from registry.config_text import missing_extra

__all__ = ["lacking", "text_of"]

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def text_of(path: str, suffix: str, values: Mapping[str, Any]) -> str:
    """Return the text of a file.

    Args:
        path: the file, for messages.
        suffix: ".yaml", ".yml", ".toml" or ".json".
        values: plain values.

    Raises:
        ConfigFileError: the format needs a package that is not installed.

    Example:
        >>> print(text_of("run.json", ".json", {"tp_size": 8}))
        {
          "tp_size": 8
        }
        <BLANKLINE>
    """
    if suffix == ".json":
        return json.dumps(values, indent=2) + "\n"
    return _toml(path, values) if suffix == ".toml" else _yaml(path, values)


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


def _toml(path: str, values: Mapping[str, Any]) -> str:
    try:
        import tomli_w
    except ImportError as error:
        raise missing_extra(path, "writing TOML", "toml") from error
    return tomli_w.dumps(values)


def _yaml(path: str, values: Mapping[str, Any]) -> str:
    try:
        import yaml
    except ImportError as error:
        raise missing_extra(path, "writing YAML", "yaml") from error

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    def quoted(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
        # What begins with a letter and is no word is a text to everyone. The library quotes the
        # words; of the rest it knows YAML 1.1 only, where 1e3 is a text and 0o7 as well.
        style = None if _BARE.fullmatch(text) else '"'
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, quoted)
    text: str = yaml.dump(
        values,
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=math.inf,
        default_flow_style=False,
    )
    return text
