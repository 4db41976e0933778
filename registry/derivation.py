"""What a record implies: derived fields, computed from a read-only flat view when first read."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple, TypeVar

from registry.declaration import View
from registry.equality import copied, is_fixed, is_same
from registry.errors import (
    DerivationCycleError,
    DerivationError,
    FactNotSetError,
    NotPublishedError,
    UnknownAttributeError,
    did_you_mean,
)
from registry.instance import require_record, schema_of
from registry.masking import Mask
from registry.store import DerivedField
from registry.view import DerivedView, close

__all__ = ["Before", "Derivation", "derive"]


def derive(record: Any) -> View:
    """Return a read-only flat view of a record and of everything it implies.

    Every input field and every derived field is an attribute. A derived field is computed
    when it is first read, once, errors included (threads that read it at the same time may each
    compute it, and all get the value of the first that is done). The view shows the record as
    it is now and does not follow later changes to it. Resolvers and checks are for published
    records: what they decide or refuse does not show here.

    Args:
        record: an instance of a composed class.

    Returns:
        The view. Reading from it raises DerivationError where a derivation fails,
        DerivationCycleError where derived fields need each other, FactNotSetError for a
        run-time fact without a default, and UnknownAttributeError (an AttributeError) for a
        name that is no field. Assigning raises ReadOnlyError.

    Raises:
        TypeError: `record` is no composed record, or its declarations are not in this
            process (as ComposeError).

    Example:
        >>> from registry import Namespace, Registry, compose, derived
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        ...     dp_size: int = 1
        ...     @derived
        ...     def attn_tp_size(cfg) -> int:
        ...         "Attention tensor-parallel width in ranks."
        ...         return cfg.tp_size // cfg.dp_size
        >>> derive(compose("Args", [Parallel])(tp_size=8, dp_size=2)).attn_tp_size
        4
    """
    require_record(record, "derive()")
    schema = schema_of(type(record))
    values = {name: copied(getattr(record, name)) for name in schema.names}
    derived = {
        name: field for each in schema.declarations() for name, field in each.derived.items()
    }
    derivation = Derivation(type(record).__qualname__, values, derived, schema.secrets)
    return derivation.view("change the record and derive again")


class Before(NamedTuple):
    """What derived fields were before a change, and what changed.

    Attributes:
        values: their values, by field.
        reads: what each of them read, with the value.
        changed: the fields given another value, or one that may be another inside.
        others: values of before and below, by field, of which an error may speak.
    """

    values: Mapping[str, Any]
    reads: Mapping[str, Mapping[str, Any]]
    changed: Collection[str]
    others: Iterable[Mapping[str, Any]]


class Derivation:
    """The values behind a view, computed where they are derived.

    Args:
        owner: the record class, for messages.
        values: the values that are known, by field.
        derived: the derived half.
        secrets: the fields declared secret.
        known_reads: what those of the values that are derived or decided were made of.
        before: what to keep of the derived fields that read what they read before.

    Attributes:
        computed: the derived values, by field, that were computed or kept.
        reads: what each of them read, also where it failed, with the value.
        failed: why the others cannot be computed, by field.
    """

    def __init__(
        self,
        owner: str,
        values: Mapping[str, Any],
        derived: Mapping[str, DerivedField],
        secrets: Collection[str],
        known_reads: Mapping[str, Iterable[str]] | None = None,
        before: Before | None = None,
    ) -> None:
        self.owner = owner
        self.values = values
        self.derived = derived
        self.computed: dict[str, Any] = {}
        self.reads: dict[str, dict[str, Any]] = {}
        self.failed: dict[str, DerivationError | FactNotSetError] = {}
        self._secrets = secrets
        self._known_reads = known_reads or {}
        self._before = before or Before({}, {}, (), ())

    @property
    def mask(self) -> Mask:
        """Shows values and errors without the secrets in them."""
        return Mask(self._secrets, {**self._known_reads, **self.reads})

    def view(self, advice: str) -> DerivedView:
        """Return a view for reading from the outside."""
        return DerivedView(self, advice)

    def names(self) -> Iterable[str]:
        """Return the names of all fields."""
        return {*self.values, *self.derived}

    def value(self, name: str, within: tuple[str, ...] = ()) -> Any:
        """Return the value of a field; one that failed fails again in the same way.

        Args:
            name: the field.
            within: the derived fields that are being computed and need it.
        """
        if name in self.values:
            return self.values[name]
        if name in self.computed:
            return self.computed[name]
        if name in self.failed:
            raise _again(self.failed[name])
        entry = self.derived.get(name)
        if entry is None:
            hint = did_you_mean(name, self.names())
            hint = " Only the view of a resolver has it." if name == "is_set" else hint
            raise UnknownAttributeError(f"view of {self.owner}", name, hint)
        if entry.derived.fn is None:
            if entry.default is MISSING:
                advice = "only the process that knows it can set it, once it is published there"
                raise FactNotSetError(name, entry.declaration.where(name), advice)
            return copied(entry.default)
        if name in within:
            cycle = within[within.index(name) :]
            error = DerivationCycleError([*cycle, name], entry.declaration.where(name))
            self.failed.update(dict.fromkeys(cycle, error))
            raise error
        within = (*within, name)
        try:
            kept = self._is_as_before(name, within)
            value = self._before.values[name] if kept else self._compute(entry, within)
        except (DerivationError, FactNotSetError) as error:
            self.failed.setdefault(name, error)
            raise
        if name in self.failed:  # it is part of a cycle, and went on as if it were not
            raise _again(self.failed[name])
        return self.computed.setdefault(name, value)

    def shown(self, view: DerivedView) -> list[str]:
        """Return what was read through a view, each as `name=value`."""
        mask = self.mask
        return [
            f"{name}={mask.show(name, value)}"
            for name, value in view.__reads__.items()
            if value is not MISSING
        ]

    def told(self, error: Exception, view: DerivedView) -> tuple[str, Exception | None]:
        """Retell an error of someone who read through a view, as `Mask.told`."""
        values = (self.values, self.computed, *self._before.others)
        return self.mask.told(error, view.__reads__, *values)

    def _is_as_before(self, name: str, within: tuple[str, ...]) -> bool:
        """Tell whether a derived field would read what it read before, and so be the same."""
        if name not in self._before.values:
            return False
        try:
            # In the order of reading: what it reads later may follow from what it read first.
            return all(
                self._reads_again(read, value, within)
                for read, value in self._before.reads[name].items()
            )
        except Exception:
            return False  # computing it meets the same error, which is remembered

    def _reads_again(self, name: str, before: Any, within: tuple[str, ...]) -> bool:
        """Tell whether a field has the value that was read before."""
        if name in self._before.changed:
            return False
        value = self.value(name, within)
        # The same object out of a derivation that ran again may be another inside.
        is_suspect = value is before and name in self.reads and not is_fixed(value)
        return is_same(value, before) and not is_suspect

    def _compute(self, entry: DerivedField, within: tuple[str, ...]) -> Any:
        view = DerivedView(self, "a derivation only returns its value", within)
        reads = self.reads[entry.name] = view.__reads__
        try:
            function: Any = entry.derived.function()
            return function(view)
        except (DerivationError, FactNotSetError) as error:
            waits = any(value is MISSING for value in reads.values())
            if isinstance(error, DerivationError) or waits:
                if self.mask.taints(reads):
                    # What it was doing when this came up may speak of the secret.
                    error.__cause__ = error.__context__ = None
                raise
            failure: Exception = error
        except Exception as error:
            failure = error
        finally:
            close(view)
        # Not inside of the handler: the failure would be part of what is raised.
        raise self._error_of(entry, within, view, failure)

    def _error_of(
        self, entry: DerivedField, within: tuple[str, ...], view: DerivedView, failure: Exception
    ) -> DerivationError:
        told, cause = self.told(failure, view)
        if isinstance(failure, FactNotSetError | NotPublishedError):
            told += "; a derivation reads everything through the view that it is given"
        elif isinstance(failure, RecursionError):
            told += f"; {len(within)} derived fields need each other: {' -> '.join(within[:3])}"
            told += " ...; declare what is read above what reads it"
        where = entry.declaration.where(entry.name)
        error = DerivationError(entry.name, where, self.shown(view), told)
        error.__cause__ = cause
        return error


E = TypeVar("E", bound=Exception)


def _again(error: E) -> E:
    """Return an error to raise once more, without what came up around it the first time."""
    again = copy.copy(error)
    again.__cause__ = error.__cause__
    return again
