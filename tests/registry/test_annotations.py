"""Annotations are evaluated late, among the names of the class that wrote them."""

import sys
import typing
from collections.abc import Callable
from types import ModuleType

import pytest

from registry import A, AnnotationError, Arg, Namespace, Registry, UnresolvedNameError, compose

FUTURE = "from __future__ import annotations\n"
NORMAL = ""
DECLARE = """\
from registry import A, Arg, Namespace, Registry
class Base(Namespace, registry=Registry("test")): pass
"""

both_kinds = pytest.mark.parametrize("future", [FUTURE, NORMAL], ids=["text", "objects"])


def types_of(module: ModuleType, name: str = "Real") -> dict[str, object]:
    record = compose("Record", [getattr(module, name)])
    return {field.name: field.type for field in record.__dataclass_fields__.values()}


@both_kinds
def test_names_of_the_declaring_module_are_enough(
    future: str, module_from: Callable[..., ModuleType]
) -> None:
    source = """
        import typing as t
        from decimal import Decimal as D
        from enum import Enum
        class Mode(Enum):
            FAST = 1
        class Real(Base):
            _NS_PATH = "real"
            class Inner(Enum):
                X = 1
            a: A[int, Arg(help="A width.")] = 1
            b: t.Optional[D] = None
            c: A[Mode | None, "A mode."] = None
            d: list[Inner] | None = None
            e: t.Literal["x", "y"] = "x"
            f: dict[str, t.List[int]] | None = None
    """
    module = module_from(future + DECLARE + __import__("textwrap").dedent(source))
    real = module.Real
    assert types_of(module) == {
        "a": A[int, Arg(help="A width.")],
        "b": module.D | None,
        "c": A[module.Mode | None, "A mode."],
        "d": list[real.Inner] | None,
        "e": typing.Literal["x", "y"],
        "f": dict[str, typing.List[int]] | None,  # noqa: UP006  the declaring module's spelling
    }


@both_kinds
def test_a_class_declared_later_can_be_named(
    future: str, module_from: Callable[..., ModuleType]
) -> None:
    module = module_from(
        future
        + DECLARE
        + "class Real(Base):\n"
        + "    _NS_PATH = 'real'\n"
        + "    a: 'Later | None' = None\n"
        + "    b: list['Later'] | None = None\n"
        + "    c: A['Later', Arg(help='h')] = None\n"
        + "class Later: pass\n"
    )
    later = module.Later
    assert types_of(module) == {
        "a": later | None,
        "b": list[later] | None,
        "c": A[later, Arg(help="h")],
    }


def test_local_names_are_found_even_after_the_function_returned(
    module_from: Callable[..., ModuleType],
) -> None:
    module = module_from(
        FUTURE
        + DECLARE
        + "def make():\n"
        + "    class Local: pass\n"
        + "    class Real(Base):\n"
        + "        _NS_PATH = 'real'\n"
        + "        a: Local | None = None\n"
        + "        b: list[Later] | None = None\n"
        + "    class Later: pass\n"
        + "    return Real, Local, Later\n"
        + "Real, Local, Later = make()\n"
        + "del Local, Later\n"
        + "again = make()\n"
    )
    real, local, later = module.again
    record = compose("Record", [real])
    types = [field.type for field in record.__dataclass_fields__.values()]
    assert types == [local | None, list[later] | None]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 syntax")
@both_kinds
def test_type_parameters_can_be_named(future: str, module_from: Callable[..., ModuleType]) -> None:
    module = module_from(
        future
        + DECLARE
        + "class Real[T](Base):\n"
        + "    _NS_PATH = 'real'\n"
        + "    a: list[T] | None = None\n"
        + "def make():\n"
        + "    class Local: pass\n"
        + "    class Inner[T](Base):\n"
        + "        _NS_PATH = 'inner'\n"
        + "        b: dict[T, Local] | None = None\n"
        + "    return Inner, Local\n"
        + "Inner, Hidden = make()\n"
    )
    (first,), (second,) = module.Real.__type_params__, module.Inner.__type_params__
    assert types_of(module) == {"a": list[first] | None}
    assert types_of(module, "Inner") == {"b": dict[second, module.Hidden] | None}


def test_a_field_does_not_hide_the_builtin_of_its_name(
    module_from: Callable[..., ModuleType],
) -> None:
    module = module_from(
        FUTURE
        + DECLARE
        + "class Real(Base):\n"
        + "    _NS_PATH = 'real'\n"
        + "    type: str = 'a'\n"
        + "    list: int = 1\n"
        + "    a: type[int] | None = None\n"
        + "    b: list[int] | None = None\n"
    )
    types = types_of(module)
    assert types["a"] == type[int] | None
    assert types["b"] == list[int] | None


def test_nothing_is_evaluated_when_the_class_is_created(
    module_from: Callable[..., ModuleType],
) -> None:
    module = module_from(
        FUTURE
        + DECLARE
        + "evaluated = []\n"
        + "def record(name):\n"
        + "    evaluated.append(name)\n"
        + "    return int\n"
        + "class Real(Base):\n"
        + "    _NS_PATH = 'real'\n"
        + "    a: record('a') = 1\n"
    )
    assert module.evaluated == []
    assert types_of(module) == {"a": int}
    assert types_of(module) == {"a": int}
    assert module.evaluated == ["a"]


@pytest.mark.parametrize(
    ("statement", "error", "problem"),
    [
        (
            "a: Pathlike = None",
            UnresolvedNameError,
            "Pathlike, needs the name 'Pathlike', which neither the class body nor {module} has; "
            "it is imported under TYPE_CHECKING only, import it unconditionally",
        ),
        (
            "a: A[list[Nowhere], Arg(help='h')] = None",
            UnresolvedNameError,
            "A[list[Nowhere], Arg(help='h')], needs the name 'Nowhere', which neither the class "
            "body nor {module} has",
        ),
        (
            "a: 'int or or' = None",
            AnnotationError,
            "'int or or', does not evaluate to a type: ",
        ),
        (
            "a: int[3] = None",
            AnnotationError,
            "int[3], does not evaluate to a type: TypeError: ",
        ),
        (
            "a: Later[int] = 1",
            AnnotationError,
            "Later[int], is a ClassVar, by a name that was not there when the class was created",
        ),
    ],
)
def test_an_annotation_that_does_not_evaluate_is_an_error_at_first_need(
    statement: str, error: type, problem: str, module_from: Callable[..., ModuleType]
) -> None:
    module = module_from(
        FUTURE
        + DECLARE
        + "from typing import TYPE_CHECKING\n"
        + "if TYPE_CHECKING:\n"
        + "    from os import PathLike as Pathlike\n"
        + "class Real(Base):\n"
        + "    _NS_PATH = 'real'\n"
        + f"    {statement}\n"
        + "from typing import ClassVar as Later\n"
    )
    entry = module.Base.__ns_registry__.input["a"]  # the class is there
    with pytest.raises(error) as caught:
        _ = entry.type
    with pytest.raises(error):
        compose("Record", [module.Real])
    expected = problem.replace("{module}", module.__name__)
    start = f"{module.__file__}:9: the annotation of Real.a, "
    assert str(caught.value).startswith(start + expected)
    assert isinstance(caught.value, NameError if error is UnresolvedNameError else TypeError)


@both_kinds
@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (
            "A[int, Arg(help='a')] | None",
            "has its Arg inside the type; write it outermost: A[int | None, Arg(...)]",
        ),
        (
            "dict[str, A[int, Arg(help='a')]]",
            "has its Arg inside the type; write it outermost: A[int | None, Arg(...)]",
        ),
        (
            "A[int, Arg(help='a'), Arg(no_cli=True)]",
            "has more than one Arg or bare string; one Arg says it all",
        ),
        (
            "A[int, 'a', Arg(no_cli=True)]",
            "has more than one Arg or bare string; one Arg says it all",
        ),
    ],
)
def test_an_arg_that_nobody_would_read_is_an_error(
    future: str, annotation: str, problem: str, module_from: Callable[..., ModuleType]
) -> None:
    module = module_from(
        future + DECLARE + f"class Real(Base):\n    _NS_PATH = 'real'\n    a: {annotation} = None\n"
    )
    with pytest.raises(AnnotationError) as caught:
        compose("Record", [module.Real])
    line = 6 if future else 5
    assert str(caught.value).startswith(f"{module.__file__}:{line}: the annotation of Real.a, ")
    assert str(caught.value).endswith(problem)


def test_class_variables_under_type_checking_are_no_fields(
    module_from: Callable[..., ModuleType],
) -> None:
    module = module_from(
        FUTURE
        + DECLARE
        + "from typing import TYPE_CHECKING\n"
        + "if TYPE_CHECKING:\n"
        + "    from typing import ClassVar\n"
        + "class Real(Base):\n"
        + "    _NS_PATH = 'real'\n"
        + "    a: ClassVar[int] = 1\n"
        + "    b: int = 1\n"
    )
    assert list(module.Base.__ns_registry__.input) == ["b"]


def test_a_subclass_that_declares_nothing_registers_nothing_again() -> None:
    # Reading the metaclass's annotations first must not make them the class's.
    getattr(type(Namespace), "__annotations__", None)

    class Base(Namespace, registry=Registry("test")):
        pass

    class First(Base):
        _NS_PATH = "first"
        x: int = 1

    class Second(First):
        pass

    assert [str(each) for each in Base.__ns_registry__.declarations] == [
        f"{__name__}.{First.__qualname__}",
        f"{__name__}.{Second.__qualname__}",
    ]
    assert list(Base.__ns_registry__.declarations[1].inputs) == []
