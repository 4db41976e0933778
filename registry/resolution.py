"""Running resolvers and checks: what is decided for the operator, and what must hold.

Both get read-only views and return an answer; nothing here changes a configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING
from typing import Any, NamedTuple

from registry.derivation import Derivation
from registry.equality import copied
from registry.errors import (
    CheckError,
    FactNotSetError,
    ResolutionError,
    UnknownFieldError,
    did_you_mean,
)
from registry.masking import text_of
from registry.rules import Resolver
from registry.store import Declaration, InputField, Registry
from registry.values import check_values
from registry.view import DerivedView, close

__all__ = ["Decision", "decide", "enforce"]


class Decision(NamedTuple):
    """What a resolver decided for one field.

    Attributes:
        value: the value.
        source: the resolver's name.
        where: `file:line` of the resolver.
        reads: what the resolver read.
    """

    value: Any
    source: str
    where: str
    reads: Collection[str] = ()


class _ResolverView(DerivedView):
    """A view that can also tell what the operator set."""

    __slots__ = ("__given__", "__inputs__")

    def __init__(
        self, derivation: Derivation, inputs: Collection[str], given: Collection[str]
    ) -> None:
        super().__init__(derivation, "return decisions instead: {name: value}")
        object.__setattr__(self, "__inputs__", inputs)
        object.__setattr__(self, "__given__", given)

    def is_set(self, name: str, /) -> bool:
        """Tell whether the operator set an input field."""
        inputs: Collection[str] = self.__inputs__
        given: Collection[str] = self.__given__
        if name not in inputs:
            raise UnknownFieldError("the record", name, did_you_mean(str(name), inputs))
        return name in given


def decide(
    owner: str,
    declarations: Iterable[Declaration],
    values: Mapping[str, Any],
    given: Collection[str],
    secrets: Collection[str],
) -> dict[str, Decision]:
    """Run the resolvers of some declarations, in registration order.

    Args:
        owner: the record class, for messages.
        declarations: where the resolvers stand.
        values: the values of the input fields, without fallbacks.
        given: the fields that the operator set.
        secrets: the fields that messages must not show.

    Returns:
        What was decided, by field; the last word on a field stands.

    Raises:
        ResolutionError: a resolver raised, returned something other than decisions, or
            decided a field that is not declared resolvable.
        InvalidValueError: a decision does not fit its field.
    """
    declarations = _in_registration_order(declarations)
    inputs = {name: field for each in declarations for name, field in each.inputs.items()}
    derived = {name: field for each in declarations for name, field in each.derived.items()}
    decisions: dict[str, Decision] = {}
    made_of: dict[str, Collection[str]] = {}
    covered = set(secrets)
    values = dict(values)
    for declaration in declarations:
        for name, mark in declaration.resolvers.items():
            where = declaration.where(name)
            derivation = Derivation(owner, values, derived, secrets, made_of)
            view = _ResolverView(derivation, values, given)
            answer = _answer(where, name, mark, derivation, view)
            read = dict(view.__reads__)
            for through in derivation.reads.values():
                read |= through
            hidden = any(
                each in covered and value is not None and value is not MISSING
                for each, value in read.items()
            )
            _check(where, name, answer, inputs, derived, values, hidden)
            for field, value in answer.items():
                values[field] = value = copied(value)
                decisions[field] = Decision(value, name, where, frozenset(read))
                made_of[field] = read.keys()
                if not covered.isdisjoint(read):
                    covered.add(field)
    return decisions


def _answer(
    where: str, name: str, mark: Resolver, derivation: Derivation, view: _ResolverView
) -> Mapping[str, Any]:
    """Return what a resolver decides."""
    try:
        answer = mark.fn(view)
        if answer is None:
            return {}
        if isinstance(answer, Mapping):
            return dict(answer)
        kind = type(answer).__name__
        problem = f"returned a value of type {kind}; a resolver returns {{name: value}} or None"
        cause: Exception | None = None
    except Exception as error:
        read = ", ".join(derivation.shown(view))
        told, cause = derivation.told(error, view)
        problem = f"failed{read and ' after reading '}{read}: {told}"
    finally:
        close(view)
    # Not inside of the handler: the error would be part of what is raised, secrets included.
    raise ResolutionError(where, name, problem) from cause


def _in_registration_order(declarations: Iterable[Declaration]) -> list[Declaration]:
    """Sort declarations as they were registered, whatever the order they were composed in."""
    given = list(declarations)
    registries: list[Registry] = list(dict.fromkeys(each.cls.__ns_registry__ for each in given))  # type: ignore[attr-defined]
    registered = [each for registry in registries for each in registry.declarations]
    # One that has been run again since is not there; it comes last.
    known = {each: at for at, each in enumerate(registered)}
    return sorted(given, key=lambda each: known.get(each, len(known)))


def _check(
    where: str,
    resolver: str,
    answer: Mapping[str, Any],
    inputs: Mapping[str, InputField],
    derived: Collection[str],
    known: Collection[str],
    hidden: bool,
) -> None:
    """Refuse what a resolver may not decide; hidden decisions are not shown."""
    for name in answer:
        if name not in inputs or name not in known:
            shown = "***" if hidden else text_of(name)
            hint = "" if hidden else did_you_mean(str(name), inputs.keys() & set(known))
            if name in derived and not hidden:
                hint = " It is derived: decide what it is derived from."
            problem = f"decided {shown}, which is no input field of the record.{hint}"
            raise ResolutionError(where, resolver, problem)
        arg = inputs[name].arg
        if arg is None or not arg.resolvable:
            problem = (
                f"decided {name!r}, which is not declared Arg(resolvable=True) "
                f"({inputs[name].declaration.where(name)})"
            )
            raise ResolutionError(where, resolver, problem)
    check_values(inputs, answer, hidden=hidden)


def enforce(derivation: Derivation, declarations: Iterable[Declaration]) -> None:
    """Run the checks of some declarations on a finished state.

    Args:
        derivation: all values in effect, derived ones included.
        declarations: where the checks stand.

    Raises:
        CheckError: a check does not hold, or raised. One that needs a run-time fact nobody
            has set yet waits for it.
    """
    for declaration in declarations:
        for name, mark in declaration.checks.items():
            view = derivation.view("a check only answers")
            rule, cause = mark.doc, None
            try:
                if _holds(mark.fn(view)):
                    continue
            except FactNotSetError:
                continue
            except Exception as error:
                told, cause = derivation.told(error, view)
                rule += f" ({told})"
            finally:
                close(view)
            shown = derivation.shown(view) or ["it read nothing"]
            raise CheckError(declaration.where(name), rule, shown) from cause


def _holds(answer: object) -> bool:
    if answer is None:
        raise TypeError("it returned None; a check returns whether its rule holds")
    return bool(answer)
