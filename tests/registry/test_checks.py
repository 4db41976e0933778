"""What must hold together, at publish, override and scope, and what is said where it does not."""

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
    Namespace,
    Registry,
    check,
    compose,
    derived,
)

FULL_MOON: list[bool] = []


class Ambiguous:
    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


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

    @check
    def forgets_to_answer(cfg) -> Any:
        """width is no seven"""
        return None if cfg.width == 7 else True

    @check
    def has_no_plain_answer(cfg) -> Any:
        """width is no eight"""
        return Ambiguous() if cfg.width == 8 else 1

    @check
    def reads_nothing(cfg) -> bool:
        """the moon is not full"""
        return not FULL_MOON

    @check
    def assigns(cfg) -> bool:
        """height is no fourteen"""
        if cfg.height == 14:
            cfg.height = 15
        return True


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
            {"height": 14},
            "assigns",
            "height is no fourteen (ReadOnlyError: the view of a configuration is read-only, "
            "'height' cannot be changed here; a check only answers), but height=14",
        ),
        (
            {"width": 7},
            "forgets_to_answer",
            "width is no seven (TypeError: it returned None; a check returns whether its rule "
            "holds), but width=7",
        ),
        (
            {"width": 8},
            "has_no_plain_answer",
            "width is no eight (ValueError: ambiguous), but width=8",
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
    assert isinstance(caught.value, ValueError)
    context = Context(Box())
    with pytest.raises(CheckError) as caught:
        context.override("try", **fields)
    assert str(caught.value) == f"{where}: {message}"
    with pytest.raises(CheckError) as caught, context.scoped(**fields):
        pytest.fail("a scope that breaks a rule must not be entered")
    assert str(caught.value) == f"{where}: {message}"


def test_a_rule_that_reads_nothing_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "FULL_MOON", [True])
    with pytest.raises(CheckError) as caught:
        Context(Box())
    where = Sizes.__ns_declaration__.where("reads_nothing")
    assert str(caught.value) == f"{where}: the moon is not full, but it read nothing"


def test_a_check_waits_for_the_run_time_facts_it_needs() -> None:
    context = Context(Box())
    with pytest.raises(CheckError) as caught:
        context.override("init", rank=2)
    assert str(caught.value).endswith("rank is below the width, but rank=2, width=2")
    context.override("init", rank=1)
    with pytest.raises(CheckError):
        context.override("shrink", width=1)


SCRIPT = """
from registry import *

class Sizes(Namespace, registry=Registry("optimised")):
    _NS_PATH = "sizes"
    width: int = 2

    @check
    def positive(cfg):
        "width is positive"
        return cfg.width > 0

Box = compose("Box", [Sizes])
for width in (0, "2"):
    try:
        Context(Box(width=width))
    except RegistryError as error:
        print(type(error).__name__)
"""


def test_checks_hold_when_python_drops_assertions() -> None:
    path = os.pathsep.join(map(str, sys.path))
    done = subprocess.run(
        [sys.executable, "-O", "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.stderr, done.stdout.split()) == ("", ["CheckError", "InvalidValueError"])
