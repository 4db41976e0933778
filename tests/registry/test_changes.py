"""Permanent changes are sent to another context of the same record, and replayed there."""

import copy
import dataclasses
import pickle
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    Changes,
    ChangesError,
    CheckError,
    Context,
    Derived,
    InvalidValueError,
    Namespace,
    OverrideError,
    Registry,
    RegistryError,
    check,
    compose,
    derived,
)
from registry.changes import History

REGISTRY = Registry("changes")


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 4
    dp_size: int = 2
    limit: int = 64
    names: list[str] | None = None
    key: A[str | None, Arg(help="Key.", secret=True)] = None
    unset: int = None  # type: ignore[assignment]
    word: int = "auto, and no number"  # type: ignore[assignment]

    tp_rank = Derived(doc="Rank inside the TP group.", type=int)

    @derived
    def attn_tp_size(cfg) -> int:
        return cfg.tp_size // cfg.dp_size

    @derived
    def last(cfg) -> bool:
        return cfg.tp_rank == cfg.tp_size - 1

    @derived
    def header(cfg) -> str:
        return f"Bearer {cfg.key}"

    @check
    def it_divides(cfg):
        """dp_size divides tp_size"""
        return cfg.tp_size % cfg.dp_size == 0


Args = compose("Args", registry=REGISTRY)
Other = compose("Other", registry=REGISTRY)
HERE = __file__


def sent(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))


@pytest.fixture
def first() -> Context:
    """A context that was changed in every way."""
    context = Context(Args(dp_size=2))
    context.override("scale-up", tp_size=8, dp_size=4)
    context.override("operator", key="hunter2", names=["a"])
    context.override("planner", attn_tp_size=1, **{"parallel.limit": 7})
    context.release("attn_tp_size", source="planner")
    context.release("limit")
    return context


@pytest.fixture
def second() -> Context:
    """A context of the same record in, as it were, another process."""
    return Context(sent(Args(dp_size=2)))


def test_another_context_becomes_the_same(first: Context, second: Context) -> None:
    assert second.apply_changes(sent(first.changes())) == 5
    assert vars(second.bag("parallel")) == vars(first.bag("parallel"))
    assert second.log == first.log
    assert second.changes() == first.changes()
    assert str(second.explain("tp_size")) == str(first.explain("tp_size"))
    assert second.record == Args(dp_size=2)


def test_what_a_reader_does_to_the_values_does_not_travel(first: Context, second: Context) -> None:
    def names_in(context: Context) -> list[str]:
        (found,) = [dict(step.fields)["names"] for step in context.changes() if "key" in str(step)]
        return found

    changes = first.changes()
    second.apply_changes(changes)
    for steps in (changes.steps, first.changes().steps, second.changes().steps):
        dict(steps[1].fields)["names"].append("b")
    second.bag("parallel").names.append("c")
    assert names_in(first) == names_in(second) == ["a"]


def stop_at_line(code: types.CodeType, line: int) -> Callable[..., Any]:
    """A trace function that interrupts one function at one of its lines, as Ctrl-C may."""

    def trace(frame: types.FrameType, event: str, argument: object) -> Any:
        if frame.f_code is code and event == "line" and frame.f_lineno == line:
            raise KeyboardInterrupt
        return trace

    return trace


CODES = [Context._carry_out.__code__, Context._put_in_place.__code__, History.plus.__code__]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        (code, line)
        for code in CODES
        for line in sorted({each[2] for each in code.co_lines()} - {None, code.co_firstlineno})
    ],
)
def test_an_interrupted_change_is_in_the_log_and_the_history_or_in_neither(
    code: types.CodeType, line: int
) -> None:
    context = Context(Args())
    before = sys.gettrace()
    sys.settrace(stop_at_line(code, line))
    try:
        with pytest.raises(KeyboardInterrupt):
            context.override("scale-up", tp_size=8)
    finally:
        sys.settrace(before)
    is_made = context.resolved()["tp_size"] == 8
    assert [len(context.log), len(context.changes())] == [is_made, is_made]
    context.override("again", limit=9)
    assert [len(context.log), len(context.changes())] == [is_made + 1, is_made + 1]


def test_what_it_has_is_skipped(first: Context, second: Context) -> None:
    assert [second.apply_changes(first.changes()) for _ in range(3)] == [5, 0, 0]
    first.override("again", limit=9)
    assert second.apply_changes(sent(first.changes())) == 1
    assert second.apply_changes(Context(Args(dp_size=2)).changes()) == 0
    assert first.apply_changes(first.changes()) == 0
    assert second.log == first.log


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_they_may_come_in_parts(first: Context, second: Context, size: int) -> None:
    while len(second.log) < len(first.log):
        part = first.changes(since=second.changes().end)
        second.apply_changes(dataclasses.replace(part, steps=part.steps[:size]))
    assert second.changes() == first.changes()


def test_a_context_passes_on_what_it_got(first: Context, second: Context) -> None:
    second.apply_changes(sent(first.changes()))
    second.override("second", limit=8)
    third = Context(Args(dp_size=2))
    third.apply_changes(sent(second.changes()))
    assert first.apply_changes(second.changes(since=5)) == 1
    assert first.log == second.log == third.log


def test_its_parts_say_what_was_done_where(first: Context) -> None:
    changes = first.changes(since=1)
    assert (changes.start, changes.end, len(changes), bool(first.changes(since=5))) == (
        1,
        5,
        4,
        False,
    )
    steps = list(changes)
    assert [(step.action, step.source) for step in steps] == [
        ("override", "operator"),
        ("override", "planner"),
        ("release", "planner"),
        ("release", "release"),
    ]
    assert dict(steps[0].fields) == {"key": "hunter2", "names": ["a"]}
    assert all(step.where.startswith(f"{HERE}:") for step in steps)
    assert steps[0].where == first.log[1].where


def test_it_cannot_be_changed(first: Context) -> None:
    changes = first.changes()
    with pytest.raises(dataclasses.FrozenInstanceError):
        changes.start = 3  # type: ignore[misc]
    for live in (first.bag("parallel").names, first.record.__dict__):
        live.clear()
    assert dict(changes.steps[1].fields)["names"] == ["a"]
    assert changes.record == Args(dp_size=2)
    assert copy.deepcopy(changes) == changes


def test_no_secret_is_shown(first: Context, second: Context) -> None:
    changes = first.changes()
    first.override("planner", header="Bearer hunter2")
    second.override("here", key="hunter2", header="Bearer hunter2")
    with pytest.raises(ChangesError) as caught:
        second.apply_changes(first.changes())
    shown = [repr(first.changes()), str(changes), repr(list(changes)), str(caught.value)]
    assert "hunter2" not in "".join(shown)
    lines = {line.partition(": ")[0].strip(): line for line in shown[0].splitlines()}
    assert lines["2"].endswith("of key='***', names=['a']")
    assert lines["6"].endswith("of header='***'>")
    assert b"hunter2" in pickle.dumps(changes)


def test_a_secret_of_the_record_does_not_travel_and_may_differ() -> None:
    here, there = Context(Args(key="hunter2")), Context(Args(key="other"))
    here.override("x", limit=3)
    assert b"hunter2" not in pickle.dumps(here.changes())
    assert there.apply_changes(sent(here.changes())) == 1
    assert there.bag("parallel").key == "other"


def test_a_run_time_fact_stays_in_its_process(first: Context, second: Context) -> None:
    first.override("group formed", tp_rank=7)
    first.override("grown", tp_rank=3, limit=5)
    first.release("tp_rank")
    second.override("group formed", tp_rank=1)
    assert first.changes().end == 6
    assert second.apply_changes(sent(first.changes())) == 6
    assert second.bag("parallel").tp_rank == 1
    assert second.log[-1].fields == {"limit": "5"}
    assert second.changes() == first.changes()


def test_a_pinned_derived_field_travels(second: Context) -> None:
    first = Context(Args(dp_size=2))
    first.override("planner", attn_tp_size=16)
    second.apply_changes(sent(first.changes()))
    assert second.explain("attn_tp_size").layers[0].kind == "pin"
    assert second.bag("parallel").attn_tp_size == 16


@pytest.mark.parametrize("name", ["unset", "word"])
def test_going_back_to_a_default_that_does_not_fit_its_type_travels(
    second: Context, name: str
) -> None:
    first = Context(Args(dp_size=2))
    default = getattr(Args, name)
    first.override("set", **{name: 3})
    first.override("back", **{name: default})
    second.apply_changes(sent(first.changes()))
    assert getattr(second.bag("parallel"), name) == default


REFUSED: dict[str, tuple[Callable[[Context, Context], object], str]] = {
    "gap": (
        lambda first, second: second.apply_changes(first.changes(since=3)),
        "changes 4 to 5 of Args, with 0 applied here: the ones before them are missing; "
        "send changes(since=0)",
    ),
    "nothing after a gap": (
        lambda first, second: second.apply_changes(first.changes(since=5)),
        "no changes of Args after 5, with 0 applied here: the ones before them are missing; "
        "send changes(since=0)",
    ),
    "another record": (
        lambda first, _: Context(Args(tp_size=8, names=["x"])).apply_changes(first.changes()),
        "changes 1 to 5 of Args, with 0 applied here: they were made on another record: "
        "tp_size is 4 there and 8 here; dp_size was set by the operator only there; "
        "names is None there and ['x'] here",
    ),
    "a secret of the record only here": (
        lambda first, _: Context(Args(dp_size=2, key="k")).apply_changes(first.changes()),
        "changes 1 to 5 of Args, with 0 applied here: they were made on another record: "
        "key was set by the operator only here",
    ),
    "another class": (
        lambda first, _: Context(Other(dp_size=2)).apply_changes(first.changes(since=4)),
        f"change 5 of Args, with 0 applied here: they were made on a {__name__}.Args, "
        f"this is a {__name__}.Other",
    ),
    "no changes": (
        lambda first, second: second.apply_changes({"tp_size": 8}),  # type: ignore[arg-type]
        "a dict, with 0 applied here: apply_changes() takes what changes() of another context "
        "returned",
    ),
    "since too many": (
        lambda first, second: first.changes(since=6),
        "changes(since=6), with 5 applied here: since is how many changes the other side has, "
        "from 0 to 5",
    ),
    "since negative": (
        lambda first, second: first.changes(since=-1),
        "changes(since=-1), with 5 applied here: since is how many changes the other side has, "
        "from 0 to 5",
    ),
    "since no number": (
        lambda first, second: second.changes(since=True),
        "changes(since=True), with 0 applied here: since is how many changes the other side "
        "has, from 0 to 0",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(first: Context, second: Context, name: str) -> None:
    act, message = REFUSED[name]
    with pytest.raises(ChangesError) as caught:
        act(first, second)
    assert str(caught.value) == message
    assert second.log == ()
    assert str(sent(caught.value)) == message


def test_a_history_that_went_another_way_is_refused(first: Context, second: Context) -> None:
    second.apply_changes(dataclasses.replace(first.changes(), steps=first.changes().steps[:1]))
    second.override("here", limit=8)
    before, log = vars(second.bag("parallel")).copy(), second.log
    advice = "a context follows one history, so make changes in one place and send them from there"
    here = f"override by 'here' ({log[1].where}) of limit=8"
    there = f"override by 'operator' ({first.log[1].where}) of key='***', names=['a']"
    with pytest.raises(ChangesError) as caught:
        second.apply_changes(first.changes())
    assert str(caught.value) == (
        "changes 1 to 5 of Args, with 2 applied here: change 2 is another one here: "
        f"{here}, there {there}; {advice}"
    )
    with pytest.raises(ChangesError) as caught:
        second.apply_changes(first.changes(since=2))
    assert str(caught.value) == (
        "changes 3 to 5 of Args, with 2 applied here: change 2 is another one here: "
        f"{here}; {advice}"
    )
    assert (vars(second.bag("parallel")), second.log) == (before, log)


def test_the_same_words_typed_twice_are_two_changes(second: Context) -> None:
    first = Context(Args(dp_size=2))
    for context in (first, second):
        context.override("both", limit=3)
    with pytest.raises(ChangesError, match="change 1 is another one here"):
        second.apply_changes(first.changes())


def test_all_of_them_or_none(first: Context, second: Context) -> None:
    """The last of three is held by a scope here, so the two before it are not made either."""
    with second.scoped(names=["scope"]):
        before = dict(vars(second.bag("parallel")))
        with pytest.raises(OverrideError, match="cannot change 'names'"):
            second.apply_changes(first.changes())
        assert dict(vars(second.bag("parallel"))) == before
    assert (second.log, second.changes().end) == ((), 0)
    assert second.apply_changes(first.changes()) == 5


def test_a_scope_stays_over_what_is_applied(first: Context, second: Context) -> None:
    with second.scoped(limit=1):
        first = Context(Args(dp_size=2))
        first.override("scale-up", tp_size=8)
        second.apply_changes(sent(first.changes()))
        assert (second.bag("parallel").tp_size, second.bag("parallel").limit) == (8, 1)
    assert (second.bag("parallel").tp_size, second.bag("parallel").limit) == (8, 64)
    with second.scoped(tp_size=16):
        assert dict(second.changes().steps[-1].fields) == {"tp_size": 8}


@pytest.mark.parametrize(
    ("fields", "error"),
    [({"tp_size": "8"}, InvalidValueError), ({"tp_size": 5}, CheckError)],
)
def test_what_this_side_does_not_allow_is_refused_as_in_an_override(
    first: Context, second: Context, fields: dict[str, Any], error: type[RegistryError]
) -> None:
    """As another version of the declarations could send it."""
    changes = first.changes()
    steps = (*changes.steps[:2], changes.steps[2]._replace(fields=tuple(fields.items())))
    with pytest.raises(error):
        second.apply_changes(dataclasses.replace(changes, steps=steps))
    assert (second.log, second.bag("parallel").tp_size) == ((), 4)


def test_a_derivation_cannot_apply_changes(first: Context) -> None:
    registry = Registry("derivation")
    changes = first.changes()

    class Nosy(Namespace, registry=registry):
        _NS_PATH = "nosy"
        width: int = 1

        @derived
        def looks(cfg) -> int:
            if cfg.width > 1:
                context.apply_changes(changes)
            return cfg.width

    context = Context(compose("NosyArgs", registry=registry)())
    with pytest.raises(RegistryError, match="a derivation or check only reads"):
        context.override("x", width=2)


FIELDS = st.dictionaries(
    st.sampled_from(["limit", "names", "tp_rank", "attn_tp_size", "key"]), st.just(0), min_size=1
)


@given(st.lists(st.tuples(st.booleans(), FIELDS, st.booleans()), max_size=12))
def test_however_they_are_made_and_sent_the_other_side_agrees(
    made: list[tuple[bool, dict[str, int], bool]],
) -> None:
    first, second = Context(Args(dp_size=2)), Context(Args(dp_size=2))
    for number, (releases, names, sends) in enumerate(made):
        values = {"names": [str(number)], "key": str(number)}
        if releases:
            for name in names:
                try:
                    first.release(name)
                except OverrideError:
                    continue
        else:
            first.override("x", **{name: values.get(name, number) for name in names})
        if sends:
            second.apply_changes(sent(first.changes(since=second.changes().end)))
    second.apply_changes(sent(first.changes()))
    assert second.changes() == first.changes()
    ours, theirs = ({**vars(each.bag("parallel"))} for each in (first, second))
    for fact in ("tp_rank", "last"):
        ours.pop(fact, None)
    assert theirs == ours


def test_many_threads_apply_the_same_and_each_change_is_made_once(second: Context) -> None:
    first = Context(Args(dp_size=2))
    for number in range(200):
        first.override("count", limit=number)
    applied: list[int] = []

    def work() -> None:
        for end in range(0, 201, 5):
            whole = first.changes()
            part: Changes = dataclasses.replace(whole, steps=whole.steps[:end])
            applied.append(second.apply_changes(part))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(applied) == 200
    assert second.log == first.log
