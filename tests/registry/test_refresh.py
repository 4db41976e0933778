"""What is computed again after a change, and what of a configuration nobody else can change."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    CheckError,
    ClosedViewError,
    Context,
    DerivationCycleError,
    DerivationError,
    Derived,
    FactNotSetError,
    InvalidValueError,
    Namespace,
    Registry,
    bag,
    check,
    compose,
    derive,
    derived,
    publish,
    reset,
    resolver,
)
from registry.derivation import Derivation

REGISTRY = Registry("refresh")
CALLS: list[str] = []


@dataclass
class Named:
    """Equal to others of its number, whatever their names."""

    number: int
    name: str = field(compare=False)


class Sizes(Namespace, registry=REGISTRY):
    _NS_PATH = "sizes"

    width: int = 4
    limit: int = 8
    sizes: A[list[int] | None, Arg(resolvable=True)] = None
    shapes: dict[str, Any] | None = None

    @derived
    def is_wide(cfg) -> bool:
        CALLS.append("is_wide")
        return cfg.width > 10

    @derived
    def kernel(cfg) -> str:
        CALLS.append("kernel")
        return "wide" if cfg.is_wide else "narrow"

    @derived
    def label(cfg) -> str:
        CALLS.append("label")
        return cfg.kernel.upper()

    @derived
    def total(cfg) -> int:
        CALLS.append("total")
        return sum(cfg.sizes or ())

    @derived
    def doubled(cfg) -> list[int]:
        CALLS.append("doubled")
        return [size * 2 for size in cfg.sizes or ()]

    @derived
    def doubled_total(cfg) -> int:
        CALLS.append("doubled_total")
        return sum(cfg.doubled)

    @check
    def sizes_are_positive(cfg):
        """every size is at least 1"""
        return all(size >= 1 for size in cfg.sizes or ())


Args = compose("Args", registry=REGISTRY)


@pytest.fixture
def context() -> Any:
    reset()
    context = publish(Args(sizes=[1, 2]))
    CALLS.clear()
    yield context
    reset()


@pytest.mark.parametrize(
    ("change", "called"),
    [
        ({"width": 5}, ["is_wide"]),
        ({"width": 4}, []),
        ({"width": 11}, ["is_wide", "kernel", "label"]),
        ({"limit": 9}, []),
        ({"sizes": [2, 1]}, ["total", "doubled", "doubled_total"]),
        ({"is_wide": True}, ["kernel", "label"]),
        ({"is_wide": False}, []),
        ({"kernel": "narrow", "width": 11}, ["is_wide"]),
    ],
)
def test_what_read_the_same_is_not_computed_again(
    context: Context, change: dict[str, Any], called: list[str]
) -> None:
    context.override("test", **change)
    assert called == CALLS


def test_a_change_undone_by_a_scope_is_followed_back(context: Context) -> None:
    with context.scoped(width=11):
        assert bag("sizes").label == "WIDE"
    assert bag("sizes").label == "NARROW"
    context.override("test", width=12)
    assert bag("sizes").label == "WIDE"


def test_a_list_that_its_owner_changes_later_changes_nothing() -> None:
    sizes = [1, 2]
    record = Args(sizes=sizes, shapes={"a": [1]})
    context = Context(record)
    sizes.append(3)
    record.shapes["a"].append(2)
    assert (context.bag("sizes").sizes, context.bag("sizes").total) == ([1, 2], 3)
    assert context.bag("sizes").shapes == {"a": [1]}

    more = [5]
    context.override("test", sizes=more)
    more.append(6)
    assert (context.bag("sizes").sizes, context.bag("sizes").total) == ([5], 5)


def test_a_record_whose_list_was_changed_in_place_is_another_record(context: Context) -> None:
    record = Args(sizes=[1, 2])
    assert publish(record) is context
    record.sizes.append(0)
    with pytest.raises(CheckError, match=r"every size is at least 1, but sizes=\[1, 2, 0\]"):
        publish(record)
    record.sizes[-1] = 3
    with pytest.warns(match="replaces the configuration"):
        assert publish(record).bag("sizes").total == 6


def test_an_override_with_a_list_changed_in_place_is_followed(context: Context) -> None:
    sizes = context.bag("sizes").sizes
    sizes.append(7)
    context.override("test", sizes=sizes)
    assert (bag("sizes").total, bag("sizes").doubled_total) == (10, 20)
    sizes.append(0)
    with pytest.raises(CheckError, match="every size is at least 1"):
        context.override("test", sizes=sizes)
    assert bag("sizes").total == 10


def test_a_decision_that_its_resolver_changes_later_changes_nothing() -> None:
    registry = Registry("refresh decisions")
    shared = [1]

    class Sizes(Namespace, registry=registry):
        _NS_PATH = "sizes"

        sizes: A[list[int] | None, Arg(resolvable=True)] = None

        @resolver
        def default_sizes(cfg) -> Any:
            return {"sizes": shared}

    context = Context(compose("Args", registry=registry)())
    shared.append(2)
    assert context.bag("sizes").sizes == [1]


def test_a_value_without_a_working_repr_is_logged_and_refused_as_any_other() -> None:
    registry = Registry("refresh repr")

    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError("no words")

    class Things(Namespace, registry=registry):
        _NS_PATH = "things"

        thing: Any = None
        count: int = 0

    context = Context(compose("Args", registry=registry)())
    context.override("test", thing=Silent())
    assert dict(context.log[-1].fields) == {
        "thing": f"<{Silent.__qualname__} whose repr raised RuntimeError>"
    }
    assert "whose repr raised" in repr(context.bag("things"))
    assert "whose repr raised" in str(context.explain("thing"))
    with pytest.raises(InvalidValueError, match=r"count must be int, not <.*whose repr raised"):
        context.override("test", count=Silent())
    assert len(context.log) == 1


def test_a_derivation_may_read_from_threads_of_its_own() -> None:
    registry = Registry("refresh threads")

    class Sizes(Namespace, registry=registry):
        _NS_PATH = "sizes"

        width: int = 4
        height: int = 2

        @derived
        def area(cfg) -> int:
            with ThreadPoolExecutor(2) as pool:
                width = pool.submit(lambda: cfg.width)
                return width.result(10) * pool.submit(lambda: cfg.height).result(10)

    Args = compose("Args", registry=registry)
    assert derive(Args()).area == 8
    context = Context(Args())
    context.override("test", height=3)
    assert context.bag("sizes").area == 12
    assert context.explain("area").reads == ("width=4", "height=3")


def test_threads_that_read_a_view_at_once_get_one_value() -> None:
    registry = Registry("refresh view")
    together = threading.Barrier(2)

    class Sizes(Namespace, registry=registry):
        _NS_PATH = "sizes"

        @derived
        def token(cfg) -> object:
            together.wait(10)
            return object()

    derivation = Derivation("Args", {}, registry.derived, ())
    view: Any = derivation.view("read")
    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(getattr, view, "token") for _ in range(2))
        assert first.result(10) is second.result(10)


def test_a_derivation_that_reads_past_its_view_is_refused() -> None:
    registry = Registry("refresh past")

    class Group(Namespace, registry=registry):
        _NS_PATH = "group"

        enabled: bool = False
        rank = Derived(doc="Rank inside the group.", type=int)

        @derived
        def is_first(cfg) -> bool:
            return cfg.enabled and bag("group").rank == 0

    reset()
    Args = compose("Args", registry=registry)
    advice = "a derivation reads everything through the view that it is given"
    with pytest.raises(DerivationError, match=f"NotPublishedError: .*; {advice}"):
        publish(Args(enabled=True))
    context = publish(Args())
    try:
        with pytest.raises(DerivationError, match=f"FactNotSetError: .*; {advice}"):
            context.override("test", enabled=True)
        assert bag("group").is_first is False
        with pytest.raises(FactNotSetError):
            bag("group").rank  # noqa: B018
    finally:
        reset()


def test_a_long_chain_written_upside_down_says_how_to_turn_it() -> None:
    registry = Registry("refresh chain")
    body: dict[str, Any] = {"_NS_PATH": "chain", "__module__": __name__, "__annotations__": {}}
    for number in range(2000):
        body[f"d{number}"] = Derived(
            fn=lambda cfg, at=number: getattr(cfg, f"d{at + 1}") if at < 1999 else 0, doc="x"
        )
    type(Namespace)("Chain", (Namespace,), body, registry=registry)
    with pytest.raises(DerivationError) as caught:
        Context(compose("Args", registry=registry)())
    assert "derived fields need each other: d0 -> d1 -> d2 ...; declare what is read above" in str(
        caught.value
    )


def test_a_check_without_its_docstring_is_told_by_its_name() -> None:
    program = """
import namespaces
from registry import Context, Namespace, Registry, check, compose
class Parallel(Namespace, registry=Registry("without docstrings")):
    _NS_PATH = "parallel"
    tp_size: int = 1
    @check
    def tp_size_is_positive(cfg):
        "removed by -OO"
        return cfg.tp_size >= 1
try:
    Context(compose("Args", [Parallel])(tp_size=0))
except ValueError as error:
    print(str(error).partition(": ")[2])
"""
    done = subprocess.run(
        [sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("tp size is positive, but tp_size=0\n", "")


def chain(registry: Registry, length: int, bottom: Any, *, upside_down: bool = False) -> None:
    """Declare derived fields each of which reads the one before, and count their calls."""

    def link(number: int) -> Any:
        def read(cfg: Any) -> Any:
            CALLS.append(f"d{number}")
            return bottom(cfg) if number == 0 else getattr(cfg, f"d{number - 1}")

        return Derived(fn=read, doc="A link.")

    numbers = reversed(range(length)) if upside_down else range(length)
    body = {"_NS_PATH": "chain", "__module__": __name__, "x": 1, "__annotations__": {"x": int}}
    body |= {"rank": Derived(doc="The rank.", type=int)}
    body |= {f"d{number}": link(number) for number in numbers}
    type(Namespace)("Chain", (Namespace,), body, registry=registry)


@pytest.mark.parametrize("length", [20, 1000])
def test_a_chain_that_waits_for_a_fact_is_tried_once_a_link(length: int) -> None:
    registry = Registry("waiting chain")
    chain(registry, length, lambda cfg: cfg.rank)
    CALLS.clear()
    context = Context(compose("Args", registry=registry)())
    assert len(CALLS) == length
    for change in (lambda: context.override("set", rank=3), lambda: context.release("rank")):
        CALLS.clear()
        change()
        assert len(CALLS) == length
    with pytest.raises(FactNotSetError, match="rank is a run-time fact without a value yet; d19 "):
        context.bag("chain").d19  # noqa: B018


@pytest.mark.parametrize("upside_down", [False, True])
def test_a_refused_change_computes_a_failing_chain_once(upside_down: bool) -> None:
    registry = Registry("failing chain")
    chain(registry, 40, lambda cfg: 10 // cfg.x, upside_down=upside_down)
    context = Context(compose("Args", registry=registry)())
    CALLS.clear()
    with pytest.raises(DerivationError, match="deriving d0 failed after reading x=0"):
        context.override("test", x=0)
    assert len(CALLS) <= 40
    assert context.bag("chain").d39 == 10


def test_a_cycle_is_an_error_even_if_its_members_carry_on() -> None:
    registry = Registry("swallowed cycle")

    class Loop(Namespace, registry=registry):
        _NS_PATH = "loop"

        entry: int = 0

        @derived
        def first(cfg) -> int:
            try:
                return cfg.second + 1
            except Exception:
                return 10

        @derived
        def second(cfg) -> int:
            try:
                return cfg.first + 1
            except Exception:
                return 20

    with pytest.raises(DerivationCycleError, match="first -> second -> first"):
        Context(compose("Args", registry=registry)())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (0.0, -0.0),
        (Decimal("4"), Decimal("4.00")),
        ({1}, {True}),
        (Named(1, "a"), Named(1, "b")),
        ([1, [2]], [1, [2.0]]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ],
)
def test_what_equals_and_is_not_the_same_is_followed(before: Any, after: Any) -> None:
    registry = Registry("followed")

    class Things(Namespace, registry=registry):
        _NS_PATH = "things"

        flag: bool = False
        thing: Any = None

        @derived
        def chosen(cfg) -> Any:
            return after if cfg.flag else before

        @derived
        def text(cfg) -> str:
            return f"{cfg.chosen} {cfg.thing}"

    Args = compose("Args", registry=registry)
    context = Context(Args(thing=before))
    context.override("test", flag=True, thing=after)
    assert context.bag("things").text == f"{after} {after}"


def test_a_buffer_that_a_derivation_fills_again_is_followed() -> None:
    registry = Registry("buffer")
    buffer: list[int] = []

    class Things(Namespace, registry=registry):
        _NS_PATH = "things"

        size: int = 4

        @derived
        def filled(cfg) -> list[int]:
            buffer[:] = [cfg.size]
            return buffer

        @derived
        def total(cfg) -> int:
            return sum(cfg.filled)

    context = Context(compose("Args", registry=registry)())
    context.override("test", size=5)
    assert context.bag("things").total == 5


def test_a_view_says_so_when_it_is_read_too_late() -> None:
    registry = Registry("late")

    class Things(Namespace, registry=registry):
        _NS_PATH = "things"

        size: int = 4

        @derived
        def later(cfg) -> Any:
            return lambda: cfg.size

    later = Context(compose("Args", registry=registry)()).bag("things").later
    with pytest.raises(ClosedViewError) as caught:
        later()
    assert str(caught.value) == (
        "'size' was read through a view of Args after the function that it was given to had "
        "returned; nothing would follow it, so read it before"
    )


def test_what_is_handed_out_is_a_copy() -> None:
    registry = Registry("handed out")

    class Things(Namespace, registry=registry):
        _NS_PATH = "things"

        sizes: A[list[int] | None, Arg(fallback=[1])] = None
        more: list[int] = field(default_factory=lambda: [2])
        seen = Derived(doc="What was seen.", default=[3])

    Args = compose("Args", registry=registry)
    context = Context(Args())
    for name in ("sizes", "more", "seen"):
        context.resolved()[name].append(9)
        getattr(context.bag("things"), name).append(8)
    again = Context(Args())
    assert again.resolved() == {"sizes": [1], "more": [2], "seen": [3]}
    record = Args()
    view = derive(record)
    record.more.append(9)
    assert view.more == [2]
