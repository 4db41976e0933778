"""What is added to a program while one of its plugins loads, noted so that it can be undone.

Whatever a plugin may change says so here: the registry each declaration, a program its lists of
choices and its defaults. Knows nothing of plugins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from registry.source import calling_frame

__all__ = ["Addition", "Journal", "note_addition", "note_undo", "noted", "withdraw", "write"]


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
        self._undo: list[tuple[str, Callable[[], None]]] = []

    @property
    def modules(self) -> set[str]:
        """The modules that declared or added something, as far as it is not undone."""
        return {module for module, _ in self._undo}

    def roll_back(self, keep: Callable[[str], bool] = lambda module: False) -> None:
        """Undo everything, the last first.

        Args:
            keep: tells whether what a module declared or added stays.
        """
        kept = []
        while self._undo:
            module, undo = self._undo.pop()
            if keep(module):
                kept.append((module, undo))
            else:
                undo()
        self._undo = kept[::-1]


class _Note:
    """An addition and how it is undone, which must happen once only."""

    def __init__(self, addition: Addition, undo: Callable[[], None]) -> None:
        self.addition = addition
        self._undo = undo

    def take_back(self) -> None:
        if self in _notes:
            _notes.remove(self)
            self._undo()


class _Writing(threading.local):
    journal: Journal | None = None


_writing = _Writing()
_notes: list[_Note] = []


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


def note_undo(undo: Callable[[], None], declaration: object, module: str) -> None:
    """Note a class statement that was registered; the registry calls this.

    Args:
        undo: takes it back.
        declaration: what was registered.
        module: where it stands.
    """
    journal = _writing.journal
    if journal is not None:
        journal.declarations.append(declaration)
        journal._undo.append((module, undo))


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
    note = _Note(addition, undo)
    _notes.append(note)
    journal = _writing.journal
    if journal is not None:
        journal.additions.append(addition)
        journal._undo.append((module, note.take_back))
    return addition


def noted() -> tuple[Addition, ...]:
    """Return all additions that stand, in order."""
    return tuple(note.addition for note in _notes)


def withdraw(concerns: Callable[[Addition], bool]) -> None:
    """Undo additions, the last first, whoever noted them.

    Args:
        concerns: tells whether one is to be undone.
    """
    for note in reversed(tuple(_notes)):
        if concerns(note.addition):
            note.take_back()
