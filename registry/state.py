"""What is in effect, and how a change of it is worked out without touching what is there.

A `Model` holds what never changes about a published record; a `State` is one consistent
outcome. `Model.settled` makes the next state from one, computing only the derived fields that
depend on what changed, or raises. Knows nothing of bags and locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple

from registry.derivation import Before, Derivation
from registry.equality import copied, is_equal, is_fixed, is_same
from registry.errors import FactNotSetError, UnknownAttributeError, did_you_mean
from registry.instance import Record, fields_set, schema_of
from registry.masking import Mask
from registry.names import Names
from registry.resolution import decide, enforce
from registry.store import DerivedField
from registry.values import check_derived, check_values, validate

__all__ = ["Held", "Model", "State"]


class Held(NamedTuple):
    """A value that someone gave a field while the program runs.

    Attributes:
        value: the value.
        source: who gave it.
        where: `file:line` of the call.
    """

    value: Any
    source: str
    where: str


class State(NamedTuple):
    """One consistent configuration.

    Attributes:
        overrides: what was overridden for good, pinned or set as a run-time fact, by field.
        scopes: what the open scopes hold, the outermost first.
        values: what is in effect, by field; a field that cannot be computed until a run-time
            fact is set is not there.
        reads: what each derived field read when it was last computed, with the value.
        waits: the run-time fact that a derived field waits for, by the field.
        mask: how the values may be shown.
    """

    overrides: Mapping[str, Held]
    scopes: tuple[Mapping[str, Held], ...]
    values: Mapping[str, Any]
    reads: Mapping[str, Mapping[str, Any]]
    waits: Mapping[str, str]
    mask: Mask

    def holder(self, name: str) -> Held | None:
        """Return the value that someone gave a field, or None for one left to itself."""
        layers = (*reversed(self.scopes), self.overrides)
        return next((layer[name] for layer in layers if name in layer), None)


class Model:
    """What never changes about a configuration: its record, declarations and decisions.

    Args:
        record: the record.

    Attributes:
        typed: what the record says, by field.
        given: the fields that the operator set.
        inputs: the declarations of input fields, by name.
        derived: those of the derived fields.
        facts: the names of those that no function computes.
        decisions: what the resolvers decided, by field.
        base: the values of the input fields before any override.
        namespaces: the path of every field that has one.
        names: what a name or dotted path means.
    """

    def __init__(self, record: Record) -> None:
        schema = schema_of(type(record))
        validate(record)
        self.record_class = type(record)
        self.owner = type(record).__qualname__
        self.secrets = schema.secrets
        self.template = schema.template
        self.default_of = schema.default_of
        self.default_origins = schema.default_origins
        self.typed = {
            name: copied(getattr(record, name)) for name in schema.names if hasattr(record, name)
        }
        # A class that came to the registry after the record was composed has no say in it.
        self.declarations = tuple(
            each
            for each in schema.declarations()
            if not each.inputs or not self.typed.keys().isdisjoint(each.inputs)
        )
        self.given = fields_set(record)
        self.inputs = {
            name: field for each in self.declarations for name, field in each.inputs.items()
        }
        self.derived = {
            name: field for each in self.declarations for name, field in each.derived.items()
        }
        self.facts = frozenset(
            name for name, field in self.derived.items() if field.derived.fn is None
        )
        self.namespaces = {
            **schema.namespaces,
            **{name: field.namespace for name, field in self.derived.items()},
        }
        self.names = Names(
            {*self.typed, *self.derived}, self.namespaces, (each.path for each in self.declarations)
        )
        self.decisions = decide(self.owner, self.declarations, self.typed, self.given, self.secrets)
        self._made_of = {name: decision.reads for name, decision in self.decisions.items()}
        decided = {name: decision.value for name, decision in self.decisions.items()}
        self.base = {
            name: self.fallback(name) if value is None else value
            for name, value in {**self.typed, **decided}.items()
        }

    def shows(self, record: object) -> bool:
        """Tell whether a record says what this model was made of."""
        return (
            type(record) is self.record_class
            and fields_set(record) == self.given
            and all(
                is_equal(getattr(record, name, MISSING), value)
                for name, value in self.typed.items()
            )
        )

    def fallback(self, name: str) -> Any:
        """Return what an input field without a value falls back to, or None."""
        arg = self.inputs[name].arg if name in self.inputs else None
        return None if arg is None else copied(arg.fallback)

    def initial(self) -> State:
        """Return the state in which nothing is overridden."""
        empty = State({}, (), self.base, {}, {}, Mask(self.secrets, self._made_of))
        return self._derived_anew(empty, dict(self.base), set(self.derived))

    def settled(
        self,
        old: State,
        overrides: Mapping[str, Held],
        scopes: tuple[Mapping[str, Held], ...],
        touched: Iterable[str],
    ) -> State:
        """Return the state that follows from other overrides or scopes.

        Args:
            old: the state before.
            overrides: the overrides there shall be.
            scopes: the scopes there shall be.
            touched: the fields in which those differ from the old ones.

        Raises:
            DerivationError: a derived field cannot be computed.
            CheckError: the outcome breaks a rule.
        """
        new = old._replace(overrides=overrides, scopes=scopes)
        values = dict(old.values)
        released = set()
        for name in touched:
            held = new.holder(name)
            if held is not None:
                values[name] = held.value
            elif name in self.base:
                values[name] = self.base[name]
            else:
                released.add(name)
        changed = {name for name in touched if _may_differ(old.values, values, name)} | released
        dependents = self._dependents(new, changed) - released
        before = Before(
            {name: old.values[name] for name in dependents if name in old.values},
            old.reads,
            changed,
            (
                old.values,
                self.typed,
                *(
                    {name: held.value for name, held in each.items()}
                    for each in (overrides, *scopes)
                ),
            ),
        )
        return self._derived_anew(new, values, released | dependents, before)

    def _dependents(self, state: State, names: Iterable[str]) -> set[str]:
        """Return the derived fields that read one of some fields, directly or not."""
        readers: dict[str, list[str]] = {}
        for reader, reads in state.reads.items():
            if state.holder(reader) is None:
                for read in reads:
                    readers.setdefault(read, []).append(reader)
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            new = set(readers.get(waiting.pop(), ())) - found
            found |= new
            waiting += new
        return found

    def _derived_anew(
        self, state: State, values: dict[str, Any], stale: set[str], before: Before | None = None
    ) -> State:
        """Compute some derived fields, as far as they are not as before, and run all checks."""
        in_order = [field for name, field in self.derived.items() if name in stale]
        for field in in_order:
            values.pop(field.name, None)
            if field.default is not MISSING:
                values[field.name] = copied(field.default)
        known_reads = {**self._made_of, **state.reads}
        derivation = Derivation(self.owner, values, self.derived, self.secrets, known_reads, before)
        waits = {name: fact for name, fact in state.waits.items() if name not in stale}
        for field in in_order:
            # Without a fact it reads, it follows once that is set; reading it says so.
            try:
                derivation.value(field.name)
            except FactNotSetError as error:
                waits[field.name] = error.field
        enforce(derivation, self.declarations)
        reads = {**state.reads, **derivation.reads}
        return state._replace(
            values={**values, **derivation.computed},
            reads=reads,
            waits=waits,
            mask=Mask(self.secrets, {**self._made_of, **reads}),
        )

    def check(self, state: State, given: Mapping[str, Any]) -> None:
        """Check values that fields are to be given while the program runs.

        Args:
            state: what is in effect.
            given: the values by field.

        Raises:
            InvalidValueError: some do not fit.
        """
        # As in a record: a default is the declaration's own affair, also one that travelled.
        stated = {
            name: value
            for name, value in given.items()
            if not is_equal(value, self.template.get(name, MISSING))
        }
        check_values(self.inputs, stated)
        for name, value in given.items():
            if name in self.derived:
                check_derived(self.derived[name], value, hidden=state.mask.covers(name))

    def explain_absence(self, state: State, path: str, name: str) -> AttributeError:
        """Return the error for a name that a bag lacks."""
        field = self.derived.get(name)
        if field is not None and field.namespace == path:
            return self._why_unset(state, field)
        if name in self.namespaces:
            hint = f" It is in the namespace {self.namespaces[name]!r}."
        else:
            paths = self.names.paths
            hint = did_you_mean(name, [*paths.get(path, ()), *paths])
        return UnknownAttributeError(f"bag {path}", name, hint)

    def _why_unset(self, state: State, field: DerivedField) -> FactNotSetError:
        fact = self.derived[state.waits.get(field.name, field.name)]
        needs = "" if fact is field else f"{field.name} needs it, "
        advice = f"{needs}set it with current().override(source, {fact.name}=...)"
        return FactNotSetError(fact.name, fact.declaration.where(fact.name), advice)


def _values_of(layer: Mapping[str, Held]) -> dict[str, Any]:
    return {name: held.value for name, held in layer.items()}


def _may_differ(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> bool:
    """Tell whether a value is another one, or the same object that may be another inside."""
    if name not in old or name not in new:
        return True
    value = new[name]
    return not (is_fixed(value) and is_same(old[name], value))
