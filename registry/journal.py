"""What is added to a program while one of its plugins loads, noted so that it can be undone.

Whatever a plugin may change says so here: the registry each declaration, a program its lists of
choices and its defaults. Knows nothing of plugins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from registry.source import calling_frame

__all__ = ["Addition", "Journal", "note_addition", "note_undo", "noted", "write"]


class Addition(NamedTuple):
    """Something other than a declaration that was added to a program.

    Attributes:
        kind: what was added to, such as "choices" or "default".
        subject: its name, such as `MOE_RUNNER_BACKEND_CHOICES` or a field.
        value: what was added, as text.
        module: the module that asked for it.
        where: `file:line` of that.
    """

    kind: str
    subject: str
    value: str
    module: str
    where: str


class Journal:
    """What one thread adds between two moments.

    Attributes:
        declarations: the class statements that were registered.
        additions: what was added otherwise.
    """

    def __init__(self) -> None:
        self.declarations: list[object] = []
        self.additions: list[Addition] = []
        self._undo: list[Callable[[], None]] = []

    def roll_back(self) -> None:
        """Undo everything, the last first."""
        while self._undo:
            self._undo.pop()()
        for each in self.additions:
            _noted.remove(each)


class _Writing(threading.local):
    journal: Journal | None = None


_writing = _Writing()
_noted: list[Addition] = []


def write(action: Callable[[], object], journal: Journal) -> None:
    """Call a function and note what it adds, whether or not it raises.

    Args:
        action: the function.
        journal: where to note it.
    """
    before, _writing.journal = _writing.journal, journal
    try:
        action()
    finally:
        _writing.journal = before


def note_undo(undo: Callable[[], None], declaration: object) -> None:
    """Note a class statement that was registered; the registry calls this.

    Args:
        undo: takes it back.
        declaration: what was registered.
    """
    journal = _writing.journal
    if journal is not None:
        journal.declarations.append(declaration)
        journal._undo.append(undo)


def note_addition(
    kind: str, subject: str, value: str, undo: Callable[[], None], *, package: str = "registry"
) -> Addition:
    """Note something that a plugin, or the program itself, has just added to.

    A function that lets plugins change something of a program calls this after the change: what
    a plugin that fails has changed is undone, and `python -m registry plugins` shows the rest.

    Args:
        kind: what was added to, such as "choices".
        subject: its name.
        value: what was added, as text; no secret.
        undo: takes it back.
        package: the package of the calling function; the first caller outside it is noted.

    Returns:
        What was noted.

    Example:
        >>> KERNELS = ["auto"]
        >>> def add_kernel(name: str) -> None:
        ...     KERNELS.append(name)
        ...     note_addition("choices", "KERNELS", name, lambda: KERNELS.remove(name))
        >>> add_kernel("acme")
    """
    frame = calling_frame(package)
    module, where = "", ""
    if frame is not None:
        module = frame.f_globals.get("__name__", "")
        where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    addition = Addition(kind, subject, value, module, where)
    _noted.append(addition)
    journal = _writing.journal
    if journal is not None:
        journal.additions.append(addition)
        journal._undo.append(undo)
    return addition


def noted() -> tuple[Addition, ...]:
    """Return all additions that stand, in order."""
    return tuple(_noted)
