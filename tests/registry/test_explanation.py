"""Why a value is what it is, layer by layer."""

import dataclasses
import inspect
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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

REGISTRY = Registry("explained")


class Real(Namespace, registry=REGISTRY):
    _NS_PATH = "real"
    plain: A[int, "Plain."] = 1
    open: A[str | None, Arg(resolvable=True)] = None
    ratio: A[float | None, Arg(fallback=0.8)] = None
    late: A[float | None, Arg(fallback=0.8, resolvable=True)] = None
    key: A[str | None, Arg(secret=True)] = None
    rank = Derived(type=int)
    group = Derived(default="none")

    @derived_field
    def twice(cfg) -> int:
        return cfg.plain * 2

    @derived_field
    def is_first(cfg) -> bool:
        return cfg.rank == 0

    @resolver
    def decide(cfg) -> dict[str, Any]:
        return {"open": "decided"} if cfg.late is None else {"late": None}


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
            [
                "real.plain = 3",
                "  input     3  operator ({plain})  <- in effect",
                "  default   1  declaration ({plain})",
            ],
        ),
        (
            "plain",
            {"plain": 3},
            {"plain": 4},
            [
                "real.plain = 4",
                "  override  4  operator (HERE)  <- in effect",
                "  input     3  operator ({plain})",
                "  default   1  declaration ({plain})",
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
            "late",
            {"late": 0.1},
            {},
            [
                "real.late = 0.8",
                "  fallback  0.8   declaration ({late})  <- in effect",
                "  decision  None  decide ({decide})",
                "  input     0.1   operator ({late})",
            ],
        ),
        (
            "ratio",
            {"ratio": 0.5},
            {},
            [
                "real.ratio = 0.5",
                "  input     0.5  operator ({ratio})  <- in effect",
                "  fallback  0.8  declaration ({ratio})",
            ],
        ),
        (
            "is_first",
            {},
            {},
            [
                "real.is_first = (not set)",
                "  derived   (not set)  Real.is_first ({is_first})  <- in effect",
                "  it read   rank=(not set)",
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
        (
            "rank",
            {},
            {},
            [
                "real.rank = (not set)",
                "  fact      (not set)  declaration ({rank})  <- in effect",
            ],
        ),
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
    places = {each: place(each) for each in (*Args.__match_args__, *REGISTRY.derived, "decide")}
    expected = "\n".join(lines).format(**places)
    assert explained(name, Args(**record), **override) == expected


def test_scopes_stand_above_an_override_the_innermost_first() -> None:
    context = Context(Args())
    context.override("operator", plain=8, twice=3)
    line = inspect.currentframe().f_lineno + 1
    with context.scoped(plain=9), context.scoped(plain=10, twice=4):
        layers = context.explain("real.plain").layers
        pinned = context.explain("twice")
    assert [tuple(layer) for layer in layers] == [
        ("scope", "10", "scope", f"{__file__}:{line}"),
        ("scope", "9", "scope", f"{__file__}:{line}"),
        ("override", "8", "operator", f"{__file__}:{line - 2}"),
        ("default", "1", "declaration", place("plain")),
    ]
    assert [layer.kind for layer in pinned.layers] == ["scope", "pin", "derived"]
    assert pinned.reads == ()
    assert context.explain("plain").layers == layers[2:]


def test_a_field_is_explained_by_its_path_too() -> None:
    context = Context(Args())
    assert context.explain("real.twice") == context.explain("twice")


def test_a_field_of_a_plain_dataclass_is_in_no_namespace() -> None:
    @dataclasses.dataclass
    class Plain:
        extra: int = 5

    context = Context(compose("Extended", [Real], bases=(Plain,))(extra=6))
    context.override("operator", extra=7)
    where = context.log[0].where
    assert str(context.explain("extra")) == (
        f"extra = 7\n  override  7  operator ({where})  <- in effect\n  input     6  operator (?)\n"
        "  default   5  declaration (?)"
    )


VALUES = {"plain": [1, 2], "open": ["a", None], "ratio": [0.5, None], "late": [None, 0.1]}


@settings(deadline=None)
@given(st.fixed_dictionaries({}, optional={k: st.sampled_from(v) for k, v in VALUES.items()}))
def test_the_first_layer_is_the_value_in_effect(fields: dict) -> None:
    context = Context(Args(**fields))
    context.override("facts", rank=0)
    for name, value in context.resolved().items():
        explanation = context.explain(name)
        assert explanation.layers[0].value == explanation.value == repr(value)


def test_a_name_that_is_no_field_cannot_be_explained() -> None:
    with pytest.raises(UnknownFieldError) as caught:
        Context(Args()).explain("plane")
    assert str(caught.value) == "the configuration has no field 'plane'. Did you mean 'plain'?"
