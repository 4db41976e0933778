"""`python -m namespaces <launch flags>`: what a launch command sets, and what follows from it.

The flags, the files that `--config` names and the variables that begin with `SERVER_` become a
record, the record is pickled to a freshly spawned process, and what is printed is what that
process sees.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import pickle
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from namespaces.record import ServerArgs
from namespaces.report import describe, format_report
from namespaces.retired import RETIRED
from registry import (
    ArgumentParser,
    DeprecatedFlagWarning,
    RegistryError,
    UnknownVariableWarning,
    add_cli_args,
    add_completion,
)

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: the words after the program's name; None takes them from `sys.argv`.

    Returns:
        The exit status, 0. A command line that is wrong exits with status 2.
    """
    parser = ArgumentParser(
        prog="python -m namespaces",
        retired=RETIRED,
        description="Show what a launch command of the server sets, and what a process that "
        "receives it derives from it.",
    )
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
    args = argparse.Namespace()
    with warnings.catch_warnings(record=True) as caught:
        for category in (DeprecatedFlagWarning, UnknownVariableWarning):
            warnings.simplefilter("always", category)
        record = parser.parse_record(ServerArgs, argv, args)
    for each in caught:
        print(f"{parser.prog}: warning: {each.message}", file=sys.stderr)
    # Spawned, not forked: the process shares nothing with this one but what it imports.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        try:
            report = pool.submit(describe, pickle.dumps(record), args.explain).result()
        except RegistryError as error:
            parser.error("; ".join(str(error).splitlines()))
    print(json.dumps(report, indent=2, default=repr) if args.json else format_report(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
