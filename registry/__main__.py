"""`python -m registry COMMAND`: questions about what is declared and installed."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

__all__ = ["main"]

_COMMANDS = ("registry.plugins_command",)
"""The modules of the commands, each with `add_parser(subparsers)` and `run(args)`."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; None takes them from `sys.argv`.

    Returns:
        The exit status. A command line that is wrong exits with status 2.
    """
    parser = argparse.ArgumentParser(
        prog="python -m registry", description=(__doc__ or "").partition(": ")[2]
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in _COMMANDS:
        command = importlib.import_module(name)
        command.add_parser(subparsers).set_defaults(run=command.run)
    args = parser.parse_args(argv)
    status: int = args.run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
