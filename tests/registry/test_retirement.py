"""A field that was removed keeps its place, and whoever still gives it learns what to use."""

import dataclasses
import inspect
import pickle
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import (
    A,
    CallError,
    CommandLineError,
    ComposeError,
    ConfigFile,
    InvalidSettingsError,
    Namespace,
    RecordUnpicklingError,
    Registry,
    UnknownAttributeError,
    compose,
    derive,
    derived,
    from_argv,
    values_of_environment,
    values_of_file,
)
from registry.retirement import with_places


class Old(Namespace, registry=Registry("old")):
    _NS_PATH = "n"

    a: int = 1
    b: int = 2
    c: int = 3


class New(Namespace, registry=Registry("new")):
    _NS_PATH = "n"

    a: int = 1
    c: int = 3


RETIRED = {"b": "since 2.0, use c"}
ORDER = ["a", "b", "c"]
Args = compose("Args", [New], order=ORDER, retired=RETIRED)


@dataclasses.dataclass
class Wider(Args):  # type: ignore[misc, valid-type]
    d: int = 4


Based = compose("Based", [], bases=(Args,))


@pytest.mark.parametrize("record", [Args, Wider, Based])
@pytest.mark.parametrize(
    ("args", "values", "problem"),
    [
        (
            (1, 2),
            {},
            "got a value at position 2 for 'b', which is retired: since 2.0, use c; pass what "
            "follows it by name",
        ),
        (
            (1, 2, 3),
            {},
            "got a value at position 2 for 'b', which is retired: since 2.0, use c; pass what "
            "follows it by name",
        ),
        ((), {"b": 2}, "got 'b', which is retired: since 2.0, use c"),
        ((1,), {"b": 2, "c": 3}, "got 'b', which is retired: since 2.0, use c"),
    ],
)
def test_giving_it_a_value_is_an_error(
    record: type[Any], args: tuple[int, ...], values: dict[str, int], problem: str
) -> None:
    with pytest.raises(CallError) as caught:
        record(*args, **values)
    assert str(caught.value) == f"{record.__name__}.__init__() {problem}"


class Batch(Namespace, registry=Registry("batch")):
    _NS_PATH = "n"

    batch: A[int, "Requests at once."] = 1
    max_running: A[int, "Requests that run."] = 1


Served = compose(
    "Served", [Batch], retired={"b": "since 2.0, use batch", "max_b": "since 3.0, use none"}
)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--b", "3"], "--b is retired: since 2.0, use batch"),
        (["--b=3"], "--b is retired: since 2.0, use batch"),
        (["--max_b", "3"], "--max_b is retired: since 3.0, use none"),
        (["--b.key", "3"], "--b.key is retired: since 2.0, use batch"),
    ],
)
def test_its_flag_says_what_to_use(words: list[str], problem: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        from_argv(Served, words)
    assert str(caught.value) == problem
    assert from_argv(Served, ["--batch", "3"]) == from_argv(Served, ["--ba", "3"]) == Served(3)


@pytest.mark.parametrize("values", [{"b": 3}, {"n": {"b": 3}}, {"n.b": 3}])
def test_its_key_in_a_file_says_what_to_use(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettingsError, match=r"b is retired: since 2\.0, use batch$"):
        values_of_file(Served, ConfigFile("run.json", values))


def test_its_variable_says_what_to_use() -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        values_of_environment(Served, "SERVER_", {"SERVER_MAX_B": "3"})
    assert str(caught.value) == "SERVER_MAX_B is retired: since 3.0, use none"


def test_all_else_works_as_without_it() -> None:
    record = Args(5, c=6)
    assert dataclasses.asdict(record) == {"a": 5, "c": 6}
    assert dataclasses.replace(record, a=7) == Args(7, c=6)
    assert pickle.loads(pickle.dumps(record)) == record
    assert repr(record) == "Args(a=5, c=6)"


def test_the_signature_and_patterns_have_its_place() -> None:
    parameters = inspect.signature(Args).parameters
    assert list(parameters) == ORDER
    assert repr(parameters["b"].default) == "<retired: since 2.0, use c>"
    assert Args.__match_args__ == ("a", "b", "c")
    match Wider(5, c=6):
        case Wider(5, _, 6):  # what is retired matches nothing, so nothing is taken for it
            raise AssertionError
        case Wider(5, c=6):
            pass
    assert Wider.__match_args__ == ("a", "b", "c", "d")
    assert list(inspect.signature(Wider).parameters) == ["a", "b", "c", "d"]


def test_a_required_field_may_follow_it() -> None:
    class Required(Namespace, registry=Registry("required")):
        _NS_PATH = "n"
        b: int

    record = compose("R", [Required], order=["a", "b"], retired={"a": "use b"})
    assert list(inspect.signature(record).parameters) == ["a", "b"]
    assert record(b=1).b == 1


def test_assigning_it_says_what_to_use() -> None:
    with pytest.raises(UnknownAttributeError) as caught:
        Args().b = 3
    assert str(caught.value) == "'Args' object has no field 'b'. It is retired: since 2.0, use c."


def pickled_by_the_old_version(**values: int) -> bytes:
    module = ModuleType("versions")
    sys.modules["versions"] = module
    try:
        module.Args = compose("Args", [Old], module="versions")  # type: ignore[attr-defined]
        return pickle.dumps(module.Args(**values))
    finally:
        del sys.modules["versions"]


def bind_the_new_version(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("versions")
    monkeypatch.setitem(sys.modules, "versions", module)
    module.Args = compose(  # type: ignore[attr-defined]
        "Args", [New], module="versions", order=ORDER, retired=RETIRED
    )


def test_an_old_pickle_that_left_it_at_its_default_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = pickled_by_the_old_version(a=7)
    bind_the_new_version(monkeypatch)
    assert dataclasses.asdict(pickle.loads(written)) == {"a": 7, "c": 3}


def test_an_old_pickle_that_set_it_says_what_to_use(monkeypatch: pytest.MonkeyPatch) -> None:
    written = pickled_by_the_old_version(b=7)
    bind_the_new_version(monkeypatch)
    with pytest.raises(RecordUnpicklingError) as caught:
        pickle.loads(written)
    assert str(caught.value) == (
        "cannot unpickle a Args: b held a value when it was written, but the class has no such "
        "field here; b is retired: since 2.0, use c; update this side, or leave the field at its "
        "default on the other"
    )


def test_a_class_pickled_by_value_takes_it_along() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    local = compose("Local", [New], order=ORDER, retired=RETIRED, module="__main__")
    there = pickle.loads(cloudpickle.dumps(local))
    with pytest.raises(CallError, match=r"which is retired: since 2\.0, use c"):
        there(1, 2)


@pytest.mark.parametrize(
    ("retired", "problem"),
    [
        ({"a": "use c"}, "R: retired= has 'a', which is a field; remove one of both"),
        ({1: "use c"}, "R: retired= has 1, which no field can be named"),
        ({"class": "use c"}, "R: retired= has 'class', which no field can be named"),
        ({"b b": "use c"}, "R: retired= has 'b b', which no field can be named"),
        ({"b": " "}, "R: retired= has no advice for 'b'; say since when, and what to use"),
        (
            ["b"],
            'R: takes retired as a mapping: {"old_name": "since 2.0, use new_name"}',
        ),
    ],
)
def test_what_makes_no_sense_is_refused(retired: Any, problem: str) -> None:
    with pytest.raises(ComposeError) as caught:
        compose("R", [New], retired=retired)
    assert str(caught.value) == problem


class Again(Namespace, registry=Registry("again")):
    _NS_PATH = "n"
    b: int = 2


def by_compose() -> type[Any]:
    return compose("Y", [Again], bases=(Args,))


def by_compose_with_places() -> type[Any]:
    return compose("Y", [Again], bases=(Args,), order=ORDER)


def by_dataclass() -> type[Any]:
    @dataclasses.dataclass
    class Y(Args):  # type: ignore[misc, valid-type]
        b: int = 4

    Y.__qualname__ = "Y"
    return Y


def by_two_bases() -> type[Any]:
    return compose("Y", [], bases=(Args, compose("Other", [Again])))


@pytest.mark.parametrize("make", [by_compose, by_compose_with_places, by_dataclass, by_two_bases])
def test_a_retired_name_does_not_come_back_in_an_extension(make: Callable[[], type[Any]]) -> None:
    with pytest.raises(ComposeError) as caught:
        make()(1, 2, 3)
    assert str(caught.value) == (
        "Y: has the field 'b', but a base has retired it: since 2.0, use c; rename the field, or "
        "take it out of retired= of the base and declare it there"
    )


def test_an_input_that_is_derived_now_keeps_its_place() -> None:
    class Computed(New):
        @derived
        def b(cfg) -> int:
            return cfg.a * 2

    record = compose("R", [Computed], order=ORDER, retired={"b": "follows from a"})
    assert list(inspect.signature(record).parameters) == ORDER
    assert derive(record(4)).b == 8
    with pytest.raises(CallError, match="position 2 for 'b', which is retired: follows from a"):
        record(1, 2, 3)


NAMES = [f"f{number}" for number in range(8)]


@given(st.sets(st.sampled_from(NAMES)), st.sets(st.sampled_from(["x", "y"])))
def test_places_do_not_move_whichever_fields_go(gone: set[str], added: set[str]) -> None:
    left = [*(name for name in NAMES if name not in gone), *sorted(added)]
    placed = with_places(left, gone, NAMES)
    if gone != set(NAMES):
        assert placed == (*NAMES, *sorted(added))
    else:
        assert set(placed) == {*NAMES, *added}
