"""What everything else reads the published configuration from.

`live` is one object in a module global; publishing swaps what it holds. A typed accessor such
as `get_parallel()` returns `live.parallel`: an attribute load, which `torch.compile` can trace.
"""

from __future__ import annotations

import threading
from typing import Any, NoReturn

from registry.errors import NotPicklableError, NotPublishedError, ReadOnlyError
from registry.forks import start_anew_after_fork

__all__ = ["install", "live"]


class Live:
    """Holds the bags of the current configuration as attributes, by their top-level names.

    Like a bag, it has `__getattr__` only while there is nothing to read.
    """

    __slots__ = ("__context__", "__dict__", "__lock__", "__weakref__")

    __context__: object

    def __init__(self) -> None:
        object.__setattr__(self, "__lock__", threading.RLock())
        object.__setattr__(self, "__context__", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError("the current configuration", name, "call publish(record)")

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError("the current configuration", name, "call publish(record)")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError("the current configuration")

    def __start_anew__(self) -> None:
        object.__setattr__(self, "__lock__", threading.RLock())
        context: Any = self.__context__
        install(context, {} if context is None else context.top_level())


class _Unpublished(Live):
    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotPublishedError(f"the namespace {name!r}")


live: Any = _Unpublished()
"""The current configuration of this process: `live.parallel.tp_size`."""


def install(context: object, bags: dict[str, Any]) -> None:
    """Make a configuration the one that `live` shows.

    Args:
        context: the context behind it; None for no configuration.
        bags: the bags of its top-level namespaces, by name.
    """
    if context is None:
        object.__setattr__(live, "__class__", _Unpublished)
    object.__setattr__(live, "__context__", context)
    object.__setattr__(live, "__dict__", bags)
    if context is not None:
        object.__setattr__(live, "__class__", Live)


start_anew_after_fork(live)
