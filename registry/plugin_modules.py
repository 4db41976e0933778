"""Which modules belong to which plugin.

A plugin owns the module of its entry point and what is below it. Knows nothing of loading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence

from registry.installed import Entry

__all__ = [
    "belongs_to",
    "classes_in_sight",
    "forget_modules",
    "is_within",
    "may_have_made",
    "owners",
    "package_of",
]


def owners(module: str, entries: Sequence[Entry]) -> list[Entry]:
    """Return the plugins that a module belongs to: several if their entry points share a module.

    Args:
        module: name of the module.
        entries: all plugins of the group.

    Returns:
        Those with the innermost entry point around it, or, where there is none, those of the same
        outermost package.
    """
    around = [each for each in entries if is_within(module, each.module)]
    if around:
        inner = max(len(each.module) for each in around)
        return [each for each in around if len(each.module) == inner]
    return [each for each in entries if is_within(module, package_of(each.module))]


def belongs_to(entry: Entry, module: str, entries: Sequence[Entry]) -> bool:
    """Tell whether a module is that of an entry point or below it, and no other plugin's alone."""
    return is_within(module, entry.module) and entry in owners(module, entries)


def may_have_made(entry: Entry, module: str, entries: Sequence[Entry]) -> bool:
    """Tell whether what a module does may count as a plugin's: the module is no other plugin's."""
    owning = owners(module, entries)
    return not owning or entry in owning


def classes_in_sight(entry: Entry) -> set[int]:
    """Return the classes of a plugin's package that its entry point's module has a name for.

    The packages around the module are imported with it, so their names count, too.

    Args:
        entry: a plugin whose module is imported.

    Returns:
        The `id` of each class.
    """
    outermost = package_of(entry.module)
    around = entry.module
    found = set()
    while is_within(around, outermost):
        for each in tuple(vars(sys.modules[around]).values()):
            if isinstance(each, type) and is_within(each.__module__, outermost):
                found.add(id(each))
        around = around.rpartition(".")[0]
    return found


def package_of(module: str) -> str:
    """Return the outermost package around a module that has an `__init__`."""
    outermost = around = module
    while around := around.rpartition(".")[0]:
        if getattr(sys.modules.get(around), "__file__", None) is not None:
            outermost = around
    return outermost


def is_within(module: str, package: str) -> bool:
    """Tell whether a module is a package or in it."""
    return module == package or module.startswith(f"{package}.")


def forget_modules(
    touched: Iterable[str], before: set[str], keep: Callable[[str], bool] = lambda module: False
) -> None:
    """Forget what was imported of some packages, so that the next import is a whole one.

    Args:
        touched: modules whose declarations were undone; all of their packages is forgotten.
        before: the modules that had been imported before, which stay.
        keep: tells whether another module stays.
    """
    packages = {package_of(module) for module in touched}
    for name in set(sys.modules) - before:
        if any(is_within(name, package) for package in packages) and not keep(name):
            module = sys.modules.pop(name)
            parent, _, attribute = name.rpartition(".")
            if getattr(sys.modules.get(parent), attribute, None) is module:
                delattr(sys.modules[parent], attribute)
