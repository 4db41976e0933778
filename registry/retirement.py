"""Fields that were removed but keep their place, so that no later position changes its meaning."""

from __future__ import annotations

import keyword
from collections.abc import Collection, Iterable, Mapping, Sequence

from registry.errors import ComposeError

__all__ = ["Retired", "checked", "refuse_return", "with_places"]


class Retired:
    """Stands for the default of a retired field in the signature of a record.

    Args:
        advice: since when it is retired, and what to use instead.

    Example:
        >>> Retired("since 2.0, use ep_size")
        <retired: since 2.0, use ep_size>
    """

    def __init__(self, advice: str) -> None:
        self.advice = advice

    def __repr__(self) -> str:
        return f"<retired: {self.advice}>"


def checked(
    cls_name: str, retired: Mapping[str, str], declared: Collection[str]
) -> Mapping[str, str]:
    """Return what `compose(retired=...)` was given.

    Args:
        cls_name: the record class, for messages.
        retired: the advice by name.
        declared: the fields there are.

    Raises:
        ComposeError: it is no mapping, a name is none that a field can have or is a field, or has
            no advice.
    """
    if not isinstance(retired, Mapping):
        problem = 'takes retired as a mapping: {"old_name": "since 2.0, use new_name"}'
        raise ComposeError(cls_name, problem)
    for name, advice in retired.items():
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise ComposeError(cls_name, f"retired= has {name!r}, which no field can be named")
        if name in declared:
            problem = f"retired= has {name!r}, which is a field; remove one of both"
            raise ComposeError(cls_name, problem)
        if not isinstance(advice, str) or not advice.strip():
            problem = f"retired= has no advice for {name!r}; say since when, and what to use"
            raise ComposeError(cls_name, problem)
    return dict(retired)


def refuse_return(cls_name: str, retired: Mapping[str, str], fields: Collection[str]) -> None:
    """Refuse a field of a name that a base has retired.

    It would stand at the end, what follows its old place would move, and those who still give the
    old field would set the new one.

    Args:
        cls_name: the record class, for messages.
        retired: what the bases retired, with its advice.
        fields: the fields of the class.

    Raises:
        ComposeError: a field has such a name.
    """
    for name, advice in retired.items():
        if name in fields:
            problem = f"has the field {name!r}, but a base has retired it: {advice}; rename the "
            problem += "field, or take it out of retired= of the base and declare it there"
            raise ComposeError(cls_name, problem)


def with_places(
    positional: Sequence[str], retired: Collection[str], order: Iterable[str]
) -> tuple[str, ...]:
    """Return the positional fields with the retired ones where they were.

    Args:
        positional: the fields that can be given by position, in order.
        retired: the retired names.
        order: the names in the order in which they once were; a retired one that it lacks has no
            place.

    Example:
        >>> with_places(["a", "c", "d"], {"b", "z"}, ["a", "b", "c"])
        ('a', 'b', 'c', 'd')
    """
    if not retired:
        return tuple(positional)
    order = list(order)
    present = frozenset(positional)
    # Each retired name follows what it followed; the first ones stand before what they preceded.
    after: dict[str | None, list[str]] = {}
    last = None
    for name in order:
        if name in present:
            last = name
        elif name in retired:
            after.setdefault(last, []).append(name)
    placed: list[str] = []
    first = next((name for name in order if name in present), None)
    for name in positional:
        if name == first:
            placed += after.pop(None, [])
        placed += [name, *after.get(name, ())]
    return (*placed, *after.get(None, ()))
