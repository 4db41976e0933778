"""A composed record against a hand-written dataclass of the same fields, behaviour by behaviour."""

import abc
import copy
import dataclasses
import inspect
import typing
import weakref
from typing import Any, ClassVar, Generic, TypeVar

import pytest

from registry import A, Arg, Namespace, Registry, compose, fields_set

T = TypeVar("T")
WIDTH = A[int, Arg(help="Tensor-parallel width in ranks.", aliases=["--tp"])]


class Serving(Namespace, registry=Registry("compatibility")):
    _NS_PATH = "serving"

    model_path: str
    tp_size: WIDTH = 1
    labels: dict[str, str] = dataclasses.field(default_factory=dict)
    token: str
    scale: float = dataclasses.field(default=1.5, compare=False, metadata={"unit": "x"})


def hand_written(frozen: bool = False) -> type[Any]:
    @dataclasses.dataclass(frozen=frozen)
    class Args:
        model_path: str
        tp_size: WIDTH = 1
        labels: dict[str, str] = dataclasses.field(default_factory=dict)
        token: str = dataclasses.field(kw_only=True)
        scale: float = dataclasses.field(default=1.5, compare=False, metadata={"unit": "x"})

    return named("Args", Args)


def make(cls: type[Any], **changes: Any) -> Any:
    return cls("m", 8, **{"token": "t", **changes})


def outcome(function: Any, *args: Any) -> Any:
    """What a call returns or raises, comparable between the two classes."""
    try:
        return function(*args)
    except Exception as error:
        text = str(error).partition(". Did you mean")[0]
        base = TypeError if isinstance(error, TypeError) else type(error)
        return base, text


def matched(record: Any) -> Any:
    cls = type(record)
    match record:
        case cls(path, 4):
            return "four", path
        case cls(path, width, labels=labels, token="t"):
            return path, width, labels
    return None


def after_deletion(record: Any) -> Any:
    del record.tp_size
    return record.tp_size, vars(record), outcome(lambda: delattr(record, "tp_size"))


def after_required_deletion(record: Any) -> Any:
    del record.token
    return outcome(lambda: record.token), outcome(lambda: record == make(type(record)))


BEHAVIOURS: dict[str, Any] = {
    "is a dataclass": lambda cls: [dataclasses.is_dataclass(each) for each in (cls, make(cls))],
    "fields": lambda cls: [
        (
            *(f.name, f.type, f.default, f.default_factory, f.init),
            *(f.repr, f.hash, f.compare, f.kw_only, dict(f.metadata)),
        )
        for f in dataclasses.fields(cls)
    ],
    "asdict": lambda cls: dataclasses.asdict(make(cls, labels={"a": "b"})),
    "asdict copies": lambda cls: dataclasses.asdict(r := make(cls))["labels"] is r.labels,
    "astuple": lambda cls: dataclasses.astuple(make(cls)),
    "replace": lambda cls: vars(dataclasses.replace(make(cls), tp_size=2)),
    "replace, unknown": lambda cls: outcome(lambda: dataclasses.replace(make(cls), zz=2)),
    "match_args": lambda cls: cls.__match_args__,
    "match statement": lambda cls: [matched(make(cls)), matched(cls("n", 4, token="t"))],
    "signature": inspect.signature,
    "type hints": typing.get_type_hints,
    "type hints with metadata": lambda cls: typing.get_type_hints(cls, include_extras=True),
    "annotations": lambda cls: inspect.get_annotations(cls),
    "vars, in order": lambda cls: list(vars(make(cls)).items()),
    "copy": lambda cls: (vars(c := copy.copy(r := make(cls))), c.labels is r.labels),
    "deepcopy": lambda cls: (vars(c := copy.deepcopy(r := make(cls))), c.labels is r.labels),
    "equality": lambda cls: [
        make(cls) == make(cls),
        make(cls) == make(cls, scale=9.0),
        make(cls) == make(cls, labels={"a": "b"}),
        make(cls) != make(cls, token="u"),
        make(cls).__eq__(("m", 8)),
        make(cls) == None,  # noqa: E711
    ],
    "not hashable": lambda cls: (cls.__hash__, outcome(hash, make(cls))),
    "class attributes": lambda cls: [
        getattr(cls, name, "none") for name in ("model_path", "tp_size", "labels", "token", "scale")
    ],
    "each has its own factory value": lambda cls: make(cls).labels is make(cls).labels,
    "deleting gives the default": lambda cls: after_deletion(make(cls)),
    "deleting what is required": lambda cls: after_required_deletion(make(cls)),
    "reading an unknown name": lambda cls: outcome(lambda: make(cls).zz),
    "made without init": lambda cls: (vars(r := cls.__new__(cls)), r.tp_size),
    "assigning": lambda cls: setattr(r := make(cls), "tp_size", 3) or vars(r),
    "subclass check": lambda cls: [issubclass(cls, cls), isinstance(make(cls), cls)],
    "weak reference": lambda cls: weakref.ref(r := make(cls))() is r,
}


@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_a_record_behaves_as_a_hand_written_dataclass(behaviour: str) -> None:
    check = BEHAVIOURS[behaviour]
    assert check(compose("Args", [Serving])) == check(hand_written())


def decorated(base: type[Any]) -> type[Any]:
    @dataclasses.dataclass
    class Sub(base):
        extra: int = 7
        area: int = dataclasses.field(init=False)
        count: ClassVar[int] = 3
        tags: list[str] = dataclasses.field(default_factory=list)

        def __post_init__(self) -> None:
            self.area = self.tp_size * self.extra

    return Sub


def named(name: str, cls: type[Any]) -> type[Any]:
    """Let a class made in a function speak of itself as one at module level would."""
    cls.__qualname__ = name
    cls.__init__.__qualname__ = f"{name}.__init__"
    return cls


def generic(base: type[Any]) -> Any:
    class Sub(base, Generic[T]):
        pass

    return Sub


def with_own_init(base: type[Any]) -> type[Any]:
    class Sub(base):
        def __init__(self, path: str, *, width: int = 2) -> None:
            super().__init__(path, width, token="own")

    return Sub


SUBCLASSES: dict[str, Any] = {
    "values, in order": lambda base: list(vars(make(decorated(base))).items()),
    "positional order": lambda base: vars(decorated(base)("m", 2, {}, 2.0, 5, ["x"], token="t")),
    "signature": lambda base: inspect.signature(decorated(base)),
    "signature once used": lambda base: make(s := decorated(base)) and inspect.signature(s),
    "match_args": lambda base: decorated(base).__match_args__,
    "fields": lambda base: [(f.name, f.init) for f in dataclasses.fields(decorated(base))],
    "asdict": lambda base: dataclasses.asdict(make(decorated(base))),
    "replace": lambda base: vars(dataclasses.replace(make(decorated(base)), extra=2)),
    "replace what init does not take": lambda base: outcome(
        lambda: dataclasses.replace(make(decorated(base)), area=2)
    ),
    "giving what init does not take": lambda base: outcome(
        lambda: named("Sub", decorated(base))("m", area=2, token="t")
    ),
    "equality": lambda base: [
        make(s := decorated(base)) == make(s),
        make(s) == make(s, extra=1),
        make(s) == make(base),
        make(base) == make(s),
    ],
    "own init": lambda base: vars(with_own_init(base)("p", width=4)),
    "signature of an own init": lambda base: inspect.signature(with_own_init(base)),
    "a required field after defaults": lambda base: outcome(
        lambda: dataclasses.make_dataclass("Sub", [("late", int)], bases=(base,))
    ),
    "make_dataclass": lambda base: vars(
        make(dataclasses.make_dataclass("Sub", [("late", int, 4)], bases=(base,)))
    ),
    "generic": lambda base: generic(base)[int]("m", token="t").tp_size,
    "abstract": lambda base: outcome(
        abc.ABCMeta("Sub", (base,), {"run": abc.abstractmethod(lambda self: 1)}), "m"
    )[0],
}


@pytest.mark.parametrize("behaviour", SUBCLASSES)
def test_its_subclasses_behave_as_those_of_a_hand_written_dataclass(behaviour: str) -> None:
    check = SUBCLASSES[behaviour]
    assert check(compose("Args", [Serving])) == check(hand_written())


def frozen_subclass(base: type[Any]) -> type[Any]:
    return dataclasses.dataclass(frozen=True)(type("Sub", (base,), {"__annotations__": {}}))


FROZEN: dict[str, Any] = {
    "assigning": lambda cls: outcome(setattr, make(cls), "tp_size", 2),
    "assigning an unknown name": lambda cls: outcome(setattr, make(cls), "zz", 2),
    "deleting": lambda cls: outcome(delattr, make(cls), "tp_size"),
    "hash": lambda cls: hash(make(cls, labels=())) == hash(make(cls, labels=(), scale=9.0)),
    "hash of another": lambda cls: hash(make(cls, labels=())) == hash(make(cls, labels=(1,))),
    "hash of what is not hashable": lambda cls: outcome(hash, make(cls)),
    "as a key": lambda cls: {make(cls, labels=()): 1}[make(cls, labels=())],
    "replace": lambda cls: vars(dataclasses.replace(make(cls), tp_size=2)),
    "copy": lambda cls: vars(copy.copy(make(cls))),
    "deepcopy": lambda cls: vars(copy.deepcopy(make(cls))),
    "frozen subclass": lambda cls: outcome(setattr, make(frozen_subclass(cls)), "tp_size", 2),
    "hash of a frozen subclass": lambda cls: (
        hash(make(s := frozen_subclass(cls), labels=())) == hash(make(s, labels=()))
    ),
    "subclass that is not frozen": lambda cls: outcome(
        lambda: dataclasses.make_dataclass("Sub", [], bases=(cls,))
    ),
    "assigning on a plain subclass": lambda cls: outcome(
        setattr, make(type("Sub", (cls,), {})), "tp_size", 2
    ),
}


@pytest.mark.parametrize("behaviour", FROZEN)
def test_a_frozen_record_behaves_as_a_frozen_dataclass(behaviour: str) -> None:
    check = FROZEN[behaviour]
    assert check(compose("Args", [Serving], frozen=True)) == check(hand_written(frozen=True))


@pytest.mark.parametrize(
    ("make_subclass", "given"),
    [
        (lambda base: type("Sub", (base,), {}), {"model_path", "tp_size", "token"}),
        (decorated, {"model_path", "tp_size", "token", "area"}),
        (
            lambda base: dataclasses.make_dataclass("Sub", [("late", int, 4)], bases=(base,)),
            {"model_path", "tp_size", "token"},
        ),
    ],
)
def test_a_subclass_knows_what_its_caller_gave(make_subclass: Any, given: set[str]) -> None:
    assert fields_set(make(make_subclass(compose("Args", [Serving])))) == given


def test_an_own_init_gives_what_it_passes_on() -> None:
    record = with_own_init(compose("Args", [Serving]))("p")
    assert fields_set(record) == {"model_path", "tp_size", "token"}


def test_a_post_init_of_a_subclass_may_call_that_of_the_record() -> None:
    def post_init(self: Any) -> None:
        self.tp_size *= 2

    Args = compose("Args", [Serving], namespace={"__post_init__": post_init})

    class Sub(Args):
        def __post_init__(self) -> None:
            super().__post_init__()
            self.tp_size += 1

    assert Sub("m", 4, token="t").tp_size == 9
