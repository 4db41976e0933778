"""The live configuration of one record: bags to read from, overrides to change it with.

Every change is worked out completely on the side, checked, and then put in place, or not at
all. Making a context the process's current one is the business of `publication`.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from registry.bags import Bag, fill, make_bag
from registry.equality import copied
from registry.errors import (
    NotPicklableError,
    OverrideError,
    RegistryError,
    UnknownNamespaceError,
    did_you_mean,
)
from registry.explanation import Explanation, explain
from registry.instance import require_record
from registry.source import call_site
from registry.state import Held, Model, State

__all__ = ["Change", "Context"]


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


class Context:
    """The live configuration of one record.

    Args:
        record: an instance of a composed class. It is read once and never changed.
        role: what this process is, such as "scheduler"; for the program's own use.

    Raises:
        InvalidValueError: a value does not fit its declared type or choices.
        ResolutionError: a resolver failed.
        DerivationError: a derived field cannot be computed.
        CheckError: the configuration breaks a rule.

    Example:
        >>> from registry import Namespace, Registry, compose, derived
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        ...     dp_size: int = 1
        ...     @derived
        ...     def attn_tp_size(cfg) -> int:
        ...         return cfg.tp_size // cfg.dp_size
        >>> context = Context(compose("Args", [Parallel])(tp_size=4, dp_size=2))
        >>> parallel = context.bag("parallel")
        >>> context.override("scale-up", tp_size=6, dp_size=3)
        >>> parallel.attn_tp_size, context.record.tp_size
        (2, 4)
    """

    def __init__(self, record: Any, *, role: str | None = None) -> None:
        require_record(record, "Context()")
        self.record = record
        self.role = role
        self._lock = threading.RLock()
        self._changing = False
        self._log: list[Change] = []
        self._model = Model(record)
        # What is in effect without scopes, and within each open one, the innermost last.
        self._levels: tuple[State, ...] = (self._model.initial(),)
        self._left: list[Mapping[str, Held]] = []
        self._names = self._model.names
        self._bags = {
            path: make_bag(path, self._explain_absence, self._show) for path in self._names.paths
        }
        for path in self._bags:
            self._fill(path)
        _contexts.add(self)

    @property
    def log(self) -> tuple[Change, ...]:
        """The permanent changes so far, oldest first."""
        return tuple(self._log)

    def bag(self, path: str) -> Bag:
        """Return the bag of a namespace. It is live: later changes show in it.

        What is read one by one while another thread makes a change may be from before and
        after it; `dict(vars(bag))` has all fields of one moment.

        Args:
            path: dotted path of the namespace, or the part of one before a dot.

        Raises:
            UnknownNamespaceError: there is no such namespace (a KeyError).
        """
        try:
            return self._bags[path]
        except KeyError:
            hint = did_you_mean(str(path), self._bags)
            raise UnknownNamespaceError("the configuration", path, hint) from None

    def resolved(self) -> dict[str, Any]:
        """Return what is in effect by field name, derived fields included.

        A secret that has a value reads `***`; a run-time fact without one is left out.
        """
        state = self._state
        mask = self._model.mask(state)
        return {name: mask.masked(name, value) for name, value in state.values.items()}

    def override(self, source: str, /, **fields: Any) -> None:
        """Change fields for good: all of them, or on an error none.

        Derived fields that depend on what changed are computed anew. A derived field that is
        given itself is pinned to the value until `release`; a run-time fact gets its value.
        What is changed while scopes are open must also hold once they are left. Without
        fields nothing happens.

        Args:
            source: who changes them, for `log` and `explain`.
            **fields: the values by field name, or by dotted path such as `parallel.tp_size`.
                Lists, dicts and sets are copied.

        Raises:
            OverrideError: a field is held by a scope or given twice, or a derivation calls this.
            UnknownFieldError: a name is no field, but a namespace, say, or in another one.
            InvalidValueError: a value does not fit its field.
            DerivationError: a derived field cannot be computed from the new values.
            CheckError: the new configuration breaks a rule.
        """
        where = call_site()
        with self._change(fields):
            given = self._given(fields)
            for scope in self._state.scopes:
                for name in scope.keys() & given:
                    problem = f"the scope entered at {scope[name].where} holds it until it is left"
                    raise OverrideError(name, problem)
            held = {name: Held(value, source, where) for name, value in given.items()}
            if held:
                self._settle({**self._state.overrides, **held}, given, "override", source, where)

    def release(self, name: str, *, source: str = "release") -> None:
        """Undo the override of one field, or unpin it: it follows the configuration again.

        Args:
            name: the field, by name or dotted path.
            source: who releases it, for `log`.

        Raises:
            OverrideError: it is not overridden.
            UnknownFieldError: it is no field.
            DerivationError: a derived field cannot be computed without the override.
            CheckError: the configuration breaks a rule without it.
        """
        where = call_site()
        with self._change([name]):
            field = self._names.field_named(name)
            overrides = dict(self._state.overrides)
            if overrides.pop(field, None) is None:
                raise OverrideError(field, "it is not overridden, there is nothing to release")
            self._settle(overrides, [field], "release", source, where)

    @contextlib.contextmanager
    def scoped(self, /, **fields: Any) -> Iterator[None]:
        """Change fields inside a `with` block and restore exactly what was there.

        Scopes nest, the innermost value counts; an error inside restores as well. They are
        for the whole process, not for one thread. A scope that another thread's outlives takes
        its values along, unless the other cannot be without them: then both go together.

        Args:
            **fields: the values by field name or dotted path.

        Raises:
            The errors of `override`, before the block is entered.
        """
        where = call_site()
        with self._change(fields):
            given = self._given(fields)
            scope = {name: Held(value, "scope", where) for name, value in given.items()}
            outside = self._state
            inside = self._model.settled(
                outside, outside.overrides, (*outside.scopes, scope), given
            )
            self._put_in_place((*self._levels, inside))
        try:
            yield
        finally:
            with self._lock:
                self._left.append(scope)
                self._restore()

    def explain(self, name: str) -> Explanation:
        """Say why a field has the value it has.

        Args:
            name: the field, by name or dotted path.

        Returns:
            Every layer with its source and place, the one in effect first; for a derived
            field also what it read. It prints well.

        Raises:
            UnknownFieldError: it is no field.
        """
        return explain(self._model, self._state, self._names.field_named(name))

    def top_level(self) -> dict[str, Bag]:
        """Return the bags of the top-level namespaces by name."""
        return self._below("")

    def held(self) -> dict[str, str]:
        """Return what overrides and open scopes hold, by field, as text with its source."""
        layers = (self._state.overrides, *self._state.scopes)
        return {
            name: f"{name}={self._show(name, held.value)} ({held.source}, {held.where})"
            for layer in layers
            for name, held in layer.items()
        }

    def shows(self, record: Any) -> bool:
        """Tell whether this is the configuration of a record as that is now."""
        return self._model.shows(record)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError("a context")

    def __repr__(self) -> str:
        role = f" as {self.role}" if self.role else ""
        return f"<context of {type(self.record).__qualname__}{role}>"

    @property
    def _state(self) -> State:
        return self._levels[-1]

    def _show(self, name: str, value: Any) -> str:
        return self._model.mask(self._state).show(name, value)

    def _explain_absence(self, path: str, name: str) -> AttributeError:
        return self._model.explain_absence(self._state, path, name)

    def _given(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by field, checked, as they are now: what holds them may change them."""
        given = self._names.by_field(fields)
        self._model.check(self._state, given)
        return {name: copied(value) for name, value in given.items()}

    @contextlib.contextmanager
    def _change(self, names: Iterable[str]) -> Iterator[None]:
        """Wait for other threads, and refuse a change from inside of one."""
        with self._lock:
            if self._changing:
                problem = "a derivation or check only reads; it is part of a change at work"
                raise OverrideError(", ".join(names), problem)
            self._changing = True
            try:
                yield
            finally:
                self._changing = False

    def _settle(
        self,
        overrides: Mapping[str, Held],
        touched: Collection[str],
        action: str,
        source: str,
        where: str,
    ) -> None:
        """Put other overrides in place and log them, on every level or, on an error, on none."""
        levels = tuple(
            self._model.settled(level, overrides, level.scopes, touched) for level in self._levels
        )
        # What the change gave them: a scope may hide it.
        lowest = levels[0]
        mask = self._model.mask(lowest)
        shown = {
            name: mask.show(name, lowest.values[name]) if name in lowest.values else "(not set)"
            for name in touched
        }
        self._put_in_place(levels)
        self._log.append(Change(action, source, where, shown))

    def _restore(self) -> None:
        """Take out the scopes that were left; one that has to wait stays among them."""
        levels, waiting = self._levels, []
        for scope in reversed(self._left):
            try:
                levels = self._without(levels, scope)
            except RegistryError:
                waiting.append(scope)
        self._left = waiting[::-1]
        self._put_in_place(levels)

    def _without(self, levels: tuple[State, ...], scope: Mapping[str, Held]) -> tuple[State, ...]:
        """Return the levels without one scope; below it nothing changes."""
        depth = next(
            at for at, each in enumerate(levels) if each.scopes and each.scopes[-1] is scope
        )
        kept = levels[:depth]
        for level in levels[depth + 1 :]:
            scopes = tuple(each for each in level.scopes if each is not scope)
            kept = (*kept, self._model.settled(level, level.overrides, scopes, scope))
        return kept

    def _put_in_place(self, levels: tuple[State, ...]) -> None:
        old, self._levels = self._state.values, levels
        new = self._state.values
        changed = {
            self._model.namespaces.get(name)
            for name in old.keys() | new.keys()
            if old.get(name, _ABSENT) is not new.get(name, _ABSENT)
        }
        for path in changed:
            # A field that a plain dataclass base brought is in no namespace, and in no bag.
            if path is not None:
                self._fill(path)

    def _fill(self, path: str) -> None:
        names, values = self._names.paths[path], self._state.values
        leaves = {name: values[name] for name in names if name in values}
        attributes = {**leaves, **self._below(path)}
        fill(self._bags[path], attributes, complete=len(leaves) == len(names))

    def _below(self, path: str) -> dict[str, Bag]:
        """Return the bags right below a path, by the name that leads to them."""
        below = self._names.below.get(path, {})
        return {leaf: self._bags[each] for leaf, each in below.items()}

    def _start_anew_after_fork(self) -> None:
        """Forget a change that a thread was at, which this process does not have."""
        self._lock = threading.RLock()
        self._changing = False
        for path in self._bags:
            self._fill(path)


_ABSENT = object()
_contexts: weakref.WeakSet[Context] = weakref.WeakSet()


def _after_fork() -> None:
    for context in list(_contexts):
        context._start_anew_after_fork()


if hasattr(os, "register_at_fork"):  # not on Windows, which cannot fork
    os.register_at_fork(after_in_child=_after_fork)
