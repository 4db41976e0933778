"""Which installed distributions offer entry points of a group, found without much work.

Importing `importlib.metadata` takes several times as long as looking for the group's name in the
files it would read, so it is imported only where that finds something.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import NamedTuple

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
    if not _may_be_there(group):
        return ()
    import importlib.metadata

    entries = []
    for point in importlib.metadata.entry_points(group=group):
        dist = point.dist
        name, version = ("?", "?") if dist is None else (dist.metadata["Name"], dist.version)
        requires = () if dist is None else tuple(dist.requires or ())
        entries.append(Entry(point.name, name, version, point.value, requires))
    return tuple(sorted(entries))


def _may_be_there(group: str) -> bool:
    """Tell whether `importlib.metadata` has to be asked."""
    if any(_finds_in_its_own_way(finder) for finder in sys.meta_path):
        return True
    mark = f"[{group}]".encode()
    return any(
        os.path.isfile(folder) or mark in text
        for folder in sys.path
        for text in (b"", *_texts_in(folder or "."))
    )


def _finds_in_its_own_way(finder: object) -> bool:
    own = getattr(finder, "find_distributions", None)
    return own is not None and getattr(finder, "__module__", "").partition(".")[0] not in (
        "_frozen_importlib_external",
        "importlib",
    )


def _texts_in(folder: str) -> Iterator[bytes]:
    """Yield the `entry_points.txt` of each distribution in a folder of `sys.path`."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith((".dist-info", ".egg-info")) or name == "EGG-INFO":
            try:
                file = os.open(f"{folder}/{name}/entry_points.txt", os.O_RDONLY)
            except OSError:
                continue
            with os.fdopen(file, "rb") as stream:
                yield stream.read()
