"""Why a value is what it is, layer by layer."""

import inspect
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    Context,
    Derived,
    Namespace,
    Registry,
    UnknownFieldError,
    compose,
    resolver,
)
from registry import derived as derived_field


class Base(Namespace, registry=Registry("explained")):
    pass


class Real(Base):
    _NS_PATH = "real"
    plain: A[int, "Plain."] = 1
    open: A[str | None, Arg(resolvable=True)] = None
    ratio: A[float | None, Arg(fallback=0.8)] = None
    key: A[str | None, Arg(secret=True)] = None
    rank = Derived(type=int)
    group = Derived(default="none")

    @derived_field
    def twice(cfg) -> int:
        return cfg.plain * 2

    @resolver
    def decide(cfg) -> dict[str, Any]:
        return {"open": "decided"}


Args = compose("Args", [Real])


def place(name: str) -> str:
    return Real.__ns_declaration__.where(name)


def explained(name: str, record: Any = None, **override: Any) -> str:
    context = Context(record or Args())
    if override:
        context.override("operator", **override)
    text = str(context.explain(name))
    return text.replace(context.log[0].where, "HERE") if override else text


@pytest.mark.parametrize(
    ("name", "record", "override", "lines"),
    [
        (
            "plain",
            {},
            {},
            ["real.plain = 1", "  default   1  declaration ({plain})  <- in effect"],
        ),
        (
            "plain",
            {"plain": 3},
            {},
            ["real.plain = 3", "  input     3  operator ({plain})  <- in effect"],
        ),
        (
            "plain",
            {"plain": 3},
            {"plain": 4},
            [
                "real.plain = 4",
                "  override  4  operator (HERE)  <- in effect",
                "  input     3  operator ({plain})",
            ],
        ),
        (
            "open",
            {},
            {},
            [
                "real.open = 'decided'",
                "  decision  'decided'  decide ({decide})  <- in effect",
                "  default   None       declaration ({open})",
            ],
        ),
        (
            "ratio",
            {},
            {},
            [
                "real.ratio = 0.8",
                "  fallback  0.8   declaration ({ratio})  <- in effect",
                "  default   None  declaration ({ratio})",
            ],
        ),
        (
            "key",
            {"key": "hunter2"},
            {"key": "hunter3"},
            [
                "real.key = '***'",
                "  override  '***'  operator (HERE)  <- in effect",
                "  input     '***'  operator ({key})",
            ],
        ),
        (
            "twice",
            {"plain": 3},
            {},
            [
                "real.twice = 6",
                "  derived   6  Real.twice ({twice})  <- in effect",
                "  it read   plain=3",
            ],
        ),
        (
            "twice",
            {},
            {"twice": 7},
            [
                "real.twice = 7",
                "  pin       7               operator (HERE)  <- in effect",
                "  derived   (not computed)  Real.twice ({twice})",
            ],
        ),
        ("rank", {}, {}, ["real.rank = (not set)"]),
        (
            "rank",
            {},
            {"rank": 0},
            ["real.rank = 0", "  fact      0  operator (HERE)  <- in effect"],
        ),
        (
            "group",
            {},
            {},
            ["real.group = 'none'", "  default   'none'  declaration ({group})  <- in effect"],
        ),
    ],
)
def test_every_layer_is_told_with_its_source(
    name: str, record: dict, override: dict, lines: list[str]
) -> None:
    places = {each: place(each) for each in ("plain", "open", "ratio", "key", "twice", "group")}
    expected = "\n".join(lines).format(**places, decide=place("decide"))
    assert explained(name, Args(**record), **override) == expected


def test_a_scope_is_told_too() -> None:
    context = Context(Args())
    line = inspect.currentframe().f_lineno + 1
    with context.scoped(plain=9):
        layers = context.explain("real.plain").layers
    assert [(layer.kind, layer.value) for layer in layers] == [("scope", "9"), ("default", "1")]
    assert layers[0].where == f"{__file__}:{line}"


def test_a_name_that_is_no_field_cannot_be_explained() -> None:
    with pytest.raises(UnknownFieldError) as caught:
        Context(Args()).explain("plane")
    assert str(caught.value) == "the configuration has no field 'plane'. Did you mean 'plain'?"
