"""Installed plugins: the entry points of a group, each loaded once, wholly or not at all.

Importing a plugin's module is what registers its namespaces. What one that fails has changed is
undone. Knows nothing of how its fields get on a record; the program composes them.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from registry.entry_points import variable_of
from registry.errors import RegistryError, did_you_mean
from registry.installed import Entry, entries_of
from registry.journal import Journal, withdraw, write
from registry.namespace import default_registry
from registry.plugin_contents import Plugin, described
from registry.plugin_modules import belongs_to, forget_modules, is_within, owners
from registry.plugin_versions import explained, unmet

__all__ = ["PluginError", "PluginWarning", "each_plugin", "is_left_out"]


class PluginError(RegistryError, ImportError):
    """An installed plugin that cannot be loaded. What it had changed is undone.

    Attributes:
        plugin: name of its entry point.
        distribution: the distribution that has it.
        version: version of the distribution.
        problem: what is wrong with it; `__cause__` is what it raised.
    """

    def __init__(self, plugin: str, distribution: str, version: str, problem: str) -> None:
        super().__init__(plugin, distribution, version, problem)
        self.plugin = plugin
        self.distribution = distribution
        self.version = version
        self.problem = problem

    def __str__(self) -> str:
        origin = f" ({self.distribution} {self.version})" if self.distribution else ""
        return f"plugin {self.plugin!r}{origin} {self.problem}"


class PluginWarning(UserWarning):
    """A plugin was left out because it cannot be loaded."""


class _Underway(threading.local):
    entry: Entry | None = None


_underway = _Underway()
_lock = threading.RLock()
_loaded: dict[tuple[str, Entry], Plugin] = {}
_left_out: dict[tuple[str, Entry], PluginError] = {}


def each_plugin(
    group: str, select: Sequence[str] | None = None, *, leave_out: bool = False
) -> Iterator[Plugin | PluginError]:
    """Load the plugins of a group in turn.

    Args:
        group: the entry points to load.
        select: the names to load; None is all. What others added to lists and defaults, because
            their modules were imported all the same, is undone.
        leave_out: leave one that cannot be loaded out for good; else the next call tries again.

    Yields:
        Each plugin, or why it cannot be loaded.

    Raises:
        PluginError: `select` names one that is not installed, or a plugin that is still being
            imported asks for what all plugins are needed for.
    """
    entries = entries_of(group)
    chosen = entries if select is None else _selected(entries, select)
    _check_not_underway(chosen)
    loading = _Loading(group, entries, chosen)
    with _lock:
        loading.withdraw_others()
    for entry in chosen:
        with _lock:
            outcome = loading.outcome_of(entry)
            if leave_out and isinstance(outcome, PluginError):
                _left_out[group, entry] = outcome
        yield outcome


def is_left_out(error: PluginError) -> bool:
    """Tell whether a plugin has been left out because of this error."""
    return any(error is each for each in _left_out.values())


class _Loading:
    """One pass over the plugins of a group.

    Args:
        group: the group.
        entries: all of its plugins.
        chosen: those to load.
    """

    def __init__(self, group: str, entries: Sequence[Entry], chosen: Sequence[Entry]) -> None:
        self._group = group
        self._entries = entries
        self._chosen = chosen
        self._failed = {entry: error for (of, entry), error in _left_out.items() if of == group}
        self._underway: list[Entry] = []

    def withdraw_others(self) -> None:
        """Undo what plugins that are not to be loaded have added; their classes stay."""
        for entry in self._entries:
            if entry not in self._chosen and (self._group, entry) not in _loaded:
                self._withdraw(entry, lambda module: self._is_chosen_or_loaded(module))

    def _is_chosen_or_loaded(self, module: str) -> bool:
        return self._is_loaded(module) or any(
            each in self._chosen for each in owners(module, self._entries)
        )

    def _is_loaded(self, module: str) -> bool:
        return any((self._group, each) in _loaded for each in owners(module, self._entries))

    def _withdraw(self, entry: Entry, keep: Callable[[str], bool]) -> None:
        def concerns(module: str) -> bool:
            return belongs_to(entry, module, self._entries) and not keep(module)

        withdraw(lambda addition: concerns(addition.module))

    def outcome_of(self, entry: Entry) -> Plugin | PluginError:
        """Load a plugin unless that was done before."""
        done = _loaded.get((self._group, entry)) or self._failed.get(entry)
        if done is None:
            self._underway.append(entry)
            try:
                done = _loaded[self._group, entry] = self._load(entry)
            except PluginError as error:
                done = self._failed[entry] = error
            finally:
                self._underway.pop()
        return done

    def _load(self, entry: Entry) -> Plugin:
        _check_name(entry, self._entries)
        if problem := unmet(entry):
            raise _error(entry, problem)
        journal = Journal()
        before = set(sys.modules)
        outer = _underway.entry
        try:
            _import_host(self._group)
            _underway.entry = entry
            write(lambda: _run(entry), journal)
            self._load_needed(entry, journal)
            return described(entry, self._entries, journal)
        except BaseException as error:
            self._undo(entry, journal, before)
            if isinstance(error, PluginError):
                raise
            if isinstance(error, Exception | SystemExit):
                raise _error(entry, explained(error, entry, self._group)) from error
            raise
        finally:
            _underway.entry = outer

    def _load_needed(self, entry: Entry, journal: Journal) -> None:
        """Load the plugins that this one has imported; it does not work without them."""
        for other in self._needed(entry, journal):
            if other in self._underway or (self._group, other) in _loaded:
                continue
            if other not in self._chosen:
                problem = f"needs {_named(other)}, which {variable_of(self._group)} does not select"
                raise _error(entry, problem)
            outcome = self.outcome_of(other)
            if isinstance(outcome, PluginError):
                raise _error(entry, f"needs another: {outcome}") from outcome

    def _needed(self, entry: Entry, journal: Journal) -> list[Entry]:
        modules = dict.fromkeys(sorted(journal.modules))
        for declaration in default_registry.declarations:
            module = declaration.cls.__module__
            if module in modules or is_within(module, entry.module):
                modules.update(dict.fromkeys(base.__module__ for base in declaration.cls.__mro__))
        needed = []
        for module in modules:
            own = owners(module, self._entries)
            if own and entry not in own:
                needed.append(next((each for each in own if each in self._chosen), own[0]))
        return list(dict.fromkeys(needed))

    def _undo(self, entry: Entry, journal: Journal, before: set[str]) -> None:
        """Undo what a plugin that failed has changed, but not what a loaded one has with it."""

        def stays(module: str) -> bool:
            own = owners(module, self._entries)
            return any(
                (self._group, each) in _loaded
                and ((each in own and entry not in own) or is_within(each.module, module))
                for each in self._entries
            )

        touched = {entry.module, *(each for each in journal.modules if not stays(each))}
        journal.roll_back(stays)
        # Its module may have been imported before.
        self._withdraw(entry, self._is_loaded)
        for each in default_registry.declarations:
            module = each.cls.__module__
            if belongs_to(entry, module, self._entries) and not self._is_loaded(module):
                default_registry.take_back(each)
        forget_modules(touched, before, stays)


def _selected(entries: tuple[Entry, ...], select: Sequence[str]) -> tuple[Entry, ...]:
    names = [entry.name for entry in entries]
    for name in select:
        if name not in names:
            installed = f"; there are {', '.join(names)}" if names else "; there are none"
            problem = f"is not installed{installed}.{did_you_mean(name, names)}"
            raise PluginError(name, "", "", problem)
    return tuple(entry for entry in entries if entry.name in select)


def _check_not_underway(entries: tuple[Entry, ...]) -> None:
    """Refuse to go on inside the import of a plugin: what it declares is not there yet."""
    advice = (
        "asks, while it is being loaded, for what is made of all plugins, such as ServerArgs; "
        "import that in the function that uses it"
    )
    if _underway.entry is not None:
        raise _error(_underway.entry, advice)
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            for entry in entries:
                # Only a module that is not finished has its own code running.
                module = sys.modules.get(entry.module)
                if frame.f_globals is getattr(module, "__dict__", None):
                    raise _error(entry, f"{advice} ({_place(frame.f_code, frame.f_lineno)})")
        frame = frame.f_back


def _place(code: CodeType, line: int) -> str:
    return f"{code.co_filename}:{line}"


def _error(entry: Entry, problem: str) -> PluginError:
    return PluginError(entry.name, entry.distribution, entry.version, problem)


def _named(entry: Entry) -> str:
    return f"{entry.name!r} ({entry.distribution} {entry.version})"


def _check_name(entry: Entry, entries: Sequence[Entry]) -> None:
    rivals = [each for each in entries if each.name == entry.name and each is not entry]
    for each in rivals:
        if (each.distribution, each.version) == (entry.distribution, entry.version):
            raise _error(entry, "is listed twice in that distribution")
    if rivals:
        others = " and ".join(f"{each.distribution} {each.version}" for each in rivals)
        raise _error(entry, f"is also the name of a plugin of {others}; uninstall one of them")


def _import_host(group: str) -> None:
    # What the program itself declares must not look like a part of its first plugin.
    importlib.import_module(group.rpartition(".")[0] or group)


def _run(entry: Entry) -> None:
    parts = [*entry.module.split("."), *(entry.function.split(".") if entry.function else ())]
    if not all(part.isidentifier() for part in parts):
        expected = "expected 'package.module' or 'package.module:function'"
        raise _error(entry, f"has the entry point {entry.value!r}; {expected}")
    try:
        target: Any = importlib.import_module(entry.module)
    except ModuleNotFoundError as error:
        if error.name and is_within(entry.module, error.name):
            problem = f"has the entry point {entry.value!r}, but there is no module {error.name!r}"
            raise _error(entry, problem) from error
        raise
    if not entry.function:
        return
    for name in entry.function.split("."):
        if not hasattr(target, name):
            hint = did_you_mean(name, dir(target))
            problem = f"has the entry point {entry.value!r}, but there is no {name!r} in it.{hint}"
            raise _error(entry, problem)
        target = getattr(target, name)
    if not callable(target):
        kind = type(target).__name__
        raise _error(entry, f"has the entry point {entry.value!r}, which is {kind}, no function")
    target()
