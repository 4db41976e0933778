"""What a value of a file, or a text of the environment, means for a field.

The rules of the value check and of the command line, nothing else: a value that fits is taken,
and a word means what it means on the command line.
"""

from __future__ import annotations

import argparse
import enum
import json
import shlex
from collections.abc import Callable, Iterator
from typing import Any, get_origin

from registry.cli_choices import word_of
from registry.cli_rules import kind_of, parse_bool
from registry.errors import InvalidValueError
from registry.settings import Setting
from registry.value_types import described, fits
from registry.values import no_choice, problems_with

__all__ = ["value_of_plain", "value_of_text"]

_ON = ("true", "yes", "on", "y", "1")
_OFF = ("false", "no", "off", "n", "0")


def value_of_plain(setting: Setting, value: Any, key: str) -> Any:
    """Return what a plain value, as a file holds it, means for a field.

    Args:
        setting: the field.
        value: the value.
        key: the name that it was given under, for messages.

    Raises:
        InvalidValueError: the field does not take it.
    """
    if setting.arg.secret and value == "***":
        raise InvalidValueError(
            [f"{key} is masked, the file was written without its secrets; write the secret itself"]
        )
    if setting.is_switch and not fits(value, setting.annotation):
        raise InvalidValueError([_no_switch(setting, value, key)])
    try:
        return _taken(setting, value, key)
    except InvalidValueError as error:
        problems = error.problems
    advice = _advice(setting, value, key)
    if advice and value is not None:
        # What is wrong is the type; what the nearest choice is would be beside the point.
        problems = tuple(problems_with(key, setting.annotation, value))
    raise InvalidValueError([problem + advice for problem in problems])


def value_of_text(setting: Setting, text: str, name: str) -> Any:
    """Return what a text means for a field, as the command line would read it.

    A field that takes several words gets them from one text, split as a shell does. A switch is
    true or false.

    Args:
        setting: the field.
        text: the text.
        name: the name that it was given under, for messages.

    Raises:
        InvalidValueError: the field does not take it.
    """
    if setting.arg.secret and text == "***":
        raise InvalidValueError([f"{name} is masked; give the secret itself"])
    convert = setting.convert
    if convert is None:
        problem = f"{name}: no text turns into {described(setting.annotation)}; the program sets it"
        raise InvalidValueError([problem])
    takes_empty = str in setting.kind.members or setting.takes_several  # if there may be no words
    if not text and not takes_empty and setting.arg.type_parser is None:
        raise InvalidValueError([f"{name} is empty; give it a value or leave it out"])
    if setting.is_switch:
        value = _converted(setting, parse_bool, text, name)
    elif setting.takes_several:
        value = [_converted(setting, convert, each, name) for each in _words(setting, text, name)]
    else:
        value = _converted(setting, convert, text, name)
    return _checked(setting, value, name)


def _words(setting: Setting, text: str, name: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        problem = f"{name}: words are split as in a shell, but there is {str(error).lower()}"
        raise InvalidValueError([problem]) from error
    count = setting.options.get("nargs")
    if not words and count not in ("*", argparse.REMAINDER):
        raise InvalidValueError([f"{name} is empty; give it a value or leave it out"])
    if isinstance(count, int) and len(words) != count:
        raise InvalidValueError([f"{name}: expected {count} words, not {len(words)}"])
    return words


def _converted(setting: Setting, convert: Callable[[str], Any], text: str, name: str) -> Any:
    """Return what a text becomes on the command line."""
    try:
        return convert(text)
    except argparse.ArgumentTypeError as error:
        problem = str(error)
    except (ValueError, TypeError):
        kind = getattr(convert, "__name__", repr(convert))
        problem = f"invalid {kind} value: {text!r}"
    if setting.arg.secret:
        problem = f"the value, which is secret and not shown, is no {described(setting.annotation)}"
    raise InvalidValueError([f"{name}: {problem}"])


def _taken(setting: Setting, value: Any, key: str) -> Any:
    if isinstance(value, list) and setting.takes_several:
        members = setting.kind.elements or [str]
        value = [_item(setting, each, members, key) for each in value]
    elif not (setting.takes_several and fits(value, setting.annotation)):
        value = _item(setting, value, setting.kind.members, key)
    taken = _checked(setting, value, key)
    count = setting.options.get("nargs")
    # Of an action that appends, each occurrence would have as many.
    appends = setting.arg.action is not None
    if isinstance(count, int) and isinstance(value, list) and not appends and len(value) != count:
        raise InvalidValueError([f"{key}: expected {count} items, not {len(value)}"])
    return taken


def _item(setting: Setting, value: Any, members: list[Any], key: str) -> Any:
    """Return what a value means that is one word on the command line."""
    convert = setting.convert
    if convert is None or value is None:
        return value
    if setting.arg.type_parser is not None:
        if isinstance(value, str | dict | list):
            text = value if isinstance(value, str) else json.dumps(value)
            return _converted(setting, convert, text, key)
        return value
    if not isinstance(value, str) or str in members:
        return value
    try:
        converted = convert(value)
    except (argparse.ArgumentTypeError, ValueError, TypeError):
        return value
    # A number in quotes is a text, whoever could read it as a number; a member of an enum is known
    # by its text, even if it is a number.
    is_number = isinstance(converted, bool | int | float) and not isinstance(converted, enum.Enum)
    return value if is_number else converted


def _checked(setting: Setting, value: Any, name: str) -> Any:
    value = _as_declared(value, setting.annotation)
    problems = list(_no_choices(setting, value, name))
    problems = problems or list(problems_with(name, setting.annotation, value))
    if value is None and problems:
        problems = [f"{name} must be {described(setting.annotation)}, not null"]
    if problems:
        raise InvalidValueError(problems)
    return value


def _no_choices(setting: Setting, value: Any, name: str) -> Iterator[str]:
    choices = setting.options.get("choices")
    if choices is None or value is None:
        return
    for item in value if isinstance(value, list | set | frozenset | tuple) else [value]:
        if item not in choices:
            yield no_choice(name, map(word_of, choices), item, setting.arg.secret)


def _as_declared(value: Any, annotation: Any) -> Any:
    """Return a list as the collection that a type takes."""
    if isinstance(value, list) and not fits(value, annotation):
        for member in kind_of(annotation).members:
            origin = get_origin(member) or member
            if origin in (set, frozenset, tuple):
                try:
                    candidate = origin(value)
                except TypeError:  # items that no set can hold
                    continue
                if fits(candidate, member):
                    return candidate
    return value


def _no_switch(setting: Setting, value: Any, key: str) -> str:
    optional = " or null" if fits(None, setting.annotation) else ""
    word = str(value).lower()
    meant = "true" if word in _ON else "false" if word in _OFF else ""
    if setting.arg.secret:
        meant = ""
    advice = f"; write {meant}" if meant else ""
    if meant and meant == word and isinstance(value, str):
        advice += " without quotes"
    shown = "null" if value is None else "***" if setting.arg.secret else repr(value)
    return f"{key} must be true or false{optional}, not {shown}{advice}"


def _advice(setting: Setting, value: Any, key: str) -> str:
    """Return what to write instead of a value that was refused, as far as that is known."""

    def would_do(other: Any) -> bool:
        try:
            _taken(setting, other, key)
        except InvalidValueError:
            return False
        return True

    if value is None or isinstance(value, bool | int | float):
        if would_do(json.dumps(value)):
            return "; write it in quotes"
    elif isinstance(value, str) and setting.arg.type_parser is None:
        try:
            number = json.loads(value)
        except (ValueError, RecursionError):
            number = None
        if isinstance(number, bool | int | float) and would_do(number):
            return "; write it without quotes"
    if not isinstance(value, list) and setting.takes_several and would_do([value]):
        return "; write it as a list, even if there is only one"
    return ""
