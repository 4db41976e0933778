"""`python -m registry plugins`: which plugins are installed and what each adds."""

from __future__ import annotations

import argparse
from typing import Any

from registry.cli_page import show
from registry.errors import RegistryError
from registry.plugin_contents import Plugin
from registry.plugin_loading import each_plugin
from registry.plugins import selected

__all__ = ["add_parser"]


def add_parser(subparsers: Any) -> None:
    """Add the command to `python -m registry`.

    Args:
        subparsers: what `ArgumentParser.add_subparsers` returned.
    """
    parser = subparsers.add_parser(
        "plugins",
        help="list the installed plugins and what each adds",
        description="List the installed plugins and what each adds. The exit status is 1 if one "
        "cannot be loaded.",
    )
    parser.add_argument(
        "--group",
        default="namespaces.plugins",
        help="the group of entry points (default: %(default)s)",
    )
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    """Print the list.

    Args:
        args: the parsed words.

    Returns:
        The exit status: 1 if a plugin cannot be loaded.
    """
    try:
        outcomes: list[Plugin | RegistryError] = [*each_plugin(args.group, selected(args.group))]
    except RegistryError as error:
        outcomes = [error]
    text = "\n\n".join(map(_described, outcomes)) or f"No plugin of {args.group} is loaded."
    show(text + "\n")
    return int(any(not isinstance(each, Plugin) for each in outcomes))


def _described(outcome: Plugin | RegistryError) -> str:
    if not isinstance(outcome, Plugin):
        return f"error: {outcome}"
    lines = [
        f"{outcome.name} ({outcome.distribution} {outcome.version}) = {outcome.entry_point}",
        *_listed("namespaces", outcome.namespaces),
        *_listed("fields", outcome.fields),
        *_listed("derived", outcome.derived),
        *_listed("rules", outcome.rules),
        *(f"  {each.kind:10}  {each.subject}: {each.value}" for each in outcome.additions),
    ]
    return "\n".join(lines)


def _listed(title: str, names: tuple[str, ...]) -> list[str]:
    return [f"  {title:10}  {', '.join(names)}"] if names else []
