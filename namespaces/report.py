"""What a process that receives a record sees: what was set, what follows, what travelled."""

from __future__ import annotations

import os
import pickle
import pickletools
import zlib
from collections.abc import Iterable
from typing import Any

from registry import default_registry, derive, fields_set, namespace_of

__all__ = ["describe", "format_report", "texts_in"]


def describe(pickled: bytes) -> dict[str, Any]:
    """Unpickle a record and report it, in the process that calls this.

    Args:
        pickled: a pickled `ServerArgs`.

    Returns:
        A dict of plain values: `process` (its id), `record` (the class), `set` and `derived`
        (namespace path to field to value), `pickle` (`bytes`: its size, `texts`: how many
        strings it holds, `derived_names`: those of them that are derived fields).

    Raises:
        RecordUnpicklingError: the record does not fit the class as it is here.
        DerivationError: a derived field cannot be computed from the record.

    Example:
        >>> from namespaces import ServerArgs
        >>> report = describe(pickle.dumps(ServerArgs("my-model", tp_size=8)))
        >>> report["set"], report["derived"]["parallel"]["attn_tp_size"]
        ({'model': {'model_path': 'my-model'}, 'parallel': {'tp_size': 8}}, 8)
    """
    record = pickle.loads(pickled)
    view = derive(record)
    given = fields_set(record)
    names = set(dir(view)) - namespace_of(record).keys()
    derived = {name: default_registry.derived[name].namespace for name in sorted(names)}
    texts = texts_in(pickled)
    return {
        "process": os.getpid(),
        "record": f"{type(record).__module__}.{type(record).__qualname__}",
        "set": _by_namespace(
            (path, name, getattr(record, name))
            for name, path in namespace_of(record).items()
            if name in given
        ),
        "derived": _by_namespace(
            (path, name, getattr(view, name)) for name, path in derived.items()
        ),
        "pickle": {
            "bytes": len(pickled),
            "texts": len(texts),
            "derived_names": sorted(texts & derived.keys()),
        },
    }


def texts_in(pickled: bytes) -> set[str]:
    """Return every string that a pickle holds, the compressed ones among them unpacked.

    Args:
        pickled: any pickle.

    Example:
        >>> sorted(texts_in(pickle.dumps({"tp_size": "8"})))
        ['8', 'tp_size']
    """
    texts = set()
    for _, argument, _ in pickletools.genops(pickled):
        if isinstance(argument, str):
            texts.add(argument)
        elif isinstance(argument, bytes):
            try:
                texts.update(zlib.decompress(argument).decode().split())
            except (zlib.error, UnicodeDecodeError):
                continue
    return texts


def format_report(report: dict[str, Any]) -> str:
    """Lay out what `describe` returned for people.

    Args:
        report: the report.

    Returns:
        The text, without a newline at its end.
    """
    travelled = report["pickle"]
    found = travelled["derived_names"]
    derived = [name for fields in report["derived"].values() for name in fields]
    lines = [
        f"{report['record']} reached process {report['process']} in {travelled['bytes']:,} bytes.",
        "",
        "Set by the operator:",
        *_table(report["set"]),
        "",
        "Derived there:",
        *_table(report["derived"]),
        "",
        f"{len(found)} of the {len(derived)} derived names are among the {travelled['texts']} "
        f"strings of the pickle{': ' + ', '.join(found) if found else '.'}",
    ]
    return "\n".join(lines)


def _by_namespace(entries: Iterable[tuple[str, str, Any]]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, dict[str, Any]] = {}
    for path, name, value in sorted(entries, key=lambda entry: entry[0]):
        grouped.setdefault(path, {})[name] = value
    return grouped


def _table(grouped: dict[str, dict[str, Any]]) -> list[str]:
    rows = [
        (path, name, repr(value))
        for path, fields in grouped.items()
        for name, value in fields.items()
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    return [f"  {path:{widths[0]}}  {name:{widths[1]}}  {value}" for path, name, value in rows]
