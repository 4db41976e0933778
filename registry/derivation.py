"""What a record implies: derived fields, computed from a read-only flat view when first read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple, NoReturn

from registry.declaration import View
from registry.equality import is_same
from registry.errors import (
    DerivationCycleError,
    DerivationError,
    FactNotSetError,
    NotPicklableError,
    NotPublishedError,
    ReadOnlyError,
    UnknownAttributeError,
    did_you_mean,
)
from registry.instance import require_record, schema_of
from registry.masking import Mask
from registry.store import DerivedField

__all__ = ["Before", "Derivation", "DerivedView", "derive"]


def derive(record: Any) -> View:
    """Return a read-only flat view of a record and of everything it implies.

    Every input field and every derived field is an attribute. A derived field is computed
    when it is first read, once (threads that read it at the same time may each compute it, and
    all get the value of the first that is done); the view shows the record as it is now, and
    does not follow later changes to it.

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
    values = {name: getattr(record, name) for name in schema.names}
    derived = {
        name: field for each in schema.declarations() for name, field in each.derived.items()
    }
    derivation = Derivation(type(record).__qualname__, values, derived, schema.secrets)
    return derivation.view("change the record and derive again")


class DerivedView:
    """A read-only flat view of a configuration; its dunder slots keep all names free for fields.

    Every derivation is given a view of its own, which notes what it reads, from whatever thread.

    Args:
        derivation: where the values come from.
        advice: what to do instead of assigning to the view.
        within: the derived fields that are being computed and need what is read here.
    """

    __slots__ = ("__advice__", "__derivation__", "__reads__", "__within__")

    def __init__(self, derivation: Derivation, advice: str, within: tuple[str, ...] = ()) -> None:
        object.__setattr__(self, "__derivation__", derivation)
        object.__setattr__(self, "__advice__", advice)
        object.__setattr__(self, "__within__", within)
        object.__setattr__(self, "__reads__", {})

    def __getattr__(self, name: str) -> Any:
        # Probes of copy, pickle and inspection must not end up in a derivation.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        reads: dict[str, Any] = self.__reads__
        derivation: Derivation = self.__derivation__
        reads[name] = MISSING
        reads[name] = value = derivation.value(name, self.__within__)
        return value

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError("the view of a configuration", name, self.__advice__)

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError("the view of a configuration", name, self.__advice__)

    def __dir__(self) -> list[str]:
        derivation: Derivation = self.__derivation__
        return sorted({*derivation.values, *derivation.derived})

    def __repr__(self) -> str:
        derivation: Derivation = self.__derivation__
        return f"<what a {derivation.owner} implies>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise NotPicklableError("the view of a configuration")


class Before(NamedTuple):
    """What derived fields were before a change, and what changed.

    Attributes:
        values: their values, by field.
        reads: what each of them read, with the value.
        changed: the fields given another value, or one that may be another inside.
    """

    values: Mapping[str, Any]
    reads: Mapping[str, Mapping[str, Any]]
    changed: Collection[str]


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
        self._secrets = secrets
        self._known_reads = known_reads or {}
        self._before = before or Before({}, {}, ())

    @property
    def mask(self) -> Mask:
        """Shows values and errors without the secrets in them."""
        return Mask(self._secrets, {**self._known_reads, **self.reads})

    def view(self, advice: str) -> DerivedView:
        """Return a view for reading from the outside."""
        return DerivedView(self, advice)

    def value(self, name: str, within: tuple[str, ...] = ()) -> Any:
        """Return the value of a field.

        Args:
            name: the field.
            within: the derived fields that are being computed and need it.
        """
        if name in self.values:
            return self.values[name]
        if name in self.computed:
            return self.computed[name]
        entry = self.derived.get(name)
        if entry is None:
            hint = did_you_mean(name, [*self.values, *self.derived])
            raise UnknownAttributeError(f"view of {self.owner}", name, hint)
        if entry.derived.fn is None:
            if entry.default is MISSING:
                advice = "only the process that knows it can set it, once it is published there"
                raise FactNotSetError(name, entry.declaration.where(name), advice)
            return entry.default
        if name in within:
            cycle = [*within[within.index(name) :], name]
            raise DerivationCycleError(cycle, entry.declaration.where(name))
        within = (*within, name)
        kept = self._is_as_before(name, within)
        value = self._before.values[name] if kept else self._compute(entry, within)
        return self.computed.setdefault(name, value)

    def shown(self, view: DerivedView) -> list[str]:
        """Return what was read through a view, each as `name=value`."""
        mask, reads = self.mask, view.__reads__
        return [
            f"{name}={mask.show(name, value)}"
            for name, value in reads.items()
            if value is not MISSING
        ]

    def told(self, error: Exception, view: DerivedView) -> tuple[str, Exception | None]:
        """Retell an error of someone who read through a view, as `Mask.told`."""
        return self.mask.told(error, view.__reads__, {**self.values, **self.computed})

    def _is_as_before(self, name: str, within: tuple[str, ...]) -> bool:
        """Tell whether a derived field would read what it read before, and so be the same."""
        if name not in self._before.values:
            return False
        try:
            # In the order of reading: what it reads later may follow from what it read first.
            return all(
                read not in self._before.changed and is_same(self.value(read, within), value)
                for read, value in self._before.reads[name].items()
            )
        except Exception:
            return False  # computing it meets the same error and reports it

    def _compute(self, entry: DerivedField, within: tuple[str, ...]) -> Any:
        view = DerivedView(self, "a derivation only returns its value", within)
        reads = self.reads[entry.name] = view.__reads__
        try:
            function: Any = entry.derived.function()
            return function(view)
        except DerivationError:
            raise
        except Exception as error:
            waits = any(value is MISSING for value in reads.values())
            if isinstance(error, FactNotSetError) and waits:
                raise
            told, cause = self.told(error, view)
            if isinstance(error, FactNotSetError | NotPublishedError):
                told += "; a derivation reads everything through the view that it is given"
            elif isinstance(error, RecursionError):
                told += f"; {len(within)} derived fields need each other: {' -> '.join(within[:3])}"
                told += " ...; declare what is read above what reads it"
            where = entry.declaration.where(entry.name)
            raise DerivationError(entry.name, where, self.shown(view), told) from cause
