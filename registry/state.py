"""What is in effect, and how a change of it is worked out without touching what is there.

A `Model` holds what never changes about a published record; a `State` is one consistent
outcome. `Model.settled` makes the next state from one, computing only the derived fields that
depend on what changed, or raises. Knows nothing of bags and locks.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple

from registry.derivation import Derivation, DerivedView
from registry.errors import FactNotSetError, UnknownAttributeError, UnknownFieldError, did_you_mean
from registry.explanation import Explanation, Layer
from registry.instance import Record, fields_set, schema_of
from registry.resolution import Decision, decide, enforce
from registry.store import DerivedField
from registry.values import check_derived, check_values

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
        reads: what each derived field read when it was last computed.
    """

    overrides: Mapping[str, Held]
    scopes: tuple[Mapping[str, Held], ...]
    values: Mapping[str, Any]
    reads: Mapping[str, Iterable[str]]

    def held(self, name: str) -> Iterator[tuple[str, Held]]:
        """Yield who holds a field ("scope" or "override"), the one that counts first."""
        for scope in reversed(self.scopes):
            if name in scope:
                yield "scope", scope[name]
        if name in self.overrides:
            yield "override", self.overrides[name]


class Model:
    """What never changes about a configuration: its record, declarations and decisions.

    Args:
        record: the record.

    Attributes:
        inputs: the declarations of the record's input fields, by name.
        derived: those of the derived fields.
        decisions: what the resolvers decided, by field.
        base: the values of the input fields before any override.
        namespaces: the path of every field that has one.
        masked: returns a field's value as it may be shown, a secret as `***`.
        show: returns the same as text.
    """

    def __init__(self, record: Record) -> None:
        schema = schema_of(type(record))
        self.masked = schema.masked
        self.show = schema.show
        self.record_class = type(record)
        self.owner = type(record).__qualname__
        self.declarations = schema.declarations()
        self.typed = {name: getattr(record, name) for name in schema.names}
        self.given = fields_set(record)
        self.inputs = {
            name: field
            for each in self.declarations
            for name, field in each.inputs.items()
            if name in self.typed
        }
        self.derived = {
            name: field for each in self.declarations for name, field in each.derived.items()
        }
        self.namespaces = {
            **schema.namespaces,
            **{name: field.namespace for name, field in self.derived.items()},
        }
        check_values(self.inputs, self._not_default(schema.template))
        self.decisions: Mapping[str, Decision] = decide(
            self.owner, self.declarations, self.typed, self.given, schema.show
        )
        self.base = {
            name: self._with_fallback(name, self.decisions[name].value)
            if name in self.decisions
            else self._with_fallback(name, value)
            for name, value in self.typed.items()
        }

    def shows(self, record: object) -> bool:
        """Tell whether a record says what this model was made of."""
        return (
            type(record) is self.record_class
            and fields_set(record) == self.given
            and all(getattr(record, name) == value for name, value in self.typed.items())
        )

    def _not_default(self, template: Mapping[str, Any]) -> dict[str, Any]:
        # A default is the declaration's own affair, and most values are defaults.
        return {
            name: value
            for name, value in self.typed.items()
            if name in self.given or value is not template.get(name, MISSING)
        }

    def _with_fallback(self, name: str, value: Any) -> Any:
        arg = self.inputs[name].arg if value is None and name in self.inputs else None
        return value if arg is None else arg.fallback

    @functools.cached_property
    def paths(self) -> dict[str, list[str]]:
        """The leaves of every namespace by its path, the paths above it included, sorted."""
        paths: dict[str, list[str]] = {}
        for name, path in self.namespaces.items():
            parts = path.split(".")
            for end in range(1, len(parts) + 1):
                paths.setdefault(".".join(parts[:end]), [])
            paths[path].append(name)
        return dict(sorted(paths.items()))

    def initial(self) -> State:
        """Return the state in which nothing is overridden."""
        facts = {
            name: field.default
            for name, field in self.derived.items()
            if field.derived.fn is None and field.default is not MISSING
        }
        empty = State({}, (), {**self.base, **facts}, {})
        return self._derived_anew(empty, dict(empty.values), self.derived)

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
            InvalidValueError: a value does not fit its field.
            DerivationError: a derived field cannot be computed.
            CheckError: the outcome breaks a rule.
        """
        new = State(overrides, scopes, old.values, old.reads)
        values = dict(old.values)
        pinned = set()
        stale = self._dependents(old, touched)
        for name in touched:
            held = next((held for _, held in new.held(name)), None)
            if held is not None:
                self._check(name, held.value)
                values[name] = held.value
            elif name in self.base:
                values[name] = self.base[name]
            else:
                stale.add(name)
        for name in stale:
            if name in self.derived and any(True for _ in new.held(name)):
                pinned.add(name)
        return self._derived_anew(new, values, stale - pinned)

    def _check(self, name: str, value: Any) -> None:
        check_values(self.inputs, {name: value})
        if name in self.derived:
            check_derived(self.derived[name], value)

    def _dependents(self, state: State, names: Iterable[str]) -> set[str]:
        """Return the derived fields that read one of some fields, directly or not."""
        readers: dict[str, list[str]] = {}
        for reader, reads in state.reads.items():
            for read in reads:
                readers.setdefault(read, []).append(reader)
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            for reader in readers.get(waiting.pop(), ()):
                if reader not in found:
                    found.add(reader)
                    waiting.append(reader)
        return found

    def _derived_anew(self, state: State, values: dict[str, Any], stale: Iterable[str]) -> State:
        """Compute some derived fields and run all checks on the outcome."""
        stale = [name for name in self.derived if name in frozenset(stale)]
        for name in stale:
            field = self.derived[name]
            if field.derived.fn is not None or field.default is MISSING:
                values.pop(name, None)
            else:
                values[name] = field.default
        derivation = Derivation(self.owner, values, self.derived, self.show)
        view = DerivedView(derivation, "call current().override(source, ...)")
        for name in stale:
            if self.derived[name].derived.fn is not None:
                # Without a fact it reads, it follows once that is set; reading it says so.
                with contextlib.suppress(FactNotSetError):
                    derivation.read(name, view)
        kept = {name: reads for name, reads in state.reads.items() if name not in stale}
        enforce(self.owner, self.declarations, values, self.derived, self.show)
        return State(state.overrides, state.scopes, values, {**kept, **derivation.reads})

    def field_named(self, name: str) -> str:
        """Return the field that a name or dotted path means.

        Raises:
            UnknownFieldError: it means none; the message says what it is instead.
        """
        path, _, field = name.rpartition(".")
        actual = self.namespaces.get(field)
        if field in self.typed or field in self.derived:
            if path in ("", actual):
                return field
            raise UnknownFieldError(f"the namespace {path!r}", field, f" It is in {actual!r}.")
        within = [each for each in self.paths if each == name or each.endswith(f".{name}")]
        if within:
            leaves = ", ".join(self.paths[within[0]][:3]) or "those of its parts"
            hint = f" It is the namespace {within[0]!r}; name its fields, such as {leaves}."
        else:
            hint = did_you_mean(field, [*self.typed, *self.derived])
        raise UnknownFieldError("the configuration", name, hint)

    def explain_absence(self, path: str, name: str) -> AttributeError:
        """Return the error for a name that a bag lacks."""
        field = self.derived.get(name)
        if field is not None and field.namespace == path:
            return self._why_unset(field)
        if name in self.namespaces:
            hint = f" It is in the namespace {self.namespaces[name]!r}."
        else:
            hint = did_you_mean(name, [*self.paths.get(path, ()), *self.paths])
        return UnknownAttributeError(f"bag {path}", name, hint)

    def _why_unset(self, field: DerivedField) -> FactNotSetError:
        advice = f"set it with current().override(source, {field.name}=...)"
        if field.derived.fn is not None:
            advice = "it is computed once the run-time facts it reads are set"
        return FactNotSetError(field.name, field.declaration.where(field.name), advice)

    def explain(self, state: State, name: str) -> Explanation:
        """Say why a field has the value it has in a state."""
        layers = self._derived_layers(state, name) if name in self.derived else []
        if name in self.typed:
            layers = list(self._input_layers(state, name))
        value = state.values.get(name, MISSING)
        pinned = any(True for _ in state.held(name))
        return Explanation(
            name,
            self.namespaces.get(name, ""),
            "(not set)" if value is MISSING else self.show(name, value),
            tuple(layers),
            tuple(
                f"{read}={self.show(read, state.values[read])}"
                for read in (() if pinned else state.reads.get(name, ()))
                if read in state.values
            ),
        )

    def _input_layers(self, state: State, name: str) -> Iterator[Layer]:
        for kind, held in state.held(name):
            yield Layer(kind, self.show(name, held.value), held.source, held.where)
        chain: list[tuple[Any, Layer]] = []
        where = self.inputs[name].declaration.where(name) if name in self.inputs else "?"
        if name in self.decisions:
            value, source, place = self.decisions[name]
            chain.append((value, Layer("decision", self.show(name, value), source, place)))
        typed = self.typed[name]
        kind, source = ("input", "operator") if name in self.given else ("default", "declaration")
        chain.append((typed, Layer(kind, self.show(name, typed), source, where)))
        arg = self.inputs[name].arg if name in self.inputs else None
        if arg is not None and arg.fallback is not None:
            fallback = Layer("fallback", self.show(name, arg.fallback), "declaration", where)
            chain.append((arg.fallback, fallback))
        # None is how an input says that it leaves the value open.
        yield from (layer for value, layer in sorted(chain, key=lambda each: each[0] is None))

    def _derived_layers(self, state: State, name: str) -> list[Layer]:
        field = self.derived[name]
        is_fact = field.derived.fn is None
        layers = [
            Layer(
                kind if kind == "scope" else ("fact" if is_fact else "pin"),
                self.show(name, held.value),
                held.source,
                held.where,
            )
            for kind, held in state.held(name)
        ]
        where = field.declaration.where(name)
        if is_fact and field.default is not MISSING:
            layers.append(Layer("default", self.show(name, field.default), "declaration", where))
        elif not is_fact and not layers and name in state.values:
            shown = self.show(name, state.values[name])
            layers.append(Layer("derived", shown, f"{field.cls.__qualname__}.{name}", where))
        elif not is_fact:
            layers.append(
                Layer("derived", "(not computed)", f"{field.cls.__qualname__}.{name}", where)
            )
        return layers
