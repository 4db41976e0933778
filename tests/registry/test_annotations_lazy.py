"""Python 3.14 keeps annotations unevaluated; a declaration means the same there as before."""

import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from registry import A, Arg, DeclarationError, UnresolvedNameError, compose
from registry.namespace import NamespaceMeta

pytestmark = pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are lazy from 3.14")

DECLARE = """\
from typing import TYPE_CHECKING
from registry import A, Arg, Namespace, Registry
if TYPE_CHECKING:
    from decimal import Decimal
DEFAULT, CHOICES, COMMON = 3, ["a", "b"], {"help": "Common."}
class Base(Namespace, registry=Registry("test")): pass
"""


def declared(module_from: Callable[..., ModuleType], *lines: str) -> ModuleType:
    body = "".join(f"    {line}\n" for line in lines)
    return module_from(f"{DECLARE}class Real(Base):\n    _NS_PATH = 'real'\n{body}")


def test_names_that_are_not_there_yet_are_registered(
    module_from: Callable[..., ModuleType],
) -> None:
    module = declared(module_from, "a: Later | None = None", "b: list[Later.Inner]", "c: Real")
    assert list(module.Base.__ns_registry__.input) == ["a", "b", "c"]
    module.Later = type("Later", (), {"Inner": int})
    types = [entry.type for entry in module.Base.__ns_registry__.input.values()]
    assert types == [module.Later | None, list[int], module.Real]


def test_a_subclass_without_fields_declares_none(module_from: Callable[..., ModuleType]) -> None:
    assert NamespaceMeta.__annotations__
    module = declared(module_from, "a: int = 1")
    sub = type(module.Real)("Sub", (module.Real,), {})
    assert list(sub.__ns_declaration__.inputs) == []


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("A[int, f'Default {DEFAULT}.']", A[int, "Default 3."]),
        ("A[int, 'One of ' + ', '.join(CHOICES)]", A[int, "One of a, b"]),
        ("A[int, Arg(**COMMON)]", A[int, Arg(help="Common.")]),
        ("A[int, Arg(choices=[*CHOICES])]", A[int, Arg(choices=["a", "b"])]),
        ("A[int, 'yes' if DEFAULT else 'no']", A[int, "yes"]),
    ],
)
def test_help_can_be_computed(
    annotation: str, expected: object, module_from: Callable[..., ModuleType]
) -> None:
    module = declared(module_from, f"a: {annotation} = 1", "b: int = 1")
    assert list(module.Base.__ns_registry__.input) == ["a", "b"]
    assert module.Base.__ns_registry__.input["a"].type == expected


@pytest.mark.parametrize(
    ("declaration", "expected"),
    [
        ("list: list[int] | None = None", list[int] | None),
        ("int: A[int, 'Count.'] = 3", A[int, "Count."]),
        ("Base: A[Base, 'Named as its type.'] = None", None),
    ],
)
def test_a_field_does_not_hide_what_its_annotation_names(
    declaration: str, expected: object, module_from: Callable[..., ModuleType]
) -> None:
    module = declared(module_from, declaration)
    (entry,) = module.Base.__ns_registry__.input.values()
    assert entry.type == (expected or A[module.Base, "Named as its type."])


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        ("A[list[Decimal], 'Text.']", "Decimal"),
        ("A[int, Nowhere]", "Nowhere"),
        ("A[int, Arg('h', choices=Nowhere)]", "Nowhere"),
        ("A[int, Arg(help=Nowhere.text)]", "Nowhere"),
    ],
)
def test_a_name_that_is_never_there_is_an_error_at_first_need(
    annotation: str, name: str, module_from: Callable[..., ModuleType]
) -> None:
    module = declared(module_from, f"a: {annotation} = 1")
    with pytest.raises(UnresolvedNameError) as caught:
        compose("Record", [module.Real])
    hint = "; it is imported under TYPE_CHECKING only, import it unconditionally"
    line = module.Base.__ns_registry__.input["a"].line
    assert str(caught.value) == (
        f"{module.__file__}:{line}: the annotation of Real.a, {annotation}, needs the name "
        f"{name!r}, which neither the class body nor {module.__name__} has"
        f"{hint if name == 'Decimal' else ''}"
    )


def test_an_annotation_that_cannot_even_be_spelled_is_refused(
    module_from: Callable[..., ModuleType],
) -> None:
    with pytest.raises(DeclarationError) as caught:
        declared(module_from, "a: 'Later' | None = None")
    line = DECLARE.count("\n") + 1
    assert str(caught.value).endswith(
        f":{line}: Real has an annotation that does not evaluate: TypeError: unsupported operand "
        "type(s) for |: 'str' and 'NoneType'"
    )
