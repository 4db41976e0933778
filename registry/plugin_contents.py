"""What a loaded plugin has added, its classes marked as its own.

Knows nothing of how it was loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from registry.installed import Entry
from registry.journal import Addition, Journal, noted
from registry.namespace import default_registry
from registry.plugin_checks import check_declarations
from registry.plugin_modules import classes_in_sight, is_within, may_have_made
from registry.store import Declaration

__all__ = ["Plugin", "described"]


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


def described(entry: Entry, entries: Sequence[Entry], journal: Journal) -> Plugin:
    """Mark what a plugin declared as its own, and list it.

    Args:
        entry: the plugin.
        entries: all plugins of the group.
        journal: what was added while it was loaded.

    Raises:
        AnnotationError: an annotation of one of its fields cannot be evaluated.
        RegistryError: something else about its fields would fail later, as `plugin_checks` says.
    """
    made = {each for each in journal.declarations if isinstance(each, Declaration)}
    own = []
    # Its module may have been imported before.
    visible = classes_in_sight(entry)
    for each in dict.fromkeys([*default_registry.declarations, *made]):
        module = each.cls.__module__
        if each.plugin or not (
            each in made or is_within(module, entry.module) or id(each.cls) in visible
        ):
            continue
        if may_have_made(entry, module, entries):
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
            if (each in journal.additions or is_within(each.module, entry.module))
            and may_have_made(entry, each.module, entries)
        ),
        tuple(each.cls for each in own if each in registered),
    )


def _opened(declaration: Declaration) -> bool:
    registry = declaration.cls.__ns_registry__  # type: ignore[attr-defined]
    return registry.namespaces.get(declaration.path) is declaration.cls
