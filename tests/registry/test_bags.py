"""A bag reads like a plain object, stays live, and lets nobody write to it."""

import copy
import inspect
import pickle
import pydoc
import timeit
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    Bag,
    Context,
    Derived,
    FactNotSetError,
    Namespace,
    NotPicklableError,
    ReadOnlyError,
    Registry,
    UnknownAttributeError,
    compose,
    derived,
)
from registry.bags import IncompleteBag

REGISTRY = Registry("bags")


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 4
    api_key: A[str | None, Arg(secret=True)] = None
    _hidden: int = 3

    @derived
    def half(cfg) -> int:
        return cfg.tp_size // 2


class Group(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel.group"

    backend: str = "nccl"
    tp_rank = Derived(doc="Rank inside the TP group.", type=int)

    @derived
    def is_first(cfg) -> bool:
        return cfg.tp_rank == 0

    @derived
    def name(cfg) -> str:
        return f"first={cfg.is_first}"


Args = compose("Args", registry=REGISTRY)


@pytest.fixture
def context() -> Context:
    return Context(Args(api_key="hunter2"))


def rank_is_unset(needed_by: str = "") -> str:
    return (
        f"{REGISTRY.derived['tp_rank'].declaration.where('tp_rank')}: tp_rank is a run-time fact "
        f"without a value yet; {needed_by}set it with current().override(source, tp_rank=...)"
    )


def test_a_bag_holds_its_leaves_and_sub_bags_and_nothing_else(context: Context) -> None:
    parallel = context.bag("parallel")
    assert vars(parallel) == {
        "tp_size": 4,
        "api_key": "hunter2",
        "_hidden": 3,
        "half": 2,
        "group": context.bag("parallel.group"),
    }
    assert [name for name in dir(Bag) if not name.startswith("__")] == []


def test_a_bag_taken_earlier_sees_later_changes(context: Context) -> None:
    parallel = context.bag("parallel")
    context.override("scale-up", tp_size=8)
    assert parallel is context.bag("parallel")
    assert (parallel.tp_size, parallel.half) == (8, 4)


def test_the_leaves_as_they_are_at_one_moment_can_be_kept(context: Context) -> None:
    kept = vars(context.bag("parallel"))
    context.override("scale-up", tp_size=8)
    assert (kept["tp_size"], kept["half"]) == (4, 2)


@pytest.mark.parametrize("path", ["parallel", "parallel.group"])
@pytest.mark.parametrize(
    "write",
    [
        lambda bag: setattr(bag, "tp_size", 8),
        lambda bag: setattr(bag, "unheard_of", 8),
        lambda bag: delattr(bag, "tp_size"),
    ],
    ids=["assign a leaf", "assign another name", "delete"],
)
def test_writing_is_refused_and_override_named(
    write: Callable[[Any], None], path: str, context: Context
) -> None:
    before = dict(vars(context.bag(path)))
    with pytest.raises(ReadOnlyError) as caught:
        write(context.bag(path))
    name = caught.value.field
    assert str(caught.value) == (
        f"the bag {path!r} is read-only, {name!r} cannot be changed here; "
        f"call current().override(source, {name}=...)"
    )
    assert isinstance(caught.value, AttributeError)
    assert vars(context.bag(path)) == before


@pytest.mark.parametrize("path", ["parallel", "parallel.group"])
@pytest.mark.parametrize(
    "leave",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda bag: pickle.dumps(bag, 0)],
    ids=["copy", "deepcopy", "pickle", "pickle protocol 0"],
)
def test_a_bag_stays_in_its_process(
    leave: Callable[[Any], Any], path: str, context: Context
) -> None:
    with pytest.raises(NotPicklableError) as caught:
        leave(context.bag(path))
    assert str(caught.value) == (
        f"the bag {path!r} stays in its process, derived values would arrive stale; send the "
        "record and publish or derive it there"
    )


@pytest.mark.parametrize("kind", [Bag, IncompleteBag])
@pytest.mark.parametrize("name", ["__deepcopy__", "__getstate__x", "__len__", "_private", "leaf"])
def test_a_half_built_bag_answers_probes_with_attribute_error(kind: type, name: str) -> None:
    half_built = object.__new__(kind)
    with pytest.raises(AttributeError):
        getattr(half_built, name)
    assert not hasattr(half_built, name)
    assert "__class__" in dir(half_built)


@pytest.mark.parametrize("path", ["parallel", "parallel.group"])
def test_inspection_looks_at_a_bag_without_harm(path: str, context: Context) -> None:
    bag = context.bag(path)
    members = dict(inspect.getmembers(bag))
    assert members.keys() >= vars(bag).keys()
    assert not callable(bag)
    assert pydoc.render_doc(bag)


def test_a_run_time_fact_says_how_it_is_set_until_it_is(context: Context) -> None:
    group = context.bag("parallel.group")
    with pytest.raises(FactNotSetError) as caught:
        group.tp_rank  # noqa: B018
    assert str(caught.value) == rank_is_unset()
    assert isinstance(caught.value, AttributeError)
    context.override("rank 0", tp_rank=0)
    assert group.tp_rank == 0


@pytest.mark.parametrize(
    ("name", "needed_by"), [("is_first", "is_first needs it, "), ("name", "name needs it, ")]
)
def test_what_is_derived_from_a_fact_names_the_fact(
    name: str, needed_by: str, context: Context
) -> None:
    group = context.bag("parallel.group")
    with pytest.raises(FactNotSetError) as caught:
        getattr(group, name)
    assert str(caught.value) == rank_is_unset(needed_by)
    context.override("rank 0", tp_rank=0)
    assert (group.is_first, group.name) == (True, "first=True")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tp_size", " It is in the namespace 'parallel'."),
        ("half", " It is in the namespace 'parallel'."),
        ("bakend", " Did you mean 'backend'?"),
        ("zzz", ""),
    ],
)
def test_a_name_that_is_not_there_is_explained(name: str, hint: str, context: Context) -> None:
    with pytest.raises(UnknownAttributeError) as caught:
        getattr(context.bag("parallel.group"), name)
    assert str(caught.value) == f"'bag parallel.group' object has no field {name!r}.{hint}"


def test_a_complete_bag_answers_an_unknown_name_as_any_object(context: Context) -> None:
    with pytest.raises(AttributeError, match="'bag parallel' object has no attribute 'tp_sise'"):
        context.bag("parallel").tp_sise  # noqa: B018


def test_repr_shows_the_leaves_but_no_secret(context: Context) -> None:
    assert repr(context.bag("parallel")) == (
        "<parallel: tp_size=4, api_key='***', _hidden=3, half=2, group=...>"
    )
    context.override("no key", api_key=None)
    assert "api_key=None" in repr(context.bag("parallel"))


def test_a_read_costs_what_it_costs_on_a_plain_object(context: Context) -> None:
    plain = SimpleNamespace(tp_size=4)
    context.override("warm", tp_size=8)
    statement = "; ".join(["bag.tp_size"] * 50)
    bag = context.bag("parallel")
    times = [
        [timeit.timeit(statement, globals={"bag": each}, number=2_000) for each in (bag, plain)]
        for _ in range(50)
    ]
    assert min(time for time, _ in times) < 1.3 * min(time for _, time in times)
