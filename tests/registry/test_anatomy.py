"""What an annotation is can be told from its structure, before anything is evaluated."""

import dataclasses
import typing
from typing import Annotated, Any, ClassVar, Literal, Optional

import pytest

from registry import A, Arg
from registry.anatomy import anatomy_of, problem_with, special_form

NAMES = {
    "ClassVar": typing.ClassVar,
    "typing": typing,
    "t": typing,
    "Once": typing.ClassVar,
    "A": typing.Annotated,
    "InitVar": dataclasses.InitVar,
    "dc": dataclasses,
}


@pytest.mark.parametrize(
    "spelling",
    [
        "ClassVar[int]",
        "ClassVar",
        "typing.ClassVar[int]",
        "t.ClassVar[int]",
        "Once[int]",
        " typing . ClassVar [int]",
        "A[ClassVar[int], 'text']",
        "t.Annotated[Once, 1]",
        "unseen.ClassVar[int]",
        "'ClassVar[int]'",
        'A["ClassVar[int]", 1]',
        ClassVar[int],
        ClassVar,
        A[ClassVar[int], "text"],
        A["ClassVar[int]", "text"],
    ],
    ids=str,
)
def test_a_class_variable_is_known_by_what_its_name_stands_for(spelling: object) -> None:
    assert special_form(spelling, NAMES) == "ClassVar"


@pytest.mark.parametrize(
    ("spelling", "form"),
    [
        ("InitVar[int]", "InitVar"),
        ("dc.InitVar", "InitVar"),
        ("dc.KW_ONLY", "KW_ONLY"),
        (dataclasses.InitVar[int], "InitVar"),
        (dataclasses.InitVar, "InitVar"),
        (dataclasses.KW_ONLY, "KW_ONLY"),
    ],
    ids=str,
)
def test_other_marks_are_told_apart(spelling: object, form: str) -> None:
    assert special_form(spelling, NAMES) == form


@pytest.mark.parametrize(
    "spelling",
    [
        *("ClassVariable", "int", "list[ClassVar]", "'x'", "no type", "", "3", "typing.Nothing"),
        *(int, None, list[int], int | None, Literal["ClassVar"], A[int, "ClassVar[int]"], Any),
    ],
    ids=str,
)
def test_everything_else_is_a_field(spelling: object) -> None:
    assert special_form(spelling, NAMES) is None


@pytest.mark.parametrize(
    ("annotation", "has_text"),
    [
        ("int", True),
        (list["int"], True),
        (dict[str, "int"] | None, True),
        (Optional["int"], True),
        (typing.Callable[["int"], int], True),
        (A["int", Arg(help="x")], True),
        (list[A["int", "x"]], True),
        (int, False),
        (list[int] | None, False),
        (Literal["int", "str"], False),
        (list[Literal["int"]], False),
        (A[int, "a description"], False),
        (list[Annotated[int, "a description"]], False),
    ],
    ids=str,
)
def test_text_is_found_at_any_depth_but_not_in_data(annotation: object, has_text: bool) -> None:
    assert anatomy_of(annotation).has_text is has_text


MISPLACED = "has its Arg inside the type; write it outermost: A[int | None, Arg(...)]"
SEVERAL = "has more than one Arg or bare string; one Arg says it all"


@pytest.mark.parametrize(
    ("annotation", "problem"),
    [
        (int, None),
        (None, None),
        (Any, None),
        (A[int, Arg(), 3], None),
        (typing.NewType("Rank", int), None),
        (typing.TypeVar("T"), None),
        (Literal[b"x", 3], None),
        (A[A[int, Arg()] | None, 1], MISPLACED),
        (dict[str, list[A[int, Arg()]]], MISPLACED),
        (A[int, Arg(), Arg()], SEVERAL),
        (A[int, "one", "two"], SEVERAL),
        (3, "does not evaluate to a type, but to 3"),
        ((int, str), f"does not evaluate to a type, but to {(int, str)!r}"),
        ([int], f"does not evaluate to a type, but to {[int]!r}"),
        (any, f"does not evaluate to a type, but to {any!r}"),
        (typing, f"does not evaluate to a type, but to {typing!r}"),
        (ClassVar[int], "is a ClassVar, by a name that was not there when the class was created"),
    ],
    ids=str,
)
def test_what_cannot_be_a_fields_type_is_told(annotation: object, problem: str | None) -> None:
    assert problem_with(anatomy_of(annotation), annotation) == problem
