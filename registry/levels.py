"""How changes and scopes lead from what is in effect to what will be.

The levels of a configuration are its states without scopes and within each open one, the
innermost last. Everything here returns other levels or raises; putting them in place is the
business of `context`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from registry.equality import copied
from registry.errors import OverrideError, RegistryError
from registry.masking import text_of
from registry.state import Held, Model, State

__all__ = ["Change", "Levels", "Step", "changed", "entered", "is_entered", "left"]

Levels = tuple[State, ...]


class Change(NamedTuple):
    """One entry of `Context.log`.

    Attributes:
        action: "override" or "release".
        source: who changed it.
        where: `file:line` of the call.
        fields: the values that the change gave the fields, as text; a secret reads `***`.
    """

    action: str
    source: str
    where: str
    fields: Mapping[str, str]


class Step(NamedTuple):
    """A permanent change as it is asked for, here or in another process.

    Attributes:
        action: "override" or "release".
        source: who asks for it.
        where: `file:line` of the call.
        fields: the names with their values; a release gives each None.
        identity: what no other change has, wherever it was made.
        hidden: the fields whose values must not be shown.
    """

    action: str
    source: str
    where: str
    fields: tuple[tuple[str, Any], ...]
    identity: str
    hidden: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"{self.action} by {self.source!r} ({self.where}) of {', '.join(self._shown())}"

    def _shown(self) -> list[str]:
        if self.action == "release":
            return [name for name, _ in self.fields]
        return [
            f"{name}={text_of('***' if name in self.hidden and value is not None else value)}"
            for name, value in self.fields
        ]

    @classmethod
    def new(cls, action: str, source: str, where: str, fields: Mapping[str, Any]) -> Step:
        """Make a change that there has not been yet; lists, dicts and sets are copied."""
        identity = os.urandom(8).hex()
        return cls(action, source, where, tuple(fields.items()), identity).detached()

    def detached(self) -> Step:
        """Return the change with lists, dicts and sets of its own."""
        return self._replace(fields=tuple((name, copied(value)) for name, value in self.fields))

    def hiding(self, names: Set[str]) -> Step:
        """Return the change with those of some names that are its own hidden as well."""
        own = frozenset(name for name, _ in self.fields if name in names)
        return self if own <= self.hidden else self._replace(hidden=self.hidden | own)

    def without(self, names: Set[str]) -> Step:
        """Return the change without some fields."""
        return self._replace(fields=tuple(each for each in self.fields if each[0] not in names))


def changed(model: Model, levels: Levels, step: Step) -> tuple[Levels, Change]:
    """Work out what a permanent change leads to, within every open scope.

    Args:
        model: the configuration.
        levels: what is in effect.
        step: the change; its names are fields.

    Returns:
        The levels after it, and its entry in the log.

    Raises:
        OverrideError: a scope holds a field, or one to be released is not overridden.
        InvalidValueError, DerivationError, CheckError: as `Context.override`.
    """
    given = dict(step.fields)
    overrides = dict(levels[0].overrides)
    if step.action == "release":
        for name in given:
            if overrides.pop(name, None) is None:
                raise OverrideError(name, "it is not overridden, there is nothing to release")
    else:
        model.check(levels[-1], given)
        _check_scopes(levels[-1], given)
        for name, value in given.items():
            # A copy of its own: what a reader of a bag does to a list must not travel.
            overrides[name] = Held(copied(value), step.source, step.where)
    levels = tuple(model.settled(level, overrides, level.scopes, given) for level in levels)
    return levels, Change(step.action, step.source, step.where, _shown(levels[0], given))


def _check_scopes(state: State, given: Mapping[str, Any]) -> None:
    for scope in state.scopes:
        for name in scope.keys() & given:
            problem = f"the scope entered at {scope[name].where} holds it until it is left"
            raise OverrideError(name, problem)


def _shown(state: State, names: Mapping[str, Any]) -> dict[str, str]:
    """Return what a change gave its fields, as text: a scope may hide it, so without scopes."""
    return {
        name: state.mask.show(name, state.values[name]) if name in state.values else "(not set)"
        for name in names
    }


def entered(model: Model, levels: Levels, scope: Mapping[str, Held]) -> Levels:
    """Return the levels with one more scope.

    Raises:
        DerivationError, CheckError: as `Context.scoped`.
    """
    outside = levels[-1]
    scopes = (*outside.scopes, scope)
    return (*levels, model.settled(outside, outside.overrides, scopes, scope))


def left(
    model: Model, levels: Levels, scopes: Sequence[Mapping[str, Held]]
) -> tuple[Levels, list[Mapping[str, Held]]]:
    """Take out scopes, as far as the others can be without them.

    Args:
        model: the configuration.
        levels: what is in effect.
        scopes: the scopes to take out, in the order in which they were left.

    Returns:
        The levels without them, and those that have to wait until others are left.
    """
    waiting = list(scopes)
    is_done = False
    while not is_done:
        is_done = True
        # The innermost first: what is left of the others does not depend on it.
        for scope in sorted(waiting, key=lambda each: _depth(levels, each), reverse=True):
            try:
                levels = _without(model, levels, scope)
            except RegistryError:
                continue
            waiting = [each for each in waiting if each is not scope]
            is_done = False  # without it, another may go as well
    return levels, waiting


def _depth(levels: Levels, scope: Mapping[str, Held]) -> int:
    """Return the level that a scope brought, 0 if there is none."""
    return next(
        (at for at, each in enumerate(levels) if each.scopes and each.scopes[-1] is scope), 0
    )


def is_entered(levels: Levels, scope: Mapping[str, Held]) -> bool:
    """Tell whether a scope is one of those in effect."""
    return _depth(levels, scope) > 0


def _without(model: Model, levels: Levels, scope: Mapping[str, Held]) -> Levels:
    """Return the levels without one scope; below it nothing changes."""
    depth = _depth(levels, scope)
    kept = levels[:depth]
    for level in levels[depth + 1 :]:
        scopes = tuple(each for each in level.scopes if each is not scope)
        kept = (*kept, model.settled(level, level.overrides, scopes, scope))
    return kept
