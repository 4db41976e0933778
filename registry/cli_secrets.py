"""Secrets that are typed: no message shows one, and a masked one is never taken for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["Unshown", "conceal", "is_secret"]

_MARK = "_takes_a_secret"  # An attribute of the option.


class Unshown:
    """A parser of a secret that says nothing of what it was given.

    Args:
        convert: turns the text into the value.

    Example:
        >>> Unshown(int)("hunter2")
        Traceback (most recent call last):
        argparse.ArgumentTypeError: the value, which is secret and not shown, does not fit
    """

    def __init__(self, convert: Callable[[str], Any]) -> None:
        self._convert = convert

    def __call__(self, text: str) -> Any:
        """Return the value of a text; raises ArgumentTypeError."""
        if text == "***":
            problem = "*** stands for a secret that was not shown; type the secret itself"
            raise argparse.ArgumentTypeError(problem)
        try:
            return self._convert(text)
        except Exception:  # whatever it raises may have the text
            problem = "the value, which is secret and not shown, does not fit"
        # Not inside of the handler: the error would be part of the new one's context.
        raise argparse.ArgumentTypeError(problem)


def conceal(option: argparse.Action) -> None:
    """Mark an option as one that takes a secret, whatever its action.

    Args:
        option: the option. If it takes words, no message of its parser has them from now on.
    """
    setattr(option, _MARK, True)
    if option.nargs != 0 and not isinstance(option.type, Unshown):
        option.type = Unshown(option.type or str)  # type: ignore[arg-type]


def is_secret(option: argparse.Action) -> bool:
    """Tell whether an option takes a secret.

    Args:
        option: the option; `conceal` has marked those that do.
    """
    return getattr(option, _MARK, False)
