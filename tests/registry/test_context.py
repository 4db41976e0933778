"""A live configuration follows every change, all or nothing, and says who made it."""

import pickle
from collections.abc import Iterator
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
    check,
    compose,
    derived,
)

REGISTRY = Registry("context")
CALLS: list[str] = []


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 4
    dp_size: int = 2
    enable_dp_attention: bool = True

    @derived
    def attn_dp_size(cfg) -> int:
        CALLS.append("attn_dp_size")
        return cfg.dp_size if cfg.enable_dp_attention else 1

    @derived
    def attn_tp_size(cfg) -> int:
        CALLS.append("attn_tp_size")
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
        CALLS.append("moe_tp_size")
        return cfg.tp_size // cfg.ep_size

    @derived
    def chunks(cfg) -> int:
        CALLS.append("chunks")
        return 64 // cfg.chunk


Args = compose("Args", registry=REGISTRY)


@pytest.fixture
def context() -> Iterator[Context]:
    context = Context(Args())
    CALLS.clear()
    return context


def where(name: str) -> str:
    """The place of a field or rule, as messages give it."""
    for declaration in REGISTRY.declarations:
        if name in (*declaration.inputs, *declaration.derived, *declaration.checks):
            return declaration.where(name)
    raise LookupError(name)


def everything(context: Context) -> tuple[Any, ...]:
    """All that a change could show in."""
    bags = {path: dict(vars(context.bag(path))) for path in ("parallel", "exec", "exec.moe")}
    return context.resolved(), bags, context.log, context.overridden()


def test_a_context_holds_what_is_set_and_what_is_derived(context: Context) -> None:
    assert context.bag("parallel").attn_tp_size == 2
    assert context.bag("exec").moe is context.bag("exec.moe")
    assert context.resolved() == {
        "tp_size": 4,
        "dp_size": 2,
        "enable_dp_attention": True,
        "ep_size": 1,
        "backend": "auto",
        "chunk": 8,
        "attn_dp_size": 2,
        "attn_tp_size": 2,
        "moe_tp_size": 4,
        "chunks": 8,
    }


def test_an_override_changes_several_fields_in_one_step(context: Context) -> None:
    parallel = context.bag("parallel")
    context.override("scale-up", tp_size=6, dp_size=3)
    assert (parallel.tp_size, parallel.dp_size, parallel.attn_tp_size) == (6, 3, 2)
    assert context.bag("exec.moe").moe_tp_size == 6


def test_a_dotted_path_names_a_field_too(context: Context) -> None:
    context.override("tune", **{"exec.moe.ep_size": 2, "parallel.tp_size": 8})
    assert context.bag("exec.moe").moe_tp_size == 4


def test_the_record_and_its_pickle_stay_as_the_operator_typed_them() -> None:
    record = Args(tp_size=8)
    pickled = pickle.dumps(record)
    context = Context(record)
    context.override("scale-up", tp_size=16, dp_size=4)
    assert pickle.dumps(record) == pickled
    assert record == Args(tp_size=8)
    assert context.record is record
