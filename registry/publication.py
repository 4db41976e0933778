"""The process's current configuration: publish it, and read it from anywhere.

`live` is one object in a module global; publishing swaps what it holds. A typed accessor such
as `get_parallel()` returns `live.parallel`: an attribute load, which `torch.compile` can trace.
"""

from __future__ import annotations

import threading
import warnings
from typing import Any, NoReturn

from registry.bags import Bag
from registry.context import Context
from registry.errors import (
    DroppedOverridesWarning,
    NotPicklableError,
    NotPublishedError,
    ReadOnlyError,
)

__all__ = ["bag", "current", "live", "publish", "reset"]


class Live:
    """Holds the bags of the current configuration as attributes, by their top-level names.

    Like a bag, it has `__getattr__` only while there is nothing to read.
    """

    __slots__ = ("__context__", "__dict__", "__lock__")

    def __init__(self) -> None:
        object.__setattr__(self, "__lock__", threading.RLock())
        object.__setattr__(self, "__context__", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError("the current configuration", name, "call publish(record)")

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError("the current configuration", name, "call publish(record)")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError("the current configuration")


class _Unpublished(Live):
    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotPublishedError(f"the namespace {name!r}")


def _install(context: Context | None) -> None:
    bags = context.top_level() if context is not None else {}
    kind = Live if context is not None else _Unpublished
    object.__setattr__(live, "__dict__", bags)
    object.__setattr__(live, "__context__", context)
    object.__setattr__(live, "__class__", kind)


live: Any = _Unpublished()
"""The current configuration of this process: `live.parallel.tp_size`."""


def publish(record: Any, *, role: str | None = None) -> Context:
    """Make a record the configuration of this process.

    Publishing the same record again changes nothing. Another record replaces the one before;
    a warning names the overrides that are dropped with it. On an error nothing changes.

    Args:
        record: an instance of a composed class.
        role: what this process is, such as "scheduler"; for the program's own use.

    Returns:
        The context, which is also what `current()` returns from now on.

    Raises:
        InvalidValueError, ResolutionError, DerivationError, CheckError: as `Context`.

    Example:
        >>> from registry import Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        >>> context = publish(compose("Args", [Parallel])(tp_size=8))
        >>> bag("parallel").tp_size
        8
        >>> reset()
    """
    with live.__lock__:
        before: Context | None = live.__context__
        if before is not None and before.shows(record):
            return before
        context = Context(record, role=role)
        if before is not None:
            warnings.warn(_dropped(before), DroppedOverridesWarning, stacklevel=2)
        _install(context)
        return context


def current() -> Context:
    """Return the context that this process published.

    Raises:
        NotPublishedError: it has not published any.
    """
    context: Context | None = live.__context__
    if context is None:
        raise NotPublishedError("the current configuration")
    return context


def bag(path: str) -> Bag:
    """Return a bag of the current configuration.

    Args:
        path: dotted path of the namespace.

    Raises:
        NotPublishedError: this process has not published a configuration.
        UnknownFieldError: there is no such namespace.
    """
    if live.__context__ is None:
        raise NotPublishedError(f"the namespace {path!r}")
    return current().bag(path)


def reset() -> None:
    """Forget the published configuration, for tests that publish one of their own."""
    with live.__lock__:
        _install(None)


def _dropped(before: Context) -> str:
    shown = ", ".join(before.overridden().values()) or "none"
    return (
        f"publish() replaces the configuration of a {type(before.record).__qualname__}; "
        f"overrides dropped with it: {shown}"
    )
