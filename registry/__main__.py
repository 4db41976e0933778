"""`python -m registry COMMAND`: what can be asked of records from the outside.

A command that cannot do what it was asked prints one line and exits with status 2.
"""

from __future__ import annotations

import argparse
import codecs
import io
import json
import sys
from collections.abc import Sequence

from registry import contract_commands, plugins_command
from registry.cli_page import complain, give_up, show
from registry.errors import RegistryError

__all__ = ["main"]

_COMMANDS = (contract_commands, plugins_command)
"""The modules that add subcommands, each with `add_parser(subparsers)`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: the words after the program's name; None takes them from `sys.argv`.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(
        prog="python -m registry", description="Ask about the records of a program."
    )
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for each in _COMMANDS:
        each.add_parser(subparsers)
    _escape_what_has_no_bytes()
    try:
        try:
            args = parser.parse_args(argv)
            status: int = args.run(args)
        finally:  # also after --help
            show("")
    except (RegistryError, ImportError) as error:
        complain(f"{parser.prog}: error: {'; '.join(str(error).splitlines())}")
        return 2
    except BrokenPipeError:  # of --help; a reader that leaves early is no error
        give_up(sys.stdout)
        return 0
    except OSError as error:
        # Of standard output; what concerns a file is a RegistryError.
        give_up(sys.stdout)
        complain(f"{parser.prog}: error: the output cannot be written: {error.strerror or error}")
        return 2
    return status


def _escape_what_has_no_bytes() -> None:
    """Let output in any encoding have every character, as JSON escapes it."""
    codecs.register_error("registry.escape", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="registry.escape")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(json.dumps(each)[1:-1] for each in characters), error.end


if __name__ == "__main__":
    sys.exit(main())
