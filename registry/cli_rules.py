"""What a type becomes on the command line: a table of rules, `_RULES`.

Knows nothing of fields, records and parsers.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import functools
import inspect
import types
from collections.abc import Callable, Collection
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from registry.cli_choices import chosen_by_word, word_of

__all__ = ["Kind", "kind_of", "parse_bool"]

_NONE = type(None)
_Make = Callable[[list[Any], Any], dict[str, Any]]


class Kind:
    """What there is to know about a type, for those who read values of it.

    Args:
        annotation: the type.

    Attributes:
        members: the types a value may have.
        rule: makes the arguments of `add_argument`; None where no rule fits.
        takes_keys: whether some values are mappings, and none a collection of them.
        is_switch: whether all values are true and false, or None.
    """

    def __init__(self, annotation: Any) -> None:
        self.members = _members(annotation)
        self.rule = _rule_for(self.members)
        classes = [get_origin(member) or member for member in self.members]
        self.takes_keys = dict in classes and list not in classes
        self.is_switch = _is_optional_switch(self.members)

    @property
    def elements(self) -> list[Any]:
        """The types of which the collections among the values are made."""
        return _elements_of(list(filter(_is_several, self.members)))


# Hundreds of settings share a few dozen types: to look at each type once takes a quarter off
# the time that a parser takes to build.
_cached_kind = functools.lru_cache(maxsize=4096)(Kind)


def kind_of(annotation: Any) -> Kind:
    """Return what there is to know about a type, worked out once.

    Args:
        annotation: an evaluated annotation.
    """
    if get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    try:
        return _cached_kind(annotation)
    except TypeError:  # an annotation with unhashable metadata
        return Kind(annotation)


def _rule_for(members: list[Any]) -> _Make | None:
    return next((rule for fits, rule in _RULES if fits(members)), None)


def _members(annotation: Any) -> list[Any]:
    """Return the types a value may have, unions and aliases taken apart."""
    origin = get_origin(annotation)
    if origin in (Annotated, Final):
        return _members(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return [member for part in get_args(annotation) for member in _members(part)]
    for attribute in ("__supertype__", "__value__"):  # NewType, type aliases
        if hasattr(annotation, attribute):
            return _members(getattr(annotation, attribute))
    return [annotation]


def _some(members: list[Any]) -> list[Any]:
    return [member for member in members if member is not _NONE]


def _is_switch(members: list[Any]) -> bool:
    return members == [bool]


def _switch(members: list[Any], default: Any) -> dict[str, Any]:
    # A switch that is on by default would be of no use if it could not be turned off.
    action = argparse.BooleanOptionalAction if default is True else "store_true"
    return {"action": action}


def _is_optional_switch(members: list[Any]) -> bool:
    return _some(members) == [bool]


def _optional_switch(members: list[Any], default: Any) -> dict[str, Any]:
    return {"nargs": "?", "const": True, "type": parse_bool, "metavar": "true|false"}


def parse_bool(text: str) -> bool:
    """Read true or false, in any case; raises ArgumentTypeError for anything else."""
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"expected true or false, not {text!r}")
    return text.lower() == "true"


def _is_literal(members: list[Any]) -> bool:
    return all(get_origin(member) is Literal for member in _some(members)) and bool(_some(members))


def _literal(members: list[Any], default: Any) -> dict[str, Any]:
    return chosen_by_word([value for member in _some(members) for value in get_args(member)])


def _is_enum(members: list[Any]) -> bool:
    some = _some(members)
    return len(some) == 1 and _is_class(some[0]) and issubclass(some[0], enum.Enum)


def _is_class(member: Any) -> bool:
    # On Python 3.10 list[int] passes for a class.
    return isinstance(member, type) and get_origin(member) is None


def _enum(members: list[Any], default: Any) -> dict[str, Any]:
    return chosen_by_word(list(_some(members)[0]))


def _is_collection(members: list[Any]) -> bool:
    some = _some(members)
    return bool(some) and all(map(_is_several, some)) and bool(_element_options(some))


def _is_several(member: Any) -> bool:
    origin = get_origin(member) or member
    return isinstance(origin, type) and issubclass(origin, list | set | frozenset | tuple)


def _element_options(members: list[Any]) -> dict[str, Any]:
    """Return what one word of several becomes, empty if no rule fits or each has its own."""
    fixed = [member for member in members if _length(member) is not None]
    if any(len(set(get_args(member))) > 1 for member in fixed):
        return {}
    elements = _elements_of(members)
    if elements == [bool]:
        return {"type": parse_bool}
    members = list(dict.fromkeys(elements)) or [str]
    rule = _rule_for(members)
    options = {} if rule is None else rule(members, None)
    return {} if options.keys() & {"nargs", "action"} else options


def _elements_of(members: list[Any]) -> list[Any]:
    return [
        each
        for member in members
        for element in get_args(member)
        if element is not Ellipsis
        for each in _members(element)
    ]


def _length(member: Any) -> int | None:
    """Return how many elements a value has, None where it may be any number."""
    arguments = get_args(member)
    fixed = get_origin(member) is tuple and arguments and Ellipsis not in arguments
    return len(arguments) if fixed else None


def _collection(members: list[Any], default: Any) -> dict[str, Any]:
    some = _some(members)
    kinds = [get_origin(member) or member for member in some]
    options = {**_element_options(some), "nargs": _length(some[0]) or "+"}
    if list not in kinds:
        options["action"] = _collecting(kinds[0])
    return options


def _collecting(kind: Callable[[Any], Any]) -> type[argparse.Action]:
    """Make the action that stores what was typed as another collection than a list."""

    class Collect(argparse.Action):
        def __call__(
            self,
            parser: argparse.ArgumentParser,
            namespace: argparse.Namespace,
            values: Any,
            option_string: str | None = None,
        ) -> None:
            setattr(namespace, self.dest, kind(values))

    return Collect


def _is_mixture(members: list[Any]) -> bool:
    some = _some(members)
    return len(some) > 1 and all(
        member in (int, float, str) or get_origin(member) is Literal for member in some
    )


def _mixture(members: list[Any], default: Any) -> dict[str, Any]:
    some = _some(members)
    words = {word_of(value): value for member in some for value in get_args(member)}
    numbers = [kind for kind in (int, float) if kind in some]
    expected = ", ".join([*words, *(kind.__name__ for kind in numbers)])

    def read(text: str) -> Any:
        if text in words:
            return words[text]
        for kind in numbers:
            try:
                return kind(text)
            except ValueError:
                continue
        if str in some:
            return text
        raise argparse.ArgumentTypeError(f"expected one of {expected}, not {text!r}")

    return {"type": read}


def _is_text(members: list[Any]) -> bool:
    return str in members


def _text(members: list[Any], default: Any) -> dict[str, Any]:
    return {"type": str}


def _is_mapping(members: list[Any]) -> bool:
    return [get_origin(member) or member for member in _some(members)] == [dict]


def _mapping(members: list[Any], default: Any) -> dict[str, Any]:
    return {"type": _parse_object, "metavar": "JSON"}


def _parse_object(text: str) -> dict[str, Any]:
    # Imported where it is needed: few command lines have JSON.
    from registry.config_json import plain_json
    from registry.config_text import ConfigFileError

    try:
        value = plain_json("", text)
    except ConfigFileError as error:
        raise argparse.ArgumentTypeError(f"expected JSON, but {error.problem}") from error
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected JSON, not {text!r}: {error}") from error
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError(f"expected a JSON object, not {text!r}")
    return value


def _is_callable_type(members: list[Any]) -> bool:
    """Tell whether values are of a class that makes sense when called with a text."""
    some = _some(members)
    return (
        len(some) == 1
        and _is_class(some[0])
        and some[0] not in (object, type, Any)
        and not inspect.isabstract(some[0])
        and not issubclass(some[0], Collection)  # it would take the text apart
        and not dataclasses.is_dataclass(some[0])
    )


def _callable_type(members: list[Any], default: Any) -> dict[str, Any]:
    return {"type": _some(members)[0]}


_Rule = tuple[Callable[[list[Any]], bool], _Make]

_RULES: tuple[_Rule, ...] = (
    (_is_switch, _switch),
    (_is_optional_switch, _optional_switch),
    (_is_literal, _literal),
    (_is_enum, _enum),
    (_is_collection, _collection),
    (_is_mixture, _mixture),
    (_is_text, _text),
    (_is_mapping, _mapping),
    (_is_callable_type, _callable_type),
)
"""What a type becomes on the command line: the first rule whose test fits."""
