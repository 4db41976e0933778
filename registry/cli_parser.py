"""An argument parser that forgives what `argparse` does not, and whose help can be read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from registry.cli_help import HelpAction, HelpPages
from registry.cli_page import Option, show
from registry.cli_record import from_cli_args
from registry.cli_secrets import shown
from registry.cli_types import flags_of
from registry.cli_words import CommandLineError, Spelling
from registry.declaration import Arg
from registry.errors import ComposeError, DeclarationError, RegistryError
from registry.schema import Schema

__all__ = ["ArgumentParser"]


class ArgumentParser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` whose errors are one readable line.

    With hundreds of flags the usage message buries the error, so it is left to `--help`. An
    unknown flag is answered with the nearest ones. A flag may be written with underscores, and
    one that holds a mapping takes one key at a time, `--graph.decode.max_bs 64`.

    Once a record has added its options, `--help` is one screen; `--help=parallel` shows the
    options of a namespace, `--help=WORD` those about a word, `--help=all` all of them.

    Args:
        *args: as in `argparse`.
        retired: what to type instead, by flags that there were once, such as
            `{"--enable-ep-moe": "--ep-size"}`.
        **options: as in `argparse`.

    Example:
        >>> from registry import A, Namespace, Registry, add_cli_args, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> Args = compose("Args", [Parallel])
        >>> parser = ArgumentParser(prog="serve")
        >>> add_cli_args(parser, Args)
        >>> from_cli_args(Args, parser.parse_args(["--tp-size", "8"]))
        Args(tp_size=8)
    """

    def __init__(
        self, *args: Any, retired: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        # First, since `argparse` adds its own option from within its constructor.
        self._help_actions: list[HelpAction] = []
        self._pages = HelpPages()
        self._namespace_of: dict[str, str] = {}
        self._gone: dict[str, str] = {}
        super().__init__(*args, **options)
        self._retired = dict(retired or {})
        self._typed: list[str] = []
        self._unknown: list[str] = []
        for parent in options.get("parents", ()):
            if isinstance(parent, ArgumentParser):
                for schema, listed in parent._pages.records:
                    self._list(schema, listed)
                self._pages.prefixes += parent._pages.prefixes

    def add_argument(self, *names: Any, **options: Any) -> argparse.Action:
        """Add an option; as in `argparse`, where the action "help" knows topics."""
        if options.get("action") == "help":
            options["action"] = HelpAction
        action = super().add_argument(*names, **options)
        if isinstance(action, HelpAction):
            self._help_actions.append(action)
            if self._pages.records:
                action.take_topics()
        return action

    def format_usage(self) -> str:
        """Return the usage, with the required ones of a record's options."""
        return self._pages.usage(self) if self._pages.records else super().format_usage()

    def format_help(self) -> str:
        """Return what `--help` prints: of a record's options an overview."""
        if not self._pages.records:
            return super().format_help()
        flags = [flag for action in self._help_actions for flag in action.option_strings]
        return self._pages.overview(self, max(flags, key=len, default=""))

    def format_topic(self, topic: str) -> str:
        """Return what `--help=TOPIC` prints.

        Args:
            topic: `all`, a namespace such as `exec` or `exec.moe`, a flag, or a word of the name
                or description of options.

        Raises:
            CommandLineError: there is nothing about it.
        """
        return self._pages.topic(self, self._every_action(), topic)

    def print_help(self, file: Any = None) -> None:
        """Print the help; as in `argparse`, to a reader that may leave early."""
        if file is None:
            show(self.format_help())
        else:
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        """Print a message, mostly one line, to standard error and exit with status 2."""
        message = self.full_message(message)
        between = "\n" if "\n" in message else " "
        self.exit(2, f"{self.prog}: error: {message}{between}(see {self.prog} --help)\n")

    def full_message(self, message: str) -> str:
        """Return an error with what is likely to be its cause before it, an unknown flag."""
        if self._unknown:
            problem = self._unrecognized(self._unknown, self._typed)
            return f"{problem}{'' if problem.endswith('?') else '.'} Then: {message}"
        return message

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse a command line; as in `argparse`, with the nearest flags for an unknown one."""
        words, unknown = self._rewrite(args)
        # argparse would complain first of a required flag, which often is the one mistyped.
        self._typed, self._unknown = words, unknown
        try:
            parsed, rest = super().parse_known_args(words, namespace)
        finally:
            self._typed, self._unknown = [], []
        if rest:
            self.error(self._unrecognized(rest, words))
        return parsed

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse what is known of a command line; as in `argparse`, in all spellings of a flag."""
        return super().parse_known_args(self._rewrite(args)[0], namespace)

    def parse_record(
        self,
        record_class: type[Any],
        args: Sequence[str] | None = None,
        namespace: argparse.Namespace | None = None,
        *,
        environ: Mapping[str, str] | None = None,
    ) -> Any:
        """Parse a command line, read what stands under it, and build a record.

        Whatever the operator got wrong is printed, with exit status 2.

        Args:
            record_class: the class that was given to `add_cli_args`.
            args: the command line; None takes it from `sys.argv`.
            namespace: takes the parsed arguments, for a program with options of its own.
            environ: the environment variables; None takes those of the process.

        Returns:
            The record.
        """
        parsed = self.parse_args(args, namespace)
        try:
            return from_cli_args(record_class, parsed, environ=environ)
        except (ComposeError, DeclarationError):  # the program's own faults
            raise
        except RegistryError as error:
            self.error(str(error))

    def _rewrite(self, args: Sequence[str] | None) -> tuple[list[str], list[str]]:
        try:
            return self._spelling().rewrite(sys.argv[1:] if args is None else args)
        except CommandLineError as error:
            self.error(str(error))

    def _spelling(self) -> Spelling:
        actions = self._every_action()
        flags = {flag: each for each in actions for flag in each.option_strings}
        kinds = (argparse.PARSER, argparse.REMAINDER)
        forwards = any(each.nargs in kinds for each in actions if not each.option_strings)
        retired, brief = self._retired, self.allow_abbrev
        return Spelling(flags, self._namespace_of, retired, brief, forwards, self._gone)

    def _every_action(self) -> Sequence[argparse.Action]:
        # argparse has no public list of a parser's options; this one is as old as argparse.
        return self._actions

    def _list(
        self, schema: Schema, options: Sequence[Option], env_prefix: str | None = None
    ) -> None:
        """Let the help know of a record's options, and of the variables under them."""
        self._namespace_of.update(schema.namespaces)
        for name, advice in schema.retired.items():
            self._gone |= dict.fromkeys(flags_of(name, Arg()), advice)
        if not options:
            return
        if env_prefix is not None:
            self._pages.prefixes.append(env_prefix)
        self._pages.records.append((schema, options))
        for action in self._help_actions:
            action.take_topics()

    def _unrecognized(self, words: Sequence[str], typed: Sequence[str]) -> str:
        spelling = self._spelling()
        told = shown(words, typed, spelling.flags)
        return f"unrecognized arguments: {told}{spelling.hint(words, typed)}"
