"""A class statement registers its fields, all of them or none."""

from dataclasses import field
from typing import Any, ClassVar

import pytest

from registry import (
    A,
    Arg,
    ComposeError,
    Derived,
    Namespace,
    ReadOnlyError,
    Registry,
    compose,
    derived,
    namespace_of,
)


def family(name: str = "test") -> Any:
    """A base class on a registry of its own, so that tests never collide."""

    class Base(Namespace, registry=Registry(name)):
        pass

    return Base


def test_registration_happens_with_the_class_statement() -> None:
    base = family()

    class Parallel(base):
        _NS_PATH = "parallel"
        tp_size: A[int, "Width in ranks."] = 1
        port: int | None = None

        @derived
        def doubled(cfg) -> int:
            """Twice the width."""
            return cfg.tp_size * 2

    registry = base.__ns_registry__
    assert list(registry.input) == ["tp_size", "port"]
    assert list(registry.derived) == ["doubled"]
    assert dict(registry.namespaces) == {"parallel": Parallel}


def test_a_mixin_is_not_registered_and_its_subclasses_are() -> None:
    base = family()

    class Mixin(base):
        def helper(self) -> int:
            return 1

    assert not base.__ns_registry__.declarations

    class Real(Mixin):
        _NS_PATH = "real"
        x: int = 1

    assert namespace_of(Real) == {"x": "real"}


def test_a_class_with_a_path_and_no_fields_opens_a_namespace() -> None:
    base = family()

    class Empty(base):
        _NS_PATH = "empty"

    assert dict(base.__ns_registry__.namespaces) == {"empty": Empty}


def test_a_path_can_come_from_a_plain_mixin() -> None:
    class Placed:
        _NS_PATH = "placed"

    base = family()

    class Real(Placed, base):
        x: int = 1

    assert namespace_of(Real, "x") == "placed"


def test_a_subclass_without_a_path_adds_to_its_parents_namespace() -> None:
    base = family()

    class ExecMoe(base):
        _NS_PATH = "exec.moe"
        backend: str = "auto"

    class FastMoe(ExecMoe):
        fused: bool = False

    registry = base.__ns_registry__
    assert registry.input["fused"].namespace == "exec.moe"
    assert registry.input["fused"].cls is FastMoe
    assert registry.input["backend"].cls is ExecMoe
    assert registry.namespaces["exec.moe"] is ExecMoe
    assert namespace_of(ExecMoe) == {"backend": "exec.moe"}
    assert namespace_of(FastMoe) == {"backend": "exec.moe", "fused": "exec.moe"}


def test_a_subclass_with_a_path_opens_another_namespace() -> None:
    base = family()

    class Exec(base):
        _NS_PATH = "exec"
        x: int = 1

    class Other(Exec):
        _NS_PATH = "other"
        y: int = 2

    assert namespace_of(Other) == {"x": "exec", "y": "other"}
    assert list(base.__ns_registry__.namespaces) == ["exec", "other"]


def test_two_classes_may_share_a_path() -> None:
    base = family()

    class Tls(base):
        _NS_PATH = "serving"
        keyfile: str = ""

    class Keys(base):
        _NS_PATH = "serving"
        api_key: str = ""

    record = compose("Args", [Tls, Keys])
    assert namespace_of(record) == {"keyfile": "serving", "api_key": "serving"}


def test_what_is_no_field() -> None:
    base = family()

    class Real(base):
        _NS_PATH: ClassVar[str] = "real"
        LIMIT: ClassVar[int] = 3
        tagged: A[ClassVar[int], "still none"] = 4
        __dunder__: int = 5
        plain = 6
        x: int = 1
        _hidden: int = 2

        def method(self) -> int:
            return 1

        @property
        def prop(self) -> int:
            return 2

    # A leading underscore does not stop an annotated name from being a field.
    assert list(base.__ns_registry__.input) == ["x", "_hidden"]


def test_a_path_may_be_annotated_like_any_attribute() -> None:
    base = family()

    class Real(base):
        _NS_PATH: str = "real"
        x: int = 1

    assert list(base.__ns_registry__.input) == ["x"]


def test_defaults_are_class_attributes_as_on_a_dataclass() -> None:
    class Real(family()):
        _NS_PATH = "real"
        a: int = 1
        b: int = field(default=2, repr=False)
        c: list[int] = field(default_factory=list)
        d: int

    assert (Real.a, Real.b) == (1, 2)
    assert not hasattr(Real, "c")
    assert not hasattr(Real, "d")
    entries = Real.__ns_registry__.input
    assert [entry.required for entry in entries.values()] == [False, False, False, True]
    assert entries["b"].options == {"repr": False}
    assert entries["c"].default_factory is list


def test_a_declared_field_cannot_be_changed_on_the_class() -> None:
    class Real(family()):
        _NS_PATH = "real"
        x: int = 1

    with pytest.raises(ReadOnlyError) as caught:
        Real.x = 2
    assert str(caught.value) == (
        "the declaration of test_a_declared_field_cannot_be_changed_on_the_class.<locals>.Real "
        "is read-only, 'x' cannot be changed here; pass compose(..., defaults={...}) for "
        "another default"
    )
    with pytest.raises(ReadOnlyError):
        del Real.x
    Real.note = "other attributes are the program's own"
    del Real.note
    assert Real.x == 1


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("wide", "a configuration takes another value with context.override(...)"),
        ("_NS_PATH", "give a subclass a path of its own"),
    ],
)
def test_what_else_is_declared_cannot_be_changed_on_the_class(name: str, advice: str) -> None:
    class Real(family()):
        _NS_PATH = "real"
        wide = Derived(type=int)

    class Below(Real):
        pass

    for cls in (Real, Below):
        with pytest.raises(ReadOnlyError) as caught:
            setattr(cls, name, 2)
        assert str(caught.value) == (
            f"the declaration of {cls.__qualname__} is read-only, {name!r} cannot be changed "
            f"here; {advice}"
        )


def test_a_namespace_class_has_no_instances() -> None:
    class Real(family()):
        _NS_PATH = "real"
        x: int = 1

    with pytest.raises(ComposeError) as caught:
        Real(x=2)
    assert isinstance(caught.value, TypeError)
    assert str(caught.value).endswith(
        "Real: a namespace class has no instances; build a record class with "
        "compose('Settings', [Real]) and call that"
    )


def test_a_derived_field_by_path_and_a_fact_are_registered_without_an_import() -> None:
    base = family()

    class Real(base):
        _NS_PATH = "real"
        heavy = Derived(fn="no_such_module:function", doc="Heavy.", type=int)
        rank = Derived(doc="Rank.", type=int, default=None)

    heavy, rank = base.__ns_registry__.derived.values()
    assert (heavy.type, heavy.doc, heavy.namespace) == (int, "Heavy.", "real")
    assert (rank.type, rank.default) == (int, None)


def test_arg_objects_are_shared_with_nobody() -> None:
    base = family()

    class Real(base):
        _NS_PATH = "real"
        x: A[int, Arg(help="Width.", choices=[1, 2])] = 1

    assert base.__ns_registry__.input["x"].arg == Arg(help="Width.", choices=[1, 2])
    assert base.__ns_registry__.input["x"].doc == "Width."
