"""What compose() refuses, and what it says to write instead."""

import dataclasses
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from registry import (
    ComposeError,
    DuplicateFieldError,
    MutableDefaultError,
    Namespace,
    Registry,
    UnknownFieldError,
    compose,
)

ACME = Registry("acme")


class Cache(Namespace, registry=ACME):
    _NS_PATH = "cache"
    page_size: int = 16
    tags: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Seeded:
    seed: dataclasses.InitVar[int]


class Mixin:
    pass


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("1st", [Cache]), {}, "compose(): '1st' is no name a class can have"),
        (("", [Cache]), {}, "compose(): '' is no name a class can have"),
        (("class", [Cache]), {}, "compose(): 'class' is no name a class can have"),
        ((None, [Cache]), {}, "compose(): None is no name a class can have"),
        (("Args", Cache), {}, "Args: takes a list of namespaces: [Cache]"),
        (("Args", [Cache, int]), {}, "Args: <class 'int'> is no Namespace class"),
        (("Args", ["cache"]), {}, "Args: 'cache' is no Namespace class"),
        (
            ("Args", [Cache]),
            {"registry": Registry("other")},
            "Args: Cache belongs to Registry('acme'), not to Registry('other')",
        ),
        (("Args",), {"registry": "acme"}, "Args: takes a Registry, not 'acme'"),
        (
            ("Args", [Cache]),
            {"order": "page_size"},
            "Args: takes order as a list of names: ['page_size']",
        ),
        (("Args", [Cache]), {"bases": Mixin}, "Args: takes bases as a tuple: (Mixin,)"),
        (
            ("Args",),
            {"registry": ACME, "bases": (Cache,)},
            "Args: the base Cache is a namespace; pass it in namespaces= instead",
        ),
        (
            ("Args", [Cache]),
            {"bases": (Seeded,)},
            "Args: the base Seeded has InitVar seed; a record holds every input it is given",
        ),
        (
            ("Args", [Cache]),
            {"namespace": {"page_size": 3}},
            "Args: namespace= has 'page_size', which is a field; pass defaults= for its default",
        ),
        (
            ("Args", [Cache]),
            {"namespace": {"__annotations__": {"extra": int}}},
            "Args: namespace= has annotations; what a caller may give is declared in a namespace",
        ),
        (
            ("Args", [Cache]),
            {"defaults": {"page_size": dataclasses.field(default=1, init=False)}},
            "Args: defaults= has field(init=False) for 'page_size', which a caller may give",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(
    arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        compose(*arguments, **options)
    assert type(caught.value) is ComposeError
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "hint"), [("page_sise", " Did you mean 'page_size'?"), ("zz", "")]
)
def test_a_default_for_a_field_that_is_not_there_is_refused(name: str, hint: str) -> None:
    with pytest.raises(KeyError) as caught:
        compose("Args", [Cache], defaults={name: 1})
    assert type(caught.value) is UnknownFieldError
    assert str(caught.value) == f"Args (in defaults=) has no field {name!r}.{hint}"


@pytest.mark.parametrize(
    ("default", "factory"),
    [
        ([], "list"),
        ({"a": 1}, "lambda: {'a': 1}"),
        (set(), "set"),
        (dataclasses.field(default=[]), "list"),
    ],
)
def test_a_default_that_all_records_would_share_is_refused(default: Any, factory: str) -> None:
    shown = default.default if isinstance(default, dataclasses.Field) else default
    with pytest.raises(ValueError) as caught:
        compose("Args", [Cache], defaults={"page_size": default})
    assert type(caught.value) is MutableDefaultError
    assert str(caught.value) == (
        f"{__file__}:{ACME.input['page_size'].line}: Args.page_size has the mutable default "
        f"{shown!r}, which all records would share; use field(default_factory={factory})"
    )


def test_a_field_of_a_base_record_is_not_declared_again() -> None:
    class Other(Namespace, registry=Registry("other")):
        _NS_PATH = "other"
        page_size: int = 1

    Small = compose("Small", [Cache])
    with pytest.raises(DuplicateFieldError) as caught:
        compose("Large", [Other], bases=(Small,))
    assert caught.value.field == "page_size"


def test_a_frozen_record_has_no_base_that_is_not() -> None:
    Base = dataclasses.make_dataclass("Base", [("x", int, 1)])
    with pytest.raises(TypeError, match="cannot inherit frozen dataclass from a non-frozen one"):
        compose("Args", [Cache], bases=(Base,), frozen=True)


MODULE = """
from registry import Namespace, Registry
REGISTRY = globals().get("REGISTRY") or Registry("reloaded")
class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"
    tp_size: int = {default}
"""


def test_two_runs_of_a_class_statement_are_not_composed_together(
    module_from: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = module_from(MODULE.format(default=1), "reloaded_fields")
    before = module.Parallel
    file = Path(str(module.__file__))
    file.write_text(MODULE.format(default=22))
    importlib.reload(module)

    assert compose("Args", [module.Parallel])().tp_size == 22
    assert compose("Args", registry=module.REGISTRY)().tp_size == 22
    assert compose("Args", [before])().tp_size == 1

    class FastParallel(before):  # type: ignore[misc, valid-type]
        fuse: bool = False

    with pytest.raises(ComposeError) as caught:
        compose("Args", [module.Parallel, FastParallel])
    assert str(caught.value) == (
        f"Args: reloaded_fields.Parallel ({file}:4) is there twice, from two runs of its class "
        "statement; after a reload, import it anew and reload what derives from it"
    )
