"""What a type becomes on the command line: the arguments of `add_argument` for one field.

How a type becomes an option is a table of rules, `_RULES`. Knows nothing of records and parsers.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import functools
import inspect
import json
import types
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from registry.cli_keys import MergeKeys, keyed
from registry.cli_secrets import Unshown
from registry.declaration import Arg
from registry.errors import FieldDeclarationError, did_you_mean

__all__ = ["Kind", "flags_of", "kind_of", "options_of", "parse_bool", "word_of"]

_NONE = type(None)
_TAKE_TEXT = ("store", "append", "extend")
_Make = Callable[[list[Any], Any], dict[str, Any]]


def options_of(subject: str, annotation: Any, arg: Arg, default: Any) -> dict[str, Any]:
    """Work out the arguments of `add_argument` for one field.

    Args:
        subject: the field, for messages.
        annotation: its evaluated type.
        arg: what its declaration says.
        default: its default, or MISSING.

    Raises:
        FieldDeclarationError: no rule fits the type, and `arg` does not say how to read it.
    """
    options: dict[str, Any] = {}
    if arg.action is not None:
        action = arg.action
        if isinstance(action, str):
            action = getattr(argparse, action, action)
        options = {"action": action, **(arg.action_kwargs or {})}
    elif arg.type_parser is not None:
        options = {"type": _reported(arg.type_parser)}
    else:
        options = _options_of_type(annotation, default)
        if not options:
            problem = f"has the type {annotation}, which no text turns into; give its "
            problem += "Arg a type_parser, or no_cli=True"
            raise FieldDeclarationError("", subject, problem)
    if arg.choices is not None:
        _limit(subject, options, arg.choices)
    for name in ("nargs", "const", "metavar"):
        if getattr(arg, name) is not None:
            options[name] = getattr(arg, name)
    if not options.keys() & {"action", "nargs"} and kind_of(annotation).takes_keys:
        options = {**options, "action": MergeKeys, "type": keyed(options["type"], annotation)}
    if arg.secret and ("type" in options or options.get("action") in _TAKE_TEXT):
        options["type"] = Unshown(options.get("type", str))
    return options


def flags_of(name: str, arg: Arg) -> list[str]:
    """Return the flags of a field, the first one that it is known by.

    Args:
        name: the field.
        arg: what its declaration says.

    Example:
        >>> flags_of("tp_size", Arg(aliases=["--tp"]))
        ['--tp-size', '--tp']
    """
    return [arg.cli_name or "--" + name.lstrip("_").replace("_", "-"), *arg.aliases]


def word_of(value: Any) -> str:
    """Return how an operator writes a value, or reads a default.

    Args:
        value: a choice or a default.

    Example:
        >>> word_of(None), word_of([1, "a"])
        ('none', '1 a')
    """
    if isinstance(value, enum.Enum):
        return str(value.value)
    if isinstance(value, list | tuple):
        return " ".join(map(word_of, value))
    if isinstance(value, set | frozenset):
        return " ".join(sorted(map(word_of, value)))
    return "none" if value is None else str(value)


def _options_of_type(annotation: Any, default: Any) -> dict[str, Any]:
    kind = kind_of(annotation)
    return {} if kind.rule is None else kind.rule(kind.members, default)


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


def _rule_for(members: list[Any]) -> _Make | None:
    return next((rule for fits, rule in _RULES if fits(members)), None)


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


def _limit(subject: str, options: dict[str, Any], choices: Sequence[Any]) -> None:
    """Let an option take only some values."""
    convert = options.get("type", str)
    allowed = []
    for choice in choices:
        # A choice is written as the value or as the text that stands for it, such as "none".
        try:
            allowed.append(convert(choice) if isinstance(choice, str) else choice)
        except (ValueError, TypeError, argparse.ArgumentTypeError) as error:
            problem = f"has the choice {choice!r}, which its own type does not take: {error}"
            raise FieldDeclarationError("", subject, problem) from error
    options.update(_choice_options(convert, allowed, list(map(word_of, choices))))


def _choice_options(
    convert: Callable[[str], Any], allowed: Collection[Any], words: Sequence[str]
) -> dict[str, Any]:
    def choose(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = text
        if value not in allowed:
            raise argparse.ArgumentTypeError(
                f"invalid choice: {text!r} (choose from {', '.join(words)})."
                f"{did_you_mean(text, words)}"
            )
        return value

    return {"type": choose, "choices": allowed, "metavar": "{" + ",".join(words) + "}"}


def _chosen_by_word(values: list[Any]) -> dict[str, Any]:
    by_word = {word_of(value): value for value in values}
    return _choice_options(lambda text: by_word.get(text, text), values, list(by_word))


def _reported(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse print what a parser says; of a ValueError it would keep only the value."""

    def parse_text(text: str) -> Any:
        try:
            return parse(text)
        except (ValueError, TypeError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse_text


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
    return _chosen_by_word([value for member in _some(members) for value in get_args(member)])


def _is_enum(members: list[Any]) -> bool:
    some = _some(members)
    return len(some) == 1 and _is_class(some[0]) and issubclass(some[0], enum.Enum)


def _is_class(member: Any) -> bool:
    # On Python 3.10 list[int] passes for a class.
    return isinstance(member, type) and get_origin(member) is None


def _enum(members: list[Any], default: Any) -> dict[str, Any]:
    return _chosen_by_word(list(_some(members)[0]))


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
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise argparse.ArgumentTypeError("expected JSON, but it is nested too deeply") from error
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
