"""The markers of a declaration: what they take, show and refuse."""

import functools
import sys
from typing import Any

import pytest

from registry import (
    NS,
    Arg,
    Derived,
    FieldDeclarationError,
    InvalidPathError,
    ReadOnlyError,
    RegistryError,
    derived,
)


def test_an_arg_shows_what_was_given() -> None:
    assert repr(Arg()) == "Arg()"
    assert repr(Arg(help="Width.", no_cli=True)) == "Arg(help='Width.', no_cli=True)"
    assert eval(repr(Arg("Width.", nargs="+"))) == Arg("Width.", nargs="+")


def test_args_are_equal_by_what_they_say_and_hash_alike() -> None:
    one, two = (Arg(help="Width.", choices=[1, 2]) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert one != Arg(help="Width.", choices=[1])
    assert one != "Width."


def test_an_arg_keeps_the_list_of_choices_it_was_given() -> None:
    choices = ["a"]
    assert Arg(choices=choices).choices is choices


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: Arg(help=3),
            FieldDeclarationError,
            "Arg takes its help as a string, not 3",
        ),
        (
            lambda: Arg(choices="auto"),
            FieldDeclarationError,
            "Arg takes choices as a list, not the string 'auto'",
        ),
        (
            lambda: Arg(aliases="--tp"),
            FieldDeclarationError,
            "Arg takes aliases as a list: aliases=['--tp']",
        ),
        *(
            (
                lambda flag=flag: Arg(aliases=[flag]),
                FieldDeclarationError,
                f"Arg has the flag {flag!r}; a flag looks like --tensor-parallel-size",
            )
            for flag in ("tp", "--t p", "--tp=", "--", "---x", 3)
        ),
        (
            lambda: Arg(cli_name="tp_size"),
            FieldDeclarationError,
            "Arg has the flag 'tp_size'; a flag looks like --tensor-parallel-size",
        ),
        (
            lambda: Derived("module.function"),
            FieldDeclarationError,
            "Derived names the function 'module.function'; write it as 'package.module:function'",
        ),
        (
            lambda: Derived(3),
            FieldDeclarationError,
            "Derived takes a function or its path, not 3",
        ),
        (
            lambda: Derived(len, default=1),
            FieldDeclarationError,
            "Derived has a function and a default; a value that is computed needs none",
        ),
        (
            lambda: NS("exec moe"),
            InvalidPathError,
            "NS has the path 'exec moe'; a path is a string of identifiers joined by dots, such "
            'as "exec.moe"',
        ),
    ],
)
def test_a_marker_that_makes_no_sense_is_refused(make: Any, error: type, message: str) -> None:
    with pytest.raises(RegistryError) as caught:
        make()
    assert type(caught.value) is error
    assert isinstance(caught.value, TypeError)
    assert str(caught.value) == f"{caught.value.where}: {message}"
    assert caught.value.where.startswith(f"{__file__}:")


def test_an_arg_does_not_change() -> None:
    arg = Arg(help="Width.")
    with pytest.raises(ReadOnlyError) as caught:
        arg.help = "Height."
    assert str(caught.value) == (
        "an Arg is read-only, 'help' cannot be changed here; make another one"
    )
    with pytest.raises(ReadOnlyError):
        del arg.help
    assert arg.help == "Width."


def test_a_derived_field_takes_its_text_from_the_function() -> None:
    @derived
    def width(cfg: Any) -> int:
        """Ranks in all."""
        return 1

    assert (width.doc, width.fn(None)) == ("Ranks in all.", 1)
    assert Derived(width.fn, doc="Other.").doc == "Other."
    assert repr(Derived(doc="Rank.", default=None)) == "Derived(doc='Rank.', default=None)"


def test_a_partial_does_not_take_the_text_of_its_class() -> None:
    assert Derived(functools.partial(max, 1)).doc == ""
    assert Derived(max).doc == max.__doc__


def test_a_function_named_by_path_is_imported_when_it_is_needed(monkeypatch: Any) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    lazy = Derived("colorsys:rgb_to_hsv")
    assert "colorsys" not in sys.modules
    assert lazy.function() is sys.modules["colorsys"].rgb_to_hsv


def test_markers_of_one_path_are_equal() -> None:
    assert NS("exec.moe") == NS("exec.moe") != NS("exec")
    assert hash(NS("exec.moe")) == hash(NS("exec.moe"))
    assert repr(NS("exec.moe")) == "NS('exec.moe')"
