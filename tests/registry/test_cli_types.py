"""What a type becomes on the command line: what operators type, and what the record gets."""

import argparse
import collections
import dataclasses
import decimal
import enum
import pathlib
import typing
from typing import Any, Dict, List, Literal, NewType, Optional, Set, Tuple, Union  # noqa: UP035

import pytest

from registry import (
    A,
    Arg,
    ArgumentParser,
    FieldDeclarationError,
    Namespace,
    Registry,
    add_cli_args,
    compose,
    fields_set,
    from_cli_args,
)

MISSING = dataclasses.MISSING
PLAIN = Arg(help="Value.")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int = 0


Port = NewType("Port", int)


def record_of(annotation: Any, arg: Arg = PLAIN, default: Any = MISSING) -> type[Any]:
    """A record with one field `x` of a type."""
    body: dict[str, Any] = {"_NS_PATH": "some.path", "__annotations__": {"x": A[annotation, arg]}}
    if default is not MISSING:
        body["x"] = default
    Some = type(Namespace)("Some", (Namespace,), body, registry=Registry("types"))
    return compose("Args", [Some])


def parse(record_class: type[Any], words: list[str]) -> Any:
    parser = ArgumentParser(prog="serve")
    add_cli_args(parser, record_class)
    return from_cli_args(record_class, parser.parse_args(words))


TAKEN: list[tuple[Any, str, Any]] = [
    (int, "8", 8),
    (int, "-8", -8),
    (float, "0.5", 0.5),
    (float, "1", 1.0),
    (str, "8", "8"),
    (str, "", ""),
    (complex, "1j", 1j),
    (pathlib.Path, "/a b", pathlib.Path("/a b")),
    (decimal.Decimal, "1.10", decimal.Decimal("1.10")),
    (Port, "80", 80),
    (typing.Final[int], "8", 8),
    (int | None, "8", 8),
    (Optional[int], "8", 8),  # noqa: UP045
    (Union[None, float], "8", 8.0),  # noqa: UP007
    (str | dict[str, int], "text", "text"),
    (int | str, "8", 8),
    (int | str, "eight", "eight"),
    (int | float, "8", 8),
    (int | float | None, "8.5", 8.5),
    (int | Literal["auto"], "auto", "auto"),
    (int | Literal["auto"], "8", 8),
    (Literal["a", "b"], "b", "b"),
    (Literal["a", "b"] | None, "b", "b"),
    (Literal[1, 2], "2", 2),
    (Literal["a", None], "none", None),
    (Literal["a"] | Literal["b"], "b", "b"),
    (Color, "blue", Color.BLUE),
    (Color | None, "blue", Color.BLUE),
    (Level, "2", Level.HIGH),
    (dict[str, int], '{"a": 1}', {"a": 1}),
    (Dict[str, Any] | None, "{}", {}),  # noqa: UP006
    (dict, '{"a": [1]}', {"a": [1]}),
]

SEVERAL: list[tuple[Any, str, Any]] = [
    (list[str], "a b", ["a", "b"]),
    (list[str], "1", ["1"]),
    (list, "a 1", ["a", "1"]),
    (List[int], "1 2", [1, 2]),  # noqa: UP006
    (list[int] | None, "1 2", [1, 2]),
    (list[float], "1 2.5", [1.0, 2.5]),
    (list[pathlib.Path], "a", [pathlib.Path("a")]),
    (list[Literal["a", "b"]], "b a", ["b", "a"]),
    (list[Color], "red", [Color.RED]),
    (list[bool], "true FALSE", [True, False]),
    (list[int | str], "1 a", [1, "a"]),
    (list[dict[str, int]], '{"a":1} {"b":2}', [{"a": 1}, {"b": 2}]),
    (set[int], "1 2 1", {1, 2}),
    (Set[str], "a", {"a"}),  # noqa: UP006
    (frozenset[str], "a b", frozenset({"a", "b"})),
    (set[str] | list[str] | None, "a a", ["a", "a"]),
    (tuple[int, ...], "1 2 3", (1, 2, 3)),
    (Tuple[int, int], "1 2", (1, 2)),  # noqa: UP006
    (tuple, "a b", ("a", "b")),
]


@pytest.mark.parametrize(("annotation", "text", "value"), TAKEN)
def test_one_word_becomes_a_value_of_the_type(annotation: Any, text: str, value: Any) -> None:
    for words in ([f"--x={text}"], ["--x", text]):
        record = parse(record_of(annotation, default=None), words)
        assert (record.x, type(record.x)) == (value, type(value))
        assert fields_set(record) == {"x"}


@pytest.mark.parametrize(("annotation", "text", "value"), SEVERAL)
def test_several_words_become_a_collection_of_the_type(
    annotation: Any, text: str, value: Any
) -> None:
    record = parse(record_of(annotation, default=None), ["--x", *text.split()])
    assert (record.x, type(record.x)) == (value, type(value))


@pytest.mark.parametrize(
    ("default", "words", "value", "given"),
    [
        (False, [], False, False),
        (False, ["--x"], True, True),
        (MISSING, ["--x"], True, True),
        (True, [], True, False),
        (True, ["--x"], True, True),
        (True, ["--no-x"], False, True),
    ],
)
def test_a_switch_turns_on_and_one_that_is_on_turns_off(
    default: Any, words: list[str], value: bool, given: bool
) -> None:
    record = parse(record_of(bool, default=default), words)
    assert (record.x, fields_set(record)) == (value, {"x"} if given else set())


@pytest.mark.parametrize("default", [None, True, False])
@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["--x"], True),
        (["--x", "true"], True),
        (["--x=True"], True),
        (["--x", "false"], False),
        (["--x=FALSE"], False),
    ],
)
def test_an_optional_switch_has_three_states(words: list[str], value: bool, default: Any) -> None:
    Args = record_of(bool | None, default=default)
    record = parse(Args, words)
    assert (record.x, fields_set(record)) == (value, {"x"})
    untouched = parse(Args, [])
    assert (untouched.x, fields_set(untouched)) == (default, set())


TWICE = "the key 'a' is given twice; remove one of them"
NO_JSON = "is not JSON; write a number, a string or null"
DEEP = "nested too deeply, more than 100 levels; write it flatter"

REFUSED: list[tuple[Any, str, str]] = [
    (int, "a", "invalid int value: 'a'"),
    (float, "a", "invalid float value: 'a'"),
    (bool | None, "yes", "expected true or false, not 'yes'"),
    (list[bool], "true 1", "expected true or false, not '1'"),
    (list[int], "1 a", "invalid int value: 'a'"),
    (
        Literal["auto", "full"],
        "ful",
        "invalid choice: 'ful' (choose from auto, full). Did you mean 'full'?",
    ),
    (Literal[1, 2], "3", "invalid choice: '3' (choose from 1, 2)."),
    (
        Literal["a", None],
        "None",
        "invalid choice: 'None' (choose from a, none). Did you mean 'none'?",
    ),
    (Color, "RED", "invalid choice: 'RED' (choose from red, blue)."),
    (
        list[Color],
        "red bleu",
        "invalid choice: 'bleu' (choose from red, blue). Did you mean 'blue'?",
    ),
    (int | Literal["auto"], "a", "expected one of auto, int, not 'a'"),
    (dict, "[1]", "expected a JSON object, not '[1]'"),
    (
        dict[str, int],
        "{a}",
        "expected JSON, not '{a}': Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1)",
    ),
    (dict, '{"a":1,"a":2}', f"expected JSON, but {TWICE}"),
    (dict, '{"b":{"a":1,"a":2}}', f"expected JSON, but {TWICE}"),
    (dict, '{"a":NaN}', f"expected JSON, but NaN {NO_JSON}"),
    (dict, '{"a":[-Infinity]}', f"expected JSON, but -Infinity {NO_JSON}"),
    (
        dict,
        '{"a":1e999}',
        "expected JSON, but a number is too large; write a smaller one, or a text in quotes",
    ),
    (dict, '{"a":' * 200, f"expected JSON, but {DEEP}"),
    (list[dict], '{} {"a":1,"a":2}', f"expected JSON, but {TWICE}"),
    (tuple[int, int], "1", "expected 2 arguments"),
    (list[str], "", "expected at least one argument"),
    (int, "", "expected one argument"),
]


@pytest.mark.parametrize(("annotation", "text", "message"), REFUSED)
def test_a_word_that_is_no_value_of_the_type_is_one_readable_line(
    annotation: Any, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parse(record_of(annotation, default=None), ["--x", *text.split()])
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        f"serve: error: argument --x: {message} (see serve --help)\n"
    )


@pytest.mark.parametrize(
    ("annotation", "word", "value"),
    [
        (dict[str, Any], '--x.b={"a":1}', {"b": {"a": 1}}),
        (dict[str, Any], '--x.b={"a":1,"a":2}', TWICE),
        (dict[str, Any], "--x.b=NaN", f"NaN {NO_JSON}"),
        (
            dict[str, float],
            "--x.b=1e999",
            "a number is too large; write a smaller one, or a text in quotes",
        ),
        (dict[str, str], "--x.b=NaN", {"b": "NaN"}),
        (dict[str, str], '--x.b={"a":1,"a":2}', {"b": '{"a":1,"a":2}'}),
    ],
)
def test_one_key_takes_the_json_that_a_file_could_have(
    annotation: Any, word: str, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(value, dict):
        assert parse(record_of(annotation, default=None), [word]).x == value
        return
    with pytest.raises(SystemExit):
        parse(record_of(annotation, default=None), [word])
    assert f"argument --x: expected JSON, but {value} (see" in capsys.readouterr().err


def hex_number(text: str) -> int:
    if not text.startswith("0x"):
        raise ValueError(f"expected a hexadecimal number such as 0x1f, not {text!r}")
    return int(text, 16)


def of_wrong_type(text: str) -> int:
    raise TypeError(f"cannot use {text}")


class Append(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest, []), values])


@pytest.mark.parametrize(
    ("annotation", "arg", "words", "value"),
    [
        (int, Arg(type_parser=hex_number), ["--x", "0x1f"], 31),
        (list[int], Arg(type_parser=hex_number, nargs="+"), ["--x", "0x1", "0x2"], [1, 2]),
        (dict[str, int], Arg(type_parser=hex_number), ["--x", "0x1f"], 31),
        (Point | None, Arg(type_parser=lambda text: Point(int(text))), ["--x", "3"], Point(3)),
        (list[str], Arg(nargs="*"), ["--x"], []),
        (list[int], Arg(nargs=2), ["--x", "1", "2"], [1, 2]),
        (str, Arg(nargs="?", const="on"), ["--x"], "on"),
        (str, Arg(choices=["a", "b"]), ["--x", "b"], "b"),
        (int, Arg(choices=[1, 2]), ["--x", "2"], 2),
        (int, Arg(choices=["1", "2"]), ["--x", "2"], 2),
        (list[str], Arg(choices=("a", "b")), ["--x", "b", "b"], ["b", "b"]),
        (set[str], Arg(choices=["a", "b"]), ["--x", "b", "b"], {"b"}),
        (Literal[None, "a"], Arg(choices=["none", "a"]), ["--x", "none"], None),
        (int, Arg(type_parser=hex_number, choices=["0x1", 2]), ["--x", "0x2"], 2),
        (list[str], Arg(action="append"), ["--x", "a", "--x", "b"], ["a", "b"]),
        (int, Arg(action="count"), ["--x", "--x"], 2),
        (bool, Arg(action="store_false"), ["--x"], False),
        (bool, Arg(action="BooleanOptionalAction"), ["--no-x"], False),
        (str, Arg(action="store_const", const="c"), ["--x"], "c"),
        (list[int], Arg(action=Append, action_kwargs={"type": int}), ["--x", "1"], [1]),
    ],
)
def test_an_arg_may_say_how_its_flag_is_read(
    annotation: Any, arg: Arg, words: list[str], value: Any
) -> None:
    assert parse(record_of(annotation, arg), words).x == value


@pytest.mark.parametrize(
    ("arg", "text", "message"),
    [
        (
            Arg(type_parser=hex_number),
            "8",
            "expected a hexadecimal number such as 0x1f, not '8'",
        ),
        (Arg(type_parser=of_wrong_type), "8", "cannot use 8"),
        (Arg(choices=[1, 22]), "2", "invalid choice: '2' (choose from 1, 22). Did you mean '22'?"),
        (Arg(choices=[1, 22]), "a", "invalid choice: 'a' (choose from 1, 22)."),
        (
            Arg(type_parser=hex_number, choices=["0x1"]),
            "0x8",
            "invalid choice: '0x8' (choose from 0x1). Did you mean '0x1'?",
        ),
    ],
)
def test_what_a_parser_or_a_choice_refuses_is_told(
    arg: Arg, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(record_of(int, arg), ["--x", text])
    assert capsys.readouterr().err == (
        f"serve: error: argument --x: {message} (see serve --help)\n"
    )


@pytest.mark.parametrize(
    "annotation",
    [
        *(Any, object, type, bytes, Point, typing.Callable[[], int], bool | int),
        *(list[list[int]], tuple[int, str], list[Point], set[Any]),
        *(typing.Sequence[int], typing.Mapping[str, int], dict[str, int] | list[str]),
        *(type(None), collections.deque[int], typing.TypeVar("T"), list[int] | Literal["all"]),
    ],
)
def test_a_type_that_no_text_turns_into_is_refused_when_the_parser_is_built(
    annotation: Any,
) -> None:
    with pytest.raises(TypeError) as caught:
        add_cli_args(ArgumentParser(), record_of(annotation))
    assert type(caught.value) is FieldDeclarationError
    assert str(caught.value) == (
        f"Args.x has the type {A[annotation, PLAIN]}, which no text turns into; give its Arg a "
        "type_parser, or no_cli=True"
    )
    add_cli_args(ArgumentParser(), record_of(annotation, Arg(no_cli=True)))


@pytest.mark.parametrize(
    ("annotation", "arg", "start"),
    [
        (bool, Arg(metavar="ON"), "has an Arg that argparse does not take: "),
        (bool, Arg(nargs=1), "has an Arg that argparse does not take: "),
        (int, Arg(nargs=0), "has an Arg that argparse does not take: nargs for store actions must"),
        (int, Arg(action="no_such"), "has an Arg that argparse does not take: unknown action"),
        (
            int,
            Arg(choices=["auto"]),
            "has the choice 'auto', which its own type does not take: invalid literal for int()",
        ),
    ],
)
def test_an_arg_that_does_not_suit_its_type_names_the_field(
    annotation: Any, arg: Arg, start: str
) -> None:
    with pytest.raises(FieldDeclarationError) as caught:
        add_cli_args(ArgumentParser(), record_of(annotation, arg))
    assert str(caught.value).startswith(f"Args.x {start}")
