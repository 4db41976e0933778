"""The process's current configuration: publish it, and read it from anywhere.

What is published is held by `access.live`; here it is made, replaced and forgotten.
"""

from __future__ import annotations

import warnings
from typing import Any

from registry.access import install, live
from registry.bags import Bag
from registry.context import Context
from registry.errors import DroppedOverridesWarning, NotPublishedError

__all__ = ["bag", "current", "publish", "reset"]


def publish(record: Any, *, role: str | None = None) -> Context:
    """Make a record the configuration of this process.

    Publishing a record that says the same again changes nothing, overrides and role included.
    Another record replaces the one before; a warning names the overrides that are dropped with
    it. On an error nothing changes.

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
        install(context, context.top_level())
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
        UnknownNamespaceError: there is no such namespace.
    """
    context: Context | None = live.__context__
    if context is None:
        raise NotPublishedError(f"the namespace {path!r}")
    return context.bag(path)


def reset() -> None:
    """Forget the published configuration, for tests that publish one of their own."""
    with live.__lock__:
        install(None, {})


def _dropped(before: Context) -> str:
    shown = ", ".join(before.held().values()) or "none"
    return (
        f"publish() replaces the configuration of {type(before.record).__qualname__}; "
        f"overrides dropped with it: {shown}"
    )
