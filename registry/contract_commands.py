"""`python -m registry snapshot`, `diff`, `check`, `freeze` and `prove`."""

from __future__ import annotations

import argparse
import os
from typing import Any

from registry.cli_page import complain, show
from registry.contract import ContractError, snapshot, text_of_contract, write_contract
from registry.contract_check import accepted_by, check_contract, writing_command
from registry.contract_diff import BREAKING, diff
from registry.contract_report import as_json, as_markdown, as_table
from registry.freezing import freeze
from registry.operands import class_named, side_of
from registry.proof import prove, read_shapes

__all__ = ["add_parser"]

_OPERAND = "a contract file, or a class as module:Class"


def add_parser(subparsers: Any) -> None:
    """Add the commands that deal with contracts.

    Args:
        subparsers: what `ArgumentParser.add_subparsers` returned. Each command sets `run`, a
            function that takes the parsed arguments and returns the exit status.
    """
    parser = subparsers.add_parser("snapshot", help="write down the contract of a record")
    parser.add_argument("record", metavar="MODULE:CLASS", help="the record class")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to; else it is printed")
    parser.set_defaults(run=_snapshot)

    parser = subparsers.add_parser(
        "diff",
        help="show what changed between two contracts",
        description="Show what changed. Exit status: 0, 1 if something is breaking, 2 on an error.",
    )
    parser.add_argument("old", help=_OPERAND)
    parser.add_argument("new", help=_OPERAND)
    _add_forms(parser)
    parser.set_defaults(run=_diff)

    parser = subparsers.add_parser(
        "check",
        help="see that a record is what its contract file says",
        description="Exit status: 0 if the file says what the record is, 1 if not, 2 on an error.",
    )
    parser.add_argument("record", metavar="MODULE:CLASS", help="the record class")
    parser.add_argument("file", metavar="FILE", help="the contract file")
    _add_forms(parser)
    parser.set_defaults(run=_check)

    parser = subparsers.add_parser(
        "freeze",
        help="write the positional order of a record to its module",
        description="Append new fields to the order; fields that are gone keep their place.",
    )
    parser.add_argument("record", metavar="MODULE:CLASS", help="the record class")
    parser.add_argument("file", metavar="FILE", help="the Python module with the order")
    parser.add_argument(
        "--retire",
        action="append",
        default=[],
        metavar="NAME=TEXT",
        help="since when a field is gone, and what to use; for each that went away",
    )
    parser.set_defaults(run=_freeze)

    parser = subparsers.add_parser(
        "prove",
        help="count that a change left everything as it was",
        description="Exit status: 0 if nothing differs, 1 if something does, 2 on an error.",
    )
    parser.add_argument("old", help=_OPERAND)
    parser.add_argument("new", help=_OPERAND)
    parser.add_argument("--shapes", metavar="FILE", help="a JSON table of launches to derive for")
    parser.set_defaults(run=_prove)


def _add_forms(parser: Any) -> None:
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument(
        "--json", dest="show", action="store_const", const=as_json, help="print JSON"
    )
    forms.add_argument(
        "--markdown", dest="show", action="store_const", const=as_markdown, help="print Markdown"
    )
    parser.set_defaults(show=as_table)


def _snapshot(args: argparse.Namespace) -> int:
    contract = snapshot(class_named(args.record))
    if args.output is None:
        show(text_of_contract(contract))
    else:
        write_contract(contract, args.output)
    return 0


def _diff(args: argparse.Namespace) -> int:
    changes = diff(side_of(args.old).contract, side_of(args.new).contract)
    show(args.show(changes) + "\n")
    return int(any(each.severity == BREAKING for each in changes))


def _check(args: argparse.Namespace) -> int:
    record_class = class_named(args.record)
    if not os.path.exists(args.file):
        command = writing_command(args.record, args.file)
        raise ContractError(args.file, f"is not there; write it with {command}")
    changes = check_contract(record_class, args.file)
    show(args.show(changes) + "\n")
    if changes:
        complain(accepted_by(args.record, args.file, record_class))
    return int(bool(changes))


def _freeze(args: argparse.Namespace) -> int:
    retire = {}
    for each in args.retire:
        name, equals, text = each.partition("=")
        if not equals:
            raise ContractError("--retire", f"takes NAME=TEXT, not {each!r}")
        retire[name.strip()] = text.strip()
    done = freeze(class_named(args.record), args.file, retire)
    if done.appended:
        show(f"appended: {', '.join(done.appended)}\n")
    if done.retired:
        show(f"retired: {', '.join(done.retired)}; pass RETIRED_FIELDS to compose(retired=...)\n")
    if not done.appended and not done.retired:
        show("no changes\n")
    return 0


def _prove(args: argparse.Namespace) -> int:
    shapes = None if args.shapes is None else read_shapes(args.shapes)
    proofs = prove(side_of(args.old), side_of(args.new), shapes)
    show("\n".join(map(str, proofs)) + "\n")
    return int(any(each.differences for each in proofs))
