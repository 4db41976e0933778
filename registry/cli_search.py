"""Tell whether a topic of `--help` is what an option is about.

Knows names and descriptions, nothing of options.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from registry.cli_words import dashed

__all__ = ["PART", "Topic", "words_in"]

EXACT, NAMED, WHOLE, BEGINNING, PART = range(5)


class Topic:
    """What someone looks for.

    Args:
        text: a word, or several in any order.

    Example:
        >>> topic = Topic("batch sizes")
        >>> topic.rank(["--cuda-graph-bs"], "Batch size of the largest graph.")
        2
        >>> topic.rank(["--batch"], "How many.") is None
        True
    """

    def __init__(self, text: str) -> None:
        self._name = dashed(text.lower()).strip("-")
        self._words = words_in(text)
        self._pieces = text.lower().split() if self._words else []

    def rank(self, names: Collection[str], description: str) -> int | None:
        """Return how well names and a description answer, 0 the best; None if they do not.

        The topic may be a name; all its words may be in names, or in the description as well, in
        the singular or the plural; some may be the beginnings of words; or all may stand somewhere
        inside of words.

        Args:
            names: names and flags.
            description: a text about what they stand for.
        """
        if self._name and self._name in (dashed(each.lower()).strip("-") for each in names):
            return EXACT
        named = set(words_in(" ".join(names)))
        words = named.union(words_in(description))
        if self._words:
            if all(_is_among(each, named) for each in self._words):
                return NAMED
            if all(_is_among(each, words) for each in self._words):
                return WHOLE
            if all(_begins(each, words) or _is_among(each, words) for each in self._words):
                return BEGINNING
        text = " ".join([*map(dashed, names), description]).lower()
        found = [each in text or dashed(each) in text for each in self._pieces]
        return PART if found and all(found) else None


def words_in(text: str) -> list[str]:
    """Return the words of a text, in lower case; those of a name are its parts.

    Args:
        text: the text.

    Example:
        >>> words_in("--tp-size: width, in ranks_")
        ['tp', 'size', 'width', 'in', 'ranks']
    """
    return re.findall(r"[^\W_]+", text.lower())


def _begins(beginning: str, words: Iterable[str]) -> bool:
    return any(each.startswith(beginning) for each in words)


def _is_among(word: str, words: Collection[str]) -> bool:
    """Tell whether a word is among others, be it in the singular or the plural."""
    return any(each in words for each in (word, *_plurals(word))) or any(
        word in _plurals(each) for each in words
    )


def _plurals(word: str) -> tuple[str, ...]:
    return (f"{word}s", f"{word}es", f"{word[:-1]}ies") if len(word) > 1 else ()
