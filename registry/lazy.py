"""Attributes that are worked out when they are first read."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

__all__ = ["lazy"]

if TYPE_CHECKING:
    lazy = functools.cached_property
else:

    class lazy(functools.cached_property):
        """A `functools.cached_property` without a lock.

        Up to Python 3.11 that has one lock for all instances, which a process that is forked
        while another thread holds it never gets. Two threads that read at once may each work
        the value out.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
