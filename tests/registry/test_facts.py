"""Run-time facts: what only the running process knows, and what is derived from it."""

import pytest

from registry import Context, Derived, FactNotSetError, Namespace, Registry, compose, derived

REGISTRY = Registry("facts")
CALLS: list[str] = []


class Group(Namespace, registry=REGISTRY):
    _NS_PATH = "group"

    tp_size: int = 4
    tp_rank = Derived(doc="Rank inside the TP group.", type=int)
    handle = Derived(doc="The group, or None where there is only one rank.")
    host = Derived(doc="Where it runs.", type=str, default="localhost")

    @derived
    def is_last(cfg) -> bool:
        CALLS.append("is_last")
        return cfg.tp_rank == cfg.tp_size - 1

    @derived
    def greeting(cfg) -> str:
        CALLS.append("greeting")
        return f"{cfg.host} last={cfg.is_last}"

    @derived
    def address(cfg) -> str:
        return f"{cfg.host}:80"

    @derived
    def careful(cfg) -> int:
        return getattr(cfg, "tp_rank", -1)

    @derived
    def roundabout(cfg) -> int:
        known = getattr(cfg, "tp_rank", None), hasattr(cfg, "gone"), cfg.address, cfg.tp_size
        return known[-1] - cfg.tp_rank

    @derived
    def alone(cfg) -> bool:
        return cfg.handle is None


Args = compose("Args", registry=REGISTRY)
UNSET = ["tp_rank", "handle", "is_last", "greeting", "roundabout", "alone"]


@pytest.fixture
def context() -> Context:
    return Context(Args())


def test_what_needs_an_unset_fact_is_absent_and_the_rest_is_there(context: Context) -> None:
    resolved = {"tp_size": 4, "host": "localhost", "address": "localhost:80", "careful": -1}
    assert context.resolved() == resolved
    assert vars(context.bag("group")) == resolved
    assert [name for name in UNSET if hasattr(context.bag("group"), name)] == []


def test_reading_names_the_fact_however_the_derivation_got_there(context: Context) -> None:
    with pytest.raises(FactNotSetError) as caught:
        context.bag("group").roundabout  # noqa: B018
    place = REGISTRY.derived["tp_rank"].declaration.where("tp_rank")
    assert str(caught.value) == (
        f"{place}: tp_rank is a run-time fact without a value yet; roundabout needs it, set it "
        "with current().override(source, tp_rank=...)"
    )
    assert context.explain("roundabout").reads == (
        "tp_rank=(not set)",
        "address='localhost:80'",
        "tp_size=4",
    )


def test_it_appears_once_the_fact_is_set(context: Context) -> None:
    group = context.bag("group")
    context.override("group formed", tp_rank=3)
    assert (group.tp_rank, group.is_last, group.careful) == (3, True, 3)
    assert group.greeting == "localhost last=True"
    with pytest.raises(FactNotSetError):
        group.alone  # noqa: B018


def test_none_can_be_a_real_answer(context: Context) -> None:
    context.override("alone", handle=None)
    group = context.bag("group")
    assert (group.handle, group.alone) == (None, True)
    assert "handle=None" in repr(group)
    assert context.explain("handle").value == "None"


def test_a_fact_with_a_default_is_that_until_it_is_set(context: Context) -> None:
    group = context.bag("group")
    context.override("known by now", host="node1")
    assert (group.host, group.address) == ("node1", "node1:80")
    context.release("host")
    assert (group.host, group.address) == ("localhost", "localhost:80")


def test_only_what_depends_on_a_fact_is_computed_when_it_is_set(context: Context) -> None:
    CALLS.clear()
    context.override("group formed", tp_rank=3)
    assert sorted(CALLS) == ["greeting", "is_last"]
    CALLS.clear()
    context.override("known by now", host="node1")
    assert CALLS == ["greeting"]


def test_a_released_fact_is_unset_again_and_so_is_what_needs_it(context: Context) -> None:
    before = context.resolved()
    context.override("group formed", tp_rank=3)
    context.release("tp_rank", source="group gone")
    assert context.resolved() == before
    assert (context.log[-1].source, context.log[-1].fields) == (
        "group gone",
        {"tp_rank": "(not set)"},
    )
    with pytest.raises(FactNotSetError):
        context.bag("group").greeting  # noqa: B018


def test_a_fact_of_a_scope_is_gone_after_it(context: Context) -> None:
    before = context.resolved()
    with context.scoped(tp_rank=0):
        assert context.bag("group").is_last is False
    assert context.resolved() == before
    assert not hasattr(context.bag("group"), "tp_rank")


def test_a_bag_that_became_complete_reads_as_one_that_always_was(context: Context) -> None:
    group = context.bag("group")
    assert hasattr(type(group), "__getattr__")
    context.override("all known", tp_rank=0, handle=None)
    assert not hasattr(type(group), "__getattr__")
    assert group is context.bag("group")
