"""The input half of some namespaces, for those who build their own class."""

import dataclasses
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    ComposeError,
    DuplicateFieldError,
    Namespace,
    Registry,
    collect_input_fields,
    derived,
)

REGISTRY = Registry("inputs")


class Model(Namespace, registry=REGISTRY):
    _NS_PATH = "model"

    model_path: A[str, Arg(help="Weights to serve.")]
    dtype: str = "auto"
    revision: str

    @derived
    def is_pinned(cfg) -> bool:
        return bool(cfg.revision)


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: int = 1
    devices: list[int] = dataclasses.field(default_factory=list)


class FastParallel(Parallel):
    fuse: bool = False


def test_the_three_mappings_are_in_declaration_order_and_have_no_derived_name() -> None:
    annotations, defaults, namespaces = collect_input_fields([Model, Parallel])
    names = ["model_path", "dtype", "revision", "tp_size", "devices"]
    assert list(annotations) == list(namespaces) == names
    assert annotations["model_path"] == A[str, Arg(help="Weights to serve.")]
    assert namespaces == dict(zip(names, ["model"] * 3 + ["parallel"] * 2, strict=True))
    assert [name for name in names if name in defaults] == list(defaults)
    assert "model_path" not in defaults
    assert (defaults["dtype"], defaults["tp_size"]) == ("auto", 1)


def test_a_required_field_after_a_default_is_keyword_only() -> None:
    defaults = collect_input_fields([Model]).defaults
    assert isinstance(defaults["revision"], dataclasses.Field)
    assert defaults["revision"].kw_only is True
    assert "revision" not in collect_input_fields([Model], ["revision", "model_path"]).defaults


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ([], ["model_path", "dtype", "revision", "tp_size", "devices"]),
        (["tp_size"], ["tp_size", "model_path", "dtype", "revision", "devices"]),
        (("devices", "gone", "dtype"), ["devices", "dtype", "model_path", "revision", "tp_size"]),
        (iter(["dtype", "dtype"]), ["dtype", "model_path", "revision", "tp_size", "devices"]),
        (["is_pinned"], ["model_path", "dtype", "revision", "tp_size", "devices"]),
    ],
)
def test_names_in_order_come_first_and_unknown_ones_are_skipped(
    order: Any, names: list[str]
) -> None:
    assert list(collect_input_fields([Model, Parallel], order).annotations) == names


def test_what_a_namespace_inherits_comes_along_once() -> None:
    assert list(collect_input_fields([FastParallel, Parallel]).annotations) == [
        "tp_size",
        "devices",
        "fuse",
    ]


def test_the_mappings_make_a_dataclass_of_one_s_own() -> None:
    annotations, defaults, _ = collect_input_fields([Model, Parallel])
    Own = dataclasses.dataclass(type("Own", (), {"__annotations__": annotations, **defaults}))
    assert Own("m", revision="r") == Own("m", "auto", 1, [], revision="r")


def test_each_call_makes_its_own_fields() -> None:
    first, second = (collect_input_fields([Parallel]).defaults["devices"] for _ in range(2))
    assert first is not second


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ([Model], "tp_size"),
            "collect_input_fields(): takes order as a list of names: ['tp_size']",
        ),
        ((Model,), "collect_input_fields(): takes a list of namespaces: [Model]"),
        (([Model, int],), "collect_input_fields(): <class 'int'> is no Namespace class"),
        ((["model"],), "collect_input_fields(): 'model' is no Namespace class"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError) as caught:
        collect_input_fields(*arguments)
    assert type(caught.value) is ComposeError
    assert str(caught.value) == message


def test_two_registries_with_the_same_field_do_not_fit_into_one_record() -> None:
    class Other(Namespace, registry=Registry("other")):
        _NS_PATH = "other"
        tp_size: int = 2

    with pytest.raises(ValueError) as caught:
        collect_input_fields([Parallel, Other])
    assert type(caught.value) is DuplicateFieldError
    first, second = (each.__ns_registry__.input["tp_size"] for each in (Parallel, Other))
    assert str(caught.value) == (
        f"{__file__}:{second.line}: {__name__}.{Other.__qualname__}.tp_size is already declared "
        f"by {__name__}.Parallel ({__file__}:{first.line}); a field belongs to exactly one "
        "namespace of a registry. Rename one, or give one family a registry of its own: "
        'class Base(Namespace, registry=Registry("name"))'
    )


def test_an_input_field_and_a_derived_one_of_another_registry_collide_as_well() -> None:
    class Other(Namespace, registry=Registry("other")):
        _NS_PATH = "other"

        @derived
        def tp_size(cfg) -> int:
            return 1

    with pytest.raises(DuplicateFieldError) as caught:
        collect_input_fields([Parallel, Other])
    assert caught.value.field == "tp_size"
