"""A scope changes the configuration for a block and leaves it exactly as it was."""

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    CheckError,
    Context,
    Derived,
    FactNotSetError,
    Namespace,
    OverrideError,
    Registry,
    check,
    compose,
    derived,
)

REGISTRY = Registry("scopes")


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 4
    dp_size: int = 2
    tp_rank = Derived(type=int)

    @derived
    def widths(cfg) -> list[int]:
        return [cfg.dp_size] * cfg.attn_tp_size

    @derived
    def attn_tp_size(cfg) -> int:
        return cfg.tp_size // cfg.dp_size

    @derived
    def last(cfg) -> bool:
        return cfg.tp_rank == cfg.tp_size - 1

    @check
    def widths_fit(cfg):
        """dp_size divides tp_size"""
        return cfg.tp_size % cfg.dp_size == 0


class Log(Namespace, registry=REGISTRY):
    _NS_PATH = "log"

    level: str = "info"

    @derived
    def label(cfg) -> str:
        return f"{cfg.level}!"


Args = compose("Args", registry=REGISTRY)


@pytest.fixture
def context() -> Context:
    return Context(Args())


def everything(context: Context) -> tuple[Any, ...]:
    """All that a scope could leave behind, the identity of every value included."""
    bags = [vars(context.bag(path)) for path in ("parallel", "log")]
    identities = [{name: id(value) for name, value in bag.items()} for bag in bags]
    explained = [str(context.explain(name)) for name in (*REGISTRY.input, *REGISTRY.derived)]
    return identities, context.log, context.held(), explained


def test_inside_the_new_values_count_and_outside_the_old(context: Context) -> None:
    parallel = context.bag("parallel")
    before = everything(context)
    with context.scoped(tp_size=8, dp_size=4):
        assert (parallel.tp_size, parallel.attn_tp_size, parallel.widths) == (8, 2, [4, 4])
    assert everything(context) == before


def test_each_of_several_scopes_restores_what_it_found(context: Context) -> None:
    outermost = everything(context)
    with context.scoped(tp_size=8):
        outer = everything(context)
        with context.scoped(tp_size=16):
            with context.scoped(dp_size=4):
                assert context.bag("parallel").widths == [4] * 4
            with context.scoped(level="debug"):
                assert context.bag("parallel").widths == [2] * 8
        assert everything(context) == outer
    assert everything(context) == outermost


def test_scopes_nest_and_the_innermost_counts(context: Context) -> None:
    log = context.bag("log")
    with context.scoped(level="debug"):
        with context.scoped(level="trace", tp_size=8):
            assert (log.level, log.label, context.bag("parallel").tp_size) == ("trace", "trace!", 8)
            kinds = [(layer.kind, layer.value) for layer in context.explain("level").layers]
            assert kinds == [("scope", "'trace'"), ("scope", "'debug'"), ("default", "'info'")]
        assert (log.level, log.label, context.bag("parallel").tp_size) == ("debug", "debug!", 4)
    assert (log.level, log.label) == ("info", "info!")


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, GeneratorExit])
def test_an_error_inside_restores_too_and_comes_out(error: type, context: Context) -> None:
    before = everything(context)
    with pytest.raises(error), context.scoped(level="debug"), context.scoped(tp_size=8):
        raise error
    assert everything(context) == before


def test_a_refused_scope_inside_another_leaves_that_one_alone(context: Context) -> None:
    with context.scoped(level="debug"):
        before = everything(context)
        with pytest.raises(CheckError), context.scoped(level="trace", tp_size=7):
            pytest.fail("a scope that breaks a rule must not be entered")
        assert everything(context) == before


def test_pins_and_facts_are_restored_too(context: Context) -> None:
    parallel = context.bag("parallel")
    context.override("elastic", attn_tp_size=3)
    before = everything(context)
    with context.scoped(attn_tp_size=1, tp_rank=3):
        assert (parallel.attn_tp_size, parallel.widths, parallel.last) == (1, [2], True)
    assert everything(context) == before
    assert (parallel.attn_tp_size, parallel.widths) == (3, [2, 2, 2])
    with pytest.raises(FactNotSetError):
        parallel.last  # noqa: B018


def test_an_override_of_another_field_survives_the_scope(context: Context) -> None:
    parallel = context.bag("parallel")
    with context.scoped(tp_size=8, level="debug"):
        context.override("scale-up", dp_size=4)
        assert (parallel.dp_size, parallel.attn_tp_size) == (4, 2)
    assert (parallel.tp_size, parallel.dp_size, parallel.attn_tp_size) == (4, 4, 1)
    assert context.bag("log").level == "info"
    assert [change.fields for change in context.log] == [{"dp_size": "4"}]


def test_a_release_inside_survives_the_scope(context: Context) -> None:
    context.override("operator", level="debug", tp_size=8)
    with context.scoped(level="trace"):
        context.release("level")
        context.release("tp_size")
        assert (context.bag("log").label, context.bag("parallel").tp_size) == ("trace!", 4)
    assert (context.bag("log").label, context.bag("parallel").tp_size) == ("info!", 4)


def test_a_field_that_a_scope_holds_cannot_be_overridden(context: Context) -> None:
    with context.scoped(level="debug"):
        where = context.explain("level").layers[0].where
        before = everything(context)
        with pytest.raises(OverrideError) as caught:
            context.override("operator", dp_size=1, level="trace")
        assert str(caught.value) == (
            f"cannot change 'level': the scope entered at {where} holds it until it is left"
        )
        assert everything(context) == before
        with context.scoped(level="trace"):
            assert context.bag("log").level == "trace"


def test_an_override_must_hold_without_the_scope_as_well(context: Context) -> None:
    before = everything(context)
    with context.scoped(tp_size=6):
        inside = everything(context)
        with pytest.raises(CheckError) as caught:
            context.override("scale-up", dp_size=3)
        assert caught.value.values == ("tp_size=4", "dp_size=3")
        assert everything(context) == inside
    assert everything(context) == before


def test_a_scope_decorates_a_function(context: Context) -> None:
    @context.scoped(level="debug")
    def level() -> str:
        return context.bag("log").level

    assert [level(), level(), context.bag("log").level] == ["debug", "debug", "info"]


def test_a_field_may_have_any_name() -> None:
    class Odd(Namespace, registry=Registry("odd")):
        _NS_PATH = "odd"
        self: int = 1
        source: int = 1

    context = Context(compose("Odd", [Odd])())
    context.override("test", self=2, source=3)
    with context.scoped(self=4):
        assert vars(context.bag("odd")) == {"self": 4, "source": 3}


@contextlib.contextmanager
def in_a_thread(context: Context, **fields: Any) -> Iterator[None]:
    """A scope that another thread enters before the block and leaves after it."""
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with context.scoped(**fields):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(10)
    try:
        yield
    finally:
        leave.set()
        thread.join()


def test_threads_leave_their_scopes_in_any_order(context: Context) -> None:
    before = everything(context)
    first = in_a_thread(context, level="debug", tp_size=8)
    second = in_a_thread(context, tp_size=16)
    first.__enter__()
    second.__enter__()
    assert context.bag("parallel").tp_size == 16
    first.__exit__(None, None, None)
    assert (context.bag("log").label, context.bag("parallel").tp_size) == ("info!", 16)
    assert context.bag("parallel").attn_tp_size == 8
    second.__exit__(None, None, None)
    assert everything(context) == before


def test_a_scope_that_another_needs_stays_until_that_one_is_left(context: Context) -> None:
    before = everything(context)
    wide = in_a_thread(context, tp_size=8)
    split = in_a_thread(context, dp_size=8)
    wide.__enter__()
    split.__enter__()
    wide.__exit__(None, None, None)  # dp_size 8 does not divide the tp_size of before, 4
    assert (context.bag("parallel").tp_size, context.bag("parallel").dp_size) == (8, 8)
    split.__exit__(None, None, None)
    assert everything(context) == before


STEPS = st.recursive(
    st.tuples(st.just("override"), st.sampled_from(["tp_size", "level"]), st.integers(0, 3)),
    lambda inner: st.tuples(
        st.just("scope"),
        st.sampled_from(["dp_size", "level"]),
        st.integers(0, 3),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)
CHOICES = {"tp_size": [4, 8, 16, 32], "dp_size": [1, 2, 4, 2], "level": ["a", "b", "c", "d"]}


@settings(deadline=None)
@given(st.lists(STEPS, max_size=4))
def test_after_any_nest_of_scopes_only_the_overrides_are_left(steps: list) -> None:
    context, plain = Context(Args()), Context(Args())

    def run(steps: list) -> None:
        for kind, name, choice, *inside in steps:
            change = {name: CHOICES[name][choice]}
            if kind == "scope":
                with context.scoped(**change):
                    run(*inside)
                    assert context.resolved()[name] == change[name]
            else:
                with contextlib.suppress(OverrideError):  # a scope holds it
                    context.override("step", **change)
                    plain.override("step", **change)

    run(steps)
    assert context.resolved() == plain.resolved()
    assert context.held().keys() == plain.held().keys()


RUN: list[Callable[[], object]] = []  # what happens in the middle of a change


class Ladder(Namespace, registry=Registry("ladder")):
    _NS_PATH = "ladder"

    a: int = 0
    b: int = 0
    c: int = 0

    @derived
    def total(cfg) -> int:
        if RUN:
            RUN.pop()()
        return cfg.a + cfg.b + cfg.c

    @check
    def each_is_at_least_the_next(cfg):
        """a is at least b, b is at least c"""
        return cfg.a >= cfg.b >= cfg.c


Ladders = compose("Ladders", [Ladder])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_when_all_scopes_are_left_nothing_of_them_is(order: tuple[int, ...]) -> None:
    context = Context(Ladders())
    scopes = [context.scoped(**{name: 1}) for name in "abc"]
    for scope in scopes:
        scope.__enter__()
    for number in order:
        scopes[number].__exit__(None, None, None)
    assert context.resolved() == {"a": 0, "b": 0, "c": 0, "total": 0}
    context.override("test", a=5)
    assert context.bag("ladder").total == 5


def test_a_scope_left_in_the_middle_of_a_change_is_gone_after_it() -> None:
    context = Context(Ladders())
    scope = context.scoped(a=7)
    scope.__enter__()
    RUN.append(lambda: scope.__exit__(None, None, None))
    with context.scoped(b=1):
        pass
    assert context.resolved() == {"a": 0, "b": 0, "c": 0, "total": 0}
    context.override("test", a=3)
    assert context.bag("ladder").total == 3


def test_a_scope_whose_exit_was_interrupted_is_gone_after_the_next_change() -> None:
    context = Context(Ladders())
    outer, inner = context.scoped(a=5), context.scoped(b=1)
    outer.__enter__()
    inner.__enter__()

    def interrupt() -> None:
        raise KeyboardInterrupt

    RUN.append(interrupt)
    with pytest.raises(KeyboardInterrupt):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert context.resolved() == {"a": 0, "b": 0, "c": 0, "total": 0}
