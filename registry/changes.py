"""The permanent changes of a configuration as something to send: `Changes`.

Every change has an identity of its own, made where the change was made, and a position. Two
contexts that have the same identity at a position have the same changes up to there, so a gap,
a repetition and a history that went another way are told apart by looking at one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass
from typing import Any

from registry.equality import copied, is_equal
from registry.errors import RegistryError, did_you_mean
from registry.instance import Record, fields_set, made_of, schema_of
from registry.levels import Step
from registry.masking import text_of
from registry.state import Model

__all__ = ["Changes", "ChangesError", "History"]


class ChangesError(RegistryError, ValueError):
    """Changes that cannot be applied to a context, or were never made on it.

    Attributes:
        changes: which changes.
        applied: how many changes the context has.
        problem: why it does not fit and what to do instead.
    """

    def __init__(self, changes: str, applied: int, problem: str) -> None:
        super().__init__(changes, applied, problem)
        self.changes = changes
        self.applied = applied
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.changes}, with {self.applied} applied here: {self.problem}"


@dataclass(frozen=True, repr=False)
class Changes:
    """Permanent changes of a context, in order, as `Context.changes` returns them.

    It is picklable and has the values themselves, those of secrets as well; its `repr` shows
    `***` for them. `len()` is the number of changes, iterating yields them.

    Attributes:
        record: the record that they were made on, without its secrets.
        hidden: the fields of it that read `***` for that reason.
        start: how many changes there were before the first of these.
        after: the identity of the last one before them, empty where there was none.
        steps: the changes.
        plugins: the plugins that declare fields of them, as pairs of a field and its plugin.
    """

    record: Any
    hidden: frozenset[str]
    start: int
    after: str
    steps: tuple[Step, ...]
    plugins: tuple[tuple[str, str], ...] = ()

    @property
    def end(self) -> int:
        """How many changes there are up to the last of these, and what `since` takes next."""
        return self.start + len(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __repr__(self) -> str:
        numbered = (f"\n  {self.start + at}: {step}" for at, step in enumerate(self.steps, 1))
        return f"<{self}:{''.join(numbered)}>" if self.steps else f"<{self}>"

    def __str__(self) -> str:
        name = type(self.record).__qualname__
        if not self.steps:
            return f"no changes of {name} after {self.start}"
        if len(self.steps) == 1:
            return f"change {self.end} of {name}"
        return f"changes {self.start + 1} to {self.end} of {name}"


class History:
    """The changes of one context that may travel; it never changes itself.

    A run-time fact is not among them: a rank is another one in every process.

    Args:
        model: the configuration that they change.
        steps: the changes.
    """

    def __init__(self, model: Model, steps: tuple[Step, ...] = ()) -> None:
        self._model = model
        self._steps = steps

    def plus(self, steps: Sequence[Step], covered: frozenset[str]) -> History:
        """Return the history with more changes.

        Args:
            steps: the changes; lists, dicts and sets in them are copied.
            covered: the fields among theirs whose values must not be shown.
        """
        lasting = [step.without(self._model.facts).hiding(covered) for step in steps]
        more = tuple(step.detached() for step in lasting if step.fields)
        return History(self._model, self._steps + more)

    def since(self, number: int) -> Changes:
        """Return the changes after the first `number` of them.

        Raises:
            ChangesError: there are not as many.
        """
        steps = self._steps
        if type(number) is not int or not 0 <= number <= len(steps):
            problem = f"since is how many changes the other side has, from 0 to {len(steps)}"
            raise ChangesError(f"changes(since={number!r})", len(steps), problem)
        after = steps[number - 1].identity if number else ""
        sent = tuple(step.detached() for step in steps[number:])
        plugins = _plugins_of(self._model, sent)
        return Changes(*_told(self._model), number, after, sent, plugins)

    def missing(self, changes: Changes) -> tuple[Step, ...]:
        """Return those changes that are not in this history, all of which can follow it.

        Raises:
            ChangesError: they cannot.
        """
        if not isinstance(changes, Changes):
            problem = "apply_changes() takes what changes() of another context returned"
            raise ChangesError(f"a {type(changes).__name__}", len(self._steps), problem)
        problem = self._record_problem(changes) or self._place_problem(changes)
        missing = () if problem else changes.steps[max(len(self._steps) - changes.start, 0) :]
        for step in missing:
            problem = problem or self._field_problem(step, dict(changes.plugins))
        if problem:
            raise ChangesError(str(changes), len(self._steps), problem)
        return missing

    def _record_problem(self, changes: Changes) -> str:
        """Say how the record they were made on is another one than that of this configuration."""
        model, record = self._model, changes.record
        if type(record) is not model.record_class:
            return (
                f"they were made on a {_path(type(record))}, this is a {_path(model.record_class)}"
            )
        given = fields_set(record)
        differences = []
        for name in schema_of(model.record_class).names:
            there = getattr(record, name, MISSING)
            here = model.typed.get(name, MISSING)
            secret = name in changes.hidden or name in model.secrets
            if not secret and not is_equal(there, here):
                differences.append(f"{name} is {_text(there)} there and {_text(here)} here")
            elif (name in given) is not (name in model.given):
                only = "there" if name in given else "here"
                differences.append(f"{name} was set by the operator only {only}")
        if not differences:
            return ""
        return f"they were made on another record: {'; '.join(differences)}"

    def _place_problem(self, changes: Changes) -> str:
        """Say why changes do not follow this history."""
        mine = self._steps
        if changes.start > len(mine):
            return f"the ones before them are missing; send changes(since={len(mine)})"
        if changes.start and mine[changes.start - 1].identity != changes.after:
            return self._diverged(changes.start, "")
        for at, (here, there) in enumerate(zip(mine[changes.start :], changes, strict=False)):
            if here.identity != there.identity:
                shown = there.hiding(self._model.secrets)
                return self._diverged(changes.start + at + 1, f", there {shown}")
        return ""

    def _diverged(self, number: int, there: str) -> str:
        return (
            f"change {number} is another one here: {self._steps[number - 1]}{there}; a context "
            "follows one history, so make changes in one place and send them from there"
        )

    def _field_problem(self, step: Step, plugins: Mapping[str, str]) -> str:
        """Say which field of a change this process cannot change."""
        known = self._model.typed.keys() | self._model.derived.keys()
        for name, _ in step.fields:
            if name not in known and name in plugins:
                why = "is not declared in this process; install or enable the plugin it came from: "
                why += plugins[name]
            elif name not in known:
                why = f"is not declared in this process; update it.{did_you_mean(name, known)}"
            elif name in self._model.facts:
                why = "is a run-time fact of each process where this one runs; update it"
            else:
                continue
            return f"{step.action} by {step.source!r} ({step.where}): {name!r} {why}"
        return ""


def _told(model: Model) -> tuple[Record, frozenset[str]]:
    """Return a record that says what a configuration was made of, and what it leaves out.

    No digest of it: one would have to be the same on both sides for values of any type, could
    not say which field differs, and would give a short secret away.
    """
    schema = schema_of(model.record_class)
    hidden = frozenset(
        name
        for name in model.secrets & model.typed.keys()
        if not schema.is_default(name, model.typed[name])
    )
    values = {name: "***" if name in hidden else copied(model.typed[name]) for name in model.typed}
    return made_of(model.record_class, values, model.given), hidden


def _plugins_of(model: Model, steps: Iterable[Step]) -> tuple[tuple[str, str], ...]:
    """Return the fields of some changes that plugins declare, each with its plugin."""
    changed = {name for step in steps for name, _ in step.fields}
    source = schema_of(model.record_class).source
    return tuple(
        (field.name, declaration.plugin)
        for declaration in (() if source is None else source())
        if declaration.plugin
        for field in declaration.fields()
        if field.name in changed
    )


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _text(value: object) -> str:
    return "not set" if value is MISSING else text_of(value)
