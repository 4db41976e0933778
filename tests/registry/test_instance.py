"""What a record knows of its caller, how it shows itself, and what can be assigned to it."""

import copy
import dataclasses
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ComposeError,
    Namespace,
    Registry,
    UnknownAttributeError,
    compose,
    fields_set,
)


class Parallel(Namespace, registry=Registry("instance")):
    _NS_PATH = "parallel"

    tp_size: int = 1
    dp_size: int | None = None
    ratio: float = 1.0
    labels: dict[str, Any] = dataclasses.field(default_factory=dict)
    api_key: A[str | None, Arg(secret=True)] = None
    hidden: int = dataclasses.field(default=0, repr=False)


Args = compose("Args", [Parallel])


class Required(Namespace, registry=Registry("required")):
    _NS_PATH = "required"

    model_path: str
    tags: list[str] = dataclasses.field(default_factory=list)


Model = compose("Model", [Required])


def assigned(record: Any, **values: Any) -> Any:
    for name, value in values.items():
        setattr(record, name, value)
    return record


def without(record: Any, name: str) -> Any:
    delattr(record, name)
    return record


@pytest.mark.parametrize(
    ("record", "given"),
    [
        (Args(), set()),
        (Args(1), {"tp_size"}),
        (Args(tp_size=1, dp_size=None), {"tp_size", "dp_size"}),
        (Args(labels={}), {"labels"}),
        (assigned(Args(), ratio=1.0), {"ratio"}),
        (assigned(Args(2), _note=1), {"tp_size"}),
        (without(Args(2), "tp_size"), set()),
        (copy.copy(Args(2)), {"tp_size"}),
        (copy.deepcopy(Args(2, labels={"a": 1})), {"tp_size", "labels"}),
        (Args(2).__replace__(dp_size=1), {"tp_size", "dp_size"}),
        (dataclasses.replace(Args(2), dp_size=1), set(Args.__match_args__)),
        (Args.__new__(Args), set()),
        (assigned(Args.__new__(Args), tp_size=3), {"tp_size"}),
    ],
)
def test_fields_set_are_those_that_the_caller_gave(record: Any, given: set[str]) -> None:
    assert fields_set(record) == given
    assert isinstance(fields_set(record), frozenset)


def test_two_copies_do_not_share_what_was_set() -> None:
    record = Args(2)
    for duplicate in (copy.copy(record), copy.deepcopy(record), record.__replace__()):
        duplicate.ratio = 2.0
    assert fields_set(record) == {"tp_size"}
    assert record == Args(2)


@pytest.mark.parametrize(
    ("what", "name"), [(Args, "type"), (3, "int"), (Parallel, "NamespaceMeta"), (None, "NoneType")]
)
def test_only_a_record_has_fields_set(what: Any, name: str) -> None:
    with pytest.raises(TypeError) as caught:
        fields_set(what)
    assert type(caught.value) is ComposeError
    assert str(caught.value) == f"{name}: is no composed record; fields_set takes one"


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "tp_size": st.integers() | st.booleans(),
        "dp_size": st.none() | st.integers(),
        "ratio": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
        "labels": st.dictionaries(st.text(), st.none() | st.integers() | st.text()),
    },
)


@settings(deadline=None)
@given(given=VALUES, later=VALUES)
def test_a_repr_evaluates_to_an_equal_record(given: dict[str, Any], later: dict[str, Any]) -> None:
    record = assigned(Args(**given), **later)
    again = eval(repr(record), {"Args": Args})
    assert again == record
    assert fields_set(again) == fields_set(record) == given.keys() | later.keys()
    assert {name: type(value) for name, value in vars(again).items()} == {
        name: type(value) for name, value in vars(record).items()
    }


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (Args(), "Args()"),
        (Args(1), "Args(tp_size=1)"),
        (Args(labels={}), "Args(labels={})"),
        (Args(hidden=3), "Args()"),
        (Args(api_key="sk-secret"), "Args(api_key='***')"),
        (Args(api_key=None), "Args(api_key=None)"),
        (assigned(Args(), _note="x"), "Args()"),
        (Args.__new__(Args), "Args()"),
        (Model("m"), "Model(model_path='m')"),
        (Model.__new__(Model), "Model()"),
        (assigned(Model.__new__(Model), model_path="m"), "Model(model_path='m')"),
    ],
)
def test_a_repr_shows_what_was_set(record: Any, text: str) -> None:
    assert repr(record) == text


def test_a_repr_shows_what_differs_from_the_default_without_being_set() -> None:
    record = Args()
    record.labels["a"] = 1
    vars(record)["ratio"] = 1
    assert repr(record) == "Args(ratio=1, labels={'a': 1})"
    assert fields_set(record) == frozenset()


def test_a_repr_of_what_holds_itself_ends() -> None:
    record = Args()
    record.labels["self"] = record
    assert repr(record) == "Args(labels={'self': ...})"


def test_a_repr_copes_with_values_that_cannot_be_compared() -> None:
    class Array:
        def __eq__(self, other: object) -> bool:
            raise ValueError("ambiguous")

        def __repr__(self) -> str:
            return "array()"

    Odd = compose("Odd", [Parallel], defaults={"ratio": dataclasses.field(default_factory=Array)})
    assert repr(Odd()) == "Odd(ratio=array())"


def test_a_subclass_with_the_decorator_shows_no_secret_either() -> None:
    @dataclasses.dataclass
    class Sub(Args):  # type: ignore[misc, valid-type]
        extra: int = 1

    assert repr(Sub(api_key="sk-secret", extra=1)) == (
        f"{Sub.__qualname__}(api_key='***', extra=1)"
    )


def test_a_subclass_keeps_the_new_that_it_or_its_parent_has() -> None:
    class Counting(Args):  # type: ignore[misc, valid-type]
        made = 0

        def __new__(cls, *args: Any, **values: Any) -> Any:
            Counting.made += 1
            return super().__new__(cls)

    class Child(Counting):
        pass

    assert (Counting(2).tp_size, Child(3).tp_size, Counting.made) == (2, 3, 2)


def test_a_subclass_keeps_the_repr_that_its_body_has() -> None:
    @dataclasses.dataclass
    class Sub(Args):  # type: ignore[misc, valid-type]
        def __repr__(self) -> str:
            return "mine"

    assert repr(Sub()) == "mine"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("tp_sise", " Did you mean 'tp_size'?"),
        ("zz", ""),
        ("attn_tp_size", " Did you mean 'tp_size'?"),
    ],
)
def test_assigning_a_public_name_that_is_no_field_is_refused(name: str, hint: str) -> None:
    record = Args()
    with pytest.raises(AttributeError) as caught:
        setattr(record, name, 8)
    assert type(caught.value) is UnknownAttributeError
    assert str(caught.value) == f"'Args' object has no field {name!r}.{hint}"
    assert name not in vars(record)


def test_attributes_of_the_class_can_be_assigned_but_are_not_set_fields() -> None:
    class Base:
        limit = 3
        _level = 0

        @property
        def level(self) -> int:
            return self._level

        @level.setter
        def level(self, value: int) -> None:
            self._level = value * 10

    record = compose("Args", [Parallel], bases=(Base,))()
    record.limit, record.level = 4, 5
    assert (record.limit, record.level, vars(record)["_level"]) == (4, 50, 50)
    assert fields_set(record) == frozenset()


def test_bookkeeping_is_neither_a_field_nor_compared() -> None:
    record = assigned(Args(2), _started="now")
    assert record == Args(2)
    assert "_started" not in dataclasses.asdict(record)
    assert record._started == "now"


COPIES = [copy.copy, copy.deepcopy, lambda record: record.__replace__()]
if sys.version_info >= (3, 13):
    COPIES.append(copy.replace)


@pytest.mark.parametrize("duplicate", COPIES)
@pytest.mark.parametrize("kind", ["composed", "subclass", "decorated subclass"])
def test_a_copy_keeps_what_the_record_knows(duplicate: Any, kind: str) -> None:
    cls: Any = {
        "composed": Args,
        "subclass": type("Args", (Args,), {}),
        "decorated subclass": dataclasses.make_dataclass("Args", [("late", int, 1)], bases=(Args,)),
    }[kind]
    record = assigned(cls(2), _book={"a": []})
    other = duplicate(record)
    assert (other, type(other), other is record) == (record, cls, False)
    assert (fields_set(other), other._book) == ({"tp_size"}, {"a": []})


def test_replacing_changes_fields_and_keeps_the_rest() -> None:
    record = assigned(Args(2, labels={"a": 1}), _book=1)
    other = record.__replace__(tp_size=4, dp_size=None)
    assert vars(other) == {**vars(record), "tp_size": 4}
    assert fields_set(other) == {"tp_size", "labels", "dp_size"}
    with pytest.raises(TypeError, match="unexpected keyword argument 'tp_sise'"):
        record.__replace__(tp_sise=4)


def test_a_deep_copy_shares_nothing_mutable_and_a_shallow_one_shares_values() -> None:
    record = assigned(Args(labels={"a": [1]}), _book=[1])
    record._self = record
    deep, shallow = copy.deepcopy(record), copy.copy(record)
    assert deep.labels == record.labels and deep.labels["a"] is not record.labels["a"]
    assert deep._book == [1] and deep._book is not record._book
    assert deep._self is deep
    assert shallow.labels is record.labels and shallow._book is record._book


def test_a_copy_does_not_run_post_init_again() -> None:
    def post_init(self: Any) -> None:
        self.tp_size += 1

    Counting = compose("Counting", [Parallel], namespace={"__post_init__": post_init})
    record = Counting(1)
    assert [copy.copy(record).tp_size, copy.deepcopy(record).tp_size] == [2, 2]


def test_records_of_two_classes_are_never_equal() -> None:
    assert Args() != compose("Args", [Parallel])()
    assert Args() == Args() and Args(2) != Args()
