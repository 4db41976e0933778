"""Resolvers decide what the operator left open; checks say what must hold."""

import os
import subprocess
import sys
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    CheckError,
    Context,
    Derived,
    FieldDeclarationError,
    InvalidValueError,
    Namespace,
    Registry,
    ResolutionError,
    check,
    compose,
    derived,
    resolver,
)


class Base(Namespace, registry=Registry("resolution")):
    pass


class Kernel(Base):
    _NS_PATH = "kernel"
    device: A[str, "Hardware."] = "cuda"
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

    return compose("Extended", [Kernel, Extended])()


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
            lambda cfg: {"doubled": 3},
            "decided 'doubled', which is no input field of the record.",
        ),
        (
            lambda cfg: "amx",
            "returned 'amx'; a resolver returns its decisions as {{name: value}}",
        ),
        (failing, "failed after reading device='cuda': KeyError: 'cuda'"),
        (
            assigning,
            "failed: ReadOnlyError: the view of a configuration is read-only, 'backend' cannot "
            "be changed here; return decisions instead: {{name: value}}",
        ),
        (
            lambda cfg: cfg.is_set("bakend"),
            "failed: UnknownAttributeError: 'view of Extended' object has no field 'bakend'. "
            "Did you mean 'backend'?",
        ),
    ],
)
def test_a_resolver_that_oversteps_is_named(function: Any, problem: str) -> None:
    with pytest.raises(ResolutionError) as caught:
        Context(with_resolver(function))
    place = Kernel.__ns_declaration__.where("device")
    assert str(caught.value).endswith(f": resolver tried {problem.format(device=place)}")
    assert isinstance(caught.value, ValueError)


def test_a_decision_has_to_fit_its_field() -> None:
    with pytest.raises(InvalidValueError) as caught:
        Context(with_resolver(lambda cfg: {"backend": "tritn"}))
    assert str(caught.value).endswith(
        "backend must be one of auto, amx, triton, not 'tritn'. Did you mean 'triton'?"
    )


@pytest.mark.parametrize("decorate", [resolver, check], ids=["resolver", "check"])
def test_outside_a_class_body_nothing_would_run_it(decorate: Any) -> None:
    with pytest.raises(FieldDeclarationError) as caught:

        @decorate
        def lost(cfg: Any) -> Any:
            """Lost."""

    assert str(caught.value).startswith(f"{__file__}:")
    assert str(caught.value).endswith(
        f": @{decorate.__name__} belongs in the body of the namespace class it serves; "
        "nothing would run it here"
    )


def test_a_check_states_its_rule() -> None:
    with pytest.raises(FieldDeclarationError) as caught:

        class Silent(Base):
            _NS_PATH = "silent"

            @check
            def silent(cfg) -> bool:
                return True

    assert str(caught.value).endswith("has no docstring; it states the rule")


class Sizes(Namespace, registry=Registry("checks")):
    _NS_PATH = "sizes"
    width: int = 2
    height: int = 3
    api_key: A[str | None, Arg(secret=True)] = None
    rank = Derived(type=int)

    @derived
    def area(cfg) -> int:
        return cfg.width * cfg.height

    @check
    def area_is_small(cfg) -> bool:
        """the area is
        at most 100

        and the rest of the docstring is not part of the rule
        """
        return cfg.area <= 100

    @check
    def rank_is_inside(cfg) -> bool:
        """rank is below the width"""
        return cfg.rank < cfg.width

    @check
    def raises(cfg) -> bool:
        """height is no thirteen"""
        if cfg.height == 13:
            raise LookupError("unlucky")
        return cfg.api_key != "guess"


Box = compose("Box", [Sizes])


@pytest.mark.parametrize(
    ("fields", "name", "message"),
    [
        ({"width": 50}, "area_is_small", "the area is at most 100, but area=150"),
        (
            {"height": 13},
            "raises",
            "height is no thirteen (LookupError: unlucky), but height=13",
        ),
        (
            {"api_key": "guess"},
            "raises",
            "height is no thirteen, but height=3, api_key='***'",
        ),
    ],
)
def test_a_rule_that_does_not_hold_is_told_with_what_it_read(
    fields: dict, name: str, message: str
) -> None:
    where = Sizes.__ns_declaration__.where(name)
    with pytest.raises(CheckError) as caught:
        Context(Box(**fields))
    assert str(caught.value) == f"{where}: {message}"
    context = Context(Box())
    with pytest.raises(CheckError) as caught:
        context.override("try", **fields)
    assert str(caught.value) == f"{where}: {message}"


def test_a_check_waits_for_the_run_time_facts_it_needs() -> None:
    context = Context(Box())
    with pytest.raises(CheckError) as caught:
        context.override("init", rank=2)
    assert str(caught.value).endswith("rank is below the width, but rank=2, width=2")
    context.override("init", rank=1)
    with pytest.raises(CheckError):
        context.override("shrink", width=1)


def test_checks_hold_when_python_drops_assertions() -> None:
    code = (
        "from registry import *\n"
        "class Sizes(Namespace, registry=Registry('o')):\n"
        "    _NS_PATH = 'sizes'\n"
        "    width: int = 2\n"
        "    @check\n"
        "    def positive(cfg):\n"
        "        'width is positive'\n"
        "        return cfg.width > 0\n"
        "Box = compose('Box', [Sizes])\n"
        "for width in (0, '2'):\n"
        "    try:\n"
        "        Context(Box(width=width))\n"
        "    except RegistryError as error:\n"
        "        print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-O", "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    assert (done.stderr, done.stdout.split()) == ("", ["CheckError", "InvalidValueError"])
