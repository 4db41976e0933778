"""What a record implies: derived fields, computed when they are first read."""

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    ComposeError,
    DerivationCycleError,
    DerivationError,
    Derived,
    FactNotSetError,
    Namespace,
    NotPicklableError,
    ReadOnlyError,
    Registry,
    UnknownAttributeError,
    compose,
    derive,
    derived,
)

REGISTRY = Registry("derivation")
CALLS: list[str] = []


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 1
    dp_size: int = 1
    labels: list[str] | None = None
    _hidden: int = 3

    @derived
    def attn_tp_size(cfg) -> int:
        CALLS.append("attn_tp_size")
        return cfg.tp_size // cfg.attn_dp_size

    @derived
    def from_hidden(cfg) -> int:
        return cfg._hidden * 2

    tp_rank = Derived(doc="Rank inside the TP group.", type=int)
    device = Derived(doc="Device, if any.", default=None)
    role = Derived(default="worker")


class Attention(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.attention"

    enable_dp: bool = False
    api_key: A[str | None, Arg(secret=True)] = None

    @derived
    def attn_dp_size(cfg) -> int:
        return cfg.dp_size if cfg.enable_dp else 1

    @derived
    def first(cfg) -> Any:
        return cfg.second

    @derived
    def second(cfg) -> Any:
        return cfg.tp_size + cfg.third

    @derived
    def third(cfg) -> Any:
        return cfg.first

    @derived
    def itself(cfg) -> Any:
        return cfg.itself

    @derived
    def failing(cfg) -> Any:
        return cfg.attn_dp_size / 0

    @derived
    def on_failing(cfg) -> Any:
        return cfg.failing

    @derived
    def misspelt(cfg) -> Any:
        return cfg.tp_size * cfg.tp_sise

    @derived
    def on_rank(cfg) -> Any:
        return cfg.tp_rank + 1

    @derived
    def careful(cfg) -> Any:
        return getattr(cfg, "tp_rank", "none") if not hasattr(cfg, "gone") else "gone"

    heavy = Derived(fn="heavy_module:Functions.width", doc="Width.")
    absent = Derived(fn="no_such_module:width")
    elsewhere = Derived(fn="heavy_module:no_such_function")


Args = compose("Args", registry=REGISTRY)


def where(name: str) -> str:
    """The place of a derived field, as messages give it."""
    return f"{__file__}:{REGISTRY.derived[name].line}"


def test_a_derived_field_is_computed_from_fields_of_any_namespace() -> None:
    view = derive(Args(tp_size=8, dp_size=2, enable_dp=True))
    assert (view.attn_tp_size, view.attn_dp_size, view.from_hidden) == (4, 2, 6)
    assert (view.tp_size, view.enable_dp, view.labels) == (8, True, None)


def test_it_is_computed_when_it_is_first_read_and_once() -> None:
    CALLS.clear()
    view = derive(Args(tp_size=8))
    assert CALLS == []
    assert [view.attn_tp_size, view.attn_tp_size] == [8, 8]
    assert CALLS == ["attn_tp_size"]
    assert derive(Args()).attn_tp_size == 1
    assert len(CALLS) == 2


def test_the_view_shows_the_record_as_it_was() -> None:
    record = Args(tp_size=8)
    view = derive(record)
    record.tp_size = 2
    assert (view.tp_size, view.attn_tp_size) == (8, 8)
    assert derive(record).attn_tp_size == 2


def test_a_subclass_derives_as_its_record_does() -> None:
    assert derive(type("Sub", (Args,), {})(tp_size=8)).attn_tp_size == 8


def test_a_function_named_by_path_is_imported_only_when_its_value_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "class Functions:\n    def width(cfg):\n        return cfg.tp_size * 10\n"
    (tmp_path / "heavy_module.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    view = derive(Args(tp_size=2))
    assert view.attn_tp_size == 2 and "heavy_module" not in sys.modules
    try:
        assert view.heavy == 20 and "heavy_module" in sys.modules
        with pytest.raises(DerivationError) as caught:
            _ = view.elsewhere
    finally:
        del sys.modules["heavy_module"]
    assert str(caught.value) == (
        f"{where('elsewhere')}: deriving elsewhere failed: AttributeError: module 'heavy_module' "
        "has no attribute 'no_such_function'"
    )


def test_a_run_time_fact_has_its_default() -> None:
    view = derive(Args())
    assert (view.device, view.role) == (None, "worker")


@pytest.mark.parametrize("name", ["tp_rank", "on_rank"])
def test_a_run_time_fact_without_a_default_says_that_it_is_not_set(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(derive(Args()), name)
    assert type(caught.value) is FactNotSetError
    assert str(caught.value) == (
        f"{where('tp_rank')}: tp_rank is a run-time fact without a value yet; only the process "
        "that knows it can set it, once it is published there"
    )


def test_a_derivation_may_ask_whether_there_is_a_value() -> None:
    assert derive(Args()).careful == "none"


@pytest.mark.parametrize(
    ("name", "cycle"),
    [
        ("first", "first -> second -> third -> first"),
        ("second", "second -> third -> first -> second"),
        ("itself", "itself -> itself"),
    ],
)
def test_derived_fields_that_need_each_other_are_an_error_that_shows_them(
    name: str, cycle: str
) -> None:
    with pytest.raises(ValueError) as caught:
        getattr(derive(Args()), name)
    assert type(caught.value) is DerivationCycleError
    assert str(caught.value) == f"{where(name)}: derived fields need each other: {cycle}"
    assert caught.value.cycle == tuple(cycle.split(" -> "))


@pytest.mark.parametrize(
    ("record", "name", "message", "cause"),
    [
        (
            Args(),
            "failing",
            "deriving failing failed after reading attn_dp_size=1: "
            "ZeroDivisionError: division by zero",
            ZeroDivisionError,
        ),
        (
            Args(tp_size=4),
            "misspelt",
            "deriving misspelt failed after reading tp_size=4: UnknownAttributeError: "
            "'view of Args' object has no field 'tp_sise'. Did you mean 'tp_size'?",
            UnknownAttributeError,
        ),
        (
            Args(),
            "absent",
            "deriving absent failed: ModuleNotFoundError: No module named 'no_such_module'",
            ModuleNotFoundError,
        ),
    ],
)
def test_a_failing_derivation_says_what_it_read_and_why_it_failed(
    record: Any, name: str, message: str, cause: type[Exception]
) -> None:
    with pytest.raises(ValueError) as caught:
        getattr(derive(record), name)
    assert type(caught.value) is DerivationError
    assert str(caught.value) == f"{where(name)}: {message}"
    assert type(caught.value.__cause__) is cause
    assert caught.value.field == name


def test_what_depends_on_a_failing_derivation_fails_with_its_error() -> None:
    view = derive(Args())
    for _ in range(2):
        with pytest.raises(DerivationError) as caught:
            _ = view.on_failing
        assert caught.value.field == "failing"
    assert view.attn_tp_size == 1


@pytest.mark.parametrize(
    "change", [lambda v: setattr(v, "tp_size", 2), lambda v: delattr(v, "tp_size")]
)
def test_the_view_is_read_only(change: Callable[[Any], None]) -> None:
    view = derive(Args())
    with pytest.raises(AttributeError) as caught:
        change(view)
    assert type(caught.value) is ReadOnlyError
    assert str(caught.value) == (
        "the view of a configuration is read-only, 'tp_size' cannot be changed here; change the "
        "record and derive again"
    )
    assert view.tp_size == 1


@pytest.mark.parametrize("name", ["tp_sise", "zz", "_zz"])
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    view = derive(Args())
    assert not hasattr(view, name)
    with pytest.raises(AttributeError) as caught:
        getattr(view, name)
    assert type(caught.value) is UnknownAttributeError
    hint = " Did you mean 'tp_size'?" if name == "tp_sise" else ""
    assert str(caught.value) == f"'view of Args' object has no field {name!r}.{hint}"


def test_probes_for_special_methods_are_plain_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="__array__"):
        _ = derive(Args()).__array__


def test_a_half_built_view_answers_probes_without_recursion() -> None:
    half = object.__new__(type(derive(Args())))
    assert not hasattr(half, "__array__")
    assert not hasattr(half, "__deepcopy__")


def test_dir_lists_every_field_and_repr_computes_nothing() -> None:
    view = derive(Args())
    assert set(dir(view)) == {*REGISTRY.input, *REGISTRY.derived}
    assert repr(view) == "<what a Args implies>"


@pytest.mark.parametrize("leave", [pickle.dumps, copy.copy, copy.deepcopy])
def test_the_view_stays_in_its_process(leave: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError) as caught:
        leave(derive(Args()))
    assert type(caught.value) is NotPicklableError
    assert str(caught.value) == (
        "the view of a configuration stays in its process, derived values would arrive stale; "
        "send the record and publish or derive it there"
    )


@pytest.mark.parametrize(
    ("what", "said"),
    [(Args, "the class Args"), (Parallel, "the class Parallel"), (None, "None"), (3, "3")],
)
def test_only_a_record_can_be_derived_from(what: Any, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        derive(what)
    assert type(caught.value) is ComposeError
    assert str(caught.value) == f"derive(): takes an instance of a composed record, not {said}"


def test_threads_that_read_the_same_view_compute_once_and_see_no_cycle() -> None:
    CALLS.clear()
    view = derive(Args(tp_size=8))
    barrier = threading.Barrier(8)
    seen: list[int] = []

    def read() -> None:
        barrier.wait()
        seen.append(view.attn_tp_size)

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [8] * 8
    assert CALLS == ["attn_tp_size"]
