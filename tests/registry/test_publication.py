"""One configuration per process: published, read from anywhere, replaced with a warning."""

import pickle
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    CheckError,
    ComposeError,
    DerivationError,
    DroppedOverridesWarning,
    InvalidValueError,
    Namespace,
    NotPicklableError,
    NotPublishedError,
    ReadOnlyError,
    Registry,
    ResolutionError,
    UnknownFieldError,
    bag,
    check,
    compose,
    current,
    derived,
    live,
    publish,
    reset,
    resolver,
)


class Base(Namespace, registry=Registry("published")):
    pass


class Parallel(Base):
    _NS_PATH = "parallel"
    tp_size: int = 1
    dp_size: int = 1

    @derived
    def product(cfg) -> int:
        return cfg.tp_size * cfg.dp_size

    @check
    def positive(cfg) -> bool:
        """tp_size is positive"""
        return cfg.tp_size > 0


class Moe(Base):
    _NS_PATH = "exec.moe"
    runner: str = "auto"
    decided: A[str, Arg(resolvable=True)] = ""
    extra: Any = None

    @resolver
    def first(cfg) -> dict[str, Any]:
        return {"decided": "first"}

    @resolver
    def second(cfg) -> None:
        if cfg.runner == "resolver fails":
            raise LookupError(cfg.decided)

    @derived
    def length(cfg) -> int:
        return len(cfg.runner) // (cfg.runner != "derivation fails")


Args = compose("Args", [Parallel, Moe])


@pytest.fixture(autouse=True)
def nothing_published() -> Iterator[None]:
    reset()
    yield
    reset()


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        (lambda: live.parallel, "the namespace 'parallel'"),
        (lambda: bag("exec.moe"), "the namespace 'exec.moe'"),
        (current, "the current configuration"),
    ],
)
def test_reading_before_publish_names_the_missing_call(read, wanted: str) -> None:
    with pytest.raises(NotPublishedError) as caught:
        read()
    assert isinstance(caught.value, RuntimeError)
    assert str(caught.value) == (
        f"{wanted} was read before a configuration was published in this process; "
        "call publish(record) first"
    )


def test_what_is_published_is_read_from_anywhere() -> None:
    context = publish(Args(tp_size=4), role="scheduler")
    assert current() is context
    assert context.role == "scheduler"
    assert live.parallel is bag("parallel") is context.bag("parallel")
    assert live.exec.moe.runner == "auto"
    with pytest.raises(UnknownFieldError):
        bag("parallell")
    with pytest.raises(AttributeError):
        _ = live.parallell


def test_publishing_the_same_record_again_changes_nothing() -> None:
    context = publish(Args(tp_size=4))
    context.override("scale-up", dp_size=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert publish(Args(tp_size=4)) is context
    assert context.bag("parallel").dp_size == 2


def test_publishing_another_record_warns_and_names_what_is_dropped() -> None:
    first = publish(Args(tp_size=4))
    first.override("scale-up", dp_size=2)
    where = first.log[0].where
    with pytest.warns(DroppedOverridesWarning) as warned:
        second = publish(Args(tp_size=8))
    assert str(warned[0].message) == (
        "publish() replaces the configuration of Args; overrides dropped with it: "
        f"dp_size=2 (scale-up, {where})"
    )
    assert warned[0].filename == __file__
    assert current() is second
    assert (live.parallel.tp_size, live.parallel.dp_size) == (8, 1)
    with pytest.warns(DroppedOverridesWarning, match="overrides dropped with it: none"):
        publish(Args(tp_size=4))


def test_a_record_that_was_changed_since_is_another_one() -> None:
    record = Args(tp_size=4)
    first = publish(record)
    record.tp_size = 8
    with pytest.warns(DroppedOverridesWarning):
        second = publish(record)
    assert (first.bag("parallel").tp_size, second.bag("parallel").tp_size) == (4, 8)


class Awkward:
    """Like an array, it compares to something without a plain truth."""

    def __eq__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("the truth value is ambiguous")

    __hash__ = None


@pytest.mark.parametrize("value", [float("nan"), Awkward(), None, [1]], ids=repr)
def test_a_value_that_is_the_same_object_is_the_same(value: object) -> None:
    record = Args(extra=value)
    context = publish(record)
    assert publish(record) is context
    assert publish(Args(extra=value)) is context


@pytest.mark.parametrize(
    ("value", "other"), [(1, True), (0, 0.0), (Awkward(), Awkward()), (1, 2)], ids=repr
)
def test_a_value_that_only_passes_for_another_is_another(value: object, other: object) -> None:
    context = publish(Args(extra=value))
    with pytest.warns(DroppedOverridesWarning):
        assert publish(Args(extra=other)) is not context
    assert live.exec.moe.extra is other


def test_given_and_left_at_the_default_are_different_records() -> None:
    context = publish(Args())
    with pytest.warns(DroppedOverridesWarning):
        assert publish(Args(tp_size=1)) is not context


def test_a_record_that_came_by_pickle_is_the_same_one(
    module_from: Callable[..., ModuleType],
) -> None:
    record = module_from(
        """
        from registry import Namespace, Registry, compose

        class Parallel(Namespace, registry=Registry("pickled")):
            _NS_PATH = "parallel"
            tp_size: int = 1

        Args = compose("Args", [Parallel])
        """
    ).Args(tp_size=4)
    assert publish(record) is publish(pickle.loads(pickle.dumps(record)))


def test_where_warnings_are_errors_the_old_configuration_stays() -> None:
    context = publish(Args(tp_size=4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DroppedOverridesWarning):
            publish(Args(tp_size=8))
    assert current() is context
    assert live.parallel.tp_size == 4


@pytest.mark.parametrize(
    ("record", "error"),
    [
        (Args(tp_size="4"), InvalidValueError),
        (Args(tp_size=0), CheckError),
        (Args(runner="resolver fails"), ResolutionError),
        (Args(runner="derivation fails"), DerivationError),
        ({"tp_size": 4}, ComposeError),
    ],
)
def test_what_cannot_be_published_leaves_the_old_configuration(record, error: type) -> None:
    context = publish(Args(tp_size=4))
    context.override("scale-up", dp_size=2)
    with pytest.raises(error):
        publish(record)
    assert current() is context
    assert live.parallel.product == 8


def test_the_live_object_is_read_only_and_stays_in_its_process() -> None:
    publish(Args())
    with pytest.raises(ReadOnlyError) as caught:
        live.parallel = None
    assert str(caught.value) == (
        "the current configuration is read-only, 'parallel' cannot be changed here; "
        "call publish(record)"
    )
    with pytest.raises(ReadOnlyError):
        del live.parallel
    with pytest.raises(NotPicklableError):
        pickle.dumps(live)


def test_after_reset_nothing_is_published() -> None:
    publish(Args())
    reset()
    with pytest.raises(NotPublishedError):
        current()


def test_torch_compiles_a_function_that_reads_the_configuration() -> None:
    torch = pytest.importorskip("torch")

    def scaled(x):
        return x * live.parallel.product if live.exec.moe.runner == "auto" else x * 0

    context = publish(Args(tp_size=2, dp_size=3))
    compiled = torch.compile(scaled, fullgraph=True, backend="eager")
    assert compiled(torch.ones(1)).item() == 6
    context.override("scale-up", tp_size=4)
    assert compiled(torch.ones(1)).item() == 12
    context.override("switch", runner="triton")
    assert compiled(torch.ones(1)).item() == 0
