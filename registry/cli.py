"""A record's flags for `argparse`: every field with an `Arg` becomes an option.

The parser only notes what was typed, so that a record built from it knows what the operator
set. How a type becomes an option is in `cli_types`.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from registry.annotations import arg_of
from registry.cli_help import HelpAction, HelpPages
from registry.cli_keys import KeyedValues, merged
from registry.cli_layers import Layers, add_layers, layers_of
from registry.cli_page import Option, description, show
from registry.cli_types import flags_of, options_of
from registry.cli_words import CommandLineError, Spelling
from registry.declaration import Arg
from registry.deprecation import warn_deprecated
from registry.errors import ComposeError, DeclarationError, FieldDeclarationError, RegistryError
from registry.instance import schema_of
from registry.schema import Schema

__all__ = ["ArgumentParser", "add_cli_args", "from_cli_args"]


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
        >>> from registry import A, Namespace, Registry, compose
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
        super().__init__(*args, **options)
        self._retired = dict(retired or {})
        self._unknown: list[str] = []
        for parent in options.get("parents", ()):
            if isinstance(parent, ArgumentParser):
                for schema, listed in parent._pages.records:
                    self._list(schema, listed)

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
            return f"{self._unrecognized(self._unknown)} Then: {message}"
        return message

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse a command line; as in `argparse`, with the nearest flags for an unknown one."""
        words, unknown = self._rewrite(args)
        # argparse would complain first of a required flag, which often is the one mistyped.
        self._unknown = unknown
        try:
            parsed, rest = super().parse_known_args(words, namespace)
        finally:
            self._unknown = []
        if rest:
            self.error(self._unrecognized(rest))
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
        flags = {flag: each for each in self._every_action() for flag in each.option_strings}
        return Spelling(flags, self._namespace_of, self._retired, self.allow_abbrev)

    def _every_action(self) -> Sequence[argparse.Action]:
        # argparse has no public list of a parser's options; this one is as old as argparse.
        return self._actions

    def _list(self, schema: Schema, options: Sequence[Option]) -> None:
        """Let the help know of a record's options."""
        self._namespace_of.update(schema.namespaces)
        if not options:
            return
        self._pages.records.append((schema, options))
        for action in self._help_actions:
            action.take_topics()

    def _unrecognized(self, words: Sequence[str]) -> str:
        word = next((each for each in words if each.startswith("-")), words[0])
        flag = word.partition("=")[0]
        spelling = self._spelling()
        hint = spelling.suggest(flag) if flag[:1] == "-" else ""
        return f"unrecognized arguments: {spelling.shown(words)}.{hint}"


def add_cli_args(
    parser: argparse.ArgumentParser,
    record_class: type[Any],
    *,
    config: str | None = None,
    env_prefix: str | None = None,
) -> None:
    """Add an option for every field of a record that declares an `Arg`.

    Options are grouped by namespace. The parsed namespace has only the fields that were
    typed; `from_cli_args` fills in the defaults. With `config` or `env_prefix` it also reads what
    stands under the command line, and argparse itself requires nothing.

    Args:
        parser: the parser to add to; any `argparse.ArgumentParser` will do.
        record_class: a class that `compose()` made. A choices list that grew since is taken
            as it is now.
        config: a flag that names a configuration file, such as "--config"; None adds none. It may
            be typed several times, and what a later file has replaces what an earlier one has.
        env_prefix: what the names of environment variables begin with, such as "SERVER_"; None
            leaves them alone.

    Raises:
        ComposeError: `config` is no flag, or `env_prefix` is empty.
        FieldDeclarationError: a field whose type no rule turns into an option, and that has
            neither `type_parser` nor `no_cli`; whose `Arg` does not suit its type; or whose
            flag is `config`.
        argparse.ArgumentError: two fields, or a field and an option of the parser, have the
            same flag.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Cache(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "cache"
        ...     page_size: A[int, "Tokens a page holds."] = 16
        >>> parser = argparse.ArgumentParser(prog="serve", add_help=False)
        >>> add_cli_args(parser, compose("Args", [Cache]))
        >>> print(parser.format_help())
        usage: serve [--page-size PAGE_SIZE]
        <BLANKLINE>
        cache:
          --page-size PAGE_SIZE
                                Tokens a page holds. (default: 16)
        <BLANKLINE>
    """
    schema = schema_of(record_class)
    layered = config is not None or env_prefix is not None
    if layered:
        retired = parser._retired if isinstance(parser, ArgumentParser) else {}
        add_layers(parser, record_class, Layers(config, env_prefix, retired))
    listed: list[Option] = []
    groups: dict[str | None, Any] = {None: parser}
    for spec in dataclasses.fields(record_class):
        arg = arg_of(spec.type)
        if arg is None or arg.no_cli or not spec.init:
            continue
        path = schema.namespaces.get(spec.name)
        if path not in groups:
            groups[path] = parser.add_argument_group(path)
        subject = f"{record_class.__qualname__}.{spec.name}"
        default = schema.default_of(spec.name)
        flags = flags_of(spec.name, arg)
        if config in flags:
            problem = f"has the flag {config}; give add_cli_args another one for files, config=..."
            raise FieldDeclarationError("", subject, problem)
        text = description(arg, default)
        required = _is_required(schema, spec.name, arg)
        options = {
            **options_of(subject, spec.type, arg, default),
            "dest": spec.name,
            "required": required and not layered,
            "help": text.replace("%", "%%"),  # argparse would take one for a placeholder
        }
        action = _add(groups[path], flags, subject, options)
        if path is not None and text != argparse.SUPPRESS:
            listed.append(Option(action, path, arg, text, required))
    if isinstance(parser, ArgumentParser):
        parser._list(schema, listed)


def from_cli_args(
    record_class: type[Any],
    args: argparse.Namespace,
    *,
    environ: Mapping[str, str] | None = None,
) -> Any:
    """Build a record from parsed arguments, and from what stands under them.

    The command line counts most, then the environment, then the last configuration file. Keys of
    a mapping that were typed one at a time merge with what is under them.

    Args:
        record_class: a class that `compose()` made.
        args: what the parser returned. Attributes that are no fields of the record belong to
            the program and are passed over.
        environ: the environment variables, if `add_cli_args` was given a prefix for them; None
            takes those of the process.

    Returns:
        The record; `fields_set` of it are the fields that were given anywhere.

    Raises:
        CallError: a required field is not in `args`, and nothing stands under the command line.
        MissingSettingsError: a required field is given nowhere.
        ConfigFileError: a configuration file cannot be read.
        InvalidSettingsError: a file or the environment has what the record cannot take.

    Warns:
        DeprecatedFlagWarning: for each field that was given and is declared deprecated.
    """
    given = vars(args)
    typed = {name: given[name] for name in schema_of(record_class).names if name in given}
    for spec in dataclasses.fields(record_class):
        arg = arg_of(spec.type) if spec.name in typed else None
        if arg is not None and arg.deprecated and not arg.no_cli:
            warn_deprecated(flags_of(spec.name, arg)[0], arg.deprecated, stacklevel=2)
    noted = layers_of(record_class, given)
    if noted is not None:
        # Imported where it is needed: reading files takes as long to load as all of the above.
        from registry import layers

        environ = os.environ if environ is None else environ
        under = layers.values_under(record_class, noted, environ)
        values = under | {name: _over(under.get(name), value) for name, value in typed.items()}
        missing = (name for name in _required(record_class) if name not in values)
        layers.require(record_class, missing, noted, environ)
    else:
        values = {name: _over(None, value) for name, value in typed.items()}
    return record_class(**values)


def _over(under: Any, typed: Any) -> Any:
    """Return what a field gets by what was typed for it and what stands under that."""
    if type(typed) is not KeyedValues:
        return typed
    return merged(under, typed) if typed.alone and isinstance(under, Mapping) else dict(typed)


def _required(record_class: type[Any]) -> Iterator[str]:
    schema = schema_of(record_class)
    for spec in dataclasses.fields(record_class):
        if _is_required(schema, spec.name, arg_of(spec.type)):
            yield spec.name


def _is_required(schema: Schema, name: str, arg: Arg | None) -> bool:
    return name in schema.required if arg is None or arg.required is None else arg.required


def _add(parser: Any, flags: Sequence[str], subject: str, options: dict[str, Any]) -> Any:
    try:
        return parser.add_argument(*flags, default=argparse.SUPPRESS, **options)
    except (TypeError, ValueError) as error:
        problem = f"has an Arg that argparse does not take: {error}"
        raise FieldDeclarationError("", subject, problem) from error


def _flag(name: str, arg: Arg) -> str:
    return arg.cli_name or "--" + name.lstrip("_").replace("_", "-")
