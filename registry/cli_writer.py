"""A record as the words of a command line that builds an equal one.

The words come from the options that the record's own parser has, and that parser reads them back.
"""

from __future__ import annotations

import argparse
import operator
import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from registry.cli import add_cli_args
from registry.cli_reader import RaisingParser
from registry.writing import Item, UnwritableError, in_order, items_of, same, texts_of

__all__ = ["to_argv"]

_ADVICE = "write the record to a file with dump(), or send it by pickle"
_MOST_TIMES = 100
_TAKE_THE_REST = (argparse.REMAINDER, argparse.PARSER)
_Written = tuple[Item, list[str]]


def to_argv(record: Any, *, reveal: bool = False, exclude: Collection[str] = ()) -> list[str]:
    """Return the shortest command line that builds an equal record.

    It has every field that is set, and every value that was changed in place. The record that
    `from_argv` makes of it has the same fields set, except those set to a default that no word
    says: a switch that can only be turned on and is off, None where no word means it, a field
    without a flag. What a program keeps on a record beside its fields is not written.

    The words need no quoting where they are passed as a list; `shlex.join` writes them for a shell.

    Args:
        record: an instance of a composed class.
        reveal: write secrets as they are. Otherwise a secret reads `***`, and a command line with
            that is refused.
        exclude: fields to leave out, such as those that only the program sets.

    Returns:
        The words, without a program's name.

    Raises:
        UnwritableError: fields hold what no words stand for, such as None where a number is
            expected; one line for each.
        ComposeError: it is no composed record (a TypeError).
        UnknownFieldError: `exclude` names what is no field.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        ...     hosts: A[list[str] | None, "Where ranks run."] = None
        ...     debug: A[bool, "Log more."] = False
        >>> Args = compose("Args", [Parallel])
        >>> to_argv(Args(tp_size=1, hosts=["a", "b"], debug=True))
        ['--tp-size', '1', '--hosts', 'a', 'b', '--debug']
    """
    items = items_of(record, "to_argv()", exclude)
    parser = RaisingParser()
    add_cli_args(parser, type(record))
    parser.require_nothing()
    written: list[_Written] = []
    problems: list[str] = []
    for item in items:
        found = _words_of(parser, item, reveal) if item.has_flag else None
        if found is not None:
            written.append((item, found))
        elif not item.is_default:
            problems.append(item.problem(f"{_why(parser, item)}; {_ADVICE}"))
    if problems:
        raise UnwritableError(problems)
    # What takes all that follows it has to be the last.
    written.sort(key=lambda each: parser.option_of[each[0].name].nargs in _TAKE_THE_REST)
    # A masked secret is refused by design, and reads as nothing else.
    _require_together(parser, [each for each in written if reveal or not each[0].is_masked])
    return [word for _, words in written for word in words]


def _require_together(parser: RaisingParser, written: Sequence[_Written]) -> None:
    """Refuse fields whose words are not read as their values after those of the others.

    Raises:
        UnwritableError: there is such a field.
    """
    if _mean_together(parser, written):
        return
    # Between what is read right and what is not: the first so many fields.
    right, wrong = 0, len(written)
    while wrong - right > 1:
        middle = (right + wrong) // 2
        if _mean_together(parser, written[:middle]):
            right = middle
        else:
            wrong = middle
    problem = f"has words that are read as something else after those of other fields; {_ADVICE}"
    raise UnwritableError([written[right][0].problem(problem)])


def _mean_together(parser: RaisingParser, written: Sequence[_Written]) -> bool:
    words = [word for _, each in written for word in each]
    return _mean(parser, words, [item for item, _ in written])


def _words_of(parser: RaisingParser, item: Item, reveal: bool) -> list[str] | None:
    """Return the words that set a field, or None if there are none."""
    action = parser.option_of[item.name]
    if item.is_masked and not reveal:
        return [action.option_strings[0], "***"]
    alone = RaisingParser.of(action)
    for words in _candidates(action, item.value):
        # Other options make no difference, and take time, unless a word could be one of them.
        reader = parser if any(each.startswith("-") for each in words[1:]) else alone
        if all(map(_can_be_passed, words)) and _mean(reader, words, [item]):
            return words
    return None


def _mean(parser: RaisingParser, words: Sequence[str], items: Sequence[Item]) -> bool:
    """Tell whether a parser reads words as the values of fields, and of no others."""
    try:
        parsed = vars(parser.parse_args(words))
    except Exception:  # whatever a field's own parser raises, it does not read them so
        return False
    values = {item.name: item.value for item in items}
    return parsed.keys() == values.keys() and all(
        same(parsed[name], value) for name, value in values.items()
    )


def _can_be_passed(word: str) -> bool:
    """Tell whether a word reaches another process as it is."""
    try:
        passed = word.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return passed == word and "\0" not in word


def _candidates(action: argparse.Action, value: Any) -> Iterator[list[str]]:
    """Yield words that may set an option to a value, the shortest first."""
    flag, items = action.option_strings[0], _items(value)
    if action.nargs == 0:
        yield from ([each] for each in action.option_strings)
        # Options that count, or that append a constant.
        times = value if type(value) is int else len(items or ())
        if 1 < times <= _MOST_TIMES:
            yield [flag] * times
        return
    if action.nargs == "?":
        yield [flag]
    if action.nargs in (None, "?"):
        texts = sorted(texts_of(value), key=lambda text: not _converts(action, text, value))
        yield from (_typed(flag, [text]) for text in texts)
    elif items is not None and (words := _words(action, items)) is not None:
        yield _typed(flag, words)
    # Options that append what each occurrence has.
    occurrences = [_words(action, _inner(action, each)) for each in items or ()]
    if None not in occurrences:
        yield [word for words in occurrences for word in _typed(flag, words or [])]


def _inner(action: argparse.Action, value: Any) -> list[Any]:
    """Return what one occurrence of an option has, of one that appends."""
    several = None if action.nargs in (None, "?") else _items(value)
    return [value] if several is None else several


def _typed(flag: str, texts: list[str]) -> list[str]:
    """Return an option as it is typed with texts."""
    # On its own, a word that begins with a dash would be taken for a flag.
    if len(texts) == 1 and texts[0].startswith("-"):
        return [f"{flag}={texts[0]}"]
    return [flag, *texts]


def _words(action: argparse.Action, values: Collection[Any]) -> list[str] | None:
    """Return a text for each value, if there are, of several one that is not taken for a flag."""
    words = []
    for value in values:
        texts = [
            (not _converts(action, each, value), _as_flag(each), each) for each in texts_of(value)
        ]
        if not texts:
            return None
        words.append(min(texts, key=operator.itemgetter(0, 1))[2])
    return words


def _as_flag(text: str) -> bool:
    """Tell whether argparse takes a word for a flag."""
    return text.startswith("-") and not re.fullmatch(r"-\d+|-\d*\.\d+", text)


def _converts(action: argparse.Action, text: str, value: Any) -> bool:
    convert: Any = action.type or str
    try:
        return same(convert(text), value)
    except Exception:  # as in `_mean`
        return False


def _items(value: Any) -> list[Any] | None:
    """Return the items of a collection that may be typed as several words."""
    return in_order(value) if isinstance(value, list | tuple | set | frozenset) else None


def _why(parser: RaisingParser, item: Item) -> str:
    """Say why there are no words for a value, without showing it."""
    if not item.is_initial:
        return "is no argument of the constructor"
    if not item.has_flag:
        return "has no flag"
    action, value = parser.option_of[item.name], item.value
    flag = action.option_strings[0]
    if value is False and action.nargs == 0:
        return f"is off, and {flag} can only turn it on"
    if value is None:
        return f"has no word that {flag} reads as None"
    texts = _items(value)
    if texts == [] and action.nargs not in (None, "?"):
        return f"is empty, and {flag} takes at least one word"
    texts = [each for each in texts or [value] if isinstance(each, str)]
    if not all(map(_can_be_passed, texts)):
        return f"has a character that no command line can pass to {flag}"
    if any(each.startswith("-") for each in texts) and len(_items(value) or ()) > 1:
        return f"has a text that begins with a dash, where argparse sees another flag than {flag}"
    return f"has no words that {flag} reads as that value"
