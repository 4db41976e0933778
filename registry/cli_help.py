"""What `--help` shows of a record's options: an overview, a namespace, a word, or all of them.

What the program itself added to its parser, `argparse` shows as ever.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from registry.cli_page import (
    Option,
    Section,
    namespace_pages,
    namespace_rows,
    option_list,
    show,
    summary,
    table,
)
from registry.cli_search import PART, Topic, words_in
from registry.cli_words import CommandLineError, dashed, one_of
from registry.schema import Schema, declared_by

__all__ = ["HelpAction", "HelpPages"]

_T = TypeVar("_T")


class HelpAction(argparse.Action):
    """Prints help and exits; where a record gave options, also help on one topic."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, dest, **{**options, "nargs": 0})

    def take_topics(self) -> None:
        """Offer `--help=TOPIC` as well from now on."""
        if self.nargs == 0 and self.help != argparse.SUPPRESS:
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
        # A plain parser that has this option from a parent knows no topics.
        format_topic = getattr(parser, "format_topic", None)
        if not values or format_topic is None:
            parser.print_help()
        else:
            try:
                text = format_topic(values)
            except CommandLineError as error:
                raise argparse.ArgumentError(self, str(error)) from error
            show(text)
        parser.exit()


class HelpPages:
    """The options that records gave to one parser, and the pages of help about them.

    Nothing is worked out before a page is asked for.
    """

    def __init__(self) -> None:
        self.records: list[tuple[Schema, Sequence[Option]]] = []
        self.prefixes: list[str] = []  # Those of environment variables.

    @property
    def options(self) -> list[Option]:
        """The options of all records."""
        return [option for _, options in self.records for option in options]

    def usage(self, parser: argparse.ArgumentParser) -> str:
        """Return a usage line with the program's own options and the required ones."""
        if parser.usage is not None:
            return argparse.ArgumentParser.format_usage(parser)
        with _hidden(each.action for each in self.options if not each.required):
            text = argparse.ArgumentParser.format_usage(parser)
        indent = " " * len(f"usage: {parser.prog} ")
        return f"{text.rstrip()}\n{indent}[--flag VALUE ...]\n"

    def overview(self, parser: argparse.ArgumentParser, flag: str) -> str:
        """Return one screen: what the program added, the required options, the namespaces.

        Args:
            parser: the parser.
            flag: that of its help, empty if it has none.
        """
        required = [each for each in self.options if each.required]
        rows = namespace_rows(self._sections())
        parts = [
            parser.format_usage(),
            self._body(parser),
            option_list(parser, "required", required),
            table(parser, "namespaces, with the number of their options", rows),
            table(parser, "more", self._topics(flag)) if flag else "",
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
            text: `all`, a namespace, or words of the name or description of options.

        Raises:
            CommandLineError: there is nothing about it.
        """
        sections = self._sections()
        if text == "all":
            opening = [parser.format_usage(), self._body(parser)]
            pages = [*opening, *namespace_pages(parser, sections), _epilog(parser)]
            return "\n".join(filter(None, pages))
        below = {
            path: section
            for path, section in sections.items()
            if f"{path}.".startswith(f"{text.lower().rstrip('.')}.")
        }
        if below:
            return "\n".join(namespace_pages(parser, below))
        parts = self._about(parser, actions, text)
        if not parts:
            near = self._near(text) or self._near_words(parser, actions, text)
            raise CommandLineError(f"there is nothing about {text!r}.{near}")
        return "\n".join(parts)

    def _about(
        self, parser: argparse.ArgumentParser, actions: Iterable[argparse.Action], text: str
    ) -> list[str]:
        """Return pages with what answers a topic, the best answers first."""
        sections = self._sections()
        listed = {id(each.action) for each in self.options}
        own = [each for each in actions if id(each) not in listed]
        exact = {path: _with_flag(section, text) for path, section in sections.items()}
        if any(section.options for section in exact.values()):
            return list(namespace_pages(parser, exact))
        ranks = _ranks(sections.values(), own, Topic(text))
        # What is only inside of a word, such as "tp" of "http", is shown if there is nothing else.
        if any(each < PART for each in ranks.values()):
            ranks = {each: rank for each, rank in ranks.items() if rank < PART}
        parts = []
        if any(id(each) in ranks for each in own):
            rest = [each for each in own if id(each) not in ranks]
            parts.append(self._body(parser, rest, description=None))
        return [*parts, *namespace_pages(parser, _ranked(sections, ranks))]

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

    def _topics(self, flag: str) -> dict[str, str]:
        options = self.options
        before = f"{flag}{'=' if flag.startswith('--') else ' '}"
        return {
            f"{before}{options[0].path}": "a namespace with its options",
            f"{before}WORD": "options with that word in their name or description",
            f"{before}all": f"all {len(options)} options",
            **{
                f"{each}NAME": "variables, which set what the command line leaves out"
                for each in self.prefixes
            },
        }

    def _sections(self) -> dict[str, Section]:
        sections: dict[str, Section] = {}
        for declaration in declared_by(each.source or tuple for each, _ in self.records):
            section = sections.setdefault(declaration.path, Section([], [], []))
            section.docs.extend(summary(declaration.cls.__doc__))
            section.derived.extend(declaration.derived.values())
        for option in self.options:
            sections.setdefault(option.path, Section([], [], [])).options.append(option)
        return {path: each for path, each in sections.items() if each.options or each.derived}

    def _near(self, text: str) -> str:
        # Imported where it is needed: nobody needs it until something is wrong.
        import difflib

        names = {each.path: each.path for each in self.options}
        for each in self.options:
            names |= {dashed(flag).lstrip("-"): flag for flag in each.action.option_strings}
        near = difflib.get_close_matches(dashed(text).lstrip("-"), names, n=3, cutoff=0.7)
        return f" Did you mean {one_of([names[each] for each in near])}?" if near else ""

    def _near_words(
        self, parser: argparse.ArgumentParser, actions: Iterable[argparse.Action], text: str
    ) -> str:
        """Return a sentence that offers a topic of the nearest words, if there is something."""
        # Imported where it is needed, as above.
        import difflib

        words = {
            word
            for each in self.options
            for flag in each.action.option_strings
            for word in words_in(flag)
        }
        near = [
            (difflib.get_close_matches(each, words, n=1) or [each])[0] for each in words_in(text)
        ]
        meant = " ".join(near)
        if near == words_in(text) or not self._about(parser, actions, meant):
            return ""
        return f" Did you mean {meant}?"


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


def _epilog(parser: argparse.ArgumentParser) -> str:
    formatter = parser.formatter_class(prog=parser.prog)
    formatter.add_text(parser.epilog)
    return formatter.format_help()


def _with_flag(section: Section, flag: str) -> Section:
    """Return what of a namespace has a flag as it is typed."""
    found = [each for each in section.options if _has(each, flag)]
    return Section(section.docs, found, [])


def _has(option: Option, flag: str) -> bool:
    return flag.startswith("-") and dashed(flag) in map(dashed, option.action.option_strings)


def _ranks(
    sections: Iterable[Section], own: Iterable[argparse.Action], topic: Topic
) -> dict[int, int]:
    """Return how well each thing answers a topic, by its id; nothing of what does not."""
    texts: list[tuple[Any, Sequence[str], str | None]] = []
    texts += [(each, _names(each), each.help) for each in own if each.help != argparse.SUPPRESS]
    for section in sections:
        texts += [(each, _names(each.action), each.arg.help) for each in section.options]
        texts += [(each, [each.name], each.doc) for each in section.derived]
    ranks = {id(each): topic.rank(names, text or "") for each, names, text in texts}
    return {each: rank for each, rank in ranks.items() if rank is not None}


def _names(action: argparse.Action) -> list[str]:
    return [name for name in (*action.option_strings, action.dest) if name != argparse.SUPPRESS]


def _ranked(sections: Mapping[str, Section], ranks: Mapping[int, int]) -> dict[str, Section]:
    """Return what of the namespaces has a rank, the best first."""

    def best_first(things: Iterable[_T]) -> list[_T]:
        return sorted(
            (each for each in things if id(each) in ranks), key=lambda each: ranks[id(each)]
        )

    found = {
        path: Section(section.docs, best_first(section.options), best_first(section.derived))
        for path, section in sections.items()
    }
    best = {
        path: min(ranks[id(each)] for each in (*section.options, *section.derived))
        for path, section in found.items()
        if section.options or section.derived
    }
    return {path: found[path] for path in sorted(best, key=lambda path: best[path])}
