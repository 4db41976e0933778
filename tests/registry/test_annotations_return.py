"""The type of a derived field is what its function is annotated to return."""

import functools
from collections.abc import Callable
from types import ModuleType

import pytest

from registry import A, AnnotationError, Derived, Namespace, Registry, UnresolvedNameError, derived

FUTURE = "from __future__ import annotations\n"
DECLARE = """\
from typing import TYPE_CHECKING
from registry import A, Derived, Namespace, Registry, derived
if TYPE_CHECKING:
    from decimal import Decimal
class Base(Namespace, registry=Registry("test")): pass
"""


def declared(module_from: Callable[..., ModuleType], body: str, future: str = FUTURE) -> ModuleType:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    after = "class Later: pass\n"
    return module_from(f"{future}{DECLARE}class Real(Base):\n    _NS_PATH = 'real'\n{lines}{after}")


@pytest.mark.parametrize("future", [FUTURE, ""], ids=["text", "objects"])
@pytest.mark.parametrize(
    ("returns", "expected"),
    [
        ("", lambda module: None),
        ("-> int", lambda module: int),
        ("-> None", lambda module: type(None)),
        ("-> 'Later | None'", lambda module: module.Later | None),
        ("-> list['Later']", lambda module: list[module.Later]),
        ("-> A[int, 'Ranks.']", lambda module: A[int, "Ranks."]),
    ],
)
def test_it_is_evaluated_where_the_function_stands(
    returns: str,
    expected: Callable[[ModuleType], object],
    future: str,
    module_from: Callable[..., ModuleType],
) -> None:
    module = declared(module_from, f"@derived\ndef wide(cfg) {returns}: return 1", future)
    assert module.Base.__ns_registry__.derived["wide"].type == expected(module)


def test_what_only_type_checkers_need_of_the_parameter_is_not_needed_here(
    module_from: Callable[..., ModuleType],
) -> None:
    module = declared(module_from, "@derived\ndef wide(cfg: Decimal) -> int: return 1")
    assert module.Base.__ns_registry__.derived["wide"].type is int


def test_a_field_does_not_hide_the_builtin_of_its_name(
    module_from: Callable[..., ModuleType],
) -> None:
    body = "int: str = 'a'\n@derived\ndef wide(cfg) -> int: return 1"
    module = declared(module_from, body)
    assert module.Base.__ns_registry__.derived["wide"].type is int


@pytest.mark.parametrize(
    ("returns", "error", "problem"),
    [
        (
            "Decimal",
            UnresolvedNameError,
            "Decimal, needs the name 'Decimal', which neither the class body nor {module} has; "
            "it is imported under TYPE_CHECKING only, import it unconditionally",
        ),
        (
            "list[Nowhere]",
            UnresolvedNameError,
            "list[Nowhere], needs the name 'Nowhere', which neither the class body nor {module} "
            "has",
        ),
        (
            "'int or or'",
            AnnotationError,
            "'int or or', does not evaluate to a type: SyntaxError: Forward reference must be an "
            "expression -- got 'int or or'",
        ),
    ],
)
def test_a_return_type_that_does_not_evaluate_is_an_error_at_first_need(
    returns: str, error: type, problem: str, module_from: Callable[..., ModuleType]
) -> None:
    module = declared(module_from, f"@derived\ndef wide(cfg) -> {returns}: return 1")
    entry = module.Base.__ns_registry__.derived["wide"]
    with pytest.raises(error) as caught:
        _ = entry.type
    start = f"{module.__file__}:{entry.line}: the annotation of Real.wide, "
    assert str(caught.value).startswith(start + problem.replace("{module}", module.__name__))


def test_a_function_of_another_module_is_evaluated_there(
    module_from: Callable[..., ModuleType],
) -> None:
    heavy = module_from(FUTURE + "class Mesh: pass\ndef mesh(cfg) -> Mesh | None: return None\n")
    module = declared(
        module_from,
        f"Mesh = int\nby_path = Derived('{heavy.__name__}:mesh')\n"
        f"import {heavy.__name__} as heavy\nby_name = Derived(heavy.mesh)",
    )
    halves = module.Base.__ns_registry__.derived
    assert halves["by_path"].type == halves["by_name"].type == heavy.Mesh | None


def test_a_callable_without_annotations_states_no_type() -> None:
    def wide(factor: int, cfg: object) -> int:
        return factor

    class Caller:
        def __call__(self, cfg: object) -> int:
            return 1

    class Base(Namespace, registry=Registry("test")):
        _NS_PATH = "real"

        partial = Derived(functools.partial(wide, 2))
        instance = Derived(Caller())
        function = derived(lambda cfg: 1)
        stated = Derived(functools.partial(wide, 2), type=int)

    halves = Base.__ns_registry__.derived
    assert [entry.type for entry in halves.values()] == [None, None, None, int]
    assert halves["partial"].doc == halves["instance"].doc == ""
