"""Many threads read one configuration while it changes, and some change it."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from registry import (
    Context,
    Derived,
    FactNotSetError,
    Namespace,
    Registry,
    check,
    compose,
    derived,
    live,
    publish,
    reset,
)

REGISTRY = Registry("threads")
READERS = 8
CHANGES = 10_000


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 1
    dp_size: int = 1
    counter: int = 0
    other_counter: int = 0

    @derived
    def product(cfg) -> int:
        return cfg.tp_size * cfg.dp_size

    @check
    def both_are_equal(cfg):
        """tp_size is dp_size"""
        return cfg.tp_size == cfg.dp_size


Args = compose("Args", registry=REGISTRY)


@pytest.fixture(autouse=True)
def nothing_published() -> Iterator[None]:
    # Threads take turns far more often than by default, so that a race has its chance.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    reset()
    yield
    reset()
    sys.setswitchinterval(interval)


def while_reading(read: Callable[[], object], write: Callable[[], None]) -> list[object]:
    """Write while threads read, and return what they read that is not None."""
    seen: list[object] = []
    ready = threading.Barrier(READERS + 1)
    stop = threading.Event()

    def work() -> None:
        ready.wait()
        while not stop.is_set():
            seen.extend(found for _ in range(20) if (found := read()) is not None)
            time.sleep(1e-4)  # so that it wakes up in the middle of a change

    threads = [threading.Thread(target=work) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    ready.wait()
    try:
        write()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return seen


def test_no_reader_sees_one_new_value_and_one_old() -> None:
    context = publish(Args())
    parallel = live.parallel
    reads = [0]

    def read() -> object:
        pair = (parallel.tp_size, parallel.dp_size, parallel.product)
        reads[0] += 1
        return None if pair[0] == pair[1] and pair[2] == pair[0] ** 2 else pair

    def write() -> None:
        for number in range(1, CHANGES + 1):
            context.override("count", tp_size=number, dp_size=number)

    assert while_reading(read, write) == []
    assert reads[0] > CHANGES
    assert vars(parallel)["product"] == CHANGES**2
    assert len(context.log) == CHANGES


def test_many_writers_lose_no_change() -> None:
    context = Context(Args())

    def count(name: str) -> None:
        for number in range(1, 301):
            context.override(name, **{name: number})
            with context.scoped(tp_size=number, dp_size=number):
                pass

    names = ["counter", "other_counter"] * 2
    threads = [threading.Thread(target=count, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    resolved = context.resolved()
    assert (resolved["counter"], resolved["other_counter"]) == (300, 300)
    assert (resolved["tp_size"], resolved["dp_size"], resolved["product"]) == (1, 1, 1)
    assert len(context.log) == 300 * len(names)


@pytest.mark.filterwarnings("ignore::registry.DroppedOverridesWarning")
def test_a_reader_finds_a_whole_configuration_while_another_is_published() -> None:
    records = [Args(), Args(tp_size=2, dp_size=2)]
    publish(records[0])

    def read() -> object:
        parallel = live.parallel
        found = (parallel.tp_size, parallel.dp_size, parallel.product)
        return None if found in ((1, 1, 1), (2, 2, 4)) else found

    def write() -> None:
        for number in range(500):
            publish(records[number % 2])

    assert while_reading(read, write) == []


def test_threads_that_publish_the_same_record_get_one_context() -> None:
    record = Args()
    contexts: list[Context] = []
    threads = [
        threading.Thread(target=lambda: contexts.append(publish(record))) for _ in range(READERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each is contexts[0] for each in contexts] == [True] * READERS


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_a_thread_changes_something_can_change_it_too() -> None:
    inside, proceed = threading.Event(), threading.Event()
    registry = Registry("fork")

    class Slow(Namespace, registry=registry):
        _NS_PATH = "slow"

        value: int = 0

        @derived
        def doubled(cfg) -> int:
            if cfg.value == 1:
                inside.set()
                proceed.wait(30)
            return cfg.value * 2

    context = publish(compose("Slows", registry=registry)())
    writer = threading.Thread(target=context.override, args=("slow",), kwargs={"value": 1})
    writer.start()
    assert inside.wait(30)
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # a child that hangs is killed
        context.override("child", value=3)
        doubled = live.slow.doubled
        reset()
        publish(Args(tp_size=2, dp_size=2))
        os._exit(doubled + live.parallel.product)
    proceed.set()
    writer.join(30)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 10
    assert (live.slow.value, live.slow.doubled) == (1, 2)


def test_a_name_that_comes_and_goes_is_there_or_explained() -> None:
    registry = Registry("comes and goes")

    class Group(Namespace, registry=registry):
        _NS_PATH = "group"

        size: int = 1
        rank = Derived(doc="Rank inside the group.", type=int)

        @derived
        def is_first(cfg) -> bool:
            return cfg.rank == 0

    context = publish(compose("Group", registry=registry)())

    def write() -> None:
        for _ in range(CHANGES // 5):
            context.override("set", rank=0)
            context.release("rank")

    def read() -> object:
        try:
            return None if live.group.rank == 0 and live.group.is_first else "half"
        except FactNotSetError:
            return None
        except Exception as error:
            return error

    assert while_reading(read, write) == []
