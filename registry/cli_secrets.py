"""Secrets that are typed: no message shows one, and a masked one is never taken for it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["unshown"]


def unshown(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser of a secret that says nothing of what it was given.

    Args:
        convert: turns the text into the value.

    Example:
        >>> unshown(int)("hunter2")
        Traceback (most recent call last):
        argparse.ArgumentTypeError: the value, which is secret and not shown, does not fit
    """

    def parse_text(text: str) -> Any:
        if text == "***":
            problem = "*** stands for a secret that was not shown; type the secret itself"
            raise argparse.ArgumentTypeError(problem)
        try:
            return convert(text)
        except (argparse.ArgumentTypeError, ValueError, TypeError):
            problem = "the value, which is secret and not shown, does not fit"
        # Not inside of the handler: the error would be part of the new one's context.
        raise argparse.ArgumentTypeError(problem)

    return parse_text
