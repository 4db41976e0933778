"""The fields of a record as they are set from outside the program, and the names they go by.

What files and environments have in common: which spelling means which field, and what to say of
a name that means none.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from registry.annotations import arg_of
from registry.cli_rules import Kind, kind_of
from registry.cli_types import flags_of, options_of
from registry.declaration import Arg
from registry.errors import FieldDeclarationError, InvalidValueError
from registry.instance import schema_of

__all__ = ["InvalidSettingsError", "Setting", "Settings", "underscored"]

_LISTED = 50  # How many problems a message lists.


class InvalidSettingsError(InvalidValueError):
    """Settings of a file or the environment that a record cannot take: its names or values.

    Attributes:
        problems: a sentence for each, with its place. The message has the first of them.
    """

    def __str__(self) -> str:
        more = len(self.problems) - _LISTED
        lines = [*self.problems[:_LISTED], *([f"... and {more} more"] if more > 0 else [])]
        return "\n".join(lines)


class Setting:
    """One field that may be set from outside the program.

    Args:
        name: the field.
        annotation: its evaluated type.
        path: its namespace, None for a field of none.
        default: its default, or MISSING.

    Attributes:
        arg: what its declaration says; an empty one where it says nothing.
        has_flag: whether the command line can set it, too.
    """

    def __init__(self, name: str, annotation: Any, path: str | None, default: Any) -> None:
        self.name = name
        self.annotation = annotation
        self.path = path
        self.default = default
        arg = arg_of(annotation)
        self.has_flag = arg is not None and not arg.no_cli
        self.arg = arg or Arg()

    @property
    def dotted(self) -> str:
        """The name with its namespace before it."""
        return self.name if self.path is None else f"{self.path}.{self.name}"

    @property
    def flags(self) -> list[str]:
        """Its flags, none if it has none."""
        return flags_of(self.name, self.arg) if self.has_flag else []

    @property
    def kind(self) -> Kind:
        """What there is to know about its type."""
        return kind_of(self.annotation)

    @functools.cached_property
    def options(self) -> Mapping[str, Any]:
        """How the command line reads it; empty where no text turns into its type."""
        try:
            return options_of(self.name, self.annotation, self.arg, self.default)
        except FieldDeclarationError:
            if self.has_flag:
                raise
            return {}

    @functools.cached_property
    def convert(self) -> Callable[[str], Any] | None:
        """Turns one word into a value, or is None where no text turns into the type."""
        options = self.options
        if "action" in options and "type" not in options:
            # The action needs no word, such as one that counts; elsewhere there must be one.
            plain = Arg(choices=self.arg.choices)
            try:
                options = options_of(self.name, self.annotation, plain, self.default)
            except FieldDeclarationError:
                return None
        return options.get("type", str) if options else None

    @property
    def is_switch(self) -> bool:
        """Whether its values are true and false."""
        return self.kind.is_switch and self.arg.type_parser is None

    @property
    def is_pair(self) -> bool:
        """Whether it has a flag that turns it off, `--no-x` beside `--x`."""
        # The options say so in the end, but few fields are worth asking.
        may_be = self.has_flag and (self.arg.action is not None or self.kind.is_switch)
        return may_be and self.options.get("action") is argparse.BooleanOptionalAction

    @property
    def takes_several(self) -> bool:
        """Whether it takes several words on the command line."""
        options = self.options
        if "nargs" in options:
            return bool(options["nargs"] != "?")
        return bool(self.kind.elements) and self.arg.type_parser is None


class Settings:
    """The fields of a record that may be set from outside the program.

    All may, but those the program keeps for itself: a name that begins with an underscore and
    has no flag. A field goes by its name and by its flags, dashes written as underscores. A pair
    of flags, `--x` and `--no-x`, brings the name `no_x`, which means the opposite.

    Args:
        record_class: a class that `compose()` made.

    Attributes:
        by_name: the fields.
        spellings: the field by each of its names.
        opposites: the field by each name that means its opposite.
        paths: the paths of all namespaces, those included that only hold others.
        derived: the derived fields, run-time facts among them.
        private: the names that the program keeps for itself.
        retired: since when, and what to use, of fields that there were once.
    """

    def __init__(self, record_class: type[Any]) -> None:
        schema = schema_of(record_class)
        self.by_name: dict[str, Setting] = {}
        for spec in dataclasses.fields(record_class):
            path = schema.namespaces.get(spec.name)
            setting = Setting(spec.name, spec.type, path, schema.default_of(spec.name))
            if spec.init and (setting.has_flag or not spec.name.startswith("_")):
                self.by_name[spec.name] = setting
        self.spellings = dict(self.by_name)
        self.opposites: dict[str, Setting] = {}
        for setting in self.by_name.values():
            for flag in setting.flags:
                spelling = underscored(flag)
                self.spellings.setdefault(spelling, setting)
                if setting.is_pair and flag.startswith("--"):
                    self.opposites["no_" + spelling] = setting
        self.paths = dict.fromkeys(
            prefix
            for path in dict.fromkeys(schema.namespaces.values())
            for prefix in _prefixes(path.split("."))
        )
        source = schema.source or tuple
        self.derived = {name: entry for each in source() for name, entry in each.derived.items()}
        self.retired = schema.retired
        self.private = frozenset(schema.names) - self.by_name.keys()

    def find(self, spelling: str) -> Setting | None:
        """Return the field that a name stands for, or None.

        Args:
            spelling: the name, with underscores.
        """
        return self.spellings.get(spelling) or self.opposites.get(spelling)

    def mean_the_same(self, first: str, second: str) -> bool:
        """Tell whether two names mean the same field, and neither its opposite.

        Args:
            first: a name of a field, with underscores.
            second: another one.
        """
        return self.find(first) is self.find(second) and (
            self.is_opposite(first) == self.is_opposite(second)
        )

    def is_opposite(self, spelling: str) -> bool:
        """Tell whether a name means the opposite of its field.

        Args:
            spelling: the name, with underscores.
        """
        return spelling not in self.spellings and spelling in self.opposites

    def advice_on(self, derived: str) -> str:
        """Say why a derived field cannot be set, and what a program can do.

        Args:
            derived: its name.
        """
        if self.derived[derived].is_fact:
            kind, need = "is a run-time fact", "that knows it"
        else:
            kind, need = "is derived from other settings", "that must state it"
        return f"{kind} and cannot be set here; a program {need} overrides it after publish()"

    def replacement(self, instead: str) -> tuple[str, str] | None:
        """Take apart what is to be typed in place of a retired flag.

        Args:
            instead: such as `--ep-size` or `--moe-a2a-backend deepep`.

        Returns:
            The field and the value, which may be empty; None if there is more in the text.
        """
        match = re.fullmatch(r"(--[\w-]+)(?:[ =](\S+))?", instead)
        setting = None if match is None else self.find(underscored(match[1]))
        return None if match is None or setting is None else (setting.name, match[2] or "")

    def names_in(self, path: str) -> list[str]:
        """Return what may stand in a namespace: its fields and the namespaces below it.

        Args:
            path: its path; an empty one is the whole record, with all of its fields.
        """
        below = path + "." if path else ""
        return [
            *(name for name, each in self.spellings.items() if not path or each.path == path),
            *self.opposites,
            *(each[len(below) :] for each in self.paths if each.startswith(below)),
        ]


def underscored(flag: str) -> str:
    """Return the name that a flag is: without leading dashes, underscores for the others."""
    return flag.lstrip("-").replace("-", "_")


def _prefixes(parts: list[str]) -> Iterable[str]:
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))
