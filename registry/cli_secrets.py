"""Secrets that are typed: no message shows one, and a masked one is never taken for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["Unshown", "is_secret"]


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
        except (argparse.ArgumentTypeError, ValueError, TypeError):
            problem = "the value, which is secret and not shown, does not fit"
        # Not inside of the handler: the error would be part of the new one's context.
        raise argparse.ArgumentTypeError(problem)


def is_secret(option: argparse.Action) -> bool:
    """Tell whether an option takes a secret."""
    return isinstance(option.type, Unshown)
