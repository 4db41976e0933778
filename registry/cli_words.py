"""What an operator types, put into the words that `argparse` takes.

Forgives what `argparse` does not: underscores in a flag, one key of a mapping after a dot. What
cannot be meant is refused with the words to type instead.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterator, Mapping, Sequence

from registry.cli_keys import KeyedText, MergeKeys
from registry.cli_secrets import is_secret
from registry.errors import RegistryError

__all__ = ["CommandLineError", "Spelling", "dashed", "one_of"]

_SOME = 6  # How many of the flags that were meant a message lists.


class CommandLineError(RegistryError, ValueError):
    """A command line that cannot be read.

    Attributes:
        problem: what is wrong and what to type instead.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem

    def __str__(self) -> str:
        return self.problem


class Spelling:
    """The flags of one parser and the ways to write them.

    Args:
        flags: every flag and its action.
        namespaces: the path of each field's namespace, by the field.
        retired: what to type instead, by flags that there were once.
        abbreviated: whether the beginning of a flag will do.
    """

    def __init__(
        self,
        flags: Mapping[str, argparse.Action],
        namespaces: Mapping[str, str],
        retired: Mapping[str, str],
        abbreviated: bool = True,
    ) -> None:
        self._flags = flags
        self._namespaces = namespaces
        self._retired = {dashed(flag): instead for flag, instead in retired.items()}
        self._abbreviated = abbreviated

    @functools.cached_property
    def _by_dashes(self) -> dict[str, str]:
        # At first need: most command lines have every flag as it is.
        return {dashed(flag): flag for flag in self._flags}

    def rewrite(self, words: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the words for `argparse`, and the flags among them that cannot be right.

        Args:
            words: the command line.

        Raises:
            CommandLineError: a flag is retired, could be several, stands in one word with its
                value, or is given a key that it does not take.
        """
        rest = iter(words)
        rewritten: list[str] = []
        unknown: list[str] = []
        for word in rest:
            if word == "--":
                return [*rewritten, word, *rest], unknown
            if not word.startswith("--") or word.partition("=")[0] in self._flags:
                rewritten.append(word)
                continue
            self._refuse_one_word(word)
            rewritten += self._written(word, rest, unknown)
        return rewritten, unknown

    def suggest(self, flag: str) -> str:
        """Return a sentence that offers the flags nearest to one that there is not.

        Args:
            flag: what was typed.

        Returns:
            The sentence with a leading space, or an empty string.
        """
        # Imported where it is needed: nobody needs it until something is wrong.
        import difflib

        near = difflib.get_close_matches(dashed(flag), self._by_dashes, n=3, cutoff=0.7)
        # Of a long flag a part is often right, such as the name without what it turns on.
        part = flag.strip("-")
        if not near and len(part) > 3:
            near = [each for each in self._by_dashes if part in each][:3]
        if not near:
            return ""
        return f" Did you mean {one_of([self._offered(self._by_dashes[each]) for each in near])}?"

    def shown(self, words: Sequence[str]) -> str:
        """Return words as a message may show them, `***` for what can be meant as a secret.

        Args:
            words: words that `argparse` could not place.
        """
        shown, hidden = [], False
        for word in words:
            name, equals, _ = word.partition("=")
            if name.startswith("-"):
                hidden = self._is_near_secret(name)
            if hidden and equals:
                word = f"{name}=***"
            elif hidden and not name.startswith("-"):
                word = "***"
            shown.append(word)
        return " ".join(shown)

    def _is_near_secret(self, name: str) -> bool:
        secret = [flag for flag, action in self._flags.items() if is_secret(action)]
        if not secret:
            return False
        # Imported where it is needed, as above.
        import difflib

        part = name.strip("-")
        near = difflib.get_close_matches(dashed(name), secret, n=1, cutoff=0.7)
        return bool(near) or (len(part) > 2 and any(part in flag for flag in secret))

    def _offered(self, flag: str) -> str:
        path = self._namespaces.get(self._flags[flag].dest)
        return flag if path is None else f"{flag} ({path})"

    def _written(self, word: str, rest: Iterator[str], unknown: list[str]) -> list[str]:
        """Return what `argparse` takes for a word that is no flag as it stands."""
        name, equals, value = word.partition("=")
        if name == "--":  # argparse would take it for the beginning of every flag
            raise CommandLineError("--= has a value but no flag; write --flag=value")
        written = dashed(name)
        if written in self._by_dashes:
            return [self._by_dashes[written] + equals + value]
        if any(flag.startswith(name) for flag in self._flags):
            self._refuse_ambiguous(name, name)
            return [word]
        if written in self._retired:
            raise CommandLineError(f"{name} is retired; type {self._retired[written]} instead")
        if self._meant(written):
            self._refuse_ambiguous(name, written)
            return [written + equals + value]
        base, dot, keys = name.partition(".")
        meant = self._meant(dashed(base)) if dot and base.strip("-_") else set()
        if len(meant) > 1:
            self._refuse_ambiguous(name, dashed(base))
        if len(meant) != 1:
            if " " not in name:  # argparse takes it for a value
                unknown.append(name)
            return [word]
        (flag,) = meant
        if not isinstance(self._flags[flag], MergeKeys):
            raise CommandLineError(f"{name}: {flag} takes its value as a whole, not by key")
        if not all(keys.split(".")):
            raise CommandLineError(f"{name}: expected a key after each dot")
        if not equals:
            value = next(rest, "")
            if not value or value in self._flags:
                raise CommandLineError(f"argument {name}: expected one argument")
        return [flag, KeyedText(value, keys.split("."))]

    def _meant(self, written: str) -> set[str]:
        """Return the flags that a spelling, whole or its beginning, can stand for."""
        if written in self._by_dashes:
            return {self._by_dashes[written]}
        if not self._abbreviated:
            return set()
        return {flag for each, flag in self._by_dashes.items() if each.startswith(written)}

    def _refuse_ambiguous(self, name: str, beginning: str) -> None:
        """Refuse the beginning of flags that set different things."""
        first: dict[int, str] = {}
        for flag, action in self._flags.items():
            if flag.startswith(beginning):
                first.setdefault(id(action), flag)
        if self._abbreviated and len(first) > 1:
            more = [f"{len(first) - _SOME} more"] if len(first) > _SOME else []
            listed = one_of([*list(first.values())[:_SOME], *more])
            raise CommandLineError(f"{name} is ambiguous; it could be {listed}")

    def _refuse_one_word(self, word: str) -> None:
        name, *value = word.split(None, 1)
        meant = self._meant(dashed(name)) if value and "=" not in name else set()
        if meant:
            if any(is_secret(self._flags[flag]) for flag in meant):
                word, value = f"{name} ***", ["***"]
            problem = f"{word!r} is one word; a flag and its value are two: {name!r} {value[0]!r}"
            raise CommandLineError(problem)


def one_of(names: Sequence[str]) -> str:
    """Return names as alternatives.

    Example:
        >>> one_of(["--a", "--b", "--c"])
        '--a, --b or --c'
    """
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def dashed(flag: str) -> str:
    """Return a flag with dashes for underscores, its keys as they are.

    Example:
        >>> dashed("--graph_config.max_bs")
        '--graph-config.max_bs'
    """
    name, dot, keys = flag.partition(".")
    return name.replace("_", "-") + dot + keys
