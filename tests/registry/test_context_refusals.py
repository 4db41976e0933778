"""A change or a question that makes no sense is refused, and leaves everything as it was."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    CheckError,
    ComposeError,
    Context,
    DerivationCycleError,
    DerivationError,
    InvalidValueError,
    Namespace,
    NotPicklableError,
    OverrideError,
    Registry,
    UnknownFieldError,
    UnknownNamespaceError,
    check,
    compose,
    derived,
)

REGISTRY = Registry("refusals")


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 4
    dp_size: int = 2
    enable_dp_attention: bool = True

    @derived
    def attn_dp_size(cfg) -> int:
        return cfg.dp_size if cfg.enable_dp_attention else 1

    @derived
    def attn_tp_size(cfg) -> int:
        return cfg.tp_size // cfg.attn_dp_size

    @check
    def attention_widths_multiply_to_tp_size(cfg):
        """attn_tp_size * attn_dp_size is tp_size"""
        return cfg.attn_tp_size * cfg.attn_dp_size == cfg.tp_size


class Moe(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.moe"

    ep_size: int = 1
    backend: A[str, Arg(choices=["auto", "triton"])] = "auto"
    chunk: int = 8

    @derived
    def moe_tp_size(cfg) -> int:
        return cfg.tp_size // cfg.ep_size

    @derived
    def chunks(cfg) -> int:
        return 64 // cfg.chunk


Args = compose("Args", registry=REGISTRY)

PLACES = {
    name: declaration.where(name)
    for declaration in REGISTRY.declarations
    for name in (*declaration.inputs, *declaration.derived, *declaration.checks)
}


@pytest.fixture
def context() -> Context:
    return Context(Args())


def everything(context: Context) -> tuple[Any, ...]:
    """All that a change could show in."""
    bags = {path: dict(vars(context.bag(path))) for path in ("parallel", "exec", "exec.moe")}
    return context.resolved(), bags, context.log, context.held()


BROKEN = {
    "an unknown field": (
        {"tp_sise": 8},
        UnknownFieldError,
        KeyError,
        "the configuration has no field 'tp_sise'. Did you mean 'tp_size'?",
    ),
    "a field in another namespace": (
        {"exec.moe.tp_size": 8},
        UnknownFieldError,
        KeyError,
        "the namespace 'exec.moe' has no field 'tp_size'. It is in 'parallel'.",
    ),
    "a namespace": (
        {"exec.moe": 8},
        UnknownFieldError,
        KeyError,
        "the configuration has no field 'exec.moe'. It is the namespace 'exec.moe'; name its "
        "fields, such as ep_size, backend, chunk.",
    ),
    "a sub-namespace": (
        {"moe": 8},
        UnknownFieldError,
        KeyError,
        "the configuration has no field 'moe'. It is the namespace 'exec.moe'; name its "
        "fields, such as ep_size, backend, chunk.",
    ),
    "a namespace of namespaces": (
        {"exec": 8},
        UnknownFieldError,
        KeyError,
        "the configuration has no field 'exec'. It is the namespace 'exec'; name its fields, "
        "such as those of its parts.",
    ),
    "a field in a namespace it is not in": (
        {"parallel.chunk": 2},
        UnknownFieldError,
        KeyError,
        "the namespace 'parallel' has no field 'chunk'. It is in 'exec.moe'.",
    ),
    "one field by two names": (
        {"parallel.dp_size": 4},
        OverrideError,
        ValueError,
        "cannot change 'dp_size': it is given twice, by its name and by its path",
    ),
    "a value of another type": (
        {"tp_size": "8"},
        InvalidValueError,
        TypeError,
        "{tp_size}: tp_size must be int, not '8' (str)",
    ),
    "a value that is no choice": (
        {"backend": "trition"},
        InvalidValueError,
        ValueError,
        "{backend}: backend must be one of auto, triton, not 'trition'. Did you mean 'triton'?",
    ),
    "a pin of another type": (
        {"attn_tp_size": 2.0},
        InvalidValueError,
        TypeError,
        "{attn_tp_size}: attn_tp_size must be int, not 2.0 (float)",
    ),
    "a value that breaks a rule": (
        {"tp_size": 5},
        CheckError,
        ValueError,
        "{attention_widths_multiply_to_tp_size}: attn_tp_size * attn_dp_size is tp_size, but "
        "attn_tp_size=1, attn_dp_size=4, tp_size=5",
    ),
    "a value that a derivation fails on": (
        {"chunk": 0},
        DerivationError,
        ValueError,
        "{chunks}: deriving chunks failed after reading chunk=0: ZeroDivisionError: "
        "integer division or modulo by zero",
    ),
}


@pytest.mark.parametrize(("fields", "error", "base", "message"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("door", ["override", "scoped"])
def test_a_change_with_one_fault_changes_nothing(
    door: str, fields: dict, error: type, base: type, message: str, context: Context
) -> None:
    context.override("before", ep_size=2)
    before = everything(context)
    fields = {"dp_size": 4, **fields, "enable_dp_attention": True}
    with pytest.raises(error) as caught:
        if door == "override":
            context.override("faulty", **fields)
        else:
            with context.scoped(**fields):
                pytest.fail("a scope with a fault must not be entered")
    assert str(caught.value) == message.format(**PLACES)
    assert type(caught.value) is error
    assert isinstance(caught.value, base)
    assert everything(context) == before


def test_a_field_that_is_not_overridden_cannot_be_released(context: Context) -> None:
    before = everything(context)
    with pytest.raises(OverrideError) as caught:
        context.release("tp_size")
    assert str(caught.value) == (
        "cannot change 'tp_size': it is not overridden, there is nothing to release"
    )
    assert everything(context) == before


def test_a_release_that_breaks_a_rule_changes_nothing(context: Context) -> None:
    context.override("scale-up", tp_size=6, dp_size=3)
    before = everything(context)
    with pytest.raises(CheckError):
        context.release("tp_size")
    assert everything(context) == before


def test_derived_fields_that_need_each_other_are_printed_as_a_cycle() -> None:
    class Loop(Parallel, registry=Registry("cycle")):
        @derived
        def one(cfg) -> int:
            return cfg.other

        @derived
        def other(cfg) -> int:
            return cfg.one

    with pytest.raises(DerivationCycleError) as caught:
        Context(compose("Args", [Loop])())
    place = Loop.__ns_registry__.derived["one"].declaration.where("one")
    assert str(caught.value) == f"{place}: derived fields need each other: one -> other -> one"


def test_only_a_record_can_be_given_to_a_context() -> None:
    with pytest.raises(ComposeError) as caught:
        Context({"tp_size": 1})
    assert str(caught.value) == ("Context(): takes an instance of a composed record, not a dict")
    assert isinstance(caught.value, TypeError)


def test_a_namespace_that_does_not_exist_is_answered_with_the_nearest(context: Context) -> None:
    with pytest.raises(UnknownFieldError) as caught:
        context.bag("paralel")
    assert str(caught.value) == (
        "the configuration has no namespace 'paralel'. Did you mean 'parallel'?"
    )


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_context_stays_in_its_process(leave: Callable[..., Any], context: Context) -> None:
    with pytest.raises(NotPicklableError) as caught:
        leave(context)
    assert str(caught.value) == (
        "a context stays in its process, derived values would arrive stale; send the record "
        "and publish or derive it there"
    )
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("source", [3, None, ["me"]])
def test_who_changes_something_is_told_as_text(source: Any, context: Context) -> None:
    with pytest.raises(OverrideError, match="the source, who changes it, is a str, not "):
        context.override(source, tp_size=8)
    assert context.log == ()


@pytest.mark.parametrize("path", [["parallel"], 3, None])
def test_a_namespace_is_asked_for_by_its_path(path: Any, context: Context) -> None:
    with pytest.raises(UnknownNamespaceError, match="the configuration has no namespace"):
        context.bag(path)


def test_a_change_of_nothing_is_none(context: Context) -> None:
    context.override("nobody")
    assert context.log == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        (".tp_size", "the namespace '' has no field 'tp_size'. It is in 'parallel'."),
        (5, "the configuration has no field '5'. A name is a str, no int."),
    ],
)
def test_a_name_that_is_none(name: Any, hint: str, context: Context) -> None:
    for ask in (context.explain, context.release):
        with pytest.raises(UnknownFieldError) as caught:
            ask(name)
        assert str(caught.value) == hint
