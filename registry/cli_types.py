"""What a field becomes on the command line: its flags and the arguments of `add_argument`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from registry.cli_choices import choice_options, guarded, word_of
from registry.cli_keys import MergeKeys, keyed
from registry.cli_rules import kind_of
from registry.cli_secrets import Unshown
from registry.declaration import Arg
from registry.errors import FieldDeclarationError

__all__ = ["flags_of", "options_of"]

_TAKE_TEXT = ("store", "append", "extend")


def options_of(subject: str, annotation: Any, arg: Arg, default: Any) -> dict[str, Any]:
    """Work out the arguments of `add_argument` for one field.

    Args:
        subject: the field, for messages.
        annotation: its evaluated type.
        arg: what its declaration says.
        default: its default, or MISSING.

    Raises:
        FieldDeclarationError: no rule fits the type, and `arg` does not say how to read it.
    """
    options: dict[str, Any] = {}
    if arg.action is not None:
        action = arg.action
        if isinstance(action, str):
            action = getattr(argparse, action, action)
        options = {"action": action, **(arg.action_kwargs or {})}
    elif arg.type_parser is not None:
        options = {"type": _reported(arg.type_parser)}
    else:
        options = _options_of_type(annotation, default)
        if not options:
            problem = f"has the type {annotation}, which no text turns into; give its "
            problem += "Arg a type_parser, or no_cli=True"
            raise FieldDeclarationError("", subject, problem)
    if "type" in options:
        options["type"] = guarded(options["type"])
    if arg.choices is not None:
        _limit(subject, options, arg.choices)
    for name in ("nargs", "const", "metavar"):
        if getattr(arg, name) is not None:
            options[name] = getattr(arg, name)
    if not options.keys() & {"action", "nargs"} and kind_of(annotation).takes_keys:
        options = {**options, "action": MergeKeys, "type": keyed(options["type"], annotation)}
    if arg.secret and ("type" in options or options.get("action") in _TAKE_TEXT):
        options["type"] = Unshown(options.get("type", str))
    return options


def flags_of(name: str, arg: Arg) -> list[str]:
    """Return the flags of a field, the first one that it is known by.

    Args:
        name: the field.
        arg: what its declaration says.

    Example:
        >>> flags_of("tp_size", Arg(aliases=["--tp"]))
        ['--tp-size', '--tp']
    """
    return [arg.cli_name or "--" + name.lstrip("_").replace("_", "-"), *arg.aliases]


def _options_of_type(annotation: Any, default: Any) -> dict[str, Any]:
    kind = kind_of(annotation)
    return {} if kind.rule is None else kind.rule(kind.members, default)


def _limit(subject: str, options: dict[str, Any], choices: Sequence[Any]) -> None:
    """Let an option take only some values."""
    convert = options.get("type", str)
    allowed = []
    for choice in choices:
        # A choice is written as the value or as the text that stands for it, such as "none".
        try:
            allowed.append(convert(choice) if isinstance(choice, str) else choice)
        except Exception as error:
            problem = f"has the choice {choice!r}, which its own type does not take: {error}"
            raise FieldDeclarationError("", subject, problem) from error
    options.update(choice_options(convert, allowed, list(map(word_of, choices))))


def _reported(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse print what a parser says; of a ValueError it would keep only the value."""

    def parse_text(text: str) -> Any:
        try:
            return parse(text)
        except argparse.ArgumentTypeError:
            raise
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        except Exception as error:  # its text alone may say little, as that of a KeyError
            problem = f"invalid value: {text!r} ({type(error).__name__}: {error})"
            raise argparse.ArgumentTypeError(problem) from error

    return parse_text
