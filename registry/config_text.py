"""What the formats of configuration files have in common: their error, places and limits."""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from registry.errors import RegistryError

__all__ = [
    "MAX_DEPTH",
    "MAX_DIGITS",
    "ConfigFileError",
    "Key",
    "check_depth",
    "integer",
    "kind_of",
    "kind_of_file",
    "last_line",
    "missing_extra",
    "real",
    "tokens",
    "too_deep",
]

MAX_DEPTH = 100
MAX_DIGITS = 4300  # Python itself refuses to print an integer of more.
# What to look for next in TOML or JSON, by what it is in: nothing, a kind of string, a comment.
_NEXT = {
    "": re.compile(r"""\"""|'''|["'#\n.=,\[\]{}]"""),
    '"': re.compile(r'\\.|"|(?=\n)', re.DOTALL),
    '"""': re.compile(r'\\.|"{3,5}', re.DOTALL),
    "'": re.compile(r"'|(?=\n)"),
    "'''": re.compile(r"'{3,5}"),
    "#": re.compile(r"(?=\n)"),
}


class ConfigFileError(RegistryError, ValueError):
    """A configuration file that cannot be read or written.

    Attributes:
        where: `path:line`, or `path` where no line is known.
        problem: what is wrong and what to write instead.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(where, problem)
        self.where = where
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


class Key(NamedTuple):
    """The line of a key or list item, and the keys below it."""

    line: int
    inside: Mapping[str | int, Key]


def kind_of(value: Any) -> str:
    """Return what a value is, in words for a message."""
    kinds = {dict: "a mapping", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")


def kind_of_file(mode: int) -> str:
    """Return what a path names that is no regular file, in words for a message.

    Args:
        mode: as `os.stat` tells it.
    """
    kinds = {
        stat.S_IFDIR: "a directory",
        stat.S_IFIFO: "a pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "no file")


def integer(where: str, text: str, base: int = 10) -> int:
    """Read an integer.

    Args:
        where: its place, for the message.
        text: its digits.
        base: that of the digits.

    Raises:
        ConfigFileError: it has too many digits.
    """
    # A shorter hexadecimal number can have as many digits, hence the second comparison.
    value = int(text, base) if len(text) <= MAX_DIGITS else None
    if value is None or value.bit_length() > MAX_DIGITS * math.log2(10):
        raise ConfigFileError(where, f"an integer has more than {MAX_DIGITS} digits; shorten it")
    return value


def real(where: str, text: str) -> float:
    """Read a float.

    Args:
        where: its place, for the message.
        text: as it is written.

    Raises:
        ConfigFileError: it is out of range.
    """
    value = float(text)
    if math.isinf(value) and "inf" not in text:
        raise ConfigFileError(
            where, "a number is too large; write a smaller one, or a text in quotes"
        )
    return value


def too_deep(where: str) -> ConfigFileError:
    """Return the error of a file that nests further than is read."""
    return ConfigFileError(
        where, f"nested too deeply, more than {MAX_DEPTH} levels; write it flatter"
    )


def tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each sign of TOML or JSON outside of strings, where it ends, and the depth there."""
    inside, depth, end = "", 0, 0
    while match := _NEXT[inside].search(text, end):
        sign, end = match[0], match.end()
        if inside:
            inside = inside if sign.startswith("\\") else ""
        elif sign in _NEXT:
            inside = sign
        else:
            depth += (sign in "[{") - (sign in "]}")
            yield sign, end, depth


def check_depth(path: str, text: str) -> None:
    """Refuse TOML or JSON that nests too deeply, before a parser meets it.

    Args:
        path: the file.
        text: what it holds.

    Raises:
        ConfigFileError: it does.
    """
    # Not left to the parsers: how deep they can go depends on the caller's stack, and the
    # time that a dotted key takes grows with the square of its length.
    if sum(map(text.count, "[{.")) <= MAX_DEPTH:
        return
    dots = 0
    for sign, end, depth in tokens(text):
        dots = dots + 1 if sign == "." else 0
        if max(depth, dots) > MAX_DEPTH:
            raise too_deep(f"{path}:{text.count(chr(10), 0, end) + 1}")


def missing_extra(path: str, task: str, extra: str) -> ConfigFileError:
    """Return the error of a task whose optional package is not installed."""
    return ConfigFileError(
        path, f"{task} needs a package; pip install 'namespace-registry[{extra}]'"
    )


def last_line(text: str) -> int:
    """Return the number of the last line with text on it."""
    return text.rstrip().count("\n") + 1
