"""Which values fit which declared types, at every door but the constructor."""

import collections
import collections.abc
import enum
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import (
    Any,
    Literal,
    NewType,
    Optional,
    Protocol,
    TypedDict,
    TypeVar,
    Union,
    runtime_checkable,
)

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import LiteralString, TypeAliasType

from registry import (
    A,
    Arg,
    ComposeError,
    Context,
    Derived,
    InvalidValueError,
    Namespace,
    Registry,
    compose,
    derived,
    validate,
)
from registry.value_types import fits


class Mode(enum.Enum):
    FAST = "fast"


class Shape(TypedDict):
    rows: int


class Opaque(Protocol):
    def run(self) -> None: ...


Ranks = NewType("Ranks", int)
Bound = TypeVar("Bound", bound=int)
Free = TypeVar("Free")


@runtime_checkable
class Runner(Protocol):
    def run(self) -> None: ...


class Thing:
    __value__ = str  # an attribute that type aliases have as well


class SubThing(Thing):
    def run(self) -> None: ...


class Level(enum.IntEnum):
    LOW = 1


Names = TypeAliasType("Names", list[str])
Pair = TypeAliasType("Pair", tuple[Free, Free], type_params=(Free,))


YES_AND_NO: list[tuple[Any, list[Any], list[Any]]] = [
    (Any, [None, 1, object()], []),
    (object, [None, 1], []),
    (None, [None], [0, False, ""]),
    (bool, [True, False], [0, 1, None, "true"]),
    (int, [0, -1, 10**30, Level.LOW], [True, False, 1.0, "1", None]),
    (float, [0.5, 1, -3], [True, "0.5", None, 1j]),
    (complex, [1j, 0.5, 1], [True, "1"]),
    (str, ["", "a"], [b"a", 1, None]),
    (bytes, [b"a"], ["a"]),
    (Path, [Path()], ["a"]),
    (Mode, [Mode.FAST], ["fast", "FAST"]),
    (Literal["a", "b"], ["a", "b"], ["c", None]),
    (Literal[1, 2], [1, 2], [True, 1.0, 3, "1"]),
    (Literal[True], [True], [1, 1.0, False]),
    (list[Literal[1]], [[1]], [[True]]),
    (list[Literal[True]], [[True]], [[1]]),
    (Literal[Mode.FAST], [Mode.FAST], ["fast"]),
    (Literal[None, "x"], [None, "x"], ["none"]),
    (Optional[int], [None, 1], [True, "1"]),  # noqa: UP045
    (int | None, [None, 1], [True, "1"]),
    (Union[str, dict, None], [None, "a", {}], [1, []]),  # noqa: UP007
    (list, [[], [1, "a"]], [(), "a"]),
    (list[int], [[], [1, 2]], [[1, "2"], [True], (1,), "12", None]),
    (typing.List[int], [[1]], [["1"]]),  # noqa: UP006  a declaration may be spelled so
    (list[list[int]], [[[1]], []], [[1], [["1"]]]),
    (set[str] | list[str] | None, [None, {"a"}, ["a"], set()], ["a", ("a",), [1]]),
    (frozenset[int], [frozenset({1})], [{1}, frozenset("a")]),
    (tuple, [(), (1, "a")], [[]]),
    (typing.Tuple, [(), (1, "a")], [[]]),  # noqa: UP006
    (tuple[int, str], [(1, "a")], [(1,), (1, "a", 2), ("a", 1), [1, "a"]]),
    (tuple[int, ...], [(), (1, 2)], [(1, "2"), [1]]),
    (tuple[()], [()], [(1,)]),
    (dict, [{}, {1: 2}], [[]]),
    (dict[str, int], [{}, {"a": 1}], [{"a": "1"}, {1: 1}, []]),
    (dict[str, dict[str, Any]], [{"a": {"b": object()}}], [{"a": 1}]),
    (collections.abc.Mapping[str, int], [{"a": 1}], [{"a": "b"}]),
    (collections.abc.Sequence[str], [["a"], ("a",)], ["ab", [1], {"a"}]),
    (collections.abc.Sequence, [["a"], (1,)], ["ab", b"ab", {"a"}]),
    (collections.deque[int], [collections.deque([1])], [[1], collections.deque("a")]),
    (collections.Counter[str], [collections.Counter("a")], [{"a": 1}]),
    (collections.abc.Callable[..., Any], [len, lambda: 1, Thing], [1, None]),
    (collections.abc.Callable, [len], [1]),
    (type[Thing], [Thing, SubThing], [int, Thing()]),
    (type[Opaque], [int, Thing], [1]),
    (type[Thing | int], [Thing, int], [1]),
    (type[Free], [Thing, int], [1]),
    (typing.Type[Mode], [Mode], [int, Mode.FAST]),  # noqa: UP006
    (type, [int], [1]),
    (Thing, [Thing()], [1, None]),
    (Ranks, [1], ["1", True]),
    (Shape, [{"rows": 1}], [1]),
    (Bound, [1], ["1"]),
    (Free, [1, "a", None], []),
    (typing.AnyStr, ["a", b"a"], [1, None]),
    (Names, [[], ["a"]], ["ab", [1]]),
    (Names | None, [None, ["a"]], ["ab"]),
    (Pair, [(1, 2)], [(1,), [1, 2]]),
    (Pair[int], [(1, 2)], [(1,), [1, 2]]),
    (Opaque, [1, Thing()], []),
    (Runner, [SubThing()], [1, Thing()]),
    (LiteralString, ["a", 1], []),
    (A[int, Arg(help="Width.")], [1], ["1"]),
    (A[int, ["metadata that has no hash"]], [1], ["1"]),
    (A[list[int] | None, "Widths."], [None, [1]], [["1"]]),
    (typing.Final[int], [1], ["1"]),
]


@pytest.mark.parametrize(
    ("annotation", "good", "bad"), YES_AND_NO, ids=[str(row[0]) for row in YES_AND_NO]
)
def test_a_type_takes_its_values_and_no_others(
    annotation: Any, good: list[Any], bad: list[Any]
) -> None:
    assert [value for value in good if not fits(value, annotation)] == []
    assert [value for value in bad if fits(value, annotation)] == []


SCALARS = st.sampled_from([int, float, str, bool, None])
TYPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map(lambda each: list[each]),
        inner.map(lambda each: each | None if each is not None else int | None),
        inner.map(lambda each: dict[str, each]),
        inner.map(lambda each: tuple[each, ...]),
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(0, 1) | st.text(max_size=2),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.text(max_size=1), inner, max_size=2),
        st.lists(inner, max_size=2).map(tuple),
    ),
    max_leaves=4,
)


@settings(deadline=None)
@given(TYPES, VALUES)
def test_the_rules_agree_with_a_library_made_for_it(annotation: Any, value: Any) -> None:
    typeguard = pytest.importorskip("typeguard")
    try:
        typeguard.check_type(
            value,
            annotation,
            collection_check_strategy=typeguard.CollectionCheckStrategy.ALL_ITEMS,
        )
        expected = True
    except typeguard.TypeCheckError:
        expected = False
    # It takes True for a number, as Python does; a setting never means that.
    if not _has_bool(value):
        assert fits(value, annotation) is expected


def _has_bool(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_bool, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_bool, value))
    return isinstance(value, bool)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement is new in 3.12")
def test_an_alias_may_use_itself() -> None:
    names: dict[str, Any] = {}
    exec("type Json = None | float | str | list[Json] | dict[str, Json]", names)
    assert fits({"a": [1, {"b": None}]}, names["Json"])
    assert not fits({"a": [1, {"b": True}]}, names["Json"])


REGISTRY = Registry("values")


class Real(Namespace, registry=REGISTRY):
    _NS_PATH = "real"
    width: A[int, "Width."] = 1
    lax: A[int, "None stands for unset, as some write it."] = None
    mode: A[str, Arg(choices=["fast", "slow"])] = "fast"
    parts: A[list[str] | None, Arg(choices=["q", "k"])] = None
    ratio: A[float | Literal["auto"], "Ratio."] = "auto"
    key: A[str | None, Arg(secret=True)] = None
    vault: A[str | None, Arg(secret=True, choices=["opens", "closed"])] = None
    names: Names | None = None
    rank = Derived(type=int)
    handle = Derived(doc="A group; its type is nobody's business.")

    @derived
    def doubled(cfg) -> int:
        return cfg.width * 2


Args = compose("Args", registry=REGISTRY)

GOOD: list[dict[str, Any]] = [
    {},
    {"ratio": 1, "parts": ["q", "k"], "mode": "slow"},
    {"lax": None},
    {"parts": []},
    {"parts": None, "key": ""},
]
BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"width": "8"}, ["width must be int, not '8' (str)"]),
    ({"width": True}, ["width must be int, not True (bool)"]),
    ({"lax": "no"}, ["lax must be int, not 'no' (str)"]),
    ({"mode": "fats"}, ["mode must be one of fast, slow, not 'fats'. Did you mean 'fast'?"]),
    ({"parts": ["q", "v"]}, ["parts must be one of q, k, not 'v'."]),
    ({"parts": "q"}, ["parts must be list[str] or None, not 'q' (str)"]),
    ({"names": "ab"}, ["names must be Names or None, not 'ab' (str)"]),
    ({"ratio": "no"}, ["ratio must be float or 'auto', not 'no' (str)"]),
    ({"key": 31337}, ["key must be str or None, not *** (int)"]),
    ({"vault": "open"}, ["vault must be one of opens, closed, not ***."]),
    (
        {"width": None, "mode": 3},
        ["width must be int, not None (NoneType)", "mode must be str, not 3 (int)"],
    ),
]
DOORS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "validate": lambda fields: validate(Args(**fields)),
    "publish": lambda fields: Context(Args(**fields)),
    "override": lambda fields: Context(Args()).override("test", **fields),
    "scope": lambda fields: Context(Args()).scoped(**fields).__enter__(),
}


def place(name: str) -> str:
    return Real.__ns_declaration__.where(name)


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize("fields", GOOD, ids=str)
def test_every_door_lets_in_what_fits(door: Callable[..., Any], fields: dict) -> None:
    door(fields)


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
@pytest.mark.parametrize(("fields", "lines"), BAD, ids=[str(row[0]) for row in BAD])
def test_every_door_refuses_what_does_not_fit_with_a_line_for_each_problem(
    door: Callable[..., Any], fields: dict, lines: list[str]
) -> None:
    with pytest.raises(InvalidValueError) as caught:
        door(fields)
    assert str(caught.value).splitlines() == [
        f"{place(line.partition(' ')[0])}: {line}" for line in lines
    ]
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"rank": "0"}, "rank must be int, not '0' (str)"),
        ({"rank": None}, "rank must be int, not None (NoneType)"),
        ({"doubled": 2.0}, "doubled must be int, not 2.0 (float)"),
    ],
)
def test_facts_and_pins_have_to_fit_their_type(fields: dict, message: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        Context(Args()).override("test", **fields)
    assert str(caught.value) == f"{place(*fields)}: {message}"


def test_a_fact_without_a_type_takes_anything() -> None:
    context = Context(Args())
    handle = object()
    context.override("init", handle=handle)
    assert context.bag("real").handle is handle


def test_the_constructor_takes_anything_as_on_any_dataclass() -> None:
    assert Args(width="8").width == "8"


def test_only_a_record_can_be_validated() -> None:
    with pytest.raises(ComposeError) as caught:
        validate({"width": 1})
    assert str(caught.value) == ("validate(): takes an instance of a composed record, not a dict")
