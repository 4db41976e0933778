"""Values as words: how an operator writes one, and options that take only some."""

from __future__ import annotations

import argparse
import enum
from collections.abc import Callable, Collection, Sequence
from typing import Any

from registry.errors import did_you_mean

__all__ = ["choice_options", "chosen_by_word", "word_of"]


def word_of(value: Any) -> str:
    """Return how an operator writes a value, or reads a default.

    Args:
        value: a choice or a default.

    Example:
        >>> word_of(None), word_of([1, "a"])
        ('none', '1 a')
    """
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, list | tuple):
        return " ".join(map(word_of, value))
    if isinstance(value, set | frozenset):
        return " ".join(sorted(map(word_of, value)))
    return "none" if value is None else str(value)


def choice_options(
    convert: Callable[[str], Any], allowed: Collection[Any], words: Sequence[str]
) -> dict[str, Any]:
    """Return the arguments of `add_argument` for an option that takes some values only.

    Args:
        convert: turns the text into a value.
        allowed: the values.
        words: how they are written.
    """

    def choose(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = text
        if value not in allowed:
            raise argparse.ArgumentTypeError(
                f"invalid choice: {text!r} (choose from {', '.join(words)})."
                f"{did_you_mean(text, words)}"
            )
        return value

    return {"type": choose, "choices": allowed, "metavar": "{" + ",".join(words) + "}"}


def chosen_by_word(values: list[Any]) -> dict[str, Any]:
    """Return the arguments for an option that takes some values, each written as its word."""
    by_word = {word_of(value): value for value in values}
    return choice_options(lambda text: by_word.get(text, text), values, list(by_word))
