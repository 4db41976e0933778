"""Installed plugins: the entry points of a group, each loaded once, wholly or not at all.

Importing a plugin's module is what registers its namespaces. What one that fails has changed is
undone. Knows nothing of how its fields get on a record; the program composes them.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
import threading
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

from registry.errors import RegistryError, did_you_mean
from registry.installed import Entry, entries_of
from registry.journal import Addition, Journal, noted, write
from registry.namespace import default_registry
from registry.plugin_checks import check_declarations
from registry.store import Declaration

__all__ = ["Plugin", "PluginError", "PluginWarning", "each_plugin"]

_OURS = "namespace-registry"


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


class Plugin(NamedTuple):
    """A loaded plugin and what it added.

    Attributes:
        name: name of its entry point.
        distribution: the distribution that has it.
        version: version of the distribution.
        entry_point: `module` or `module:function`.
        namespaces: paths of the namespaces that it opened.
        fields: its input fields.
        derived: its derived fields.
        rules: its resolvers and checks.
        additions: what it added to other than declarations, such as lists of choices.
        classes: its namespace classes in the default registry.
    """

    name: str
    distribution: str
    version: str
    entry_point: str
    namespaces: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    additions: tuple[Addition, ...] = ()
    classes: tuple[type, ...] = ()


class _Underway(threading.local):
    entry: Entry | None = None


_underway = _Underway()
_lock = threading.RLock()
_loaded: dict[tuple[str, Entry], Plugin] = {}


def each_plugin(group: str, select: Sequence[str] | None = None) -> Iterator[Plugin | PluginError]:
    """Load the plugins of a group in turn.

    Args:
        group: the entry points to load.
        select: the names to load; None is all.

    Yields:
        Each plugin, or why it cannot be loaded.

    Raises:
        PluginError: `select` names one that is not installed, or a plugin that is still being
            imported asks for what all plugins are needed for.
    """
    entries = entries_of(group)
    if select is not None:
        entries = _selected(entries, select)
    _check_not_underway(entries)
    for entry in entries:
        with _lock:
            plugin = _loaded.get((group, entry))
            if plugin is None:
                try:
                    plugin = _load(entry, entries, group)
                except PluginError as error:
                    yield error
                    continue
                _loaded[group, entry] = plugin
        yield plugin


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
            module = frame.f_globals.get("__name__", "")
            for entry in entries:
                if _is_within(module, _package_of(entry.module)):
                    raise _error(entry, f"{advice} ({_place(frame.f_code, frame.f_lineno)})")
        frame = frame.f_back


def _place(code: CodeType, line: int) -> str:
    return f"{code.co_filename}:{line}"


def _error(entry: Entry, problem: str) -> PluginError:
    return PluginError(entry.name, entry.distribution, entry.version, problem)


def _load(entry: Entry, entries: tuple[Entry, ...], group: str) -> Plugin:
    rivals = [each for each in entries if each.name == entry.name and each is not entry]
    if rivals:
        others = " and ".join(f"{each.distribution} {each.version}" for each in rivals)
        raise _error(entry, f"is also the name of a plugin of {others}; uninstall one of them")
    journal = Journal()
    before = set(sys.modules)
    try:
        _import_host(group)
        _underway.entry = entry
        write(lambda: _run(entry), journal)
        return _described(entry, entries, journal)
    except BaseException as error:
        journal.roll_back()
        _forget_modules(entry, before, journal)
        if isinstance(error, PluginError):
            raise
        if isinstance(error, Exception | SystemExit):
            raise _error(entry, _explained(error, entry, group)) from error
        raise
    finally:
        _underway.entry = None


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
        if error.name and _is_within(entry.module, error.name):
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


def _described(entry: Entry, entries: tuple[Entry, ...], journal: Journal) -> Plugin:
    """Mark what a plugin declared as its own, and list it."""
    package = _package_of(entry.module)
    made = {each for each in journal.declarations if isinstance(each, Declaration)}
    own = []
    # A plugin whose module was imported before has declared what is in its package.
    for each in dict.fromkeys([*default_registry.declarations, *made]):
        module = each.cls.__module__
        if each.plugin or not (each in made or _is_within(module, package)):
            continue
        if _owner(module, entries) in (None, entry):
            own.append(each)
    for each in own:
        # Whatever is wrong with an annotation is this plugin's fault, not the record's.
        _ = each.types
    check_declarations(own, default_registry)
    for each in own:
        each.plugin = f"{entry.name} ({entry.distribution} {entry.version})"
    registered = {each for each in own if each in default_registry.declarations}
    return Plugin(
        entry.name,
        entry.distribution,
        entry.version,
        entry.value,
        tuple(each.path for each in own if _opened(each)),
        tuple(name for each in own for name in each.inputs),
        tuple(name for each in own for name in each.derived),
        tuple(name for each in own for name in (*each.resolvers, *each.checks)),
        tuple(
            each
            for each in noted()
            if each in journal.additions or _is_within(each.module, package)
        ),
        tuple(each.cls for each in own if each in registered),
    )


def _opened(declaration: Declaration) -> bool:
    registry = declaration.cls.__ns_registry__  # type: ignore[attr-defined]
    return registry.namespaces.get(declaration.path) is declaration.cls


def _owner(module: str, entries: tuple[Entry, ...]) -> Entry | None:
    """Return the plugin whose entry point names the module or a package around it, if any."""
    around = [each for each in entries if _is_within(module, each.module)]
    return max(around, key=lambda each: len(each.module), default=None)


def _package_of(module: str) -> str:
    """Return the outermost package around a module that has an `__init__`."""
    outer = module
    while parent := outer.rpartition(".")[0]:
        if getattr(sys.modules.get(parent), "__file__", None) is None:
            break
        outer = parent
    return outer


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _forget_modules(entry: Entry, before: set[str], journal: Journal) -> None:
    """Remove the modules of a plugin that failed, so that a second attempt is a whole one."""
    package = _package_of(entry.module)
    declared = {
        each.cls.__module__ for each in journal.declarations if isinstance(each, Declaration)
    }
    touched = declared | {each.module for each in journal.additions}
    for name in set(sys.modules) - before:
        if name in touched or _is_within(name, package):
            module = sys.modules.pop(name)
            parent, _, attribute = name.rpartition(".")
            if getattr(sys.modules.get(parent), attribute, None) is module:
                delattr(sys.modules[parent], attribute)


def _explained(error: BaseException, entry: Entry, group: str) -> str:
    problem = f"does not load: {type(error).__name__}: {error}"
    wanted = getattr(error, "name", None) or ""
    if isinstance(error, AttributeError):
        wanted = getattr(getattr(error, "obj", None), "__name__", "")
    packages = ("registry", group.partition(".")[0])
    if not isinstance(error, ImportError | AttributeError) or not any(
        _is_within(str(wanted), package) for package in packages
    ):
        return problem
    required = [each for each in entry.requires if each.startswith(_OURS)]
    needs = f"; {entry.distribution} requires {', '.join(required)}" if required else ""
    return f"{problem}. {_OURS} {_our_version()} is installed here{needs}"


def _our_version() -> str:
    try:
        return importlib.metadata.version(_OURS)
    except importlib.metadata.PackageNotFoundError:
        return "of an unknown version"
