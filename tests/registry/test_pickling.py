"""A record sent to another process arrives equal, and with what it knows."""

import copy
import dataclasses
import pickle
import pickletools
import sys
import types
import zlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    Namespace,
    RecordPicklingError,
    Registry,
    compose,
    derived,
    fields_set,
)

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Parallel(Namespace, registry=Registry("pickling")):
    _NS_PATH = "parallel"

    tp_size: int = 1
    dp_size: int | None = None
    tags: list[str] = dataclasses.field(default_factory=list)

    @derived
    def attn_tp_size(cfg) -> int:
        return cfg.tp_size // (cfg.dp_size or 1)


class Required(Namespace, registry=Registry("required")):
    _NS_PATH = "required"

    model_path: str
    tags: list[str] = dataclasses.field(default_factory=list)


Args = compose("Args", [Parallel])
Frozen = compose("Frozen", [Parallel], frozen=True)
Model = compose("Model", [Required])


class PlainSub(Args):  # type: ignore[misc, valid-type]
    def __init__(self, width: int) -> None:
        super().__init__(width)


@dataclasses.dataclass
class Sub(Args):  # type: ignore[misc, valid-type]
    extra: int = 7
    area: int = dataclasses.field(init=False)
    later: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.area = self.tp_size * self.extra


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "record", [Args(), Args(8, tags=["a"]), Frozen(8), PlainSub(3), Model("m"), Sub(2)]
)
def test_every_protocol_brings_an_equal_record(record: Any, protocol: int) -> None:
    there = pickle.loads(pickle.dumps(record, protocol))
    assert type(there) is type(record)
    assert vars(there) == vars(record)
    assert fields_set(there) == fields_set(record)


@settings(deadline=None)
@given(
    values=st.fixed_dictionaries(
        {},
        optional={
            "tp_size": st.integers(),
            "dp_size": st.none() | st.integers(),
            "tags": st.lists(st.text()),
        },
    ),
    book=st.dictionaries(st.from_regex(r"_[a-z]+", fullmatch=True), st.integers()),
)
def test_values_what_was_set_and_bookkeeping_travel(
    values: dict[str, Any], book: dict[str, int]
) -> None:
    record = Args(**values)
    for name, value in book.items():
        setattr(record, name, value)
    there = pickle.loads(pickle.dumps(record))
    assert list(vars(there).items()) == list(vars(record).items())
    assert fields_set(there) == values.keys()


def test_what_arrives_shares_nothing_with_what_was_sent() -> None:
    record = Args(tags=["a"])
    record._book = {"a": 1}
    there = pickle.loads(pickle.dumps(record))
    assert there.tags is not record.tags and there._book is not record._book
    there.dp_size = 3
    assert fields_set(record) == {"tags"}


def test_a_record_that_holds_itself_arrives_so() -> None:
    record = Args()
    record._self = record
    there = pickle.loads(pickle.dumps(record))
    assert there._self is there


def test_values_shared_by_two_records_stay_shared() -> None:
    tags = ["a"]
    first, second = pickle.loads(pickle.dumps([Args(tags=tags), Args(tags=tags)]))
    assert first.tags is second.tags


def test_deleted_attributes_and_bookkeeping_travel_together() -> None:
    record = Args(8, 2)
    del record.dp_size
    record._note = "x"
    there = pickle.loads(pickle.dumps(record))
    assert (there.tp_size, there.dp_size, there._note) == (8, None, "x")
    assert fields_set(there) == {"tp_size"}


def test_a_record_made_without_init_travels_once_it_has_what_is_required() -> None:
    record = Model.__new__(Model)
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'model_path'"):
        pickle.dumps(record)
    record.model_path = "m"
    there = pickle.loads(pickle.dumps(record))
    assert (there.model_path, there.tags, fields_set(there)) == ("m", [], {"model_path"})


def test_post_init_does_not_run_on_arrival() -> None:
    record = Sub(2)
    record.area = 0
    assert pickle.loads(pickle.dumps(record)).area == 0


def texts_in(packed: bytes) -> list[str]:
    """Every text in a pickle, those in its compressed parts included."""
    texts = []
    for _, argument, _ in pickletools.genops(packed):
        if isinstance(argument, str):
            texts += [argument]
        elif isinstance(argument, bytes | bytearray):
            texts += texts_in(zlib.decompress(argument))
    return texts


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_derived_name_is_in_the_pickle(protocol: int) -> None:
    record = Args(8, 2)
    record._note = "x"
    texts = texts_in(pickle.dumps(record, max(protocol, 3)))
    assert "tp_size\ndp_size\ntags" in texts and "_note" in texts
    assert not any("attn_tp_size" in text for text in texts)
    assert b"attn" not in pickle.dumps(record, protocol)
    assert not hasattr(record, "attn_tp_size")
    assert "attn_tp_size" not in dataclasses.asdict(record)


def test_records_of_one_class_name_their_fields_once_in_a_pickle() -> None:
    one, many = (len(pickle.dumps([Args(each) for each in range(n)])) for n in (1, 101))
    assert (many - one) / 100 < 40


def refusal(module: str, name: str) -> str:
    return (
        f"cannot pickle a {name}: the class is not {module}.{name}, where a reader would look "
        "for it. Bind what compose() returned to that name at module level, or pass "
        "compose(..., module=...) the module that has it"
    )


def test_a_class_that_cannot_be_found_again_is_refused_and_told_how_to_be() -> None:
    Local = compose("Local", [Parallel])
    with pytest.raises(pickle.PicklingError) as caught:
        pickle.dumps(Local())
    assert type(caught.value) is RecordPicklingError
    assert str(caught.value) == refusal(__name__, "Local")
    assert copy.deepcopy(Local(8)) == Local(8)


def test_a_helper_in_another_module_is_told_of_by_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    helper = types.ModuleType("acme_helper")
    helper.compose, helper.Parallel = compose, Parallel  # type: ignore[attr-defined]
    code = "def build(name, **options):\n    return compose(name, [Parallel], **options)"
    exec(code, vars(helper))
    monkeypatch.setitem(sys.modules, "acme_helper", helper)
    Built = helper.build("Built")
    monkeypatch.setitem(globals(), "Built", Built)
    with pytest.raises(pickle.PicklingError) as caught:
        pickle.dumps(Built())
    assert str(caught.value) == refusal("acme_helper", "Built")

    Placed = helper.build("Placed", module=__name__)
    monkeypatch.setitem(globals(), "Placed", Placed)
    assert pickle.loads(pickle.dumps(Placed(8))) == Placed(8)


def test_a_record_of_a_class_that_was_replaced_since_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = Args(8)
    monkeypatch.setitem(globals(), "Args", compose("Args", [Parallel]))
    with pytest.raises(RecordPicklingError):
        pickle.dumps(record)


def test_cloudpickle_sends_an_importable_class_by_reference() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    record = Args(8, tags=["a"])
    record._book = 1
    packed = cloudpickle.dumps(record)
    there = pickle.loads(packed)
    assert (type(there), vars(there)) == (Args, vars(record))
    assert len(packed) < 2 * len(pickle.dumps(record))


def test_cloudpickle_sends_a_class_that_cannot_be_found_by_value() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    record = compose("Local", [Parallel])(8, tags=["a"])
    assert vars(pickle.loads(cloudpickle.dumps(record))) == vars(record)
