"""Parsers for values that the command line takes as text: sizes, JSON, adapters.

Each takes the text of one word, returns the value, and raises ValueError with what was
expected. They know no setting but those they are named after.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NoReturn

__all__ = [
    "parse_cuda_graph_config",
    "parse_human_readable_int",
    "parse_json",
    "parse_json_list",
    "parse_lora_path",
    "parse_nullable_str",
]

_UNITS = {"k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("kmgt", start=1)}
_SIZE = r"(?ai)([+-]?\d+(?:_\d+)*)(?:\.(\d+))?\s*([kmgt]i?)?"

_GRAPH_BACKENDS = ("full", "breakable", "tc_piecewise", "disabled")
_GRAPH_COMPILERS = ("eager", "inductor")


def parse_json(text: str) -> Any:
    """Parse JSON as the standard has it: no NaN, and no key twice.

    Args:
        text: any JSON value.

    Returns:
        The value.

    Raises:
        ValueError: it is no JSON, the message shows where it stops being so; or a number in it is
            out of range.

    Example:
        >>> parse_json('{"image": {"max_pixels": 1048576}}')
        {'image': {'max_pixels': 1048576}}
    """
    # Imported where it is needed: declaring the settings needs no JSON.
    import json

    try:
        return json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        near = text[max(error.pos - 10, 0) : error.pos + 10]
        raise ValueError(
            f"expected JSON, but {error.msg[0].lower()}{error.msg[1:]} at character "
            f"{error.pos + 1}, near {near!r}"
        ) from error
    except RecursionError as error:
        raise ValueError("expected JSON, but it is nested too deeply") from error


def parse_json_list(text: str) -> list[Any]:
    """Parse a JSON array.

    Args:
        text: such as `["tcp://10.0.0.1:7000"]`.

    Returns:
        The list.

    Raises:
        ValueError: it is no JSON, or no array.

    Example:
        >>> parse_json_list("[1, 2]")
        [1, 2]
    """
    value = parse_json(text)
    if not isinstance(value, list):
        raise ValueError(f"expected a JSON array such as [1, 2], not {text!r}")
    return value


def parse_human_readable_int(text: str) -> int:
    """Parse a whole number with an optional unit.

    Args:
        text: digits, a decimal fraction allowed, then k, M, G or T (powers of 1000) or Ki, Mi,
            Gi or Ti (powers of 1024), in any case.

    Returns:
        The number, exactly.

    Raises:
        ValueError: it is no such number, or not a whole one.

    Example:
        >>> parse_human_readable_int("128k"), parse_human_readable_int("1.5Ki")
        (128000, 1536)
    """
    match = re.fullmatch(_SIZE, text.strip())
    if match is None:
        raise ValueError(f"expected a whole number such as 4096, 128k or 4Ki, not {text!r}")
    whole, fraction, unit = match[1], match[2] or "", (match[3] or "").lower()
    # In whole numbers throughout: a float would lose digits.
    number = _whole(whole + fraction) * _UNITS.get(unit, 1)
    scale: int = 10 ** len(fraction)
    value, rest = divmod(number, scale)
    if rest:
        raise ValueError(f"expected a whole number, which {text!r} is not")
    return value


def parse_nullable_str(text: str) -> str | None:
    """Parse a string that may be none.

    Args:
        text: any text; empty, none and null, in any case, stand for None.

    Returns:
        The text, or None.

    Example:
        >>> parse_nullable_str("None"), parse_nullable_str("scales.json")
        (None, 'scales.json')
    """
    return None if text.strip().lower() in ("", "none", "null") else text


def parse_lora_path(text: str) -> str | dict[str, Any]:
    """Parse one adapter of `--lora-paths`.

    Args:
        text: a path, `name=path`, or a JSON object with `lora_name` and `lora_path` and
            optionally `pinned` (true keeps the adapter loaded).

    Returns:
        The text of a path or `name=path`, or the object as a dict.

    Raises:
        ValueError: the object is no JSON, lacks a key or has another, or a value has the
            wrong type or is blank; or there is nothing on one side of the equals sign.

    Example:
        >>> parse_lora_path("sql=adapters/sql")
        'sql=adapters/sql'
        >>> parse_lora_path('{"lora_name": "sql", "lora_path": "adapters/sql", "pinned": true}')
        {'lora_name': 'sql', 'lora_path': 'adapters/sql', 'pinned': True}
    """
    if not text.lstrip().startswith("{"):
        name, equals, path = text.partition("=")
        if not name.strip() or (equals and not path.strip()):
            raise ValueError(f"expected a path, name=path or a JSON object, not {text!r}")
        return text
    adapter: dict[str, Any] = parse_json(text)
    kinds: dict[str, type] = {"lora_name": str, "lora_path": str, "pinned": bool}
    for key, value in adapter.items():
        if key not in kinds:
            _refuse_key("an adapter", key, kinds)
        if not isinstance(value, kinds[key]):
            raise ValueError(f"expected {key} to be a {kinds[key].__name__}, not {value!r}")
        if isinstance(value, str) and not value.strip():
            raise ValueError(f"expected {key} to have text, not {value!r}")
    for key in ("lora_name", "lora_path"):
        if key not in adapter:
            raise ValueError(f"expected an adapter to have {key}, which {text} lacks")
    return adapter


def parse_cuda_graph_config(text: str) -> dict[str, dict[str, Any]]:
    """Parse the CUDA graph settings of both phases.

    Args:
        text: a JSON object; its keys are `decode` and `prefill`, theirs `backend` (full,
            breakable, tc_piecewise or disabled), `bs` (batch sizes to capture), `max_bs` (the
            largest of them) and `tc_compiler` (eager or inductor).

    Returns:
        The settings by phase.

    Raises:
        ValueError: it is no such object; the message names the key and what it takes.

    Example:
        >>> parse_cuda_graph_config('{"decode": {"backend": "full", "max_bs": 64}}')
        {'decode': {'backend': 'full', 'max_bs': 64}}
    """
    config = parse_json(text)
    if not isinstance(config, dict):
        raise ValueError(f'expected a JSON object such as {{"decode": {{...}}}}, not {text!r}')
    for phase, settings in config.items():
        if phase not in ("decode", "prefill"):
            _refuse_key("cuda_graph_config", phase, ("decode", "prefill"))
        if not isinstance(settings, dict):
            raise ValueError(f"expected {phase} to be a JSON object, not {settings!r}")
        for key, value in settings.items():
            _check_graph_setting(phase, key, value)
    return config


def _check_graph_setting(phase: str, key: str, value: object) -> None:
    words = {"backend": _GRAPH_BACKENDS, "tc_compiler": _GRAPH_COMPILERS}
    if key in words:
        if value not in words[key]:
            raise ValueError(f"expected {phase}.{key} to be {_listed(words[key])}, not {value!r}")
    elif key == "max_bs":
        if not _is_size(value):
            raise ValueError(f"expected {phase}.max_bs to be a whole number above 0, not {value!r}")
    elif key == "bs":
        if not isinstance(value, list) or not all(map(_is_size, value)):
            raise ValueError(
                f"expected {phase}.bs to be a list of whole numbers above 0, not {value!r}"
            )
    else:
        _refuse_key(phase, key, ("backend", "bs", "max_bs", "tc_compiler"))


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _refuse_key(owner: str, key: str, allowed: Iterable[str]) -> NoReturn:
    import difflib

    allowed = list(allowed)
    near = difflib.get_close_matches(key, allowed, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"{owner} has no key {key!r}; it takes {_listed(allowed)}.{hint}")


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given twice in one JSON object")
    return unique


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError as error:
        # Python converts only so many digits, and speaks of its own settings where it stops.
        count = sum(map(str.isdigit, digits))
        raise ValueError(f"expected a number, but {count} digits are too many") from error


def _finite(text: str) -> float:
    value = float(text)
    # A number too large for a float becomes the infinity that JSON does not have.
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"expected a number in the range of a float, which {text} is not")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"expected JSON, which has no {name}")
