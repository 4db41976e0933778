"""`load_plugins()`: the installed plugins of a program, if there are any.

Finding that there is none is cheap; `plugin_loading` does the rest.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from registry.entry_points import may_have, variable_of
from registry.errors import ComposeError
from registry.journal import noted

if TYPE_CHECKING:
    from registry.plugin_contents import Plugin

__all__ = ["load_plugins", "selected"]


def load_plugins(
    group: str = "namespaces.plugins",
    *,
    on_error: Literal["raise", "warn"] | None = None,
    select: Sequence[str] | None = None,
) -> tuple[Plugin, ...]:
    """Load the installed plugins of a group, each once in a process.

    Args:
        group: the entry points to load. It is named after the package that they extend, which
            is imported first: `namespaces.plugins` after `namespaces`.
        on_error: "raise", or "warn" to leave out what does not load. None takes the environment
            variable named after the group, `NAMESPACES_PLUGINS_ON_ERROR`; without it, what an
            earlier call has left out stays out, and anything else raises.
        select: the names to load. None takes the variable `NAMESPACES_PLUGINS`: names with
            commas between them, or `none`; without it all are loaded.

    Returns:
        The loaded plugins, by name, then by distribution.

    Raises:
        PluginError: one cannot be loaded, or `select` names one that is not installed.
        ComposeError: `on_error` is something else.

    Example:
        >>> load_plugins("registry.plugins")
        ()
    """
    said = on_error or os.environ.get(f"{variable_of(group)}_ON_ERROR")
    mode = said or "raise"
    if mode not in ("raise", "warn"):
        raise ComposeError("load_plugins()", f"on_error must be 'raise' or 'warn', not {mode!r}")
    if select is None:
        select = selected(group)
    # One that is not selected may have been imported and have added something all the same.
    if not (may_have(group) if select is None else select or noted()):
        return ()
    # Most processes have no plugin, and do without this.
    from registry.plugin_contents import Plugin
    from registry.plugin_loading import PluginWarning, each_plugin, is_left_out

    loaded = []
    for outcome in each_plugin(group, select, leave_out=mode == "warn"):
        if isinstance(outcome, Plugin):
            loaded.append(outcome)
        elif mode == "warn":
            warnings.warn(f"{outcome}; it is left out", PluginWarning, stacklevel=2)
        elif said or not is_left_out(outcome):
            raise outcome
    return tuple(loaded)


def selected(group: str) -> list[str] | None:
    """Return the names that the environment selects, or None if it leaves that open.

    Args:
        group: the group; its variable is `NAMESPACES_PLUGINS` for `namespaces.plugins`.
    """
    given = os.environ.get(variable_of(group), "").strip()
    if not given:
        return None
    return [] if given == "none" else [name for each in given.split(",") if (name := each.strip())]
