"""What a wrong call of a record says: Python's own words, and the nearest field."""

import dataclasses
import inspect
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import CallError, ComposeError, Namespace, Registry, compose, fields_set, namespace_of
from registry.instance import Record, schema_of


class Serving(Namespace, registry=Registry("calls")):
    _NS_PATH = "serving"

    model_path: str
    revision: str
    tp_size: int = 1
    labels: list[str] = dataclasses.field(default_factory=list)
    token: str
    key: str


Args = compose("Args", [Serving])
Optional = compose("Optional", [Serving], defaults={"model_path": "m", "revision": "r"})
NoDefaults = compose("NoDefaults", [Serving], order=["model_path", "revision", "token", "key"])


def twin_of(record_class: type[Any]) -> type[Any]:
    """A dataclass with the same fields, whose generated `__init__` is Python's own."""
    return dataclasses.make_dataclass(
        record_class.__name__,
        [
            (
                each.name,
                each.type,
                dataclasses.field(
                    default=each.default,
                    default_factory=each.default_factory,
                    kw_only=each.kw_only,
                ),
            )
            for each in dataclasses.fields(record_class)
        ],
    )


NAMES = ["model_path", "revision", "tp_size", "labels", "token", "key", "tp_sise", "zz"]


@pytest.mark.parametrize("record_class", [Args, Optional, NoDefaults])
@settings(deadline=None)
@given(
    args=st.lists(st.integers(), max_size=7),
    names=st.lists(st.sampled_from(NAMES), unique=True, max_size=6),
)
def test_any_call_does_what_python_does_with_the_same_fields(
    record_class: type[Any], args: list[int], names: list[str]
) -> None:
    values = dict.fromkeys(names, 5)
    try:
        expected = vars(twin_of(record_class)(*args, **values))
    except TypeError as error:
        # From 3.13 on Python has a suggestion of its own.
        text = str(error).partition(". Did you mean")[0]
        with pytest.raises(CallError) as caught:
            record_class(*args, **values)
        assert str(caught.value).partition(". Did you mean")[0] == text
    else:
        assert vars(record_class(*args, **values)) == expected


@pytest.mark.parametrize(
    ("args", "values", "message"),
    [
        ((), {}, "missing 2 required positional arguments: 'model_path' and 'revision'"),
        (("m",), {}, "missing 1 required positional argument: 'revision'"),
        (("m", "r"), {}, "missing 2 required keyword-only arguments: 'token' and 'key'"),
        (("m", "r"), {"key": "k"}, "missing 1 required keyword-only argument: 'token'"),
        (
            ("m", "r", 1, [], 5),
            {},
            "takes from 3 to 5 positional arguments but 6 were given",
        ),
        (
            ("m", "r", 1, [], 5),
            {"key": "k"},
            "takes from 3 to 5 positional arguments but 6 positional arguments (and 1 "
            "keyword-only argument) were given",
        ),
        (("m", "r"), {"revision": "s"}, "got multiple values for argument 'revision'"),
        (
            (),
            {"tp_sise": 8},
            "got an unexpected keyword argument 'tp_sise'. Did you mean 'tp_size'?",
        ),
        (("m", "r"), {"zz": 8}, "got an unexpected keyword argument 'zz'"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(
    args: tuple[Any, ...], values: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        Args(*args, **values)
    assert type(caught.value) is CallError
    assert str(caught.value) == f"Args.__init__() {message}"


def test_three_missing_arguments_are_listed_as_python_does() -> None:
    with pytest.raises(TypeError) as caught:
        NoDefaults("m")
    assert str(caught.value) == (
        "NoDefaults.__init__() missing 3 required positional arguments: "
        "'revision', 'token', and 'key'"
    )


def test_a_plain_subclass_speaks_of_the_init_that_it_inherits() -> None:
    class Sub(Args):  # type: ignore[misc, valid-type]
        pass

    with pytest.raises(TypeError) as caught:
        Sub(zz=1)
    assert str(caught.value) == "Args.__init__() got an unexpected keyword argument 'zz'"


@pytest.mark.parametrize("record_class", [Args, Optional, NoDefaults])
def test_the_signature_is_that_of_a_dataclass(record_class: type[Any]) -> None:
    assert inspect.signature(record_class) == inspect.signature(twin_of(record_class))


def test_a_subclass_with_slots_is_refused_because_its_fields_would_not_be_found() -> None:
    @dataclasses.dataclass(slots=True)
    class Sub(Args):  # type: ignore[misc, valid-type]
        extra: int = 1

    with pytest.raises(ComposeError) as caught:
        Sub("m", "r", token="t", key="k")
    assert str(caught.value) == (
        f"{Sub.__qualname__}: a subclass of a record cannot have slots; "
        "write @dataclass without slots=True"
    )
    assert isinstance(caught.value, TypeError)


def test_a_subclass_with_an_init_var_is_refused() -> None:
    @dataclasses.dataclass
    class Sub(Args):  # type: ignore[misc, valid-type]
        seed: dataclasses.InitVar[int] = 0
        salt: "dataclasses.InitVar[int]" = 0
        count: "ClassVar[int]" = 0

    with pytest.raises(ComposeError) as caught:
        Sub("m", "r", token="t", key="k")
    assert str(caught.value) == (
        f"{Sub.__qualname__}: has InitVar seed, salt; a record holds every input it is given"
    )


@pytest.mark.parametrize("what", [int, Record])
def test_only_records_have_a_schema(what: type) -> None:
    with pytest.raises(ComposeError) as caught:
        schema_of(what)
    assert str(caught.value) == f"{what.__name__}: is no record class; compose() makes them"


def test_a_subclass_of_two_records_is_a_record() -> None:
    class Cache(Namespace, registry=Registry("cache")):
        _NS_PATH = "cache"
        page_size: int = 16

    Both = dataclasses.make_dataclass("Both", [], bases=(compose("Cache", [Cache]), Optional))
    record = Both(token="t", key="k", page_size=1)
    assert fields_set(record) == {"token", "key", "page_size"}
    assert set(namespace_of(Both).values()) == {"serving", "cache"}
