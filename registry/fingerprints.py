"""`fingerprint`: one text for a configuration, to key caches by.

Every field counts unless its declaration says otherwise, so none that comes later is forgotten.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import Any, NamedTuple

from registry.annotations import arg_of
from registry.canonical import UnstableError, text_of_value
from registry.context import Context
from registry.errors import RegistryError
from registry.instance import schema_of

__all__ = ["FingerprintDifference", "FingerprintError", "explain_fingerprint", "fingerprint"]

_VERSION = "1"
"""Counts up when equal configurations get another fingerprint."""


class FingerprintError(RegistryError, TypeError):
    """A field whose value has no text that is the same in every process.

    Attributes:
        record: the record class.
        field: the field.
        problem: what its value is, and what to do.
    """

    def __init__(self, record: str, field: str, problem: str) -> None:
        super().__init__(record, field, problem)
        self.record = record
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"no fingerprint of a {self.record}: {self.field} {self.problem}"


class FingerprintDifference(NamedTuple):
    """A field that makes two fingerprints differ.

    Attributes:
        field: the field.
        first: its value on one side, as text; empty where there is no such field.
        second: its value on the other.
    """

    field: str
    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.field}: {self.first or '(absent)'} and {self.second or '(absent)'}"


def fingerprint(configuration: Any) -> str:
    """Return a digest of the values in effect.

    It is the same in every process, on every machine and Python. What a field holds counts, not
    whether it was given; what resolvers, fallbacks and overrides decide counts as it is in effect.
    Derived fields follow from the others and do not count, unless an override pins them; run-time
    facts, secrets and fields declared `Arg(fingerprint=False)` never do.

    Args:
        configuration: a record, as it would be published, or a context, as it is now.

    Returns:
        64 hexadecimal digits. Equal numbers count as equal, be they int or float.

    Raises:
        FingerprintError: a value has no text that is always the same, such as an object of a
            class without the method `__fingerprint__`, which returns plain values for one.
        ComposeError: it is neither a record nor a context.
        RegistryError: the record could not be published.

    Example:
        >>> from registry import A, Arg, Namespace, Registry, compose
        >>> class Serving(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "serving"
        ...     width: int = 1
        ...     port: A[int, Arg(fingerprint=False)] = 30000
        >>> Args = compose("Args", [Serving])
        >>> fingerprint(Args(port=1)) == fingerprint(Args()) != fingerprint(Args(width=2))
        True
    """
    text = json.dumps([_VERSION, sorted(_counting(configuration).items())])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def explain_fingerprint(one: Any, other: Any) -> list[FingerprintDifference]:
    """Return why two configurations have different fingerprints.

    Args:
        one: a record or a context.
        other: a record or a context.

    Returns:
        The fields that differ, sorted; none where the fingerprints are equal.

    Raises:
        The errors of `fingerprint`.

    Example:
        >>> from registry import Namespace, Registry, compose
        >>> class Serving(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "serving"
        ...     width: int = 1
        >>> Args = compose("Args", [Serving])
        >>> print(*explain_fingerprint(Args(), Args(width=2)))
        width: 1 and 2
    """
    first, second = _counting(one), _counting(other)
    return [
        FingerprintDifference(name, first.get(name, ""), second.get(name, ""))
        for name in sorted(first.keys() | second.keys())
        if first.get(name) != second.get(name)
    ]


def _counting(configuration: Any) -> dict[str, str]:
    """Return the values that count, as text by field."""
    context = configuration if isinstance(configuration, Context) else Context(configuration)
    record_class = type(context.record)
    schema = schema_of(record_class)
    args = {spec.name: arg_of(spec.type) for spec in dataclasses.fields(record_class)}
    spared = {name for name, arg in args.items() if arg is not None and not arg.fingerprint}
    computed = {
        name
        for each in schema.declarations()
        for name, field in each.derived.items()
        if field.derived.fn is not None
    }
    counting = ({*schema.names} - spared - schema.secrets) | (computed & context.held().keys())
    texts = {}
    # What is made of a secret reads *** and so counts by its being there.
    for name, value in context.resolved().items():
        if name in counting:
            try:
                texts[name] = text_of_value(value)
            except UnstableError as error:
                problem = f"{error}; declare the field Arg(fingerprint=False), or give the class a "
                problem += "method __fingerprint__ that returns plain values"
                raise FingerprintError(record_class.__qualname__, name, problem) from None
    return texts
