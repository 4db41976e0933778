"""`python -m namespaces <launch flags>`: what a launch command sets, and what follows from it.

The flags, the files that `--config` names and the variables that begin with `SERVER_` become a
record, the record is pickled to a freshly spawned process, and what is printed is what that
process sees. `python -m namespaces check` says the same without a process of its own, for files
and commands that are to be launched elsewhere.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from namespaces.record import ServerArgs
from namespaces.report import describe, format_check, format_report
from namespaces.retired import RETIRED
from registry import (
    ArgumentParser,
    DeprecatedFlagWarning,
    RegistryError,
    UnknownVariableWarning,
    add_cli_args,
    add_completion,
)
from registry.cli_page import give_up, show
from registry.errors import did_you_mean

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: the words after the program's name; None takes them from `sys.argv`.

    Returns:
        The exit status, 0. A command line that is wrong exits with status 2.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    if words[:1] == ["check"]:
        return _check(words[1:])
    parser = _parser(
        "python -m namespaces",
        "Show what a launch command of the server sets, and what a process that receives it "
        "derives from it. `check` in front of it vets it, or a file, without that process.",
    )
    if words and not words[0].startswith("-"):
        _refuse_first(parser, words[0])
    args, record = _parsed(parser, words)
    # Spawned, not forked: the process shares nothing with this one but what it imports.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        task = pool.submit(describe, pickle.dumps(record), args.explain)
        _print(parser, args, task.result, format_report)
    return 0


def _refuse_first(parser: ArgumentParser, word: str) -> None:
    """Refuse a first word that is a file, or nearly the name of the command."""
    if _is_file(word):
        problem = f"{word!r} stands alone; type `--config {word}` to launch with the file, or "
        parser.error(f"{problem}`check {word}` to vet it")
    if hint := did_you_mean(word, ["check"]):
        parser.error(f"there is no command {word!r}.{hint}")


def _check(words: Sequence[str]) -> int:
    """Say whether files and flags would be launched, and what they set and imply."""
    parser = _parser(
        "python -m namespaces check",
        "Say whether a launch command or file of the server is valid, and what it sets and "
        "implies: `check FILE ...`, `check -- <launch flags>` or both. The exit status is 0 or 2.",
        "%(prog)s [-h [TOPIC]] [--json] [--explain NAME] [--print-completion {bash,zsh}] "
        "[--config FILE] [FILE ...] [-- --flag VALUE ...]",
    )
    args, record = _parsed(parser, _without_files(parser, words))
    _print(parser, args, lambda: describe(pickle.dumps(record), args.explain), format_check)
    return 0


def _without_files(parser: ArgumentParser, words: Sequence[str]) -> list[str]:
    """Return a command line of `check` as one of flags alone, each file after `--config`.

    In front of `--` the files are the words at the beginning, and those that no flag takes and
    that look like files.
    """
    end = words.index("--") if "--" in words else len(words)
    first = list(itertools.takewhile(lambda word: not word.startswith("-"), words[:end]))
    # Objects of their own: the same word may be a file in one place and a value in another.
    own = [_Word(word) for word in words[len(first) : end]]
    stray = parser.parse_known_args(own)[1]
    files = [word for word in stray if not word.startswith("-") and _is_file(word)]
    flags = [word for word in own if not any(word is file for file in files)]
    return [*(f"--config={file}" for file in [*first, *files]), *flags, *words[end + 1 :]]


class _Word(str):
    """A word of a command line, told apart from an equal one by being another object."""

    __slots__ = ()


def _is_file(word: str) -> bool:
    return word.lower().endswith((".yaml", ".yml", ".toml", ".json")) or os.path.isfile(word)


def _parser(prog: str, description: str, usage: str | None = None) -> ArgumentParser:
    parser = ArgumentParser(prog=prog, retired=RETIRED, description=description, usage=usage)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--explain",
        action="append",
        default=[],
        metavar="NAME",
        help="say why a field has its value; may be given several times",
    )
    add_completion(parser)
    add_cli_args(parser, ServerArgs, config="--config", env_prefix="SERVER_")
    return parser


def _parsed(parser: ArgumentParser, words: Sequence[str]) -> tuple[argparse.Namespace, Any]:
    args = argparse.Namespace()
    with warnings.catch_warnings(record=True) as caught:
        for category in (DeprecatedFlagWarning, UnknownVariableWarning):
            warnings.simplefilter("always", category)
        record = parser.parse_record(ServerArgs, words, args)
    for each in caught:
        print(f"{parser.prog}: warning: {each.message}", file=sys.stderr)
    return args, record


def _print(
    parser: ArgumentParser,
    args: argparse.Namespace,
    report_of: Callable[[], dict[str, Any]],
    layout: Callable[[dict[str, Any]], str],
) -> None:
    try:
        report = report_of()
    except RegistryError as error:
        parser.error("; ".join(str(error).splitlines()))
    text = json.dumps(report, indent=2, default=repr) if args.json else layout(report)
    # A character that the output has no code for is written as an escape.
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        show(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    except OSError as error:
        give_up(sys.stdout)
        parser.exit(2, f"{parser.prog}: error: the report cannot be written: {error.strerror}\n")


if __name__ == "__main__":
    sys.exit(main())
