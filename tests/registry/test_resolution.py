"""Resolvers decide what the operator left open, and nothing else."""

import dataclasses
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    Context,
    InvalidValueError,
    Namespace,
    Registry,
    ResolutionError,
    compose,
    derived,
    resolver,
)


class Base(Namespace, registry=Registry("resolution")):
    pass


class Kernel(Base):
    _NS_PATH = "kernel"
    device: A[str, "Hardware."] = "cuda"
    bare: int = 1
    backend: A[str, Arg(choices=["auto", "amx", "triton"], resolvable=True)] = "auto"
    ratio: A[float | None, Arg(resolvable=True, fallback=0.8)] = None
    steps: A[int, Arg(resolvable=True)] = 1
    seen: A[str | None, Arg(resolvable=True)] = None

    @derived
    def doubled(cfg) -> int:
        return cfg.steps * 2

    @resolver
    def first(cfg) -> dict[str, Any] | None:
        """Decide the backend."""
        if cfg.device == "cpu" and not cfg.is_set("backend"):
            return {"backend": "amx"}
        return None

    @resolver
    def second(cfg) -> dict[str, Any]:
        """See what the first decided, and what a resolver cannot see."""
        return {"seen": f"{cfg.backend} {cfg.ratio} {cfg.is_set('ratio')} {cfg.doubled}"}


class Later(Kernel):
    @resolver
    def third(cfg) -> dict[str, Any]:
        return {"steps": 4} if cfg.backend == "amx" else {}


Args = compose("Args", [Kernel, Later])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"backend": "auto", "steps": 1, "doubled": 2, "seen": "auto None False 2"}),
        (
            {"device": "cpu"},
            {"backend": "amx", "steps": 4, "doubled": 8, "seen": "amx None False 2"},
        ),
        ({"device": "cpu", "backend": "auto"}, {"backend": "auto", "steps": 1}),
        ({"ratio": 0.5}, {"ratio": 0.5, "seen": "auto 0.5 True 2"}),
        ({}, {"ratio": 0.8}),
        ({"ratio": None}, {"ratio": 0.8}),
    ],
)
def test_the_read_chain_is_override_decision_input_fallback(given: dict, expected: dict) -> None:
    record = Args(**given)
    resolved = Context(record).resolved()
    assert {name: resolved[name] for name in expected} == expected
    assert record == Args(**given)


def test_an_override_stands_above_a_decision() -> None:
    context = Context(Args(device="cpu"))
    context.override("operator", backend="triton")
    assert context.bag("kernel").backend == "triton"
    context.release("backend")
    assert context.bag("kernel").backend == "amx"


def with_resolver(function: Any) -> Any:
    class Extended(Kernel, registry=Registry("extended")):
        tried = resolver(function)

    return compose("Extended", [Kernel, Extended], bases=(Plain,))()


@dataclasses.dataclass
class Plain:
    plain: int = 1


def assigning(cfg: Any) -> None:
    cfg.backend = "amx"


def failing(cfg: Any) -> None:
    raise KeyError(cfg.device)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (
            lambda cfg: {"device": "cpu"},
            "decided 'device', which is not declared Arg(resolvable=True) ({device})",
        ),
        (
            lambda cfg: {"bakend": "amx"},
            "decided 'bakend', which is no input field of the record. Did you mean 'backend'?",
        ),
        (
            lambda cfg: {"bare": 3},
            "decided 'bare', which is not declared Arg(resolvable=True) ({bare})",
        ),
        (
            lambda cfg: {"plain": 3},
            "decided 'plain', which is no input field of the record.",
        ),
        (
            lambda cfg: {"doubled": 3},
            "decided 'doubled', which is no input field of the record. It is derived: decide "
            "what it is derived from.",
        ),
        (
            lambda cfg: "amx",
            "returned a value of type str; a resolver returns {{name: value}} or None",
        ),
        (failing, "failed after reading device='cuda': KeyError: 'cuda'"),
        (
            assigning,
            "failed: ReadOnlyError: the view of a configuration is read-only, 'backend' cannot "
            "be changed here; return decisions instead: {{name: value}}",
        ),
        (
            lambda cfg: cfg.is_set("bakend"),
            "failed: UnknownFieldError: the record has no field 'bakend'. Did you mean 'backend'?",
        ),
        (
            lambda cfg: cfg.doubled and cfg.is_set("doubled"),
            "failed after reading doubled=2: UnknownFieldError: the record has no field 'doubled'.",
        ),
    ],
)
def test_a_resolver_that_oversteps_is_named(function: Any, problem: str) -> None:
    with pytest.raises(ResolutionError) as caught:
        Context(with_resolver(function))
    places = {name: Kernel.__ns_declaration__.where(name) for name in ("device", "bare")}
    assert str(caught.value).endswith(f": resolver tried {problem.format(**places)}")
    assert isinstance(caught.value, ValueError)


def test_a_decision_has_to_fit_its_field() -> None:
    with pytest.raises(InvalidValueError) as caught:
        Context(with_resolver(lambda cfg: {"backend": "tritn"}))
    assert str(caught.value).endswith(
        "backend must be one of auto, amx, triton, not 'tritn'. Did you mean 'triton'?"
    )


def test_resolvers_run_in_the_order_they_were_registered_in() -> None:
    registry = Registry("order")

    class First(Namespace, registry=registry):
        _NS_PATH = "first"
        trace: A[str, Arg(resolvable=True)] = "typed"

        @resolver
        def one(cfg) -> dict[str, Any]:
            return {"trace": f"{cfg.trace}, one"}

        @resolver
        def two(cfg) -> dict[str, Any]:
            return {"trace": f"{cfg.trace}, two"}

    class Second(Namespace, registry=registry):
        _NS_PATH = "second"

        @resolver
        def a_third(cfg) -> dict[str, Any]:
            return {"trace": f"{cfg.trace}, three"}

    for namespaces in ([First, Second], [Second, First], None):
        context = Context(compose("Args", namespaces, registry=registry)())
        assert context.bag("first").trace == "typed, one, two, three"
        assert context.record.trace == "typed"
        assert [layer.kind for layer in context.explain("trace").layers] == ["decision", "default"]


def test_a_class_registered_after_the_record_was_composed_has_no_say() -> None:
    registry = Registry("late")

    class Early(Namespace, registry=registry):
        _NS_PATH = "early"
        width: A[int, Arg(resolvable=True)] = 1

    Composed = compose("Composed", registry=registry)

    class Plugin(Early):
        plugin_width: int = 2

        @derived
        def both(cfg) -> int:
            return cfg.width + cfg.plugin_width

        @resolver
        def widen(cfg) -> dict[str, Any]:
            return {"width": cfg.plugin_width}

    class Implied(Early):
        @derived
        def doubled(cfg) -> int:
            return cfg.width * 2

    assert Context(Composed()).resolved() == {"width": 1, "doubled": 2}
    anew = compose("Anew", registry=registry)
    assert Context(anew()).resolved() == {"width": 2, "plugin_width": 2, "both": 4, "doubled": 4}
