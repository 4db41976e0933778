"""Namespaces combine with other metaclasses, and families of them keep to themselves."""

import abc
import inspect
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any, Generic, TypeVar

import pytest

from registry import DeclarationError, Namespace, Registry, default_registry, namespace_of
from registry.namespace import NamespaceMeta

T = TypeVar("T")


def family(name: str = "test") -> Any:
    """A base class on a registry of its own, so that tests never collide."""

    class Base(Namespace, registry=Registry(name)):
        pass

    return Base


def test_it_mixes_with_abc_and_generic() -> None:
    base = family()

    class Abstract(base, abc.ABC):
        @abc.abstractmethod
        def build(self) -> int: ...

    class Concrete(Abstract):
        _NS_PATH = "concrete"
        x: int = 1

    class Container(base, Generic[T]):
        _NS_PATH = "container"
        size: int = 1

    class Numbers(Container[int]):
        extra: int = 2

    assert Concrete.__abstractmethods__ == {"build"}
    assert namespace_of(Concrete, "x") == "concrete"
    assert namespace_of(Numbers) == {"size": "container", "extra": "container"}


def test_it_mixes_with_a_metaclass_of_the_user() -> None:
    class Meta(NamespaceMeta):
        def __new__(mcls, name, bases, body, **keywords):
            return super().__new__(mcls, name, bases, {**body, "marked": True}, **keywords)

    class Real(Namespace, metaclass=Meta, registry=Registry("meta")):
        _NS_PATH = "real"
        x: int = 1

    entry = Real.__ns_registry__.input["x"]
    assert Real.marked
    assert entry.file == __file__
    assert "x: int = 1" in inspect.getsource(Real)
    assert entry.line == inspect.getsourcelines(Real)[1] + 2


def test_a_metaclass_in_the_same_module_does_not_hide_the_class_statement(
    module_from: Callable[..., ModuleType],
) -> None:
    module = module_from("""
        from __future__ import annotations
        from registry import Namespace, Registry
        from registry.namespace import NamespaceMeta
        class Meta(NamespaceMeta):
            def __new__(mcls, name, bases, body, **keywords):
                return super().__new__(mcls, name, bases, body, **keywords)
        def make():
            class Local: pass
            class Real(Namespace, metaclass=Meta, registry=Registry("test")):
                _NS_PATH = "real"
                x: Local | None = None
            return Real, Local
        Real, Hidden = make()
    """)
    (declaration,) = module.Real.__ns_registry__.declarations
    assert declaration.where() == f"{module.__file__}:10"
    assert declaration.types["x"] == module.Hidden | None


def test_a_class_made_at_run_time_belongs_to_the_module_that_made_it() -> None:
    base = family()
    body = {"_NS_PATH": "made", "__annotations__": {"x": int}, "x": 1}
    made = types.new_class("Made", (base,), {}, lambda ns: ns.update(body))
    assert made.__module__ == __name__
    assert base.__ns_registry__.input["x"].file == __file__


def test_a_family_has_its_registry_and_never_meets_another() -> None:
    train, serve = family("train"), family("serve")

    class Train(train):
        _NS_PATH = "optimizer"
        width: int = 1

    class Serve(serve):
        _NS_PATH = "optimizer"
        width: int = 2

    class Deeper(Serve):
        depth: int = 3

    assert list(train.__ns_registry__.input) == ["width"]
    assert list(serve.__ns_registry__.input) == ["width", "depth"]
    assert Namespace.__ns_registry__ is default_registry
    assert repr(serve.__ns_registry__) == "Registry('serve')"


def test_two_families_cannot_be_mixed_without_a_word() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Both(family("train"), family("serve")):
            pass

    assert str(caught.value).endswith(
        "Both inherits from namespaces of several registries (Registry('train'), "
        "Registry('serve')); say which: registry="
    )


def test_the_registry_of_a_class_is_a_registry() -> None:
    with pytest.raises(DeclarationError) as caught:

        class Wrong(Namespace, registry="train"):
            pass

    assert str(caught.value).endswith(
        "Wrong has registry='train'; pass a Registry, such as Registry('train')"
    )
