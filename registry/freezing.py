"""`freeze`: the positional order of a record, written down as the source of a Python module.

The module is edited where it has to be; comments and all else in it stay.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from registry.contract import ContractError, replace_file
from registry.errors import did_you_mean
from registry.instance import schema_of
from registry.schema import Schema

__all__ = ["Frozen", "freeze"]

_RETIRED = "RETIRED_FIELDS"


class Frozen(NamedTuple):
    """What `freeze` wrote.

    Attributes:
        appended: the fields that got a place at the end.
        retired: the fields that are gone and keep their place.
    """

    appended: tuple[str, ...]
    retired: tuple[str, ...]


def freeze(
    record_class: type[Any],
    path: str | os.PathLike[str],
    retire: Mapping[str, str] | None = None,
) -> Frozen:
    """Write the positional order of a record to the module that `compose(order=...)` takes it from.

    New fields are appended, never inserted; those of plugins are left out. A field that is gone
    keeps its place and is noted in the dict `RETIRED_FIELDS` of the module, which
    `compose(retired=...)` takes.

    Args:
        record_class: a class that `compose()` made.
        path: the module: one tuple or list of names, and maybe that dict.
        retire: since when, and what to use instead, for each field that went away.

    Returns:
        What changed; without a change the file is not written.

    Raises:
        ContractError: the file is no such module or cannot be written, its order is not that of
            the record, a field is gone without advice, or advice is given for one that is not.
    """
    source = os.fspath(path)
    text, encoding = _read(source)
    module = _Module(source, text)
    schema = schema_of(record_class)
    # What plugins add follows in whatever order they are loaded; no module can promise it.
    added = {name for each in schema.declarations() if each.plugin for name in each.inputs}
    left_out = schema.retired.keys() | added
    names = [name for name in schema.positional if name not in left_out]
    _check_order(schema, module, names)
    gone = [name for name in module.order if name not in schema.template]
    new = [name for name in gone if name not in module.retired]
    advice = {**(retire or {})}
    _check_advice(source, schema, advice, new)
    known = frozenset(module.order)
    appended = [name for name in names if name not in known]
    edits = [
        *_edit(module, module.order_node, [f'"{name}"' for name in appended]),
        *_retirement(
            module,
            [f'"{name}": {json.dumps(advice[name], ensure_ascii=False)}' for name in new],
        ),
    ]
    if edits:
        written = _edited(text, edits)
        after = _Module(source, written)
        if after.order != [*module.order, *appended] or after.retired != module.retired | advice:
            raise ContractError(source, "cannot be edited as it is written; edit it by hand")
        replace_file(path, written, encoding)
    return Frozen(tuple(appended), tuple(new))


class _Module:
    """The order and the retired fields in the source of a module."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self.text = text
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError) as error:
            raise ContractError(source, f"is no Python module: {error}") from error
        bound = {
            name: node.value
            for node in tree.body
            for name in _targets(node)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        }
        orders = {
            name: value
            for name, value in bound.items()
            if name != "__all__" and isinstance(value, ast.Tuple | ast.List) and _are_texts(value)
        }
        if len(orders) != 1:
            found = ", ".join(orders) or "none"
            problem = f"must have one tuple of field names for the order; it has {found}"
            raise ContractError(source, problem)
        for name in (*orders, _RETIRED):
            _check_set_once(source, tree, name)
        self.order_node: Any = next(iter(orders.values()))
        self.order: list[str] = list(ast.literal_eval(self.order_node))
        self.retired_node: Any = bound.get(_RETIRED)
        self.retired: dict[str, str] = {}
        if self.retired_node is not None:
            try:
                self.retired = dict(ast.literal_eval(self.retired_node))
            except (ValueError, TypeError) as error:
                problem = f"has a {_RETIRED} that is no dict of names and texts"
                raise ContractError(source, problem) from error


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _check_set_once(source: str, tree: ast.Module, name: str) -> None:
    """Refuse a name that is bound or changed again: what it is in the end is not written there."""
    nodes: list[Any] = list(ast.walk(tree))
    lines = sorted(node.lineno for node in nodes if _changed_by(node) == name)
    if len(lines) > 1:
        problem = f"changes {name} again in line {lines[1]}; write all of it where it begins"
        raise ContractError(source, problem)


def _changed_by(node: Any) -> str | None:
    """Return the name that a node binds, deletes or changes in place, None if it does not."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        node = node.value.func  # such as ORDER.append("x")
        inner = node.value if isinstance(node, ast.Attribute) else None
    elif isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        inner = node.value if isinstance(node, ast.Subscript) else node
    else:
        return None
    return inner.id if isinstance(inner, ast.Name) else None


def _are_texts(node: ast.Tuple | ast.List) -> bool:
    return all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts)


def _check_order(schema: Schema, module: _Module, names: Sequence[str]) -> None:
    """Refuse a file whose order is another than that of the record."""
    present = frozenset(names)
    known = [name for name in module.order if name in present]
    for at, (frozen, name) in enumerate(zip(known, names, strict=False), 1):
        if frozen != name:
            problem = f"has {frozen} where {schema.cls.__qualname__} has {name}, at position {at}; "
            problem += "the record must be composed with order= from this file"
            raise ContractError(schema.cls.__qualname__, f"the order file {problem}")


def _check_advice(
    source: str, schema: Schema, advice: Mapping[str, str], gone: Sequence[str]
) -> None:
    may_go = frozenset(gone)
    for name in advice:
        if name in may_go:
            continue
        problem = f"{name!r} is not gone" if name in schema.template else f"{name!r} has no place"
        raise ContractError(source, f"{problem}, it cannot be retired.{did_you_mean(name, gone)}")
    lacking = [name for name in gone if not advice.get(name, "").strip()]
    if lacking:
        options = " ".join(f"--retire '{name}=since VERSION, use NAME'" for name in lacking)
        problem = f"{', '.join(lacking)} went away; say since when and what to use: {options}"
        raise ContractError(source, problem)


def _read(source: str) -> tuple[str, str]:
    """Return the text of a module and its encoding, as Python finds it out."""
    try:
        content = Path(source).read_bytes()
        encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        return content.decode(encoding), encoding
    except SyntaxError as error:  # of a comment that names no encoding there is
        raise ContractError(source, f"is no Python module: {error.msg}") from error
    except OSError as error:
        raise ContractError(source, f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ContractError(source, f"is not in its encoding: {error}") from error


_Edit = tuple[tuple[int, int], tuple[int, int], str]
"""From where to where, each as line and byte, and what stands there instead."""


def _edit(module: _Module, node: Any, items: Sequence[str]) -> list[_Edit]:
    """Return the edit that adds items to a collection in the source."""
    if not items:
        return []
    last: list[Any] = node.values[-1:] if isinstance(node, ast.Dict) else node.elts[-1:]
    if last:
        lines = module.text.encode("utf-8").split(b"\n")
        if isinstance(node, ast.Tuple) and lines[node.lineno - 1][node.col_offset :][:1] != b"(":
            problem = "has its order without parentheses; put the names in parentheses"
            raise ContractError(module.source, problem)
        line, at = last[0].end_lineno, last[0].end_col_offset
        end = (line, at)
        comment = re.match(rb"[ \t]*(,?)[ \t]*#[^\r\n]*", lines[line - 1][at:])
        if comment is None:
            return [(end, end, "".join(f",\n    {item}" for item in items))]
        # It is about the item before it, and stays there.
        after = (line, at + comment.end())
        added = (after, after, "".join(f"\n    {item}," for item in items))
        return [added] if comment[1] else [(end, end, ","), added]
    opening, closing = ("[", "]") if isinstance(node, ast.List) else ("(", ")")
    if isinstance(node, ast.Dict):
        opening, closing = "{", "}"
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno, node.end_col_offset)
    return [(start, end, opening + "".join(f"\n    {item}," for item in items) + f"\n{closing}")]


def _retirement(module: _Module, items: Sequence[str]) -> list[_Edit]:
    if module.retired_node is not None or not items:
        return _edit(module, module.retired_node, items)
    text = module.text
    lines = text.count("\n") + 1
    end = (lines, len(text.rpartition("\n")[2].encode("utf-8")))
    gap = "" if text.endswith("\n") else "\n"
    body = "".join(f"    {item},\n" for item in items)
    comment = '"""What to use instead of fields that are gone, for `compose(retired=...)`."""'
    return [(end, end, f"{gap}\n{_RETIRED}: dict[str, str] = {{\n{body}}}\n{comment}\n")]


def _edited(text: str, edits: Sequence[_Edit]) -> str:
    whole = text.encode("utf-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    starts = [0]
    for each in whole.split(b"\n"):
        starts.append(starts[-1] + len(each) + 1)
    for (line, at), (end_line, end_at), new in sorted(edits, reverse=True):
        start, end = starts[line - 1] + at, starts[end_line - 1] + end_at
        whole = whole[:start] + new.replace("\n", newline).encode("utf-8") + whole[end:]
    return whole.decode("utf-8")
