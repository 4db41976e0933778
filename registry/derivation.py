"""What a record implies: derived fields, computed from a read-only flat view when first read."""

from __future__ import annotations

import reprlib
import threading
from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any, NoReturn

from registry.declaration import View
from registry.errors import (
    ComposeError,
    DerivationCycleError,
    DerivationError,
    FactNotSetError,
    ReadOnlyError,
    UnknownAttributeError,
    did_you_mean,
)
from registry.instance import Record, schema_of
from registry.store import DerivedField

__all__ = ["derive"]


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
    if not isinstance(record, Record):
        what = f"the class {record.__qualname__}" if isinstance(record, type) else repr(record)
        raise ComposeError("derive()", f"takes an instance of a composed record, not {what}")
    schema = schema_of(type(record))
    if schema.derived is None:
        raise ComposeError(
            type(record).__qualname__,
            "was pickled by value, and its derived fields did not come along; "
            "put its declarations in a module that both processes import",
        )
    values = {name: getattr(record, name) for name in schema.names}
    return _DerivedView(_Derivation(type(record).__qualname__, values, schema.derived()))


class _DerivedView:
    """The view that `derive()` returns; it has one slot, so all other names are free for fields."""

    __slots__ = ("__derivation__",)

    def __init__(self, derivation: _Derivation) -> None:
        object.__setattr__(self, "__derivation__", derivation)

    def __getattr__(self, name: str) -> Any:
        # Probes of copy, pickle and inspection must not end up in a derivation.
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        derivation: _Derivation = self.__derivation__
        return derivation.read(name, self)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise ReadOnlyError("the view of a configuration", name, _CHANGE)

    def __delattr__(self, name: str) -> NoReturn:
        raise ReadOnlyError("the view of a configuration", name, _CHANGE)

    def __dir__(self) -> list[str]:
        derivation: _Derivation = self.__derivation__
        return sorted({*derivation.values, *derivation.derived})

    def __repr__(self) -> str:
        derivation: _Derivation = self.__derivation__
        return f"<what a {derivation.owner} implies>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ComposeError(
            "the view of a configuration",
            "does not travel, since derived values would arrive stale; send the record and "
            "derive there",
        )


_CHANGE = "change the record and derive again"


class _Derivation:
    """The values behind a view, and the derivations at work on further ones."""

    def __init__(
        self, owner: str, values: dict[str, Any], derived: Mapping[str, DerivedField]
    ) -> None:
        self.owner = owner
        self.values = values
        self.derived = derived
        self._reads: dict[str, dict[str, Any]] = {}
        # The derivations at work are one chain, so a second thread has to wait its turn.
        self._lock = threading.RLock()

    def read(self, name: str, view: _DerivedView) -> Any:
        with self._lock:
            value = self._value(name, view)
            if self._reads:
                reader = next(reversed(self._reads))
                self._reads[reader][name] = value
            return value

    def _value(self, name: str, view: _DerivedView) -> Any:
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
        if name in self._reads:
            chain = list(self._reads)
            cycle = [*chain[chain.index(name) :], name]
            raise DerivationCycleError(cycle, entry.declaration.where(name))
        self.values[name] = value = self._compute(entry, view)
        return value

    def _compute(self, entry: DerivedField, view: _DerivedView) -> Any:
        reads = self._reads[entry.name] = {}
        try:
            function = entry.derived.function()
            assert function is not None
            return function(view)
        except (DerivationError, FactNotSetError):
            raise
        except Exception as error:
            shown = [f"{name}={reprlib.repr(value)}" for name, value in reads.items()]
            cause = f"{type(error).__name__}: {error}"
            where = entry.declaration.where(entry.name)
            raise DerivationError(entry.name, where, shown, cause) from error
        finally:
            del self._reads[entry.name]
