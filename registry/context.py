"""The live configuration of one record: bags to read from, overrides to change it with.

Every change is worked out completely on the side, checked, and then put in place, or not at
all. Making a context the process's current one is the business of `publication`.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from registry.bags import Bag, Bags
from registry.changes import Changes, History
from registry.equality import copied
from registry.errors import (
    NotPicklableError,
    OverrideError,
    UnknownNamespaceError,
    did_you_mean,
)
from registry.explanation import Explanation, explain
from registry.forks import start_anew_after_fork
from registry.instance import require_record
from registry.levels import Change, Levels, Step, changed, entered, is_entered, left
from registry.masking import text_of
from registry.source import call_site
from registry.state import Held, Model, State

__all__ = ["Context"]


class _Standing(NamedTuple):
    """What a context has by now.

    Attributes:
        levels: what is in effect without scopes, and within each open one, the innermost last.
        log: the permanent changes.
        history: those of them that may travel.
    """

    levels: Levels
    log: tuple[Change, ...]
    history: History


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
        self._model = Model(record)
        self._standing = _Standing((self._model.initial(),), (), History(self._model))
        self._left: list[Mapping[str, Held]] = []
        self._names = self._model.names
        self._bags = Bags(self._names, self._explain_absence, self._shown_leaves)
        self._bags.fill_all(self._state.values)
        start_anew_after_fork(self)

    @property
    def log(self) -> tuple[Change, ...]:
        """The permanent changes so far, oldest first."""
        return self._standing.log

    def bag(self, path: str) -> Bag:
        """Return the bag of a namespace. It is live: later changes show in it.

        What is read one by one while another thread makes a change may be from before and
        after it; `dict(vars(bag))` has all fields of one moment.

        Args:
            path: dotted path of the namespace, or the part of one before a dot.

        Raises:
            UnknownNamespaceError: there is no such namespace (a KeyError).
        """
        bag = self._bags.by_path.get(path) if isinstance(path, str) else None
        if bag is None:
            hint = did_you_mean(str(path), self._bags.by_path)
            raise UnknownNamespaceError("the configuration", path, hint)
        return bag

    def resolved(self) -> dict[str, Any]:
        """Return what is in effect by field name, derived fields included.

        A secret that has a value reads `***`; a run-time fact without one is left out.
        """
        state = self._state
        return {
            name: state.mask.masked(name, copied(value)) for name, value in state.values.items()
        }

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
        if not isinstance(source, str):
            problem = f"the source, who changes it, is a str, not {text_of(source)}"
            raise OverrideError(", ".join(fields), problem)
        with self._change(fields):
            given = self._names.by_field(fields)
            if given:
                self._carry_out([Step.new("override", source, where, given)])

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
            self._carry_out([Step.new("release", source, where, {field: None})])

    def changes(self, *, since: int = 0) -> Changes:
        """Return the permanent changes so far, to send to another process.

        They have the values themselves, those of secrets as well. A process that joins
        publishes the same record and applies them. What scopes hold is not among them, nor are
        run-time facts: a rank is another one in every process. A change of facts alone does
        not count, here and in `since`.

        Args:
            since: how many of the changes to leave out, because the other side has them.

        Raises:
            ChangesError: there are not as many changes.

        Example:
            >>> import pickle
            >>> from registry import Namespace, Registry, compose
            >>> class Parallel(Namespace, registry=Registry("example")):
            ...     _NS_PATH = "parallel"
            ...     tp_size: int = 1
            >>> Args = compose("Args", [Parallel])
            >>> here, there = Context(Args()), Context(Args())
            >>> here.override("scale-up", tp_size=8)
            >>> there.apply_changes(here.changes())
            1
            >>> there.bag("parallel").tp_size, there.log == here.log
            (8, True)
            >>> there.apply_changes(here.changes())
            0
        """
        return self._standing.history.since(since)

    def apply_changes(self, changes: Changes) -> int:
        """Make the changes that were made on another context of the same record, in order.

        All of them, or on an error none; readers see them as one step. What is applied already
        is left alone, so sending the same twice does no harm. The log gets the entries of the
        other side.

        Args:
            changes: what `changes()` of the other context returned.

        Returns:
            How many were not applied yet.

        Raises:
            ChangesError: they were made on another record, the ones before them are missing,
                this context has another change in the place of one, or this process has no
                such field.
            OverrideError, InvalidValueError, DerivationError, CheckError: as `override`.
        """
        with self._change(["apply_changes()"]):
            missing = self._standing.history.missing(changes)
            if missing:
                self._carry_out(missing)
            return len(missing)

    @contextlib.contextmanager
    def scoped(self, /, **fields: Any) -> Iterator[None]:
        """Change fields inside a `with` block and restore exactly what was there.

        Scopes nest, the innermost value counts; an error inside restores as well. They are
        for the whole process, not for one thread. A scope that another thread's outlives takes
        its values along, unless the other cannot be without them: then both go together. A
        process that is forked inside a block keeps what it holds.

        Args:
            **fields: the values by field name or dotted path.

        Raises:
            The errors of `override`, before the block is entered.
        """
        where = call_site()
        scope: dict[str, Held] = {}
        # An interrupt can come anywhere, also between entering the scope and the block.
        try:
            with self._change(fields):
                given = self._given(fields)
                scope |= {name: Held(value, "scope", where) for name, value in given.items()}
                levels = entered(self._model, self._levels, scope)
                self._put_in_place(self._standing._replace(levels=levels))
            yield
        finally:
            with self._lock:
                self._left.append(scope)
                # What runs in the middle of a change, such as the garbage collector, leaves
                # the scope when the change is done.
                if not self._changing:
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
        return self._bags.below("")

    def held(self) -> dict[str, str]:
        """Return what overrides and open scopes hold, by field, as text with its source."""
        state = self._state
        layers = (state.overrides, *state.scopes)
        return {
            name: f"{name}={state.mask.show(name, held.value)} ({held.source}, {held.where})"
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
    def _levels(self) -> Levels:
        return self._standing.levels

    @property
    def _state(self) -> State:
        return self._standing.levels[-1]

    def _shown_leaves(self, path: str) -> list[str]:
        state = self._state
        names = (name for name in self._names.paths[path] if name in state.values)
        return [f"{name}={state.mask.show(name, state.values[name])}" for name in names]

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
                if self._left:
                    self._restore()

    def _carry_out(self, steps: Sequence[Step]) -> None:
        """Put changes in place, each on top of the one before, and log them, or do nothing."""
        levels, log, history = self._standing
        for step in steps:
            levels, change = changed(self._model, levels, step)
            log += (change,)
        names = {name for step in steps for name, _ in step.fields}
        covered = frozenset(filter(levels[0].mask.covers, names))
        self._put_in_place(_Standing(levels, log, history.plus(steps, covered)))

    def _restore(self) -> None:
        """Take out the scopes that were left; one that has to wait stays among them."""
        self._left = [scope for scope in self._left if is_entered(self._levels, scope)]
        levels, waiting = left(self._model, self._levels, self._left)
        self._put_in_place(self._standing._replace(levels=levels))
        self._left = waiting

    def _put_in_place(self, standing: _Standing) -> None:
        old = self._state.values
        # One assignment: whatever interrupts it, a change is in all parts or in none.
        self._standing = standing
        self._bags.refill(old, self._state.values)

    def __start_anew__(self) -> None:
        # A thread that this process does not have may have been at a change.
        self._lock = threading.RLock()
        self._changing = False
        self._bags.fill_all(self._state.values)
