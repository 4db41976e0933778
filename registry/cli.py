"""A record's flags for `argparse`: every field with an `Arg` becomes an option.

The parser only notes what was typed, so that a record built from it knows what the operator
set. How a type becomes an option is in `cli_types`.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from registry.annotations import arg_of
from registry.cli_layers import Layers, add_layers
from registry.cli_page import Option, description
from registry.cli_parser import ArgumentParser
from registry.cli_record import is_required
from registry.cli_secrets import conceal
from registry.cli_types import flags_of, options_of
from registry.errors import FieldDeclarationError
from registry.instance import schema_of

__all__ = ["add_cli_args"]


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
        required = is_required(schema, spec.name, arg)
        options = {
            **options_of(subject, spec.type, arg, default),
            "dest": spec.name,
            "required": required and not layered,
            "help": text.replace("%", "%%"),  # argparse would take one for a placeholder
        }
        action = _add(groups[path], flags, subject, options)
        if arg.secret:
            conceal(action)
        if path is not None and text != argparse.SUPPRESS:
            listed.append(Option(action, path, arg, text, required))
    if isinstance(parser, ArgumentParser):
        parser._list(schema, listed, env_prefix)


def _add(parser: Any, flags: Sequence[str], subject: str, options: dict[str, Any]) -> Any:
    try:
        return parser.add_argument(*flags, default=argparse.SUPPRESS, **options)
    except (TypeError, ValueError) as error:
        problem = f"has an Arg that argparse does not take: {error}"
        raise FieldDeclarationError("", subject, problem) from error
