"""Does a value fit its field: the one check at every door but the constructor."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from registry.annotations import arg_of
from registry.declaration import Arg
from registry.errors import InvalidValueError, did_you_mean
from registry.instance import require_record, schema_of
from registry.masking import text_of
from registry.store import DerivedField, InputField
from registry.value_types import described, fits

__all__ = ["check_derived", "check_values", "no_choice", "problems_with", "validate"]


def validate(record: Any) -> None:
    """Check all values of a record against their declared types and choices.

    The constructor does not check, as on any dataclass; publishing does. A default is the
    declaration's own affair and is not checked: `None` for `int` is how some say "unset".

    Args:
        record: an instance of a composed class.

    Raises:
        InvalidValueError: some values do not fit; the message has a line for each, with the
            place of the declaration where that is known.
        ComposeError: it is no composed record (a TypeError).

    Example:
        >>> from registry import Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        >>> validate(compose("Args", [Parallel])(tp_size="8"))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        registry.errors.InvalidValueError: ...: tp_size must be int, not '8' (str)
    """
    require_record(record, "validate()")
    schema = schema_of(type(record))
    declarations = () if schema.source is None else schema.source()
    inputs = {name: field for each in declarations for name, field in each.inputs.items()}
    problems = []
    for spec in dataclasses.fields(schema.cls):
        default = schema.template[spec.name]
        value = getattr(record, spec.name, default)
        if value is not default:
            where = (
                f"{inputs[spec.name].declaration.where(spec.name)}: " if spec.name in inputs else ""
            )
            problems += [where + problem for problem in problems_with(spec.name, spec.type, value)]
    if problems:
        raise InvalidValueError(problems)


def check_values(
    fields: Mapping[str, InputField], values: Mapping[str, Any], *, hidden: bool = False
) -> None:
    """Check some values against the declarations of their fields.

    Args:
        fields: the declarations by name.
        values: the values by name; a name that `fields` lacks is passed over.
        hidden: whether messages leave out the values, as they do those of secrets.

    Raises:
        InvalidValueError: some values do not fit; the message has a line for each, with the
            place of the declaration.
    """
    problems = [
        f"{field.declaration.where(name)}: {problem}"
        for name, value in values.items()
        if (field := fields.get(name)) is not None
        for problem in problems_with(name, field.type, value, hidden)
    ]
    if problems:
        raise InvalidValueError(problems)


def check_derived(field: DerivedField, value: Any, *, hidden: bool = False) -> None:
    """Check a value that a derived field is pinned to, or a run-time fact is given.

    Args:
        field: the declaration; one that states no type takes anything.
        value: the value.
        hidden: whether the message leaves it out.

    Raises:
        InvalidValueError: the value does not fit.
    """
    declared = field.type
    if declared is not None and not fits(value, declared):
        place = field.declaration.where(field.name)
        raise InvalidValueError([f"{place}: {_mismatch(field.name, declared, value, hidden)}"])


def problems_with(name: str, annotation: Any, value: Any, hidden: bool = False) -> Iterator[str]:
    """Yield what is wrong with a value for a field, a sentence for each fault.

    Args:
        name: the field.
        annotation: its evaluated type, with its `Arg` if it has one.
        value: the value.
        hidden: whether it must not be shown; a secret never is.
    """
    arg = arg_of(annotation)
    hidden = hidden or (arg is not None and arg.secret)
    if not fits(value, annotation) and not _made_by_parser(arg, annotation, value):
        yield _mismatch(name, annotation, value, hidden)
    elif arg is not None and arg.choices is not None and value is not None:
        items = value if isinstance(value, list | set | frozenset | tuple) else [value]
        for item in items:
            if item not in arg.choices:
                yield no_choice(name, map(str, arg.choices), item, hidden)


def no_choice(name: str, words: Iterable[str], value: Any, hidden: bool = False) -> str:
    """Return the sentence that a value is none of those that a field takes.

    Args:
        name: the field.
        words: what it takes, as an operator writes it.
        value: what was given.
        hidden: whether the value must not be shown.
    """
    words = list(words)
    hint = "" if hidden else did_you_mean(str(value), words)
    shown = "***" if hidden else text_of(value)
    return f"{name} must be one of {', '.join(words)}, not {shown}.{hint}"


def _made_by_parser(arg: Arg | None, annotation: Any, value: Any) -> bool:
    """Tell whether the parser of a field that is declared as text makes such a value of one.

    Such a parser is its own authority: it may make a dict of the text that the type speaks of.
    """
    if arg is None or arg.type_parser is None or not isinstance(value, dict | list):
        return False
    several = arg.nargs not in (None, "?")
    if not fits([""] if several else "", annotation):
        return False
    items = value if several and isinstance(value, list) else [value]
    try:
        texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
        return bool([arg.type_parser(text) for text in texts] == items)
    except Exception:  # whatever it raises, it does not make such a value
        return False


def _mismatch(name: str, annotation: Any, value: Any, hidden: bool) -> str:
    shown = "***" if hidden else text_of(value)
    return f"{name} must be {described(annotation)}, not {shown} ({type(value).__name__})"
