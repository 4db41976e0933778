"""Parsers that raise what they like: one message at every door."""

import argparse
import decimal
import fractions
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    FieldDeclarationError,
    Namespace,
    Registry,
    RegistryError,
    add_cli_args,
    compose,
    from_argv,
    load,
)

NUMBERS = {"one": 1}


class Own(Exception):
    """An error of a program's own."""


class Picky:
    """A type whose constructor raises an error of its own."""

    def __init__(self, text: str) -> None:
        raise Own(f"no {text}")


def refuse(text: str) -> int:
    raise Own(f"no {text}")


class Odd(Namespace, registry=Registry("parsers that raise what they like")):
    _NS_PATH = "odd"

    number: A[decimal.Decimal | None, "A number."] = None
    numbers: A[list[decimal.Decimal] | None, "Numbers."] = None
    ratio: A[fractions.Fraction | None, "A fraction."] = None
    ident: A[uuid.UUID | None, "An id."] = None
    picky: A[Picky | None, "A type."] = None
    looked_up: A[int, Arg(type_parser=lambda text: NUMBERS[text])] = 1
    divided: A[int, Arg(type_parser=lambda text: 6 // int(text))] = 1
    whole: A[int, Arg(type_parser=lambda text: int(float(text)))] = 1
    own: A[int, Arg(type_parser=refuse)] = 1
    chosen: A[decimal.Decimal | None, Arg(choices=["1", "2"])] = None
    added: A[
        list[decimal.Decimal] | None,
        Arg(action="append", action_kwargs={"type": decimal.Decimal}),
    ] = None
    secret: A[decimal.Decimal | None, Arg(secret=True)] = None
    secret_own: A[int, Arg(secret=True, type_parser=refuse)] = 1
    secret_choice: A[decimal.Decimal | None, Arg(secret=True, choices=["1"])] = None


Args = compose("Args", [Odd])

REFUSED = [
    ("number", "abc", "invalid Decimal value: 'abc'"),
    ("numbers", "abc", "invalid Decimal value: 'abc'"),
    ("ratio", "1/0", "invalid Fraction value: '1/0'"),
    ("ident", "x", "invalid UUID value: 'x'"),
    ("picky", "x", "invalid Picky value: 'x'"),
    ("looked_up", "zz", "invalid value: 'zz' (KeyError: 'zz')"),
    ("divided", "0", "invalid value: '0' (ZeroDivisionError: integer division or modulo by zero)"),
    (
        "whole",
        "inf",
        "invalid value: 'inf' (OverflowError: cannot convert float infinity to integer)",
    ),
    ("own", "x", "invalid value: 'x' (Own: no x)"),
    ("chosen", "abc", "invalid choice: 'abc' (choose from 1, 2)."),
    ("chosen", "sNaN", "invalid choice: 'sNaN' (choose from 1, 2)."),
    ("added", "abc", "invalid Decimal value: 'abc'"),
]
SECRET = "hunter2"
SECRETS = ["secret", "secret_own", "secret_choice"]


def refused(door: Callable[[], Any]) -> str:
    with pytest.raises(RegistryError) as caught:
        door()
    return str(caught.value)


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_a_word_that_a_parser_raises_at_is_refused(name: str, text: str, message: str) -> None:
    flag = "--" + name.replace("_", "-")
    assert refused(lambda: from_argv(Args, [flag, text])) == f"argument {flag}: {message}"


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_so_is_a_variable(name: str, text: str, message: str) -> None:
    environ = {f"X_{name.upper()}": text}
    told = refused(lambda: from_argv(Args, [], env_prefix="X_", environ=environ))
    assert told == f"X_{name.upper()}: {message}"


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_so_is_a_text_of_a_file(name: str, text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(f'{{"{name}": "{text}"}}')
    told = refused(lambda: load(Args, file))
    assert told.startswith(f"{file}: {name}")
    assert repr(text) in told


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_in_no_message_and_in_no_error_behind_it(name: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(f'{{"{name}": "hunter2"}}')
    environ = {f"X_{name.upper()}": SECRET}
    doors: list[Callable[[], Any]] = [
        lambda: from_argv(Args, ["--" + name.replace("_", "-"), SECRET]),
        lambda: from_argv(Args, [], env_prefix="X_", environ=environ),
        lambda: load(Args, file),
    ]
    for door in doors:
        with pytest.raises(RegistryError) as caught:
            door()
        assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_a_right_word_is_read() -> None:
    words = ["--number", "1.5", "--numbers", "1", "2", "--looked-up", "one", "--divided", "3"]
    record = from_argv(Args, [*words, "--chosen", "2", "--added", "4", "--secret", "7"])
    numbers = [decimal.Decimal(each) for each in ("1.5", "1", "2", "2", "4", "7")]
    assert [
        record.number,
        *record.numbers,
        record.chosen,
        *record.added,
        record.secret,
    ] == numbers
    assert (record.looked_up, record.divided) == (1, 2)


def test_a_choice_that_its_own_type_raises_at_is_refused_when_the_parser_is_built() -> None:
    class Wrong(Namespace, registry=Registry("a choice that is no number")):
        _NS_PATH = "wrong"

        number: A[decimal.Decimal | None, Arg(choices=["abc"])] = None

    with pytest.raises(FieldDeclarationError, match="has the choice 'abc', which its own type"):
        add_cli_args(argparse.ArgumentParser(), compose("WrongArgs", [Wrong]))
