"""A live configuration follows every change, all or nothing, and says who made it."""

import dataclasses
import inspect
import pickle
from collections.abc import Iterator

import pytest

from registry import (
    A,
    Arg,
    Context,
    DerivationError,
    Namespace,
    Registry,
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


def test_a_field_without_a_value_yet_is_left_out() -> None:
    @dataclasses.dataclass
    class Sub(Args):
        later: int = dataclasses.field(init=False)
        tag: str = "none"

    record = Sub(tp_size=8)
    assert Context(record).resolved().keys() == {*Context(Args()).resolved(), "tag"}
    record.later = 3
    assert Context(record).resolved()["later"] == 3
    assert not Context(Sub()).shows(record)


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


def test_only_what_depends_on_the_change_is_computed_again(context: Context) -> None:
    context.override("tune", chunk=16)
    assert CALLS == ["chunks"]
    CALLS.clear()
    context.override("scale-up", tp_size=8, dp_size=4)
    assert sorted(CALLS) == ["attn_dp_size", "attn_tp_size", "moe_tp_size"]
    CALLS.clear()
    context.override("tune", backend="triton")
    context.override("the same again", tp_size=8)
    assert CALLS == []


def test_dependencies_are_what_a_derivation_reads_this_time(context: Context) -> None:
    context.override("one replica", enable_dp_attention=False)
    CALLS.clear()
    context.override("unread by now", dp_size=4)
    assert CALLS == []
    context.override("two branches", enable_dp_attention=True)
    assert context.bag("parallel").attn_dp_size == 4
    CALLS.clear()
    context.override("read again", dp_size=2)
    assert sorted(CALLS) == ["attn_dp_size", "attn_tp_size"]
    assert context.bag("parallel").attn_tp_size == 2


def test_an_overridden_derived_field_is_pinned_and_what_depends_on_it_follows(
    context: Context,
) -> None:
    parallel = context.bag("parallel")
    context.override("elastic", attn_dp_size=4)
    assert (parallel.attn_dp_size, parallel.attn_tp_size) == (4, 1)
    CALLS.clear()
    context.override("no matter", dp_size=1)
    assert (parallel.attn_dp_size, parallel.attn_tp_size) == (4, 1)
    assert CALLS == []
    context.release("attn_dp_size")
    assert (parallel.attn_dp_size, parallel.attn_tp_size) == (1, 4)


def test_a_released_input_field_has_its_value_of_before(context: Context) -> None:
    context.override("tune", tp_size=8)
    context.override("tune more", tp_size=16)
    context.release("parallel.tp_size", source="undo")
    assert context.bag("parallel").tp_size == 4
    assert context.bag("exec.moe").moe_tp_size == 4


def test_the_log_says_who_changed_what_and_where(context: Context) -> None:
    context.override("scale-up", tp_size=8, dp_size=4)
    context.release("dp_size", source="undo")
    line = inspect.currentframe().f_lineno
    assert context.log == (
        ("override", "scale-up", f"{__file__}:{line - 2}", {"tp_size": "8", "dp_size": "4"}),
        ("release", "undo", f"{__file__}:{line - 1}", {"dp_size": "2"}),
    )


def test_a_derivation_cannot_change_what_it_is_derived_from() -> None:
    contexts: list[Context] = []

    class Meddling(Namespace, registry=Registry("meddling")):
        _NS_PATH = "meddling"
        width: int = 1
        height: int = 1

        @derived
        def area(cfg) -> int:
            for context in contexts:
                context.override("meddling", height=2)
            return cfg.width * cfg.height

    contexts.append(context := Context(compose("Args", [Meddling])()))
    with pytest.raises(DerivationError) as caught:
        context.override("operator", width=2)
    assert caught.value.cause == (
        "OverrideError: cannot change 'height': a derivation or check only reads; it is part of "
        "a change at work"
    )
    assert context.resolved() == {"width": 1, "height": 1, "area": 1}
    assert context.log == ()
    contexts.clear()
    context.override("operator", width=2)
    assert context.resolved()["area"] == 2


def test_repr_says_of_what_and_as_what() -> None:
    assert repr(Context(Args())) == "<context of Args>"
    assert repr(Context(Args(), role="scheduler")) == "<context of Args as scheduler>"
