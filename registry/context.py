"""The live configuration of one record: bags to read from, overrides to change it with.

Every change is worked out completely on the side, checked, and then put in place, or not at
all. Making a context the process's current one is the business of `publication`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from registry.bags import Bag, fill
from registry.errors import (
    ComposeError,
    NotPicklableError,
    OverrideError,
    UnknownFieldError,
    did_you_mean,
)
from registry.explanation import Explanation
from registry.instance import Record
from registry.source import call_site
from registry.state import Held, Model, State

__all__ = ["Change", "Context"]


class Change(NamedTuple):
    """One entry of `Context.log`.

    Attributes:
        action: "override" or "release".
        source: who changed it.
        where: `file:line` of the call.
        fields: what was given, by field name, as text; a secret reads `***`.
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
        if not isinstance(record, Record):
            raise ComposeError(
                "Context()", f"takes an instance of a composed record, not {record!r}"
            )
        self.record = record
        self.role = role
        self._lock = threading.RLock()
        self._log: tuple[Change, ...] = ()
        self._model = Model(record)
        self._state = self._model.initial()
        self._bags = {
            path: Bag(path, self._model.explain_absence, self._model.show)
            for path in self._model.paths
        }
        for path in self._bags:
            self._fill(path, self._state)

    @property
    def log(self) -> tuple[Change, ...]:
        """The permanent changes so far, oldest first."""
        return self._log

    def bag(self, path: str) -> Bag:
        """Return the bag of a namespace. It is live: later changes show in it.

        Args:
            path: dotted path of the namespace, or the part of one before a dot.

        Raises:
            UnknownFieldError: there is no such namespace (a KeyError).
        """
        try:
            return self._bags[path]
        except KeyError:
            hint = did_you_mean(str(path), self._bags)
            raise UnknownFieldError("the configuration (its namespaces)", path, hint) from None

    def resolved(self) -> dict[str, Any]:
        """Return what is in effect by field name, derived fields included.

        A secret that has a value reads `***`; a run-time fact without one is left out.
        """
        return {name: self._model.masked(name, value) for name, value in self._state.values.items()}

    def override(self, source: str, /, **fields: Any) -> None:
        """Change fields for good: all of them, or on an error none.

        Derived fields that depend on what changed are computed anew. A derived field that is
        given itself is pinned to the value until `release`; a run-time fact gets its value.

        Args:
            source: who changes them, for `log` and `explain`.
            **fields: the values by field name, or by dotted path such as `parallel.tp_size`.

        Raises:
            OverrideError: a name is a namespace, in another namespace, or held by a scope.
            UnknownFieldError: a name is no field.
            InvalidValueError: a value does not fit its field.
            DerivationError: a derived field cannot be computed from the new values.
            CheckError: the new configuration breaks a rule.
        """
        where = call_site()
        with self._lock:
            given = {self._model.field_named(name): value for name, value in fields.items()}
            for name in given:
                for kind, holder in self._state.held(name):
                    if kind == "scope":
                        problem = f"the scope entered at {holder.where} holds it until it is left"
                        raise OverrideError(name, problem)
            held = {name: Held(value, source, where) for name, value in given.items()}
            state = self._model.settled(
                self._state, {**self._state.overrides, **held}, self._state.scopes, given
            )
            self._put_in_place(state)
            self._note("override", source, where, given)

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
        with self._lock:
            field = self._model.field_named(name)
            if field not in self._state.overrides:
                raise OverrideError(field, "it is not overridden, there is nothing to release")
            kept = {each: held for each, held in self._state.overrides.items() if each != field}
            state = self._model.settled(self._state, kept, self._state.scopes, {field: None})
            self._put_in_place(state)
            self._note("release", source, where, {field: self._state.values.get(field)})

    @contextlib.contextmanager
    def scoped(self, **fields: Any) -> Iterator[None]:
        """Change fields inside a `with` block and restore exactly what was there.

        Scopes nest, the innermost value counts; an error inside restores as well. They are
        for the whole process, not for one thread.

        Args:
            **fields: the values by field name or dotted path.

        Raises:
            The errors of `override`, before the block is entered.
        """
        where = call_site()
        with self._lock:
            before = self._state
            given = {self._model.field_named(name): value for name, value in fields.items()}
            scope = {name: Held(value, "scope", where) for name, value in given.items()}
            inside = self._model.settled(before, before.overrides, (*before.scopes, scope), given)
            self._put_in_place(inside)
        try:
            yield
        finally:
            with self._lock:
                if self._state is inside:
                    restored = before
                else:
                    rest = tuple(each for each in self._state.scopes if each is not scope)
                    restored = self._model.settled(self._state, self._state.overrides, rest, given)
                self._put_in_place(restored)

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
        return self._model.explain(self._state, self._model.field_named(name))

    def top_level(self) -> dict[str, Bag]:
        """Return the bags of the top-level namespaces by name."""
        return self._below("")

    def overridden(self) -> dict[str, str]:
        """Return what is overridden for good, by field, as text with its source."""
        return {
            name: f"{name}={self._model.show(name, held.value)} ({held.source}, {held.where})"
            for name, held in self._state.overrides.items()
        }

    def shows(self, record: Any) -> bool:
        """Tell whether this is the configuration of a record as that is now."""
        return self._model.shows(record)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError("a context")

    def __repr__(self) -> str:
        role = f" as {self.role}" if self.role else ""
        return f"<context of a {type(self.record).__qualname__}{role}>"

    def _note(self, action: str, source: str, where: str, given: Mapping[str, Any]) -> None:
        shown = {name: self._model.show(name, value) for name, value in given.items()}
        self._log = (*self._log, Change(action, source, where, shown))

    def _put_in_place(self, state: State) -> None:
        old, self._state = self._state, state
        changed = {
            self._model.namespaces.get(name)
            for name in old.values.keys() | state.values.keys()
            if old.values.get(name, _ABSENT) is not state.values.get(name, _ABSENT)
        }
        for path in changed:
            # A field that a plain dataclass base brought is in no namespace, and in no bag.
            if path is not None:
                self._fill(path, state)

    def _fill(self, path: str, state: State) -> None:
        names = self._model.paths[path]
        leaves = {name: state.values[name] for name in names if name in state.values}
        attributes = {**leaves, **self._below(path)}
        fill(self._bags[path], attributes, complete=len(leaves) == len(names))

    def _below(self, path: str) -> dict[str, Bag]:
        """Return the bags right below a path, by the name that leads to them."""
        split = {each: each.rpartition(".") for each in self._bags}
        return {leaf: self._bags[each] for each, (above, _, leaf) in split.items() if above == path}


_ABSENT = object()
