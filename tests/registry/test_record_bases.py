"""compose(bases=...): mixins, dataclasses and composed records as bases of a record."""

import dataclasses
import inspect
from typing import Any, Generic, TypeVar

from registry import Namespace, Registry, compose, derive, derived, fields_set, namespace_of

T = TypeVar("T")

ACME = Registry("acme")


class Model(Namespace, registry=ACME):
    _NS_PATH = "model"

    model_path: str
    tokenizer_path: str | None = None
    load_format: str = "auto"
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


def names_of(record_class: type[Any]) -> list[str]:
    return [each.name for each in dataclasses.fields(record_class)]


def test_bases_bring_methods_and_a_post_init_whose_assignments_count_as_set() -> None:
    class Checked:
        def __post_init__(self) -> None:
            if self.page_size is None:
                self.page_size = 32

        def doubled(self) -> int:
            return self.page_size * 2

    Args = compose("Args", [Cache], bases=(Checked,), defaults={"page_size": None})
    record = Args()
    assert (record.page_size, record.doubled()) == (32, 64)
    assert fields_set(record) == {"page_size"}
    assert fields_set(Args(page_size=4, tags=[])) == {"page_size", "tags"}
    assert issubclass(Args, Checked)


def test_fields_of_a_dataclass_among_the_bases_come_first() -> None:
    @dataclasses.dataclass
    class Base:
        name: str
        level: int = 3

        def __post_init__(self) -> None:
            self._seen = self.name

    Args = compose("Args", [Model, Cache], bases=(Base,))
    assert str(inspect.signature(Args)).startswith("(name: str, level: int = 3, tokenizer_path")
    record = Args("n", 4, "tok", model_path="m", revision="r")
    assert (record.name, record.level, record.tokenizer_path) == ("n", 4, "tok")
    assert (record._seen, fields_set(record)) == (
        "n",
        {"name", "level", "tokenizer_path", "model_path", "revision"},
    )
    assert "name" not in namespace_of(Args)


def test_a_composed_record_is_a_base_for_further_namespaces() -> None:
    Small = compose("Small", [Cache], doc="Small.")

    class Extra(Namespace, registry=Registry("extra")):
        _NS_PATH = "extra"
        factor: int = 2

        @derived
        def scaled(cfg) -> int:
            return cfg.page_bytes * cfg.factor

    Large = compose("Large", [Extra], bases=(Small,))
    assert names_of(Large) == ["page_size", "tags", "factor"]
    assert namespace_of(Large) == {"page_size": "cache", "tags": "cache", "factor": "extra"}
    assert derive(Large(4, factor=3)).scaled == 24
    assert issubclass(Large, Small)
    assert not hasattr(derive(Small()), "scaled")


def test_a_base_keeps_its_positions_when_its_namespaces_are_listed_again() -> None:
    Small = compose("Small", [Model, Cache], order=["model_path", "revision"])
    Same = compose("Same", [FastCache, Model], bases=(Small,))
    assert names_of(Same) == [*names_of(Small), "fused"]
    assert Same("m", "r").revision == "r"
    assert compose("Wide", bases=(Small,), namespaces=[], defaults={"page_size": 1}).page_size == 1


def test_a_base_may_be_generic() -> None:
    class Holder(Generic[T]):
        pass

    assert compose("Args", [Cache], bases=(Holder[int],))(3).page_size == 3


def test_bases_without_a_positional_default_leave_required_fields_their_positions() -> None:
    Base = dataclasses.make_dataclass(
        "Base", ["name", ("level", int, dataclasses.field(default=1, kw_only=True))]
    )
    Args = compose("Args", [Model], bases=(Base,))
    assert Args.__match_args__[:2] == ("name", "model_path")


def test_a_base_whose_registry_has_grown_brings_only_what_it_has() -> None:
    growing = Registry("growing")

    class First(Namespace, registry=growing):
        _NS_PATH = "first"
        one: int = 1

    Before = compose("Before", registry=growing)

    class Second(Namespace, registry=growing):
        _NS_PATH = "second"
        two: int = 2

    assert names_of(compose("Same", [], bases=(Before,))) == ["one"]
    assert names_of(compose("More", [Second], bases=(Before,))) == ["one", "two"]
