"""Values as words: how an operator writes one, and options that take only some."""

from __future__ import annotations

import argparse
import enum
from collections.abc import Callable, Collection, Sequence
from typing import Any

from registry.errors import did_you_mean

__all__ = ["choice_options", "chosen_by_word", "guarded", "word_of"]


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
            known = value in allowed
        except argparse.ArgumentTypeError:
            raise
        except Exception:  # whatever it raises, the text is no choice
            known = False
        if not known:
            raise argparse.ArgumentTypeError(
                f"invalid choice: {text!r} (choose from {', '.join(words)})."
                f"{did_you_mean(text, words)}"
            )
        return value

    return {"type": choose, "choices": allowed, "metavar": "{" + ",".join(words) + "}"}


def guarded(convert: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a parser whose every error `argparse` takes for a text that does not fit.

    `Decimal`, for one, raises an ArithmeticError.

    Args:
        convert: turns the text into a value.

    Example:
        >>> guarded({"one": 1}.__getitem__)("two")
        Traceback (most recent call last):
        ValueError: KeyError: 'two'
    """
    if convert in (str, int, float):
        return convert

    def parse_text(text: str) -> Any:
        try:
            return convert(text)
        except (argparse.ArgumentTypeError, ValueError, TypeError):
            raise
        except Exception as error:
            raise ValueError(f"{type(error).__name__}: {error}") from error

    # argparse says what the text should have been by the name of what reads it.
    parse_text.__name__ = getattr(convert, "__name__", repr(convert))
    return parse_text


def chosen_by_word(values: list[Any]) -> dict[str, Any]:
    """Return the arguments for an option that takes some values, each written as its word."""
    by_word = {word_of(value): value for value in values}
    return choice_options(lambda text: by_word.get(text, text), values, list(by_word))
