"""The read-only flat view of a configuration, which derivations, resolvers and checks are given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING
from typing import Any, NoReturn, Protocol

from registry.errors import ClosedViewError, NotPicklableError, ReadOnlyError

__all__ = ["DerivedView", "close"]


class Source(Protocol):
    """Where the values of a view come from."""

    owner: str

    def value(self, name: str, within: tuple[str, ...]) -> Any:
        """Return the value of a field, which some derived fields need."""

    def names(self) -> Iterable[str]:
        """Return the names of all fields."""


class DerivedView:
    """A read-only flat view of a configuration; its dunder slots keep all names free for fields.

    Every derivation is given a view of its own, which notes what it reads, from whatever thread.
    Once the derivation has returned nothing follows what is read, and so nothing can be.

    Args:
        source: where the values come from.
        advice: what to do instead of assigning to the view.
        within: the derived fields that are being computed and need what is read here.
    """

    __slots__ = ("__advice__", "__reads__", "__source__", "__within__")

    __advice__: str
    __reads__: dict[str, Any]
    __source__: Source
    __within__: tuple[str, ...] | None

    def __init__(self, source: Source, advice: str, within: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "__source__", source)
        object.__setattr__(self, "__advice__", advice)
        object.__setattr__(self, "__within__", within)
        object.__setattr__(self, "__reads__", {})

    def __getattr__(self, name: str) -> Any:
        # Probes of copy, pickle and inspection must not end up in a derivation.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        within, reads = self.__within__, self.__reads__
        if within is None:
            raise ClosedViewError(self.__source__.owner, name)
        reads[name] = MISSING
        reads[name] = value = self.__source__.value(name, within)
        return value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError("the view of a configuration", name, self.__advice__)

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError("the view of a configuration", name, self.__advice__)

    def __dir__(self) -> list[str]:
        return sorted(self.__source__.names())

    def __repr__(self) -> str:
        return f"<what a {self.__source__.owner} implies>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError("the view of a configuration")


def close(view: DerivedView) -> None:
    """Let nothing be read through a view any more."""
    object.__setattr__(view, "__within__", None)
