"""What `--help` shows of a record's options: an overview, a namespace, a word, or all of them.

A page is a plain `argparse` parser that is made to be printed, so that flags, columns and colours
look as argparse has them. What the program itself added to its parser argparse shows, too.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import difflib
import functools
import inspect
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from registry.cli_types import word_of
from registry.cli_words import CommandLineError, dashed, one_of
from registry.declaration import Arg
from registry.schema import Schema, declared_by
from registry.store import DerivedField

__all__ = ["HelpAction", "HelpPages", "Option", "description", "show"]


class HelpAction(argparse.Action):
    """Prints help and exits; where a record gave options, also help on one topic."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, **{**options, "nargs": 0})

    def take_topics(self) -> None:
        """Offer `--help=TOPIC` as well from now on."""
        if self.nargs == 0 and self.help is not argparse.SUPPRESS:
            self.help = f"{self.help or 'show help and exit'}; with a TOPIC, help on that"
        self.nargs, self.metavar = "?", "TOPIC"

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Print what was asked for."""
        if not values:
            parser.print_help()
        else:
            try:
                text = parser.format_topic(values)  # type: ignore[attr-defined]
            except CommandLineError as error:
                raise argparse.ArgumentError(self, str(error)) from error
            show(text)
        parser.exit()


class Option(NamedTuple):
    """One option that a record gave to a parser.

    Attributes:
        action: what `add_argument` returned.
        path: its namespace.
        arg: what its declaration says.
        text: what there is to know of it, as `description` returns it.
    """

    action: argparse.Action
    path: str
    arg: Arg
    text: str


class _Section(NamedTuple):
    """What there is to know of one namespace."""

    docs: list[str]
    options: list[Option]
    derived: list[DerivedField]


class HelpPages:
    """The options that records gave to one parser, and the pages of help about them.

    Nothing is worked out before a page is asked for.
    """

    def __init__(self) -> None:
        self.options: list[Option] = []
        self._schemas: list[Schema] = []

    def add(self, schema: Schema, options: Iterable[Option]) -> None:
        """Take in what a record gave to the parser.

        Args:
            schema: that of the record.
            options: its options.
        """
        self._schemas.append(schema)
        self.options.extend(options)

    def usage(self, parser: argparse.ArgumentParser) -> str:
        """Return a usage line with the program's own options and the required ones."""
        if parser.usage is not None:
            return argparse.ArgumentParser.format_usage(parser)
        # A copy, so that nobody else sees its other name.
        page = copy.copy(parser)
        page.prog = f"{parser.prog} [--flag VALUE ...]"
        with _hidden(each.action for each in self.options if not each.action.required):
            return argparse.ArgumentParser.format_usage(page)

    def overview(self, parser: argparse.ArgumentParser) -> str:
        """Return one screen: what the program added, the required options, the namespaces."""
        required = [each for each in self.options if each.action.required]
        parts = [
            *self._opening(parser),
            _page(parser, lambda page: _add_options(page, "required", (), required)),
            _namespaces(parser, self._sections()),
            self._more(),
            _epilog(parser),
        ]
        return "\n".join(filter(None, parts))

    def topic(
        self, parser: argparse.ArgumentParser, actions: Iterable[argparse.Action], text: str
    ) -> str:
        """Return what there is to know of a topic.

        Args:
            parser: the parser.
            actions: all that it has.
            text: `all`, a namespace, or a word of the name or description of options.

        Raises:
            CommandLineError: there is nothing about it.
        """
        sections = self._sections()
        if text == "all":
            opening, ending = self._opening(parser), [_epilog(parser)]
            return "\n".join(filter(None, [*opening, *_pages(parser, sections), *ending]))
        below = {
            path: section
            for path, section in sections.items()
            if f"{path}.".startswith(f"{text.rstrip('.')}.")
        }
        if below:
            return "\n".join(_pages(parser, below))
        found = {path: _about(section, text) for path, section in sections.items()}
        listed = {id(each.action) for each in self.options}
        others = [each for each in actions if id(each) not in listed]
        matching = [each for each in others if _names_hold(each, text) or _in(text, each.help)]
        parts = list(_pages(parser, found))
        if any(each.help is not argparse.SUPPRESS for each in matching):
            rest = [each for each in others if each not in matching]
            parts.insert(0, self._body(parser, rest, description=None))
        if not parts:
            raise CommandLineError(f"there is nothing about {text!r}.{self._near(text)}")
        return "\n".join(parts)

    def _opening(self, parser: argparse.ArgumentParser) -> list[str]:
        return [parser.format_usage(), self._body(parser)]

    def _body(
        self,
        parser: argparse.ArgumentParser,
        hidden: Iterable[argparse.Action] = (),
        **changes: Any,
    ) -> str:
        """Return what argparse has to say about all but the options of records."""
        page = copy.copy(parser)
        vars(page).update({"usage": argparse.SUPPRESS, "epilog": None, **changes})
        with _hidden([*(each.action for each in self.options), *hidden]):
            return argparse.ArgumentParser.format_help(page)

    def _more(self) -> str:
        first = self.options[0].path
        rows = {
            f"--help={first}": "a namespace with its options",
            "--help=WORD": "options with that word in their name or description",
            "--help=all": f"all {len(self.options)} options",
        }
        width = max(map(len, rows)) + 2
        lines = [f"  {topic:{width}}{text}\n" for topic, text in rows.items()]
        return "".join(["more:\n", *lines])

    def _sections(self) -> dict[str, _Section]:
        sections: dict[str, _Section] = {}
        for declaration in declared_by(each.source or tuple for each in self._schemas):
            section = sections.setdefault(declaration.path, _Section([], [], []))
            section.docs.extend(_summary(declaration.cls.__doc__))
            section.derived.extend(declaration.derived.values())
        for option in self.options:
            sections.setdefault(option.path, _Section([], [], [])).options.append(option)
        return {path: each for path, each in sections.items() if each.options or each.derived}

    def _near(self, text: str) -> str:
        names = {each.path: each.path for each in self.options}
        for each in self.options:
            names |= {dashed(flag).lstrip("-"): flag for flag in each.action.option_strings}
        near = difflib.get_close_matches(dashed(text).lstrip("-"), names, n=3, cutoff=0.7)
        return f" Did you mean {one_of([names[each] for each in near])}?" if near else ""


def description(arg: Arg, default: Any) -> str:
    """Say what a field is for.

    Args:
        arg: what its declaration says.
        default: its default, or MISSING.

    Example:
        >>> description(Arg(help="Width in ranks."), 1)
        'Width in ranks. (default: 1)'
    """
    text = arg.help
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
    try:
        print(text, end="", flush=True)
    except BrokenPipeError:
        # Python flushes once more when it exits, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def _hidden(actions: Iterable[argparse.Action]) -> Iterator[None]:
    """Keep options out of what argparse shows of a parser."""
    shown = [(each, each.help) for each in actions]
    try:
        for action, _ in shown:
            action.help = argparse.SUPPRESS
        yield
    finally:
        for action, text in shown:
            action.help = text


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


def _pages(parser: argparse.ArgumentParser, sections: Mapping[str, _Section]) -> Iterator[str]:
    """Yield the help on some namespaces; one with nothing to show is left out."""
    for path, section in sections.items():
        fill = functools.partial(_add_section, path=path, section=section)
        if section.options or section.derived:
            yield _page(parser, fill)


def _add_section(page: argparse.ArgumentParser, path: str, section: _Section) -> None:
    _add_options(page, path, section.docs, section.options)
    group = page.add_argument_group(f"{path}, derived (not set by flags)")
    for field in section.derived:
        text = "\n".join(_wrapped(*_summary(field.doc)))
        group.add_argument(field.name, help=_as_written(text))


def _add_options(
    page: argparse.ArgumentParser, title: str, docs: Sequence[str], options: Iterable[Option]
) -> None:
    lines = [line for doc in docs for line in textwrap.wrap(doc, _width() - 2)]
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
    required = "(required)" if option.action.required else ""
    lines = _wrapped(f"{option.text} {required}".strip())
    if choices is not None:
        lines += _wrapped(f"choices: {', '.join(map(word_of, choices))}", indent="  ")
    return lines


def _namespaces(parser: argparse.ArgumentParser, sections: Mapping[str, _Section]) -> str:
    column = max(map(len, sections)) + 4
    digits = len(str(max(len(section.options) for section in sections.values())))

    def fill(page: argparse.ArgumentParser) -> None:
        group = page.add_argument_group("namespaces, with the number of their options")
        for path, section in sections.items():
            text = f"{len(section.options):{digits}}  {next(iter(section.docs), '')}"
            room = _width() - _column(column)
            group.add_argument(path, help=_as_written(_shortened(text, room)))

    return _page(parser, fill, column)


def _epilog(parser: argparse.ArgumentParser) -> str:
    formatter = parser.formatter_class(prog=parser.prog)
    formatter.add_text(parser.epilog)
    return formatter.format_help()


def _about(section: _Section, text: str) -> _Section:
    """Return what of a namespace has a word in its name or description."""
    exact = [each for each in section.options if _is_flag(each.action, text)]
    options = exact or [
        each
        for each in section.options
        if _names_hold(each.action, text) or _in(text, each.arg.help)
    ]
    derived = [each for each in section.derived if _in(text, each.name) or _in(text, each.doc)]
    return _Section(section.docs, options, derived)


def _is_flag(action: argparse.Action, text: str) -> bool:
    return text.startswith("-") and dashed(text) in map(dashed, action.option_strings)


def _names_hold(action: argparse.Action, text: str) -> bool:
    return any(_in(dashed(text), dashed(each)) for each in (*action.option_strings, action.dest))


def _in(text: str, longer: str | None) -> bool:
    return longer is not None and text.lower() in longer.lower()


def _summary(doc: str | None) -> list[str]:
    """Return the first paragraph of a docstring in a list, empty if there is none."""
    text = inspect.cleandoc(doc or "").partition("\n\n")[0]
    return [" ".join(text.split())] if text else []


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
