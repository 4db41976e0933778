"""Secrets that are typed: no message shows one, and a masked one is never taken for it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from registry.cli_keys import KeyedText

__all__ = ["DASH", "Unshown", "conceal", "is_secret", "shown"]

_MARK = "_takes_a_secret"  # An attribute of the option.
# An editor makes one dash of two, of which argparse knows none.
DASH = re.compile("[-\u2010-\u2015\u2212]")
_FEW = 3  # Letters of which a name that is like another one has at least so many.


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
        if (text.text if isinstance(text, KeyedText) else text) == "***":
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


def shown(
    words: Sequence[str], typed: Sequence[str], options: Mapping[str, argparse.Action]
) -> str:
    """Return words as a message may show them, `***` for what can be meant as a secret.

    That is what follows a flag of a secret, or nearly of one, anywhere on the command line.

    Args:
        words: words that `argparse` could not place.
        typed: the command line that has them.
        options: every flag and its option.
    """
    secrets = {_letters(flag) for flag, option in options.items() if is_secret(option)}
    hidden: set[str] = set()
    after = taken = False  # Whether a secret was begun before, and whether this may be one of it.
    several = False
    for word in typed if secrets else ():
        option = _option(word, options)
        if option is not None:
            secret = is_secret(option) and option.nargs != 0
            several = secret and option.nargs not in (None, "?")
            taken = secret and (word in options or word.startswith("--")) and "=" not in word
            after = after or secret
            continue
        is_flag = DASH.match(word) is not None
        if taken or several or (after and not is_flag):
            hidden.add(word)
            taken = False
        elif _is_near(_name(word), secrets):
            after = True
            taken = _name(word) == word
        else:
            taken = False
    told = ["***" if word in hidden else _cut(word, secrets) for word in words]
    return " ".join(word if word and word.isprintable() else repr(word) for word in told)


def _option(word: str, options: Mapping[str, argparse.Action]) -> argparse.Action | None:
    """Return the option that a word is the flag of, its value perhaps in the same word.

    Of those that the beginning of a flag may stand for it is one of a secret, if there is one.
    """
    name = word.partition("=")[0]
    if name in options:
        return options[name]
    if not word.startswith("--"):
        return options.get(word[:2])
    begun = [option for flag, option in options.items() if name != "--" and flag.startswith(name)]
    return next(filter(is_secret, begun), begun[0] if begun else None)


def _cut(word: str, secrets: Collection[str]) -> str:
    """Return a word without what stands behind a name that is nearly that of a secret."""
    name = _name(word)
    if not _is_near(name, secrets):
        return word
    for letters in _long(secrets):
        found = re.search(r"[\W_]*".join(letters), name, re.IGNORECASE)
        if found and found.end() < len(name):
            return f"{name[: found.end()]}***"
    return word if name == word else f"{name}{word[len(name)]}***"


def _is_near(name: str, secrets: Collection[str]) -> bool:
    letters = _letters(name)
    if len(letters) < _FEW:
        return False
    if any(letters in each or each in letters for each in _long(secrets)):
        return True
    # Imported where it is needed: nobody needs it until something is wrong.
    import difflib

    return bool(difflib.get_close_matches(letters, _long(secrets), n=1, cutoff=0.7))


def _long(secrets: Collection[str]) -> list[str]:
    # That of `-k` is in every other word.
    return [each for each in secrets if len(each) >= _FEW]


def _name(word: str) -> str:
    return re.split(r"[\s=:]", word, maxsplit=1)[0]


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
