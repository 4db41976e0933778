"""How options look on a page of `--help`, and what is said of each.

A page is a plain `argparse` parser that is made to be printed, so that flags, columns and colours
look as argparse has them.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import inspect
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TextIO

from registry.cli_choices import word_of
from registry.declaration import Arg
from registry.store import DerivedField

__all__ = [
    "Option",
    "Section",
    "complain",
    "description",
    "give_up",
    "namespace_pages",
    "namespace_rows",
    "option_list",
    "show",
    "summary",
    "table",
]


class Option(NamedTuple):
    """One option that a record gave to a parser.

    Attributes:
        action: what `add_argument` returned.
        path: its namespace.
        arg: what its declaration says.
        text: what there is to know of it, as `description` returns it.
        required: whether it must be given, here or in what stands under the command line.
    """

    action: argparse.Action
    path: str
    arg: Arg
    text: str
    required: bool


class Section(NamedTuple):
    """What there is to know of one namespace."""

    docs: list[str]
    options: list[Option]
    derived: list[DerivedField]


def description(arg: Arg, default: Any) -> str:
    """Say what a field is for; one that `argparse` is to hide stays hidden.

    Args:
        arg: what its declaration says.
        default: its default, or MISSING.

    Example:
        >>> description(Arg(help="Width in ranks."), 1)
        'Width in ranks. (default: 1)'
    """
    text = arg.help
    if text == argparse.SUPPRESS:
        return text
    if arg.deprecated:
        text = f"{text} Deprecated: use {arg.deprecated}.".lstrip()
    unset = default is None or default is False or default is dataclasses.MISSING
    if not unset and word_of(default):
        text = f"{text} (default: {'***' if arg.secret else word_of(default)})".lstrip()
    return text


def show(text: str) -> None:
    """Write to standard output, where a reader such as `head` may leave early.

    Args:
        text: what to write, with its line end.
    """
    if sys.stdout is None:  # closed by whoever wants the exit status alone
        return
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        give_up(sys.stdout)


def complain(line: str) -> None:
    """Write a line to standard error, as long as there is one; nobody is left to hear of it.

    Args:
        line: the line without its end.
    """
    if sys.stderr is None:
        return
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        give_up(sys.stderr)


def give_up(stream: TextIO) -> None:
    """Let what a stream still holds go nowhere.

    Python flushes once more when it exits, and would complain then.

    Args:
        stream: standard output or standard error, which cannot be written any more.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def summary(doc: str | None) -> list[str]:
    """Return the first paragraph of a docstring in a list, empty if there is none.

    Args:
        doc: the docstring.

    Example:
        >>> summary("Ranks and nodes.\\n\\nMore of it.")
        ['Ranks and nodes.']
    """
    text = inspect.cleandoc(doc or "").partition("\n\n")[0]
    return [" ".join(text.split())] if text else []


def option_list(parser: argparse.ArgumentParser, title: str, options: Sequence[Option]) -> str:
    """Return some options under a title, empty if there are none.

    Args:
        parser: the parser they belong to.
        title: the title.
        options: the options.
    """
    return _page(parser, lambda page: _add_options(page, title, (), options))


def namespace_pages(
    parser: argparse.ArgumentParser, sections: Mapping[str, Section]
) -> Iterator[str]:
    """Yield what there is to know of some namespaces; one with nothing to show is left out.

    Args:
        parser: the parser that has their options.
        sections: the namespaces by path.
    """
    for path, section in sections.items():
        fill = functools.partial(_add_section, path=path, section=section)
        if section.options or section.derived:
            yield _page(parser, fill)


def namespace_rows(sections: Mapping[str, Section]) -> dict[str, str]:
    """Return for each namespace its number of options and what it is about.

    Args:
        sections: the namespaces by path.
    """
    digits = len(str(max(len(section.options) for section in sections.values())))
    return {
        path: f"{len(section.options):{digits}}  {next(iter(section.docs), '')}".rstrip()
        for path, section in sections.items()
    }


def table(parser: argparse.ArgumentParser, title: str, rows: Mapping[str, str]) -> str:
    """Return names and texts, each on one line, under a title.

    Args:
        parser: the parser that they are about.
        title: the title.
        rows: the texts by name.
    """
    column = max(map(len, rows)) + 4
    room = _width() - _column(column)

    def fill(page: argparse.ArgumentParser) -> None:
        group = page.add_argument_group(title)
        for name, text in rows.items():
            kind: dict[str, Any] = {"action": "store_true"} if name[0] == "-" else {}
            group.add_argument(name, help=_as_written(_shortened(text, room)), **kind)

    return _page(parser, fill, column)


def _page(
    parser: argparse.ArgumentParser,
    fill: Callable[[argparse.ArgumentParser], None],
    column: int = 24,
) -> str:
    """Return what argparse prints for some options; their text is wrapped already."""
    width = _width()
    formatter = functools.partial(
        argparse.RawTextHelpFormatter, max_help_position=_column(column), width=width
    )
    page = argparse.ArgumentParser(
        usage=argparse.SUPPRESS,
        add_help=False,
        formatter_class=formatter,
        prefix_chars=parser.prefix_chars,
    )
    if hasattr(parser, "color"):  # from Python 3.14 on
        vars(page)["color"] = parser.color
    fill(page)
    return page.format_help()


def _add_section(page: argparse.ArgumentParser, path: str, section: Section) -> None:
    _add_options(page, path, section.docs, section.options)
    derived = page.add_argument_group(f"{path}, derived (not set by flags)")
    facts = page.add_argument_group(f"{path}, set while it runs (not by flags)")
    for field in section.derived:
        text = "\n".join(_wrapped(*summary(field.doc)))
        (facts if field.is_fact else derived).add_argument(field.name, help=_as_written(text))


def _add_options(
    page: argparse.ArgumentParser, title: str, docs: Sequence[str], options: Iterable[Option]
) -> None:
    lines = [line for doc in docs for line in textwrap.wrap(doc, max(_width() - 2, 11))]
    group = page.add_argument_group(title, "\n".join(lines) or None)
    for option in options:
        action = option.action
        kind = {"action": "store_true"} if action.nargs == 0 else {"nargs": action.nargs}
        group.add_argument(
            *action.option_strings,
            dest=action.dest,
            # Of choices argparse would make a metavar of one endless word.
            **({} if action.nargs == 0 else {"metavar": _metavar(option)}),
            **kind,
            help=_as_written("\n".join(_entry(option))),
        )


def _metavar(option: Option) -> Any:
    return option.action.metavar if option.action.choices is None else option.arg.metavar


def _entry(option: Option) -> list[str]:
    choices = option.action.choices
    required = "(required)" if option.required else ""
    lines = _wrapped(f"{option.text} {required}".strip())
    if choices is not None:
        lines += _wrapped(f"choices: {', '.join(map(word_of, choices))}", indent="  ")
    return lines


def _wrapped(text: str = "", indent: str = "") -> list[str]:
    room = max(_width() - _column(24), 11)
    return textwrap.wrap(text, room, subsequent_indent=indent, break_on_hyphens=False)


def _shortened(text: str, room: int) -> str:
    """Return a text that fits on a line."""
    if len(text) <= room:
        return text
    return text[: max(room - 4, 0)].rpartition(" ")[0].rstrip(" ,;:") + " ..."


def _width() -> int:
    # As argparse has it.
    return shutil.get_terminal_size().columns - 2


def _column(most: int) -> int:
    """Return the column of descriptions on a terminal of this width, as argparse has it."""
    return min(most, max(_width() - 20, 4))


def _as_written(text: str) -> str:
    # argparse would take a percent sign for a placeholder.
    return text.replace("%", "%%")
