"""A record's flags for `argparse`: every field with an `Arg` becomes an option.

The parser only notes what was typed, so that a record built from it knows what the operator
set. How a type becomes an option is a table of rules, `_RULES`.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import json
import types
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin

from registry.annotations import arg_of
from registry.declaration import Arg
from registry.errors import FieldDeclarationError, did_you_mean
from registry.instance import schema_of

__all__ = ["ArgumentParser", "add_cli_args", "from_cli_args"]

_NONE = type(None)


class ArgumentParser(argparse.ArgumentParser):
    """An `argparse.ArgumentParser` whose errors are one readable line.

    With hundreds of flags the usage message buries the error, so it is left to `--help`. An
    unknown flag is answered with the nearest one.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: A[int, "Tensor-parallel width in ranks."] = 1
        >>> Args = compose("Args", [Parallel])
        >>> parser = ArgumentParser(prog="serve")
        >>> add_cli_args(parser, Args)
        >>> from_cli_args(Args, parser.parse_args(["--tp-size", "8"]))
        Args(tp_size=8)
    """

    def error(self, message: str) -> NoReturn:
        """Print one line to standard error and exit with status 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse a command line; as in `argparse`, with the nearest flag for an unknown one."""
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            word = next((each for each in unknown if each.startswith("-")), unknown[0])
            flag = word.partition("=")[0]
            hint = did_you_mean(flag, self._option_string_actions) if flag[:1] == "-" else ""
            self.error(f"unrecognized arguments: {' '.join(unknown)}.{hint}")
        return parsed


def add_cli_args(parser: argparse.ArgumentParser, record_class: type[Any]) -> None:
    """Add an option for every field of a record that declares an `Arg`.

    Options are grouped by namespace. The parsed namespace has only the fields that were
    typed; `from_cli_args` fills in the defaults.

    Args:
        parser: the parser to add to; any `argparse.ArgumentParser` will do.
        record_class: a class that `compose()` made. A choices list that grew since is taken
            as it is now.

    Raises:
        FieldDeclarationError: a field whose type no rule turns into an option, and that has
            neither `type_parser` nor `no_cli`.
        argparse.ArgumentError: two fields, or a field and an option of the parser, have the
            same flag.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class Cache(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "cache"
        ...     page_size: A[int, "Tokens a page holds."] = 16
        >>> parser = argparse.ArgumentParser(prog="serve", add_help=False)
        >>> add_cli_args(parser, compose("Args", [Cache]))
        >>> print(parser.format_help())
        usage: serve [--page-size PAGE_SIZE]
        <BLANKLINE>
        cache:
          --page-size PAGE_SIZE
                                Tokens a page holds. (default: 16)
        <BLANKLINE>
    """
    schema = schema_of(record_class)
    groups: dict[str | None, Any] = {None: parser}
    for spec in dataclasses.fields(record_class):
        arg = arg_of(spec.type)
        if arg is None or arg.no_cli:
            continue
        path = schema.namespaces.get(spec.name)
        if path not in groups:
            groups[path] = parser.add_argument_group(path)
        subject = f"{record_class.__qualname__}.{spec.name}"
        default = schema.default_of(spec.name)
        required = spec.name in schema.required if arg.required is None else arg.required
        options = _options(subject, spec.type, arg, default)
        options["help"] = _help(arg, default)
        groups[path].add_argument(
            arg.cli_name or "--" + spec.name.lstrip("_").replace("_", "-"),
            *arg.aliases,
            dest=spec.name,
            required=required,
            default=argparse.SUPPRESS,
            **options,
        )


def from_cli_args(record_class: type[Any], args: argparse.Namespace) -> Any:
    """Build a record from parsed arguments.

    Args:
        record_class: a class that `compose()` made.
        args: what the parser returned. Attributes that are no fields of the record belong to
            the program and are passed over.

    Returns:
        The record; `fields_set` of it are the attributes that `args` has.

    Raises:
        CallError: a required field is not in `args`.
    """
    given = vars(args)
    return record_class(
        **{name: given[name] for name in schema_of(record_class).names if name in given}
    )


def _help(arg: Arg, default: Any) -> str:
    """Say what the field is for; argparse would take a percent sign for a placeholder."""
    text = arg.help
    if arg.deprecated:
        text = f"{text} Deprecated: use {arg.deprecated}.".lstrip()
    if default not in (None, False, [], dataclasses.MISSING):
        text = f"{text} (default: {default})"
    return text.replace("%", "%%")


def _options(subject: str, annotation: Any, arg: Arg, default: Any) -> dict[str, Any]:
    """Work out the arguments of `add_argument` for one field."""
    options: dict[str, Any] = {}
    if arg.action is not None:
        action = arg.action
        if isinstance(action, str):
            action = getattr(argparse, action, action)
        options = {"action": action, **(arg.action_kwargs or {})}
    elif arg.type_parser is not None:
        options = {"type": _reported(arg.type_parser)}
    else:
        members = _members(annotation)
        for fits, rule in _RULES:
            if fits(members):
                options = rule(members, default)
                break
        else:
            raise FieldDeclarationError(
                "",
                subject,
                f"has the type {annotation}, which no text turns into; give its "
                "Arg a type_parser, or no_cli=True",
            )
    for name in ("nargs", "const", "metavar"):
        if getattr(arg, name) is not None:
            options[name] = getattr(arg, name)
    if arg.choices is not None:
        _limit(options, list(arg.choices))
    return options


def _limit(options: dict[str, Any], choices: list[Any]) -> None:
    """Let an option take only some values."""
    convert = options.get("type", str)
    allowed: list[Any] = []
    for choice in choices:
        # A choice is written as the value or as the text that stands for it, such as "none".
        allowed.append(convert(choice) if isinstance(choice, str) else choice)
    options.update(_choice_options(convert, allowed))


def _choice_options(convert: Callable[[str], Any], allowed: Collection[Any]) -> dict[str, Any]:
    words = [_word(value) for value in allowed]

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


def _word(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    return "none" if value is None else str(value)


def _reported(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Let argparse print what a parser says; of a ValueError it would keep only the value."""

    def parse_text(text: str) -> Any:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parse_text


def _members(annotation: Any) -> list[Any]:
    """Return the types a value may have, unions and Literals taken apart."""
    if get_origin(annotation) is Annotated:
        return _members(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return [member for part in get_args(annotation) for member in _members(part)]
    return [_NONE if annotation is None else annotation]


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
    return {"nargs": "?", "const": True, "type": _parse_bool, "metavar": "true|false"}


def _parse_bool(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"expected true or false, not {text!r}")
    return text.lower() == "true"


def _is_literal(members: list[Any]) -> bool:
    return all(get_origin(member) is Literal for member in _some(members)) and bool(_some(members))


def _literal(members: list[Any], default: Any) -> dict[str, Any]:
    values = [value for member in _some(members) for value in get_args(member)]
    by_word = {_word(value): value for value in values}
    return _choice_options(lambda text: by_word.get(text, text), values)


def _is_enum(members: list[Any]) -> bool:
    some = _some(members)
    return len(some) == 1 and isinstance(some[0], type) and issubclass(some[0], enum.Enum)


def _enum(members: list[Any], default: Any) -> dict[str, Any]:
    values = list(_some(members)[0])
    by_word = {_word(value): value for value in values}
    return _choice_options(lambda text: by_word.get(text, text), values)


def _is_collection(members: list[Any]) -> bool:
    return bool(_some(members)) and all(map(_is_several, _some(members)))


def _is_several(member: Any) -> bool:
    origin = get_origin(member) or member
    return isinstance(origin, type) and issubclass(origin, list | set | frozenset | tuple)


def _collection(members: list[Any], default: Any) -> dict[str, Any]:
    elements = {
        element
        for member in _some(members)
        for element in get_args(member)
        if element is not Ellipsis
    }
    convert = elements.pop() if len(elements) == 1 else str
    return {"type": convert if convert in (int, float, str) else str, "nargs": "+"}


def _is_text(members: list[Any]) -> bool:
    return str in members


def _text(members: list[Any], default: Any) -> dict[str, Any]:
    return {"type": str}


def _is_mapping(members: list[Any]) -> bool:
    return [get_origin(member) or member for member in _some(members)] == [dict]


def _mapping(members: list[Any], default: Any) -> dict[str, Any]:
    return {"type": _reported(json.loads), "metavar": "JSON"}


def _is_callable_type(members: list[Any]) -> bool:
    some = _some(members)
    return len(some) == 1 and isinstance(some[0], type) and some[0] is not object


def _callable_type(members: list[Any], default: Any) -> dict[str, Any]:
    return {"type": _some(members)[0]}


_Rule = tuple[Callable[[list[Any]], bool], Callable[[list[Any], Any], dict[str, Any]]]

_RULES: tuple[_Rule, ...] = (
    (_is_switch, _switch),
    (_is_optional_switch, _optional_switch),
    (_is_literal, _literal),
    (_is_enum, _enum),
    (_is_collection, _collection),
    (_is_text, _text),
    (_is_mapping, _mapping),
    (_is_callable_type, _callable_type),
)
"""What a type becomes on the command line: the first rule whose test fits."""
