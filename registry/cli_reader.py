"""A command line as a record, for programs: what is wrong with it is raised, not printed."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from registry.cli import add_cli_args
from registry.cli_parser import ArgumentParser
from registry.cli_record import from_cli_args
from registry.cli_words import CommandLineError

__all__ = ["RaisingParser", "from_argv"]


class RaisingParser(ArgumentParser):
    """An `ArgumentParser` without `--help` that raises where that would exit.

    Args:
        retired: what to type instead, by flags that there were once.
    """

    def __init__(self, retired: Mapping[str, str] | None = None) -> None:
        super().__init__(retired=retired, add_help=False)

    @classmethod
    def of(cls, action: argparse.Action) -> RaisingParser:
        """Return a parser with one option of another parser."""
        parser = cls()
        # argparse has no public way; this one is as old as argparse.
        parser._add_action(action)
        return parser

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong.

        Raises:
            CommandLineError: always.
        """
        raise CommandLineError(self.full_message(message))

    def require_nothing(self) -> None:
        """Take command lines that lack required options, from now on."""
        for action in self._every_action():
            action.required = False

    @functools.cached_property
    def option_of(self) -> dict[str, argparse.Action]:
        """The options by field."""
        return {action.dest: action for action in self._every_action() if action.option_strings}


def from_argv(
    record_class: type[Any],
    argv: Sequence[str] | None = None,
    *,
    retired: Mapping[str, str] | None = None,
    config: str | None = None,
    env_prefix: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> Any:
    """Read a command line into a record.

    It reads what `ArgumentParser` does, in all spellings, but there is no `--help`.

    Args:
        record_class: a class that `compose()` made.
        argv: the words; None takes those after the program's name from `sys.argv`.
        retired: what to type instead, by flags that there were once, as `ArgumentParser` takes it.
        config: a flag that names a configuration file, as `add_cli_args` takes it.
        env_prefix: what the names of environment variables begin with, as `add_cli_args` takes it.
        environ: the environment variables, as `from_cli_args` takes them.

    Returns:
        The record; `fields_set` of it are the fields that were given.

    Raises:
        CommandLineError: the words cannot be read, among them a secret that is masked.
        MissingSettingsError, ConfigFileError, InvalidSettingsError: as `from_cli_args`, where
            there are files or environment variables under the command line.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> Args = compose("Args", [Parallel])
        >>> from_argv(Args, ["--tp-size", "8"])
        Args(tp_size=8)
        >>> from_argv(Args, ["--tp-size", "eight"])
        Traceback (most recent call last):
        registry.cli_words.CommandLineError: argument --tp-size: invalid int value: 'eight'
    """
    parser = RaisingParser(retired)
    add_cli_args(parser, record_class, config=config, env_prefix=env_prefix)
    return from_cli_args(record_class, parser.parse_args(argv), environ=environ)
