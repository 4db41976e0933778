"""`python -m registry COMMAND`: what can be asked of records from the outside.

A command that cannot do what it was asked prints one line and exits with status 2.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from registry import contract_commands, plugins_command
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
    args = parser.parse_args(argv)
    try:
        status: int = args.run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # A reader that left early, such as head; nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (RegistryError, ImportError) as error:
        print(f"{parser.prog}: error: {'; '.join(str(error).splitlines())}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
