"""Running resolvers and checks: what is decided for the operator, and what must hold.

Both get read-only views and return an answer; nothing here changes a configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from registry.annotations import arg_of
from registry.derivation import Derivation, DerivedView
from registry.errors import (
    CheckError,
    FactNotSetError,
    ResolutionError,
    UnknownAttributeError,
    did_you_mean,
)
from registry.store import Declaration, DerivedField, InputField
from registry.values import check_values

__all__ = ["Decision", "decide", "enforce"]

Show = Callable[[str, Any], str]


class Decision(NamedTuple):
    """What a resolver decided for one field.

    Attributes:
        value: the value.
        source: the resolver's name.
        where: `file:line` of the resolver.
    """

    value: Any
    source: str
    where: str


class _ResolverView(DerivedView):
    """A view that can also tell what the operator set."""

    __slots__ = ("__given__",)

    def __init__(self, derivation: Derivation, given: Collection[str]) -> None:
        super().__init__(derivation, "return decisions instead: {name: value}")
        object.__setattr__(self, "__given__", given)

    def is_set(self, name: str, /) -> bool:
        """Tell whether the operator set an input field."""
        derivation: Derivation = self.__derivation__
        if name not in derivation.values:
            hint = did_you_mean(name, derivation.values)
            raise UnknownAttributeError(f"view of {derivation.owner}", name, hint)
        given: Collection[str] = self.__given__
        return name in given


def decide(
    owner: str,
    declarations: Iterable[Declaration],
    values: Mapping[str, Any],
    given: Collection[str],
    show: Show,
) -> dict[str, Decision]:
    """Run the resolvers of some declarations, in order.

    Args:
        owner: the record class, for messages.
        declarations: where the resolvers stand.
        values: the values of the input fields, without fallbacks.
        given: the fields that the operator set.
        show: turns a field and its value into text for messages.

    Returns:
        What was decided, by field; the last word on a field stands.

    Raises:
        ResolutionError: a resolver raised, returned something other than decisions, or
            decided a field that is not declared resolvable.
        InvalidValueError: a decision does not fit its field.
    """
    declarations = tuple(declarations)
    inputs = {name: field for each in declarations for name, field in each.inputs.items()}
    derived = {name: field for each in declarations for name, field in each.derived.items()}
    decisions: dict[str, Decision] = {}
    for declaration in declarations:
        for name, mark in declaration.resolvers.items():
            where = declaration.where(name)
            decided = {field: decision.value for field, decision in decisions.items()}
            derivation = Derivation(owner, {**values, **decided}, derived, show)
            try:
                answer = mark.fn(_ResolverView(derivation, given))
            except Exception as error:
                shown = ", ".join(derivation.shown())
                read = f" after reading {shown}" if shown else ""
                problem = f"failed{read}: {type(error).__name__}: {error}"
                raise ResolutionError(where, name, problem) from error
            for field, value in _checked(where, name, answer, inputs, values).items():
                decisions[field] = Decision(value, name, where)
    return decisions


def _checked(
    where: str,
    resolver: str,
    answer: object,
    inputs: Mapping[str, InputField],
    known: Collection[str],
) -> Mapping[str, Any]:
    if answer is None:
        return {}
    if not isinstance(answer, Mapping):
        problem = f"returned {answer!r}; a resolver returns its decisions as {{name: value}}"
        raise ResolutionError(where, resolver, problem)
    for name in answer:
        if name not in inputs or name not in known:
            hint = did_you_mean(str(name), known)
            problem = f"decided {name!r}, which is no input field of the record.{hint}"
            raise ResolutionError(where, resolver, problem)
        arg = arg_of(inputs[name].type)
        if arg is None or not arg.resolvable:
            problem = (
                f"decided {name!r}, which is not declared Arg(resolvable=True) "
                f"({inputs[name].declaration.where(name)})"
            )
            raise ResolutionError(where, resolver, problem)
    check_values(inputs, answer)
    return answer


def enforce(
    owner: str,
    declarations: Iterable[Declaration],
    values: Mapping[str, Any],
    derived: Mapping[str, DerivedField],
    show: Show,
) -> None:
    """Run the checks of some declarations on a finished state.

    Args:
        owner: the record class, for messages.
        declarations: where the checks stand.
        values: all values in effect, derived ones included.
        derived: the derived half, for the run-time facts among it.
        show: turns a field and its value into text for messages.

    Raises:
        CheckError: a check does not hold, or raised. One that needs a run-time fact nobody
            has set yet waits for it.
    """
    for declaration in declarations:
        for name, mark in declaration.checks.items():
            derivation = Derivation(owner, dict(values), derived, show)
            try:
                holds = mark.fn(DerivedView(derivation, "a check only answers"))
                reason = ""
            except FactNotSetError:
                continue
            except Exception as error:
                holds, reason = False, f" ({type(error).__name__}: {error})"
            if not holds:
                shown = derivation.shown() or ["it read nothing"]
                raise CheckError(declaration.where(name), mark.doc + reason, shown)
