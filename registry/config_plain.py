"""A record as the plain values of a configuration file.

Every value is read back, as the file reader would, before it is taken.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from registry.errors import InvalidValueError
from registry.reading import value_of_plain
from registry.settings import Setting, Settings
from registry.writing import Item, UnwritableError, in_order, items_of, plain_of, same, texts_of

__all__ = ["PlainField", "nested_by_path", "plain_fields", "to_dict"]

_ADVICE = "leave it out with exclude=[{!r}], or send the record by pickle"


class PlainField(NamedTuple):
    """A field with the plain value that a file has for it.

    Attributes:
        item: the field.
        value: the plain value.
        path: the path of its namespace, None for a field of none.
        key: its key where the values stand flat.
    """

    item: Item
    value: Any
    path: str | None
    key: str

    def problem(self, why: str) -> str:
        """Return the sentence that it cannot be written, with a way out."""
        return _problem(self.item, why)


def to_dict(
    record: Any, *, nested: bool = False, reveal: bool = False, exclude: Collection[str] = ()
) -> dict[str, Any]:
    """Return a record as plain values, of the kinds that YAML, TOML and JSON have.

    It has every field that is set, be it to its default, and every value that was changed in
    place; read as a configuration file, it makes an equal record with the same `fields_set`. The
    exception is a field that a file cannot set: it is left out if it holds its default. What a
    program keeps on a record beside its fields is not written.

    Args:
        record: an instance of a composed class.
        nested: put the fields into mappings by the paths of their namespaces.
        reveal: write secrets as they are. Otherwise a secret reads `***`, and a file with that is
            refused.
        exclude: fields to leave out, such as those that only the program sets.

    Returns:
        The values by field. Flat, a field whose name is also that of a namespace goes by its
        dotted path if it holds a mapping or None, which would be read as that namespace.

    Raises:
        UnwritableError: fields hold what no plain value stands for, such as a function; one line
            for each.
        ComposeError: it is no composed record (a TypeError).
        UnknownFieldError: `exclude` names what is no field.

    Example:
        >>> from registry import A, Namespace, Registry, compose
        >>> class ExecMoe(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "exec.moe"
        ...     ep_size: A[int, "Expert-parallel width in ranks."] = 1
        ...     hosts: A[tuple[str, ...], "Where ranks run."] = ()
        >>> record = compose("Args", [ExecMoe])(ep_size=8, hosts=("a", "b"))
        >>> to_dict(record)
        {'ep_size': 8, 'hosts': ['a', 'b']}
        >>> to_dict(record, nested=True)
        {'exec': {'moe': {'ep_size': 8, 'hosts': ['a', 'b']}}}
    """
    fields = plain_fields(record, "to_dict()", reveal, exclude)
    return nested_by_path(fields) if nested else {each.key: each.value for each in fields}


def plain_fields(
    record: Any, caller: str, reveal: bool, exclude: Collection[str]
) -> list[PlainField]:
    """Return the fields that `to_dict` writes.

    Args:
        record: as in `to_dict`.
        caller: the function that writes, for the message.
        reveal: as in `to_dict`.
        exclude: as in `to_dict`.

    Raises:
        UnwritableError, ComposeError, UnknownFieldError: as `to_dict`.
    """
    items = items_of(record, caller, exclude)
    settings = Settings(type(record))
    fields: list[PlainField] = []
    problems: list[str] = []
    for item in items:
        found = _field(item, settings, reveal)
        if isinstance(found, PlainField):
            fields.append(found)
        elif not item.is_default:
            problems.append(_problem(item, found))
    if problems:
        raise UnwritableError(problems)
    return fields


def nested_by_path(fields: Collection[PlainField]) -> dict[str, Any]:
    """Return the values of fields, in mappings by the paths of their namespaces."""
    values: dict[str, Any] = {}
    for each in fields:
        inner = values
        for part in (each.path or "").split("."):
            inner = inner.setdefault(part, {}) if part else inner
        inner[each.item.name] = each.value
    return values


def _problem(item: Item, why: str) -> str:
    return item.problem(f"{why}; {_ADVICE.format(item.name)}")


def _field(item: Item, settings: Settings, reveal: bool) -> PlainField | str:
    """Return a field as a file has it, or why no file can."""
    if not item.is_initial:
        return "is no argument of the constructor"
    setting = settings.by_name.get(item.name)
    if setting is None:
        return "is the program's own, which a file cannot set"
    is_path = item.name in settings.paths
    if is_path and setting.path is None:
        return "has the name of a namespace, for which a file would take it"
    for value in _candidates(item, reveal):
        if (item.is_masked and not reveal) or _means(setting, value, item):
            dotted = is_path and (value is None or isinstance(value, dict))
            return PlainField(item, value, setting.path, setting.dotted if dotted else item.name)
    return "has no plain value that a file could hold for it"


def _candidates(item: Item, reveal: bool) -> Iterator[Any]:
    if item.is_masked and not reveal:
        yield "***"
        return
    with contextlib.suppress(RecursionError):  # it contains itself
        yield plain_of(item.value)
    # Otherwise as on the command line, where each item is a word.
    if isinstance(item.value, list | tuple | set | frozenset):
        yield [next(texts_of(each), None) for each in in_order(item.value)]
    yield from texts_of(item.value)


def _means(setting: Setting, value: Any, item: Item) -> bool:
    """Tell whether a plain value in a file is read as what a field holds."""
    try:
        return _is_plain(value) and same(value_of_plain(setting, value, item.name), item.value)
    except (InvalidValueError, RecursionError):
        return False


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)
