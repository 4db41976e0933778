"""A record as words of a command line, and a command line as a record."""

import argparse
import dataclasses
import decimal
import enum
import json
import math
import pathlib
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple, NewType

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    CommandLineError,
    ComposeError,
    MissingSettingsError,
    Namespace,
    Registry,
    UnknownFieldError,
    UnwritableError,
    compose,
    fields_set,
    from_argv,
    to_argv,
    to_dict,
)

ROOT = Path(__file__).parents[2]
MISSING = dataclasses.MISSING
PLAIN = Arg(help="Value.")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mode(str, enum.Enum):
    FAST = "fast"


@dataclasses.dataclass
class Point:
    x: int = 0


class Pair(NamedTuple):
    left: int
    right: str


Port = NewType("Port", int)


def record_of(annotation: Any, arg: Arg = PLAIN, default: Any = MISSING) -> type[Any]:
    """A record with one field `x` of a type."""
    body: dict[str, Any] = {"_NS_PATH": "some.path", "__annotations__": {"x": A[annotation, arg]}}
    if default is not MISSING:
        body["x"] = default
    Some = type(Namespace)("Some", (Namespace,), body, registry=Registry("types"))
    return compose("Args", [Some])


def problem_of(record: Any) -> str:
    with pytest.raises(UnwritableError) as caught:
        to_argv(record)
    # The place of a class that was made without a class statement says nothing.
    return str(caught.value).partition(": ")[2]


WRITTEN: list[tuple[Any, Any, list[str]]] = [
    (int, 8, ["--x", "8"]),
    (int, -8, ["--x=-8"]),
    (float, 0.5, ["--x", "0.5"]),
    (float, 1, ["--x", "1"]),
    (float, -1e30, ["--x=-1e+30"]),
    (float, math.inf, ["--x", "inf"]),
    (float, -math.inf, ["--x=-inf"]),
    (int, 10**4000, ["--x", "1" + "0" * 4000]),
    (str, "", ["--x", ""]),
    (str, " ", ["--x", " "]),
    (str, "a b", ["--x", "a b"]),
    (str, "-x", ["--x=-x"]),
    (str, "--x", ["--x=--x"]),
    (str, "--x=3", ["--x=--x=3"]),
    (str, "none", ["--x", "none"]),
    (str, "***", ["--x", "***"]),
    (str, "größer\n☃", ["--x", "größer\n☃"]),
    (str | None, "8", ["--x", "8"]),
    (int | str, "e", ["--x", "e"]),
    (int | str, 8, ["--x", "8"]),
    (bool, True, ["--x"]),
    (bool | None, True, ["--x"]),
    (bool | None, False, ["--x", "false"]),
    (Color, Color.BLUE, ["--x", "blue"]),
    (Level, Level.HIGH, ["--x", "2"]),
    (Mode, Mode.FAST, ["--x", "fast"]),
    (Literal["a", None], None, ["--x", "none"]),
    (Literal[1, "a"] | None, 1, ["--x", "1"]),
    (float | Literal["auto"], "auto", ["--x", "auto"]),
    (set[int], {3, 10, 1}, ["--x", "1", "3", "10"]),
    (frozenset[str], frozenset({"b", "a"}), ["--x", "a", "b"]),
    (set[Color], {Color.RED, Color.BLUE}, ["--x", "blue", "red"]),
    (tuple[int, int], (1, -2), ["--x", "1", "-2"]),
    (tuple[str, ...], ("a",), ["--x", "a"]),
    (list[str], ["a b", ""], ["--x", "a b", ""]),
    (list[str], ["-x"], ["--x=-x"]),
    (list[float], [0.5, -1e20], ["--x", "0.5", "-100000000000000000000"]),
    (list[dict[str, int]], [{"a": 1}], ["--x", '{"a": 1}']),
    (dict[str, int], {"é": 1}, ["--x", '{"é": 1}']),
    (dict[str, Any], {"a": "\ud800"}, ["--x", '{"a": "\\ud800"}']),
    (Port, 80, ["--x", "80"]),
    (pathlib.Path, pathlib.Path("-a b"), ["--x=-a b"]),
    (decimal.Decimal, decimal.Decimal("1.10"), ["--x", "1.10"]),
    (complex, 1j, ["--x", "1j"]),
]


@pytest.mark.parametrize(("annotation", "value", "words"), WRITTEN)
def test_a_value_is_written_as_it_is_typed(annotation: Any, value: Any, words: list[str]) -> None:
    Args = record_of(annotation)
    record = Args(x=value)
    assert to_argv(record) == words
    assert all(type(word) is str for word in to_argv(record))
    back = from_argv(Args, words)
    assert back == record
    assert fields_set(back) == {"x"}


@pytest.mark.parametrize("annotation", [float, decimal.Decimal])
def test_nan_is_written_though_it_equals_nothing(annotation: Any) -> None:
    Args = record_of(annotation)
    words = to_argv(Args(x=annotation("nan")))
    back = from_argv(Args, words).x
    assert type(back) is annotation and back != back


ACTIONS: list[tuple[Any, Arg, Any, list[str]]] = [
    (list[str], Arg("v", action="append"), ["a", "-b"], ["--x", "a", "--x=-b"]),
    (list[int], Arg("v", action="append_const", const=1), [1, 1], ["--x", "--x"]),
    (
        list[list[str]],
        Arg("v", action="append", nargs=2),
        [["a", "b"], ["c", "d"]],
        ["--x", "a", "b", "--x", "c", "d"],
    ),
    (list[str], Arg("v", action="extend", nargs="+"), ["a", "b"], ["--x", "a", "b"]),
    (int, Arg("v", action="count"), 3, ["--x", "--x", "--x"]),
    (int, Arg("v", action="store_const", const=5), 5, ["--x"]),
    (bool, Arg("v", action="BooleanOptionalAction"), False, ["--no-x"]),
    (bool, Arg("v", action="store_false"), False, ["--x"]),
    (str, Arg("v", nargs="?", const="on"), "on", ["--x"]),
    (str, Arg("v", nargs="?", const="on"), "off", ["--x", "off"]),
    (list[str], Arg("v", nargs="*"), [], ["--x"]),
    (list[int], Arg("v", type_parser=json.loads), [], ["--x", "[]"]),
    (list[list[int]], Arg("v", type_parser=json.loads), [[1]], ["--x", "[[1]]"]),
    (str, Arg("v", type_parser=json.loads), "8", ["--x", '"8"']),
    (int | None, Arg("v", choices=[1, 2]), 2, ["--x", "2"]),
    (str, Arg("v", cli_name="-y", aliases=["--why"]), "-5", ["-y=-5"]),
    (list[str], Arg("v", nargs=argparse.REMAINDER), ["a", "--b"], ["--x", "a", "--b"]),
]


@pytest.mark.parametrize(("annotation", "arg", "value", "words"), ACTIONS)
def test_an_option_of_its_own_kind(annotation: Any, arg: Arg, value: Any, words: list[str]) -> None:
    Args = record_of(annotation, arg)
    assert to_argv(Args(x=value)) == words
    assert from_argv(Args, words) == Args(x=value)


def test_a_pair_of_flags_is_written_even_at_its_default() -> None:
    Args = record_of(bool, default=True)
    assert to_argv(Args()) == []
    assert to_argv(Args(x=True)) == ["--x"]
    assert to_argv(Args(x=False)) == ["--no-x"]


@pytest.mark.parametrize(
    ("annotation", "default"), [(bool, False), (int | None, None), (tuple[int, ...], ())]
)
def test_a_default_without_words_is_left_out(annotation: Any, default: Any) -> None:
    Args = record_of(annotation, default=default)
    record = Args(x=default)
    assert to_argv(record) == []
    assert from_argv(Args, []) == record


UNWRITTEN: list[tuple[Any, Any, str]] = [
    (int | None, None, "NoneType, has no word that --x reads as None"),
    (bool, False, "bool, is off, and --x can only turn it on"),
    (list[str], [], "list, is empty, and --x takes at least one word"),
    (tuple[int, ...], (), "tuple, is empty, and --x takes at least one word"),
    (str, "a\0b", "str, has a character that no command line can pass to --x"),
    (str, "\ud800", "str, has a character that no command line can pass to --x"),
    (
        list[str],
        ["a", "-b"],
        "list, has a text that begins with a dash, where argparse sees another flag than --x",
    ),
    (int | str, "8", "str, has no words that --x reads as that value"),
    (int, True, "bool, has no words that --x reads as that value"),
    (dict[int, int], {1: 1}, "dict, has no words that --x reads as that value"),
    (dict[str, Any], {"a": (1,)}, "dict, has no words that --x reads as that value"),
    (str | dict[str, int], {"a": 1}, "dict, has no words that --x reads as that value"),
]


@pytest.mark.parametrize(("annotation", "value", "problem"), UNWRITTEN)
def test_what_has_no_words_is_refused(annotation: Any, value: Any, problem: str) -> None:
    assert problem_of(record_of(annotation)(x=value)) == (
        f"x, whose value is of type {problem}; write the record to a file with dump(), or send it "
        "by pickle"
    )


def test_what_contains_itself_is_refused() -> None:
    value: dict[str, Any] = {}
    value["x"] = value
    assert "type dict, has no words" in problem_of(record_of(dict[str, Any])(x=value))
    assert "type int, has no words" in problem_of(record_of(int)(x=10**5000))


@pytest.mark.parametrize("value", [Point(1), Pair(1, "a"), len])
def test_a_field_without_a_flag_is_refused_unless_it_holds_its_default(value: Any) -> None:
    Args = record_of(Any, Arg(no_cli=True), default=None)
    assert problem_of(Args(x=value)).startswith(
        f"x, whose value is of type {type(value).__name__}, has no flag; "
    )
    assert to_argv(Args(x=None)) == []
    assert to_argv(Args(x=value), exclude=["x"]) == []


def test_all_problems_are_told_at_once_each_with_its_place(
    module_from: Callable[..., ModuleType],
) -> None:
    written = module_from("""
        from registry import A, Namespace, Registry, compose

        class Parallel(Namespace, registry=Registry("places")):
            _NS_PATH = "parallel"
            tp_size: A[int, "Width."] = 1
            names: A[list[str], "Names."]
            hook: object = None

        Args = compose("Args", [Parallel])
    """)
    with pytest.raises(UnwritableError) as caught:
        to_argv(written.Args(tp_size=None, names=["a", "b"], hook=len))
    advice = "write the record to a file with dump(), or send it by pickle"
    assert caught.value.problems == (
        f"{written.__file__}:6: tp_size, whose value is of type NoneType, has no word that "
        f"--tp-size reads as None; {advice}",
        f"{written.__file__}:8: hook, whose value is of type builtin_function_or_method, has no "
        f"flag; {advice}",
    )
    assert str(caught.value) == "\n".join(caught.value.problems)


class Lists(Namespace, registry=Registry("lists")):
    _NS_PATH = "lists"
    names: A[list[str], "Names."] = dataclasses.field(default_factory=list)
    width: A[int, "Width."] = 1


Listed = compose("Listed", [Lists])


def test_what_was_changed_in_place_is_written() -> None:
    record = Listed()
    record.names.append("a")
    assert fields_set(record) == set()
    assert to_argv(record) == ["--names", "a"]


def test_what_was_assigned_is_written_and_what_was_deleted_is_not() -> None:
    record = Listed()
    record.width = 1
    assert to_argv(record) == ["--width", "1"]
    del record.width
    assert to_argv(record) == []


def test_bookkeeping_is_no_field() -> None:
    record = Listed(width=2)
    record._seen = True
    assert to_argv(record) == ["--width", "2"]


def test_a_field_that_is_no_argument() -> None:
    @dataclasses.dataclass
    class More(Listed):  # type: ignore[valid-type,misc]
        total: A[int, "Sum."] = dataclasses.field(init=False, default=0)

    record = More(width=2)
    assert to_argv(record) == ["--width", "2"]
    record.total = 5
    with pytest.raises(UnwritableError) as caught:
        to_argv(record)
    problem = "total, whose value is of type int, is no argument of the constructor; write"
    assert str(caught.value).startswith(problem)


class Launch(Namespace, registry=Registry("launch")):
    _NS_PATH = "launch"
    command: A[list[str] | None, Arg(help="Command.", nargs=argparse.REMAINDER)] = None
    sizes: A[list[int] | None, Arg(help="Sizes.", nargs="*")] = None
    width: A[int, "Width."] = 1
    after: A[list[str] | None, Arg(help="Second command.", nargs=argparse.REMAINDER)] = None
    key: A[str | None, Arg(help="Key.", secret=True)] = None


Launched = compose("Launched", [Launch])


def test_an_option_that_takes_all_that_follows_is_the_last() -> None:
    record = Launched(command=["run", "--width", "3"], sizes=[1], width=2, key="k")
    words = to_argv(record, reveal=True)
    assert " ".join(words) == "--sizes 1 --width 2 --key k --command run --width 3"
    assert from_argv(Launched, words) == record
    assert to_argv(record)[-6:] == ["--key", "***", "--command", "run", "--width", "3"]


@pytest.mark.parametrize("key", [None, "k"])
def test_words_that_are_read_as_something_else_after_others_are_refused(key: str | None) -> None:
    record = Launched(width=2, command=["run"], after=["stop"], key=key)
    with pytest.raises(UnwritableError) as caught:
        to_argv(record)
    (problem,) = caught.value.problems
    assert problem.partition(": ")[2] == (
        "after, whose value is of type list, has words that are read as something else after "
        "those of other fields; write the record to a file with dump(), or send it by pickle"
    )


class Mute:
    """Its text raises what no text should."""

    def __init__(self, kind: type[Exception]) -> None:
        self.kind = kind

    def __str__(self) -> str:
        raise self.kind("no text")

    __repr__ = __str__


@pytest.mark.parametrize("kind", [AttributeError, KeyError, OSError, ZeroDivisionError])
def test_a_value_whose_text_raises_is_refused(kind: type[Exception]) -> None:
    values = [Mute(kind), [Mute(kind)], {Mute(kind), Mute(kind)}, {"a": Mute(kind)}]
    for value in values:
        assert problem_of(record_of(str)(x=value)).startswith(
            f"x, whose value is of type {type(value).__name__}, has no words that --x reads"
        )
        with pytest.raises(UnwritableError, match="has no plain value"):
            to_dict(record_of(str)(x=value))


def test_writing_many_fields_takes_no_square_of_time() -> None:
    def seconds(count: int) -> float:
        body: dict[str, Any] = {"_NS_PATH": "many", "__annotations__": {}}
        for number in range(count):
            body["__annotations__"][f"x_{number}"] = A[int, "Value."]
            body[f"x_{number}"] = 0
        Many = type(Namespace)("Many", (Namespace,), body, registry=Registry("many"))
        record = compose("Args", [Many])(**{f"x_{number}": 1 for number in range(count)})
        start = time.process_time()
        to_argv(record)
        return time.process_time() - start

    seconds(10)
    # Eight times as many: a square would take sixty-four times as long.
    assert seconds(1600) < 24 * seconds(200)


def test_excluded_fields_must_exist() -> None:
    assert to_argv(Listed(width=2, names=["a"]), exclude={"width"}) == ["--names", "a"]
    with pytest.raises(UnknownFieldError, match="Listed has no field 'widht'"):
        to_argv(Listed(), exclude=["widht"])


def test_it_takes_a_record() -> None:
    with pytest.raises(ComposeError, match=r"to_argv\(\): takes an instance of a composed record"):
        to_argv(argparse.Namespace(width=2))


class Server(Namespace, registry=Registry("secrets")):
    _NS_PATH = "server"
    api_key: A[str | None, Arg(help="Key.", secret=True)] = None
    pins: A[list[int], Arg(help="Pins.", secret=True)] = dataclasses.field(default_factory=list)
    tokens: A[dict[str, Any], Arg(help="Tokens.", secret=True)] = dataclasses.field(
        default_factory=dict
    )


Secrets = compose("Secrets", [Server])
KNOWN = Secrets(api_key="hunter2", pins=[4711, 4712], tokens={"a": "hunter3"})


def test_secrets_are_masked_unless_they_are_revealed() -> None:
    assert to_argv(KNOWN) == ["--api-key", "***", "--pins", "***", "--tokens", "***"]
    words = to_argv(KNOWN, reveal=True)
    assert words[:2] == ["--api-key", "hunter2"]
    assert from_argv(Secrets, words) == KNOWN
    assert to_argv(Secrets(api_key=None)) == []


@pytest.mark.parametrize("flag", ["--api-key", "--pins", "--tokens", "--tokens.a"])
def test_a_masked_secret_is_never_taken_for_one(flag: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        from_argv(Secrets, [flag, "***"])
    assert str(caught.value) == (
        f"argument {flag.partition('.')[0]}: *** stands for a secret that was not shown; type the "
        "secret itself"
    )


def test_no_message_shows_a_secret() -> None:
    for words in (["--pins", "hunter2"], ["--tokens", "hunter2"], ["--pins=hunter2"]):
        with pytest.raises(CommandLineError) as caught:
            from_argv(Secrets, words)
        flag = words[0].partition("=")[0]
        problem = f"argument {flag}: the value, which is secret and not shown, does not fit"
        assert str(caught.value) == problem
        assert "hunter2" not in repr(caught.value.__context__)
    for record in (Secrets(api_key="hunter2\0"), Secrets(pins=["hunter2"])):
        with pytest.raises(UnwritableError) as refused:
            to_argv(record, reveal=True)
        assert "hunter2" not in str(refused.value)


HIDDEN = [
    (
        ["--api-kye", "hunter2"],
        "unrecognized arguments: --api-kye ***; did you mean --api-key (server)?",
    ),
    (
        ["--api-kye=hunter2", "--prot", "80"],
        "unrecognized arguments: --api-kye=*** --prot ***; did you mean --api-key (server)?",
    ),
    (["--key", "hunter2"], "unrecognized arguments: --key ***; did you mean --api-key (server)?"),
    (
        ["--api-key hunter2"],
        "'--api-key ***' is one word; a flag and its value are two: '--api-key' '***'",
    ),
    (["--api-key.a", "hunter2"], "--api-key.***: --api-key takes its value as a whole, not by key"),
]


@pytest.mark.parametrize(("words", "problem"), HIDDEN)
def test_a_mistyped_flag_does_not_show_its_secret(words: list[str], problem: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        from_argv(Secrets, words)
    assert str(caught.value) == problem


def test_a_secret_that_reads_like_a_masked_one_cannot_be_written() -> None:
    with pytest.raises(UnwritableError):
        to_argv(Secrets(api_key="***"), reveal=True)


class Needy(Namespace, registry=Registry("needy")):
    _NS_PATH = "needy"
    model_path: A[str, "Weights."]
    tp_size: A[int, Arg(help="Width.", aliases=["--tp"])] = 1


Needed = compose("Needed", [Needy])

REFUSED = [
    ([], "the following arguments are required: --model-path"),
    (["--model-path"], "argument --model-path: expected one argument"),
    (["--model-path", "m", "--tp", "x"], "argument --tp-size/--tp: invalid int value: 'x'"),
    (
        ["--model-path", "m", "--tp-sise", "8"],
        "unrecognized arguments: --tp-sise 8; did you mean --tp-size (needy)?",
    ),
    (["--old", "8"], "--old is retired; type --tp-size instead"),
]


@pytest.mark.parametrize(("words", "problem"), REFUSED)
def test_a_wrong_command_line_is_raised(words: list[str], problem: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        from_argv(Needed, words, retired={"--old": "--tp-size"})
    assert str(caught.value) == problem
    assert str(pickle.loads(pickle.dumps(caught.value))) == problem


def test_there_is_no_help() -> None:
    with pytest.raises(CommandLineError, match="unrecognized arguments: --help"):
        from_argv(Needed, ["--model-path", "m", "--help"])


def test_it_reads_what_the_parser_reads() -> None:
    words = ["--model_path=m", "--tp", "8"]
    assert from_argv(Needed, words) == Needed("m", 8)


def test_it_reads_the_words_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["serve", "--model-path", "m"])
    assert from_argv(Needed) == Needed("m")


def test_it_reads_what_stands_under_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text('{"model_path": "m", "tp_size": 2}')
    record = from_argv(
        Needed,
        ["--config", str(file)],
        config="--config",
        env_prefix="SERVE_",
        environ={"SERVE_TP_SIZE": "4"},
    )
    assert record == Needed("m", 4)
    with pytest.raises(MissingSettingsError, match="model_path is required"):
        from_argv(Needed, [], config="--config")


class Texts(Namespace, registry=Registry("texts")):
    _NS_PATH = "texts"
    one: A[str, "One."] = ""
    many: A[list[str] | None, "Many."] = None
    number: A[float | None, "Number."] = None
    mapping: A[dict[str, Any] | None, "Mapping."] = None


Texted = compose("Texted", [Texts])
SOME_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=4,
)


# The first example waits for the table of all characters.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    one=st.text(),
    many=st.lists(st.text(), min_size=1),
    number=st.floats(allow_nan=False),
    mapping=st.dictionaries(st.text(), SOME_JSON, max_size=3),
)
@example(one="--", many=["--"], number=-0.0, mapping={})
@example(one="--one", many=["--many", "x"], number=-1e300, mapping={"--one": "-"})
@example(one="-1", many=["-1", "-1.5", "-.5"], number=1e-7, mapping={"a": -math.inf})
def test_a_record_comes_back_or_is_refused(
    one: str, many: list[str], number: float, mapping: dict[str, Any]
) -> None:
    record = Texted(one=one, many=many, number=number, mapping=mapping)
    try:
        words = to_argv(record)
    except UnwritableError:
        texts = [one, *many]
        assert any(each.startswith("-") or not each.isprintable() for each in texts)
        return
    back = from_argv(Texted, words)
    assert back == record
    assert fields_set(back) == fields_set(record)


SCRIPT = (
    "import sys; sys.stdout.buffer.write(repr(sys.argv[1:]).encode('utf-8', 'backslashreplace'))"
)


def test_another_process_gets_the_words_as_they_are() -> None:
    words = to_argv(Texted(one="é\udc80\n ", many=["", "☃"], mapping={"a": "\ud800\0"}))
    done = subprocess.run([sys.executable, "-X", "utf8", "-c", SCRIPT, *words], capture_output=True)
    assert done.stdout == repr(words).encode("utf-8", "backslashreplace")
