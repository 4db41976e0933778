"""Which namespace a field belongs to, whatever one asks."""

import dataclasses
from typing import Any

import pytest

from registry import (
    NS,
    A,
    Arg,
    ComposeError,
    Namespace,
    Registry,
    UnknownFieldError,
    compose,
    derived,
    namespace_of,
)

REGISTRY = Registry("lookup")


class Exec(Namespace, registry=REGISTRY):
    _NS_PATH = "exec"
    backend: str = "auto"


class Moe(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.moe"
    ep_size: int = 1

    @derived
    def moe_tp_size(cfg) -> int:
        return 8 // cfg.ep_size


class FastMoe(Moe):
    fused: bool = False


class ElsewhereMoe(Moe):
    _NS_PATH = "elsewhere"
    slots: int = 1


@dataclasses.dataclass
class Bench:
    rounds: A[int, Arg(help="Rounds."), NS("bench")] = 3
    quiet: "A[bool, NS('bench.output')]" = False
    seed: int = 0


@dataclasses.dataclass
class LongBench(Bench):
    hours: A[int, NS("bench")] = 1


Args = compose("Args", registry=REGISTRY)


@dataclasses.dataclass
class Extended(Args):  # type: ignore[misc, valid-type]
    marked: A[int, NS("extra")] = 1
    plain: int = 2


class PlainSub(Args):  # type: ignore[misc, valid-type]
    pass


ALL = {
    "backend": "exec",
    "ep_size": "exec.moe",
    "fused": "exec.moe",
    "slots": "elsewhere",
}


@pytest.mark.parametrize(
    ("what", "paths"),
    [
        (Args, ALL),
        (Args(), ALL),
        (PlainSub, ALL),
        (PlainSub(), ALL),
        (Extended, {**ALL, "marked": "extra"}),
        (Extended(), {**ALL, "marked": "extra"}),
        (compose("More", [], bases=(LongBench, Args)), {**ALL, "rounds": "bench"}),
        (Exec, {"backend": "exec"}),
        (Moe, {"ep_size": "exec.moe"}),
        (FastMoe, {"ep_size": "exec.moe", "fused": "exec.moe"}),
        (ElsewhereMoe, {"ep_size": "exec.moe", "slots": "elsewhere"}),
        (Bench, {"rounds": "bench", "quiet": "bench.output"}),
        (Bench(), {"rounds": "bench", "quiet": "bench.output"}),
        (LongBench, {"rounds": "bench", "quiet": "bench.output", "hours": "bench"}),
        (dataclasses.make_dataclass("Unmarked", [("x", int)]), {}),
    ],
)
def test_every_field_in_a_namespace_is_told(what: Any, paths: dict[str, str]) -> None:
    assert namespace_of(what).items() >= paths.items()
    assert "seed" not in namespace_of(what) and "plain" not in namespace_of(what)
    assert {name: namespace_of(what, name) for name in paths} == paths


def test_the_answer_is_in_record_order_and_the_caller_s_own() -> None:
    ordered = compose("Ordered", registry=REGISTRY, order=["slots", "ep_size"])
    assert list(namespace_of(ordered)) == ["slots", "ep_size", "backend", "fused"]
    namespace_of(ordered).clear()
    assert len(namespace_of(ordered)) == 4


def test_a_namespace_class_answers_for_its_derived_fields_by_name_only() -> None:
    assert namespace_of(FastMoe, "moe_tp_size") == "exec.moe"
    assert "moe_tp_size" not in namespace_of(FastMoe)


@pytest.mark.parametrize(
    ("what", "name", "message"),
    [
        (Args, "ep_sise", "Args has no field 'ep_sise'. Did you mean 'ep_size'?"),
        (Args(), "zz", "Args has no field 'zz'."),
        (
            Args,
            "moe_tp_size",
            "Args has no field 'moe_tp_size'. It is derived, in the namespace 'exec.moe', and on "
            "no record.",
        ),
        (Moe, "moe_tp_sise", "Moe has no field 'moe_tp_sise'. Did you mean 'moe_tp_size'?"),
        (Bench, "round", "Bench has no field 'round'. Did you mean 'rounds'?"),
        (
            Bench,
            "seed",
            "namespace_of(Bench) has no field 'seed'. It is in no namespace; a marker such as "
            'A[int, NS("bench")] places it in one.',
        ),
    ],
)
def test_a_name_that_is_in_no_namespace_is_an_error(what: Any, name: str, message: str) -> None:
    with pytest.raises(KeyError) as caught:
        namespace_of(what, name)
    assert type(caught.value) is UnknownFieldError
    assert str(caught.value) == message


@pytest.mark.parametrize("what", [3, int, None, "Args"])
def test_what_has_no_fields_is_refused(what: Any) -> None:
    with pytest.raises(TypeError) as caught:
        namespace_of(what)
    assert type(caught.value) is ComposeError
    name = (what if isinstance(what, type) else type(what)).__name__
    assert str(caught.value) == f"{name}: is neither a record nor a namespace class nor a dataclass"
