"""A bag: one namespace of a live configuration, its leaves and sub-bags as plain attributes.

The hot path stands here alone. Reading `bag.tp_size` is an attribute load from the bag's
`__dict__` and nothing else. A class with `__getattr__` would make every load three times as slow
(CPython then does not specialise it), even one that finds its attribute. So a bag has one only
as long as a name in it has no value yet; `fill` switches its class.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from registry.errors import NotPicklableError, ReadOnlyError
from registry.names import Names

__all__ = ["Bag", "Bags", "fill", "make_bag"]


class Bag:
    """One namespace of a context. It has no public methods, so that no field name is reserved.

    Args:
        path: dotted path of the namespace.
        explain_absence: called with the path and a name without a value; returns the error.
        show: called with the path; returns the leaves that there are as text, `name=value` each.
    """

    __slots__ = ("__dict__", "__explain_absence__", "__ns_path__", "__show__", "__weakref__")

    __explain_absence__: Callable[[str, str], AttributeError]
    __ns_path__: str
    __show__: Callable[[str], list[str]]

    def __init__(
        self,
        path: str,
        explain_absence: Callable[[str, str], AttributeError],
        show: Callable[[str], list[str]],
    ) -> None:
        object.__setattr__(self, "__ns_path__", path)
        object.__setattr__(self, "__explain_absence__", explain_absence)
        object.__setattr__(self, "__show__", show)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        advice = f"call current().override(source, {name}=...)"
        raise ReadOnlyError(f"the bag {self.__ns_path__!r}", name, advice)

    def __delattr__(self, name: str) -> NoReturn:
        advice = f"call current().override(source, {name}=...)"
        raise ReadOnlyError(f"the bag {self.__ns_path__!r}", name, advice)

    def __repr__(self) -> str:
        below = (f"{name}=..." for name, value in vars(self).items() if isinstance(value, Bag))
        return f"<{self.__ns_path__}: {', '.join([*self.__show__(self.__ns_path__), *below])}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError(f"the bag {self.__ns_path__!r}")


class IncompleteBag(Bag):
    """A bag some of whose names have no value yet, and which says so when they are read."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        # Dunder names are probes of copy, pickle and inspection, which must not recurse.
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return vars(self)[name]  # a change has just brought it
        except KeyError:
            raise self.__explain_absence__(self.__ns_path__, name) from None


@functools.lru_cache(maxsize=4096)
def _classes(path: str) -> tuple[type[Bag], type[Bag]]:
    """Return the classes of a complete and an incomplete bag, named after the namespace.

    The name is what Python shows when a complete bag lacks an attribute.
    """
    complete, incomplete = (
        type(f"bag {path}", (base,), {"__slots__": (), "__module__": __name__})
        for base in (Bag, IncompleteBag)
    )
    return complete, incomplete


def make_bag(
    path: str,
    explain_absence: Callable[[str, str], AttributeError],
    show: Callable[[str], list[str]],
) -> Bag:
    """Make an empty bag; the arguments are those of `Bag`."""
    return _classes(path)[1](path, explain_absence, show)


def fill(bag: Bag, attributes: Mapping[str, Any], *, complete: bool) -> None:
    """Replace all attributes of a bag at once.

    A reader sees the old ones or the new ones, never some of each: one pointer changes.

    Args:
        bag: the bag.
        attributes: its leaves and sub-bags by name.
        complete: whether every name that belongs to it is among them.
    """
    whole, incomplete = _classes(bag.__ns_path__)
    # While names come or go the bag is an incomplete one, which can explain what it lacks.
    if not complete and type(bag) is not incomplete:
        object.__setattr__(bag, "__class__", incomplete)
    object.__setattr__(bag, "__dict__", dict(attributes))
    if complete and type(bag) is not whole:
        object.__setattr__(bag, "__class__", whole)


class Bags:
    """The bags of one configuration.

    Args:
        names: the fields and namespaces.
        explain_absence: as for `Bag`.
        show: as for `Bag`.

    Attributes:
        by_path: the bags by the path of their namespace.
    """

    def __init__(
        self,
        names: Names,
        explain_absence: Callable[[str, str], AttributeError],
        show: Callable[[str], list[str]],
    ) -> None:
        self._names = names
        self._stale: set[Any] = set()
        self.by_path = {path: make_bag(path, explain_absence, show) for path in names.paths}

    def fill_all(self, values: Mapping[str, Any]) -> None:
        """Put the value of every field in its bag."""
        for path in self.by_path:
            self._fill(path, values)

    def refill(self, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        """Replace what the bags hold, as far as it differs.

        Args:
            old: the value that each field had.
            new: the value that it has from now on.
        """
        changed = {
            self._names.namespaces.get(name)
            for name in old.keys() | new.keys()
            if old.get(name, _ABSENT) is not new.get(name, _ABSENT)
        }
        # A field that a plain dataclass base brought is in no namespace, and in no bag.
        self._stale |= changed - {None}
        try:
            self._fill_stale(new)
        except BaseException:  # an interrupt must not leave some bags behind the others
            self._fill_stale(new)
            raise

    def _fill_stale(self, values: Mapping[str, Any]) -> None:
        while self._stale:
            path = next(iter(self._stale))
            self._fill(path, values)
            self._stale.discard(path)

    def below(self, path: str) -> dict[str, Bag]:
        """Return the bags right below a path, by the name that leads to them; `""` is the top."""
        below = self._names.below.get(path, {})
        return {leaf: self.by_path[each] for leaf, each in below.items()}

    def _fill(self, path: str, values: Mapping[str, Any]) -> None:
        names = self._names.paths[path]
        leaves = {name: values[name] for name in names if name in values}
        attributes = {**leaves, **self.below(path)}
        fill(self.by_path[path], attributes, complete=len(leaves) == len(names))


_ABSENT = object()
