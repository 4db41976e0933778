"""What a process that receives a record sees: what was set, what follows, what travelled."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import pickletools
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from registry import Context, default_registry, fields_set, namespace_of

__all__ = ["describe", "format_check", "format_report", "texts_in"]


def describe(pickled: bytes, explain: Iterable[str] = ()) -> dict[str, Any]:
    """Unpickle a record and report it, in the process that calls this.

    Args:
        pickled: a pickled `ServerArgs`.
        explain: fields to explain, by name or dotted path.

    Returns:
        A dict of plain values: `process` (its id), `record` (the class), `set` (what the
        operator gave), `resolved` (other inputs that are not at what the record says) and
        `derived`, each namespace path to field to value; `pickle` (`bytes`: its size, `texts`:
        how many strings it holds, `derived_names`: those of them that are derived fields);
        `explained`, a text for each field asked for. Secrets read `***`, infinity and NaN, which
        JSON does not have, are texts.

    Raises:
        RecordUnpicklingError: the record does not fit the class as it is here.
        InvalidValueError, ResolutionError, DerivationError, CheckError: the configuration
            could not be published.
        UnknownFieldError: there is no such field to explain.

    Example:
        >>> from namespaces import ServerArgs
        >>> report = describe(pickle.dumps(ServerArgs("my-model", tp_size=8)))
        >>> report["set"], report["derived"]["parallel"]["attn_tp_size"]
        ({'model': {'model_path': 'my-model'}, 'parallel': {'tp_size': 8}}, 8)
    """
    record = pickle.loads(pickled)
    context = Context(record)
    values = context.resolved()
    given = fields_set(record)
    paths = namespace_of(record)
    derived = {
        name: default_registry.derived[name].namespace for name in values.keys() - paths.keys()
    }
    typed = {name: "***" if values[name] == "***" else getattr(record, name) for name in paths}
    texts = texts_in(pickled)
    return {
        "process": os.getpid(),
        "record": f"{type(record).__module__}.{type(record).__qualname__}",
        "set": _by_namespace(paths, {name: typed[name] for name in paths if name in given}),
        "resolved": _by_namespace(
            paths, {name: values[name] for name in paths if _differ(values[name], typed[name])}
        ),
        "derived": _by_namespace(derived, {name: values[name] for name in sorted(derived)}),
        "pickle": {
            "bytes": len(pickled),
            "texts": len(texts),
            "derived_names": sorted(texts & derived.keys()),
        },
        "explained": {name: str(context.explain(name)) for name in explain},
    }


def texts_in(pickled: bytes) -> set[str]:
    """Return every line of text that a pickle holds, or a compressed pickle inside it.

    Args:
        pickled: any pickle.

    Example:
        >>> sorted(texts_in(pickle.dumps({"tp_size": "8"})))
        ['8', 'tp_size']
    """
    texts = set()
    for _, argument, _ in pickletools.genops(pickled):
        if isinstance(argument, str):
            texts.update(argument.splitlines())
        elif isinstance(argument, bytes):
            with contextlib.suppress(zlib.error):
                texts |= texts_in(zlib.decompress(argument))
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
    named = f": {', '.join(found)}" if found else "."
    return "\n\n".join(
        [
            f"{report['record']} reached process {report['process']} in {travelled['bytes']:,} "
            "bytes.",
            *_tables(report, "Resolved there:", "Derived there:"),
            f"{len(found)} of the {_count(report['derived'])} derived names are among the "
            f"{travelled['texts']} strings of the pickle{named}",
            *report["explained"].values(),
        ]
    )


def format_check(report: dict[str, Any]) -> str:
    """Lay out for people what a valid configuration sets and implies.

    Args:
        report: what `describe` returned.

    Returns:
        The text, without a newline at its end.
    """
    count = _count(report["set"])
    return "\n\n".join(
        [
            f"Valid: {count} {'setting' if count == 1 else 'settings'} of {report['record']}.",
            *_tables(report, "Resolved:", "Implied:"),
            *report["explained"].values(),
        ]
    )


def _tables(report: dict[str, Any], resolved: str, derived: str) -> list[str]:
    titles = {"Set by the operator:": "set", resolved: "resolved", derived: "derived"}
    return ["\n".join([each, *_table(report[key])]) for each, key in titles.items() if report[key]]


def _count(grouped: dict[str, dict[str, Any]]) -> int:
    return sum(map(len, grouped.values()))


def _by_namespace(paths: Mapping[str, str], values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, dict[str, Any]] = {path: {} for path in sorted({paths[n] for n in values})}
    for name, value in values.items():
        grouped[paths[name]][name] = _plain(value)
    return grouped


def _differ(left: Any, right: Any) -> bool:
    return bool(_plain(left) != _plain(right))  # otherwise NaN would differ from itself


def _plain(value: Any) -> Any:
    """Return a value without numbers that JSON does not have: their text stands for them."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def _table(grouped: dict[str, dict[str, Any]]) -> list[str]:
    rows = [
        (path, name, repr(value))
        for path, fields in grouped.items()
        for name, value in fields.items()
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    return [f"  {path:{widths[0]}}  {name:{widths[1]}}  {value}" for path, name, value in rows]
