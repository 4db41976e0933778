"""The entry points of a group, as `importlib.metadata` finds them.

Loaded only where there may be some.
"""

from __future__ import annotations

import importlib.metadata
from typing import NamedTuple

from registry.entry_points import may_have

__all__ = ["Entry", "entries_of"]


class Entry(NamedTuple):
    """One entry point.

    Attributes:
        name: its name.
        distribution: name of the distribution that has it.
        version: version of the distribution.
        value: `module` or `module:function`.
        requires: what the distribution requires, as in its metadata.
    """

    name: str
    distribution: str
    version: str
    value: str
    requires: tuple[str, ...]

    @property
    def module(self) -> str:
        """The module to import."""
        return self.value.partition(":")[0].strip()

    @property
    def function(self) -> str:
        """The function to call, dotted where it is in a class, empty for none."""
        return self.value.partition(":")[2].partition("[")[0].strip()


def entries_of(group: str) -> tuple[Entry, ...]:
    """Return the entry points of a group, by name, then by distribution.

    Args:
        group: the group, such as `namespaces.plugins`.
    """
    if not may_have(group):
        return ()
    entries = []
    for point in importlib.metadata.entry_points(group=group):
        dist = point.dist
        name, version = ("?", "?") if dist is None else (dist.metadata["Name"], dist.version)
        requires = () if dist is None else tuple(dist.requires or ())
        entries.append(Entry(point.name, name, version, point.value, requires))
    return tuple(sorted(entries))
