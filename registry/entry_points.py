"""Whether any installed distribution may offer entry points of a group, found without much work.

Importing `importlib.metadata` and loading plugins takes several times as long as looking for the
group's name in the files that would be read, and most processes find nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

__all__ = ["may_have", "variable_of"]


def may_have(group: str) -> bool:
    """Tell whether some installed distribution may offer entry points of a group.

    Args:
        group: the group, such as `namespaces.plugins`.
    """
    if any(_finds_in_its_own_way(finder) for finder in sys.meta_path):
        return True
    mark = f"[{group}]".encode()
    return any(
        os.path.isfile(folder) or mark in text
        for folder in sys.path
        for text in (b"", *_texts_in(folder or "."))
    )


def variable_of(group: str) -> str:
    """Return the environment variable that selects plugins of a group.

    Args:
        group: the group; `namespaces.plugins` has `NAMESPACES_PLUGINS`.
    """
    return group.replace(".", "_").replace("-", "_").upper()


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
