"""What a forked process must not inherit: locks that threads hold which it does not have."""

from __future__ import annotations

import os
import weakref
from typing import Protocol

__all__ = ["start_anew_after_fork"]


class _Owner(Protocol):
    def __start_anew__(self) -> None: ...


_owners: weakref.WeakSet[_Owner] = weakref.WeakSet()


def start_anew_after_fork(owner: _Owner) -> None:
    """Call `owner.__start_anew__()` in every process that is forked from this one.

    Args:
        owner: what has the lock. It is not kept alive.
    """
    _owners.add(owner)


def _after_fork() -> None:
    for owner in list(_owners):
        owner.__start_anew__()


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_after_fork)
