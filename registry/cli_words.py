"""What an operator types, put into the words that `argparse` takes.

Forgives what `argparse` does not: underscores in a flag, one key of a mapping after a dot. What
cannot be meant is refused with the words to type instead.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from registry.cli_keys import KeyedText, MergeKeys
from registry.cli_secrets import DASH, is_secret
from registry.config_text import MAX_DEPTH
from registry.errors import RegistryError

__all__ = ["CommandLineError", "Spelling", "dashed", "one_of"]

_SOME = 6  # How many of the flags that were meant a message lists.
_COMMON = ("enable", "disable")  # Words of a flag that say nothing of what it is about.


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
        forwards: whether some words are for another parser, such as that of a subcommand, where
            the same flag may be another one.
        gone: since when and what to use, by flags of retired fields.

    Attributes:
        flags: every flag and its action.
    """

    def __init__(
        self,
        flags: Mapping[str, argparse.Action],
        namespaces: Mapping[str, str],
        retired: Mapping[str, str],
        abbreviated: bool = True,
        forwards: bool = False,
        gone: Mapping[str, str] | None = None,
    ) -> None:
        self.flags = flags
        self._namespaces = namespaces
        self._retired = {dashed(flag): instead for flag, instead in retired.items()}
        self._abbreviated = abbreviated
        self._forwards = forwards
        self._gone = gone or {}

    @functools.cached_property
    def _by_dashes(self) -> dict[str, str]:
        # At first need: most command lines have every flag as it is.
        return {dashed(flag): flag for flag in self.flags}

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
            if word.startswith("--") and word.partition("=")[0] not in self.flags:
                self._refuse_one_word(word)
                rewritten += self._written(word, rest, unknown)
            else:
                rewritten.append(word)
            if not self._forwards:
                self._refuse_value(rewritten[-1])
            option = self.flags.get(rewritten[-1])
            if option is not None and option.nargs == argparse.REMAINDER:
                return [*rewritten, *rest], unknown
        return rewritten, unknown

    def suggest(self, flag: str) -> str:
        """Offer the flags nearest to one that there is not.

        Args:
            flag: what was typed.

        Returns:
            The end of a sentence, or an empty string.
        """
        # Imported where it is needed: nobody needs it until something is wrong.
        import difflib

        written = dashed(DASH.sub("-", flag))
        part = written.strip("-")
        if not part:
            return ""
        near = [f"--{part}"] if f"--{part}" in self._by_dashes else []
        near = near or difflib.get_close_matches(f"--{part}", self._by_dashes, n=3, cutoff=0.7)
        # Of a long flag a part is often right, such as the name without what it turns on.
        if not near and len(part) > 3:
            near = [each for each in self._by_dashes if part in each][:3]
        near = near or [each for each in self._by_dashes if len(each) > 4 and each in f"--{part}"]
        near = near or self._sharing_a_word(part)
        if not near:
            return ""
        return f"; did you mean {one_of([self._offered(self._by_dashes[each]) for each in near])}?"

    def hint(self, words: Sequence[str], typed: Sequence[str]) -> str:
        """Return what to type instead of words that `argparse` could not place.

        Args:
            words: the words.
            typed: the command line that has them.

        Returns:
            The end of a sentence, or an empty string.
        """
        word = next((each for each in words if DASH.match(each)), words[0])
        name = re.split(r"[\s=:]", word, maxsplit=1)[0]
        if DASH.match(name) or dashed(f"--{name}") in self._by_dashes:
            return self.suggest(name)
        for flag, value in itertools.pairwise(typed):
            if value == word and flag in self.flags and self.flags[flag].nargs == 0:
                return f"; {self._takes_no_value(flag)}"
        return ""

    def _sharing_a_word(self, part: str) -> list[str]:
        """Return some flags that have a word of another one, the rarest of its words."""
        sharing = []
        for word in part.split("-"):
            having = [each for each in self._by_dashes if word in each.split("-")]
            if len(word) > 3 and word not in _COMMON and 0 < len(having) <= _SOME:
                sharing.append(having)
        return min(sharing, key=len, default=[])[:3]

    def _takes_no_value(self, flag: str) -> str:
        option = self.flags[flag]
        off = ""
        if isinstance(option, argparse.BooleanOptionalAction):
            off = next((each for each in option.option_strings if each[:5] == "--no-"), "")
            off = off and f"; {off} turns it off"
        elif option.const is True:
            off = "; leave it out to keep it off"
        return f"{flag} is a switch and takes no value{off}"

    def _refuse_value(self, word: str) -> None:
        """Refuse a value that `argparse` drops, or tells of as if it were no value."""
        name, equals, value = word.partition("=")
        if not equals or name not in self.flags:
            return
        if self.flags[name].nargs == 0:
            raise CommandLineError(self._takes_no_value(name))
        if value == "--":
            problem = "the text -- cannot be typed here; set it in a file or by a variable"
            raise CommandLineError(f"argument {name}: {problem}")

    def _offered(self, flag: str) -> str:
        path = self._namespaces.get(self.flags[flag].dest)
        return flag if path is None else f"{flag} ({path})"

    def _written(self, word: str, rest: Iterator[str], unknown: list[str]) -> list[str]:
        """Return what `argparse` takes for a word that is no flag as it stands."""
        name, equals, value = word.partition("=")
        if name == "--":  # argparse would take it for the beginning of every flag
            raise CommandLineError("--= has a value but no flag; write --flag=value")
        written = dashed(name)
        if written in self._by_dashes:
            return [self._by_dashes[written] + equals + value]
        # Before beginnings: what was a flag is not meant for the beginning of another one.
        advice = self._gone.get(written.partition(".")[0])
        if advice and not self._forwards:
            raise CommandLineError(f"{name} is retired: {advice}")
        if whole := [flag for flag in self.flags if flag.startswith(name)]:
            self._refuse_ambiguous(name, name)
            # Several of one option, which some versions of argparse take for ambiguous.
            if len(whole) > 1 and self._abbreviated:
                return [whole[0] + equals + value]
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
                unknown.append(word)
            return [word]
        (flag,) = meant
        return [flag, self._keyed(flag, name, keys.split("."), value if equals else None, rest)]

    def _keyed(
        self, flag: str, name: str, keys: list[str], value: str | None, rest: Iterator[str]
    ) -> KeyedText:
        """Return the value of one key of a mapping, from the same word or the next one."""
        option = self.flags[flag]
        if is_secret(option):
            name = f"{flag}.***"
        if not isinstance(option, MergeKeys):
            raise CommandLineError(f"{name}: {flag} takes its value as a whole, not by key")
        if len(keys) > MAX_DEPTH:
            problem = f"{len(keys)} keys are nested too deeply; at most {MAX_DEPTH} are taken"
            raise CommandLineError(f"argument {flag}: {problem}")
        if not all(keys):
            raise CommandLineError(f"{name}: expected a key after each dot")
        if any(key.split() != [key] for key in keys):
            raise CommandLineError(f"{name!r}: a key has no white space")
        if value is None:
            value = next(rest, None)
            if value is None or (value.startswith("-") and not _is_value(value)):
                raise CommandLineError(f"argument {name}: expected one argument")
        return KeyedText(value, keys)

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
        for flag, action in self.flags.items():
            if flag.startswith(beginning):
                first.setdefault(id(action), flag)
        if self._abbreviated and len(first) > 1:
            more = [f"{len(first) - _SOME} more"] if len(first) > _SOME else []
            listed = one_of([*list(first.values())[:_SOME], *more])
            raise CommandLineError(f"{name} is ambiguous; it could be {listed}")

    def _refuse_one_word(self, word: str) -> None:
        name, *value = word.split(None, 1)
        if not value or "=" in name:
            return
        base, dot, _ = name.partition(".")
        meant = self._meant(dashed(name))
        if not meant and dot and base.strip("-_"):
            meant = self._meant(dashed(base))
        if meant:
            if any(is_secret(self.flags[flag]) for flag in meant):
                name = f"{base}.***" if dot else name
                word, value = f"{name} ***", ["***"]
            problem = f"{word!r} is one word; a flag and its value are two: {name!r} {value[0]!r}"
            raise CommandLineError(problem)


def _is_value(word: str) -> bool:
    """Tell whether a word that begins with a dash is a value, as `argparse` decides it."""
    try:
        float(word)
    except ValueError:
        return word == "-" or " " in word
    return True


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
