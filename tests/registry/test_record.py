"""compose(): a record class as a plugin author makes one, from outside."""

import dataclasses
import inspect
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import registry as lib
from registry import A, Arg, Namespace, Registry, compose, derive, derived, fields_set, namespace_of

ACME = Registry("acme")


class Model(Namespace, registry=ACME):
    _NS_PATH = "model"

    model_path: str
    tokenizer_path: str | None = None
    load_format: A[str, Arg(help="How weights are read.")] = "auto"
    revision: str


class Cache(Namespace, registry=ACME):
    _NS_PATH = "cache"

    page_size: int = 16
    tags: list[str] = dataclasses.field(default_factory=list)

    @derived
    def page_bytes(cfg) -> int:
        return cfg.page_size * 2


class FastCache(Cache):
    fused: bool = False

    @derived
    def fused_bytes(cfg) -> int:
        return cfg.page_bytes * 2


NAMES = [
    *("model_path", "tokenizer_path", "load_format", "revision"),
    *("page_size", "tags", "fused"),
]


def names_of(record_class: type[Any]) -> list[str]:
    return [each.name for each in dataclasses.fields(record_class)]


def test_a_registry_of_one_s_own_is_composed_whole() -> None:
    Args = compose("Args", registry=ACME)
    assert names_of(Args) == NAMES
    assert set(namespace_of(Args).values()) == {"model", "cache"}


def test_without_any_argument_the_default_registry_is_composed() -> None:
    assert names_of(compose("Args")) == list(lib.default_registry.input)


def test_listed_namespaces_are_composed_with_what_they_inherit() -> None:
    assert names_of(compose("Args", [Cache])) == ["page_size", "tags"]
    assert names_of(compose("Args", [FastCache])) == ["page_size", "tags", "fused"]
    assert names_of(compose("Args", (each for each in (FastCache, Cache)))) == [
        *("page_size", "tags", "fused")
    ]


def test_a_namespace_added_later_is_in_the_next_record_only() -> None:
    growing = Registry("growing")

    class First(Namespace, registry=growing):
        _NS_PATH = "first"
        one: int = 1

    Before = compose("Before", registry=growing)

    class Second(Namespace, registry=growing):
        _NS_PATH = "second"
        two: int = 2

    assert names_of(Before) == ["one"]
    assert names_of(compose("After", registry=growing)) == ["one", "two"]


def test_the_type_of_a_field_is_an_object_with_its_metadata() -> None:
    types = {each.name: each.type for each in dataclasses.fields(compose("Args", registry=ACME))}
    assert types["load_format"] == A[str, Arg(help="How weights are read.")]
    assert types["tokenizer_path"] == (str | None)
    assert get_type_hints(compose("Args", registry=ACME))["load_format"] is str


@settings(deadline=None)
@given(st.permutations([Model, Cache, FastCache]), st.permutations([*NAMES, "gone", "page_bytes"]))
def test_order_decides_positions_whatever_order_the_namespaces_are_listed_in(
    namespaces: list[type], order: list[str]
) -> None:
    Args = compose("Args", namespaces, order=order)
    listed = [name for name in order if name in NAMES]
    assert names_of(Args) == listed
    first_default = next(
        index for index, name in enumerate(listed) if name not in ("model_path", "revision")
    )
    assert [each.name for each in dataclasses.fields(Args) if each.kw_only] == [
        name for name in listed[first_default:] if name in ("model_path", "revision")
    ]


def test_names_that_order_leaves_out_follow_in_declaration_order() -> None:
    Args = compose("Args", registry=ACME, order=["fused", "load_format"])
    assert names_of(Args) == [
        *("fused", "load_format", "model_path", "tokenizer_path", "revision", "page_size", "tags")
    ]


def test_the_second_position_is_the_second_name_of_the_order() -> None:
    order = ["model_path", "tokenizer_path"]
    for namespaces in ([Model, Cache], [Cache, Model]):
        record = compose("Args", namespaces, order=order)("dummy", "/tmp/tok", revision="r")
        assert (record.tokenizer_path, record.load_format) == ("/tmp/tok", "auto")


def test_a_required_field_after_a_default_is_keyword_only() -> None:
    Args = compose("Args", [Model])
    kinds = {name: p.kind.name for name, p in inspect.signature(Args).parameters.items()}
    assert kinds == {
        "model_path": "POSITIONAL_OR_KEYWORD",
        "tokenizer_path": "POSITIONAL_OR_KEYWORD",
        "load_format": "POSITIONAL_OR_KEYWORD",
        "revision": "KEYWORD_ONLY",
    }
    assert Args.__match_args__ == ("model_path", "tokenizer_path", "load_format")
    assert Args("m", "t", "f", revision="r").revision == "r"


def test_other_defaults_are_for_this_record_alone() -> None:
    made = compose(
        "Made",
        registry=ACME,
        defaults={
            "page_size": 64,
            "model_path": "m",
            "tags": dataclasses.field(default_factory=lambda: ["a"]),
            "revision": dataclasses.field(default="r", repr=False, metadata={"k": 1}),
        },
    )
    record = made()
    assert (record.page_size, record.model_path, record.tags, record.revision) == (
        *(64, "m", ["a"], "r"),
    )
    assert fields_set(record) == frozenset()
    assert made().tags is not record.tags
    assert made.page_size == 64
    assert made.__match_args__ == tuple(NAMES)
    field = made.__dataclass_fields__["revision"]
    assert (field.repr, dict(field.metadata)) == (False, {"k": 1})
    assert compose("Declared", [Cache])().page_size == Cache.page_size == 16
    assert repr(made()) == "Made()"


def test_another_default_keeps_what_else_the_declaration_says() -> None:
    class Marked(Namespace, registry=Registry("marked")):
        _NS_PATH = "marked"
        width: int = dataclasses.field(default=1, repr=False, metadata={"unit": "ranks"})

    for default in (2, dataclasses.field(default=2), dataclasses.field(default_factory=lambda: 2)):
        Args = compose("Args", [Marked], defaults={"width": default})
        (field,) = dataclasses.fields(Args)
        assert (Args().width, field.repr, dict(field.metadata)) == (2, False, {"unit": "ranks"})


def test_a_keyword_only_default_pushes_nobody_from_its_position() -> None:
    class Keyword(Namespace, registry=Registry("keyword")):
        _NS_PATH = "keyword"
        first: int = dataclasses.field(default=1, kw_only=True)
        second: int

    assert compose("Args", [Keyword]).__match_args__ == ("second",)


def test_a_default_may_be_replaced_by_none_at_all() -> None:
    Args = compose("Args", [Cache], defaults={"page_size": dataclasses.field()})
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'page_size'"):
        Args()


def test_methods_attributes_and_a_repr_come_in_by_namespace() -> None:
    Args = compose(
        "Args",
        [Cache],
        namespace={
            "twice": lambda self: self.page_size * 2,
            "half": property(lambda self: self.page_size // 2),
            "unit": "tokens",
            "__repr__": lambda self: f"<{self.page_size}>",
        },
    )
    record = Args(8)
    assert (record.twice(), record.half, Args.unit, repr(record)) == (16, 4, "tokens", "<8>")
    assert names_of(Args) == ["page_size", "tags"]


def test_a_frozen_record_is_usable_as_a_key() -> None:
    Args = compose("Args", [Cache], frozen=True)
    record = Args(page_size=4, tags=())
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'page_size'"):
        record.page_size = 5
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'page_size'"):
        del record.page_size
    assert {record: 1}[Args(4, ())] == 1
    assert repr(record) == "Args(page_size=4, tags=())"
    assert fields_set(record) == {"page_size", "tags"}
    assert derive(record).page_bytes == 8


def test_a_hash_of_one_s_own_is_kept() -> None:
    Args = compose("Args", [Cache], frozen=True, namespace={"__hash__": lambda self: 7})
    assert hash(Args()) == 7


def test_the_class_says_where_it_belongs() -> None:
    def inside() -> type[Any]:
        return compose("Inner", [Cache])

    assert (inside().__module__, inside().__qualname__) == (__name__, "Inner")
    elsewhere = compose("Args", [Cache], module="acme.args", doc="What acme takes.")
    assert (elsewhere.__module__, elsewhere.__doc__) == ("acme.args", "What acme takes.")
    assert compose("Args", registry=ACME).__doc__ == "7 settings in 2 namespaces."


SHADOWS = [
    *("self", "cls", "args", "values", "value", "type", "match", "print", "order", "name"),
    *("namespace", "record", "memo", "state", "protocol", "changes", "other", "schema", "fields"),
    *("dict", "set", "super", "object", "field", "dataclass_self", "_private", "copy", "items"),
]


@pytest.mark.parametrize("name", SHADOWS)
def test_any_name_can_be_a_field(name: str) -> None:
    body = {"_NS_PATH": "shadow", "__annotations__": {name: int, "z": int}, name: 1, "z": 2}
    Shadow = type(Namespace)("Shadow", (Namespace,), body, registry=Registry("shadow"))
    Args = compose("Args", [Shadow])
    record = Args(5)
    assert getattr(record, name) == getattr(Args(**{name: 5}), name) == 5
    assert dataclasses.replace(record, **{name: 6}) == Args(6)
    assert repr(record) == f"Args({name}=5)"
    assert getattr(derive(record), name) == 5
    setattr(record, name, 7)
    assert dataclasses.asdict(record) == {name: 7, "z": 2}
    with pytest.raises(TypeError, match=f"got multiple values for argument '{name}'"):
        Args(5, **{name: 5})
