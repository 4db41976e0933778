"""Elastic scale-up, worked through: every width follows, the record stays, a joiner agrees."""

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from types import ModuleType

import pytest

from registry import CheckError, Context

SOURCE = """
    import pickle

    from registry import Namespace, Registry, check, compose, derived, live, publish, reset

    class Parallel(Namespace, registry=Registry("elastic")):
        _NS_PATH = "parallel"

        tp_size: int = 1
        dp_size: int = 1
        ep_size: int = 1

        @derived
        def attn_dp_size(cfg) -> int:
            return cfg.dp_size

        @derived
        def attn_tp_size(cfg) -> int:
            return cfg.tp_size // cfg.attn_dp_size

        @derived
        def moe_tp_size(cfg) -> int:
            return cfg.tp_size // cfg.ep_size

        @check
        def attention_fills_the_ranks(cfg):
            "attn_tp_size * attn_dp_size is tp_size"
            return cfg.attn_tp_size * cfg.attn_dp_size == cfg.tp_size

    Args = compose("Args", [Parallel])

    def widths():
        parallel = live.parallel
        return parallel.attn_tp_size, parallel.attn_dp_size, parallel.moe_tp_size

    def join(pickled, change):
        context = publish(pickle.loads(pickled), role="joiner")
        context.override("scale-up", **change)
        found = widths(), context.log[0].fields
        reset()
        return found
"""
STEPS = [
    ({"dp_size": 2, "tp_size": 4}, (2, 2, 4)),
    ({"dp_size": 3, "tp_size": 6}, (2, 3, 6)),
    ({"dp_size": 4, "tp_size": 8}, (2, 4, 8)),
]


@pytest.fixture
def elastic(module_from: Callable[..., ModuleType]) -> ModuleType:
    return module_from(SOURCE)


def test_each_step_moves_every_width_at_once_and_a_joiner_gets_the_same(
    elastic: ModuleType,
) -> None:
    record = elastic.Args(dp_size=1, tp_size=2)
    pickled = pickle.dumps(record)
    context = elastic.publish(record)
    try:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            for change, widths in STEPS:
                context.override("scale-up", **change)
                assert elastic.widths() == widths
                fields = {name: str(value) for name, value in change.items()}
                assert pool.submit(elastic.join, pickled, change).result(60) == (widths, fields)
                assert pickle.dumps(record) == pickled
        assert record == elastic.Args(dp_size=1, tp_size=2)
    finally:
        elastic.reset()


def test_half_a_step_is_refused_and_leaves_the_widths(elastic: ModuleType) -> None:
    context = Context(elastic.Args(dp_size=2, tp_size=4))
    with pytest.raises(CheckError) as caught:
        context.override("typo", dp_size=3)
    place = elastic.Parallel.__ns_declaration__.where("attention_fills_the_ranks")
    assert str(caught.value) == (
        f"{place}: attn_tp_size * attn_dp_size is tp_size, but "
        "attn_tp_size=1, attn_dp_size=3, tp_size=4"
    )
    assert context.bag("parallel").attn_tp_size == 2
    assert context.log == ()


def test_a_stated_width_is_pinned_until_it_is_released(elastic: ModuleType) -> None:
    context = Context(elastic.Args(dp_size=2, tp_size=4))
    context.override("planner", attn_dp_size=4, tp_size=8)
    parallel = context.bag("parallel")
    assert (parallel.dp_size, parallel.attn_dp_size, parallel.attn_tp_size) == (2, 4, 2)
    context.override("operator", dp_size=8)
    assert (parallel.attn_dp_size, parallel.attn_tp_size) == (4, 2)
    context.release("attn_dp_size")
    assert (parallel.attn_dp_size, parallel.attn_tp_size) == (8, 1)
