"""What a record implies: derived fields, computed from a read-only flat view when first read."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING
from typing import Any, NoReturn

from registry.declaration import View
from registry.errors import (
    DerivationCycleError,
    DerivationError,
    FactNotSetError,
    NotPicklableError,
    ReadOnlyError,
    UnknownAttributeError,
    did_you_mean,
)
from registry.instance import require_record, schema_of
from registry.masking import Mask
from registry.store import DerivedField

__all__ = ["Derivation", "DerivedView", "derive"]


def derive(record: Any) -> View:
    """Return a read-only flat view of a record and of everything it implies.

    Every input field and every derived field is an attribute. A derived field is computed
    when it is first read, once; the view shows the record as it is now, and does not follow
    later changes to it.

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
    return DerivedView(derivation, "change the record and derive again")


class DerivedView:
    """A read-only flat view of a configuration; its dunder slots keep all names free for fields.

    Args:
        derivation: where the values come from.
        advice: what to do instead of assigning to the view.
    """

    __slots__ = ("__advice__", "__derivation__")

    def __init__(self, derivation: Derivation, advice: str) -> None:
        object.__setattr__(self, "__derivation__", derivation)
        object.__setattr__(self, "__advice__", advice)

    def __getattr__(self, name: str) -> Any:
        # Probes of copy, pickle and inspection must not end up in a derivation.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        derivation: Derivation = self.__derivation__
        return derivation.read(name, self)

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


class Derivation:
    """The values behind a view, and the derivations at work on further ones.

    Args:
        owner: the record class, for messages.
        values: the values known so far, by field; what is derived is added to it.
        derived: the derived half.
        secrets: the fields declared secret.
        reads: what those of the values read that are derived.

    Attributes:
        mask: shows values and errors without the secrets in them.
        reads: what each field derived here read, also where it failed, with the value.
        top: what was read from the outside, with the value.
    """

    def __init__(
        self,
        owner: str,
        values: dict[str, Any],
        derived: Mapping[str, DerivedField],
        secrets: Collection[str],
        reads: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        self.owner = owner
        self.values = values
        self.derived = derived
        self.reads: dict[str, dict[str, Any]] = {}
        self.top: dict[str, Any] = {}
        self.mask = Mask(secrets, self.reads, reads or {})
        self._active: list[str] = []
        # The derivations at work are one chain, so a second thread has to wait its turn.
        self._lock = threading.RLock()

    def read(self, name: str, view: DerivedView) -> Any:
        """Return the value of a field and note who read it.

        Args:
            name: the field.
            view: the view it is read through, which derivations are given in turn.
        """
        with self._lock:
            reads = self.reads[self._active[-1]] if self._active else self.top
            reads[name] = MISSING
            reads[name] = value = self._value(name, view)
            return value

    def shown(self, reads: Mapping[str, Any] | None = None) -> list[str]:
        """Return what was read, each as `name=value`; without an argument from the outside."""
        return [
            f"{name}={self.mask.show(name, value)}"
            for name, value in (self.top if reads is None else reads).items()
            if value is not MISSING
        ]

    def _value(self, name: str, view: DerivedView) -> Any:
        if name in self.values:
            return self.values[name]
        entry = self.derived.get(name)
        if entry is None:
            hint = did_you_mean(name, [*self.values, *self.derived])
            raise UnknownAttributeError(f"view of {self.owner}", name, hint)
        if entry.derived.fn is None:
            if entry.default is MISSING:
                advice = "only the process that knows it can set it, once it is published there"
                raise FactNotSetError(name, entry.declaration.where(name), advice)
            return entry.default
        if name in self._active:
            cycle = [*self._active[self._active.index(name) :], name]
            raise DerivationCycleError(cycle, entry.declaration.where(name))
        self.values[name] = value = self._compute(entry, view)
        return value

    def _compute(self, entry: DerivedField, view: DerivedView) -> Any:
        reads = self.reads[entry.name] = {}
        self._active.append(entry.name)
        try:
            function: Any = entry.derived.function()
            return function(view)
        except (DerivationError, FactNotSetError):
            raise
        except Exception as error:
            told, cause = self.mask.told(error, self.values)
            where = entry.declaration.where(entry.name)
            raise DerivationError(entry.name, where, self.shown(reads), told) from cause
        finally:
            self._active.pop()
