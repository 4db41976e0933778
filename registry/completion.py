"""Completion of flags and choices in a shell: a script that `shtab` writes for a parser.

The package is optional (`pip install 'namespace-registry[completion]'`) and imported only when
a script is asked for.
"""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.cli_choices import word_of
from registry.cli_page import show

__all__ = ["add_completion"]

_SHELLS = ("bash", "zsh")
# What a shell takes as it stands. Bash expands what it completes, `$(...)` included, and splits it
# at white space, colons and equals signs.
_PLAIN = re.compile(r"[\w@%+,./-]+")


def add_completion(
    parser: argparse.ArgumentParser, flag: str = "--print-completion", command: str | None = None
) -> None:
    """Add an option that prints a script with which a shell completes the command's flags.

    An operator loads it with `eval "$(serve --print-completion bash)"`. A shell completes the
    first word of a command line, so `python -m serve` needs a name of one word, such as
    `alias serve='python -m serve'`. Choices that a shell would not take as they stand, such as
    those with a space or a quote, are not offered.

    Args:
        parser: the parser; its options may be added later.
        flag: the option's flag.
        command: the word that the shell completes after. None takes the last word of the
            parser's `prog`. It is a plain word, of letters, digits and `@%+,./_-`; of any other
            no script is printed.

    Example:
        >>> parser = argparse.ArgumentParser(prog="python -m serve", add_help=False)
        >>> add_completion(parser)
        >>> print(parser.format_usage(), end="")
        usage: python -m serve [--print-completion {bash,zsh}]
    """
    parser.add_argument(
        flag,
        action=_PrintCompletion,
        choices=_SHELLS,
        command=command,
        default=argparse.SUPPRESS,
        help="print a script that completes flags and choices in a shell",
    )


class _PrintCompletion(argparse.Action):
    def __init__(
        self, option_strings: Sequence[str], dest: str, command: str | None, **options: Any
    ) -> None:
        super().__init__(option_strings, dest, **options)
        self.command = command

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        try:
            import shtab
        except ImportError as error:
            problem = "needs a package; pip install 'namespace-registry[completion]'"
            raise argparse.ArgumentError(self, problem) from error
        command = self.command or "".join(parser.prog.split()[-1:]).rpartition("/")[2]
        if command.startswith("-") or not _PLAIN.fullmatch(command):
            problem = f"a shell completes after a plain word, not {command!r}; give "
            problem += 'add_completion() another one, command="serve"'
            raise argparse.ArgumentError(self, problem)
        with _as_typed(parser, command):
            script = shtab.complete(parser, values)
        show(f"{script}\n")
        parser.exit()


@contextlib.contextmanager
def _as_typed(parser: argparse.ArgumentParser, command: str) -> Iterator[None]:
    """Show a parser as `shtab` needs it: one word its name, each choice the word one types."""
    before = [(each, each.choices, each.metavar) for each in _chosen_from(parser)]
    prog = parser.prog
    try:
        parser.prog = command
        for action, choices, _ in before:
            words = map(word_of, choices or ())
            action.choices, action.metavar = list(filter(_PLAIN.fullmatch, words)), None
        yield
    finally:
        parser.prog = prog
        for action, choices, metavar in before:
            action.choices, action.metavar = choices, metavar


def _chosen_from(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield what takes one of several values, that of subcommands included."""
    # argparse has no public list of a parser's options; this one is as old as argparse.
    for action in parser._actions:
        if isinstance(action.choices, Mapping):
            for each in set(action.choices.values()):
                yield from _chosen_from(each)
        elif action.choices is not None:
            yield action
