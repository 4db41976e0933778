"""A record's flags: which there are, what is typed, what --help and errors say."""

import argparse
import dataclasses
import enum
import sys
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    ArgumentParser,
    CallError,
    InvalidValueError,
    Namespace,
    Registry,
    add_cli_args,
    compose,
    fields_set,
    from_cli_args,
    validate,
)

REGISTRY = Registry("cli")
BACKENDS = ["auto", "triton"]


class Color(enum.Enum):
    RED = "red"


class Model(Namespace, registry=REGISTRY):
    _NS_PATH = "model"

    model_path: A[str, Arg(help="Weights.", aliases=["--model", "-m"])]
    backend: A[str, Arg(help="Kernels.", choices=BACKENDS)] = "auto"
    gemm_backend: A[str | None, Arg(cli_name="--fp8-gemm")] = None
    internal: A[int, Arg(help="For programs.", no_cli=True)] = 3
    handle: dict[str, Any] = dataclasses.field(default_factory=dict)


class Cache(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.cache"

    page_size: A[int, Arg(help="Tokens a page holds.")] = 16
    reuse: A[bool, Arg(help="Reuse pages.")] = False
    tags: A[list[str], Arg(help="Tags.")] = dataclasses.field(default_factory=list)
    _budget: A[int, Arg(help="Budget.")] = 0
    api_key: A[str | None, Arg(help="Key.", secret=True)] = "sk-secret"


Args = compose("Args", registry=REGISTRY)


def parser_of(*record_classes: type[Any]) -> ArgumentParser:
    parser = ArgumentParser(prog="serve")
    for each in record_classes:
        add_cli_args(parser, each)
    return parser


def parse(words: str) -> Any:
    return from_cli_args(Args, parser_of(Args).parse_args(words.split()))


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")


def plain_help(*record_classes: type[Any]) -> str:
    parser = argparse.ArgumentParser(prog="serve")
    for each in record_classes:
        add_cli_args(parser, each)
    return parser.format_help()


def one_field(annotation: Any, default: Any) -> type[Any]:
    body = {"_NS_PATH": "one", "__annotations__": {"x": annotation}, "x": default}
    return compose("One", [type(Namespace)("One", (Namespace,), body, registry=Registry("one"))])


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("--model-path m", {"model_path": "m"}),
        ("--model m", {"model_path": "m"}),
        ("-m m", {"model_path": "m"}),
        ("-m m --fp8-gemm x", {"model_path": "m", "gemm_backend": "x"}),
        ("-m m --page-size=16", {"model_path": "m", "page_size": 16}),
        ("-m m --page-size 1 --page-size 2", {"model_path": "m", "page_size": 2}),
        ("-m m --reuse --tags a b", {"model_path": "m", "reuse": True, "tags": ["a", "b"]}),
        ("-m m --budget 4", {"model_path": "m", "_budget": 4}),
    ],
)
def test_a_record_has_what_was_typed_and_knows_it(words: str, values: dict[str, Any]) -> None:
    record = parse(words)
    assert record == Args(**values)
    assert fields_set(record) == values.keys()


def test_the_parsed_namespace_has_only_what_was_typed() -> None:
    assert vars(parser_of(Args).parse_args(["-m", "m"])) == {"model_path": "m"}


def test_attributes_of_the_program_are_passed_over() -> None:
    parser = parser_of(Args)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args(["-m", "m", "--verbose", "a"])
    assert (args.verbose, args.files) == (True, ["a"])
    assert from_cli_args(Args, args) == Args("m")


def test_each_record_gets_its_own_defaults() -> None:
    first, second = parse("-m m"), parse("-m m")
    assert first.handle is not second.handle
    assert first.tags == [] and first.tags is not second.tags


def test_any_argument_parser_will_do() -> None:
    parser = argparse.ArgumentParser()
    add_cli_args(parser, Args)
    assert from_cli_args(Args, parser.parse_args(["-m", "m"])) == Args("m")


@pytest.mark.parametrize("flag", ["--internal", "--handle", "--gemm-backend", "--_budget"])
def test_a_field_without_an_arg_or_with_no_cli_has_no_flag(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parse(f"-m m {flag} 1")
    assert f"serve: error: unrecognized arguments: {flag} 1" in capsys.readouterr().err


def test_required_follows_the_default_unless_the_arg_says_otherwise() -> None:
    class Needs(Namespace, registry=Registry("needs")):
        _NS_PATH = "needs"
        asked: A[int, Arg(required=True)] = 1
        left: A[int, Arg(required=False)]

    Needed = compose("Needed", [Needs])
    with pytest.raises(SystemExit):
        parser_of(Needed).parse_args([])
    args = parser_of(Needed).parse_args(["--asked", "2"])
    with pytest.raises(CallError):
        from_cli_args(Needed, args)
    args.left = 3
    assert from_cli_args(Needed, args) == Needed(asked=2, left=3)


def test_a_choice_that_was_added_since_is_offered_by_the_next_parser() -> None:
    before = parser_of(Args)
    BACKENDS.append("acme")
    try:
        assert parse("-m m --backend acme").backend == "acme"
        assert "choices: auto, triton, acme\n" in parser_of(Args).format_topic("model")
        assert "acme" not in before.format_topic("model")
        validate(Args("m", backend="acme"))
        with pytest.raises(SystemExit):
            before.parse_args(["-m", "m", "--backend", "acme"])
    finally:
        BACKENDS.remove("acme")
    assert REGISTRY.input["backend"].arg == Arg(help="Kernels.", choices=["auto", "triton"])
    assert parser_of(Args).format_topic("all") == before.format_topic("all")
    with pytest.raises(InvalidValueError, match="acme"):
        validate(Args("m", backend="acme"))


def test_help_of_an_ordinary_parser_has_a_group_for_each_namespace() -> None:
    # From 3.13 on the metavar is shown once.
    flags = "--model-path, --model, -m MODEL_PATH"
    if sys.version_info < (3, 13):
        flags = "--model-path MODEL_PATH, --model MODEL_PATH, -m MODEL_PATH"
    assert plain_help(Args).partition("\nmodel:\n")[2] == (
        f"  {flags}\n"
        "                        Weights.\n"
        "  --backend {auto,triton}\n"
        "                        Kernels. (default: auto)\n"
        "  --fp8-gemm GEMM_BACKEND\n"
        "\n"
        "exec.cache:\n"
        "  --page-size PAGE_SIZE\n"
        "                        Tokens a page holds. (default: 16)\n"
        "  --reuse               Reuse pages.\n"
        "  --tags TAGS [TAGS ...]\n"
        "                        Tags.\n"
        "  --budget _BUDGET      Budget. (default: 0)\n"
        "  --api-key API_KEY     Key. (default: ***)\n"
    )


@pytest.mark.parametrize(
    ("annotation", "default", "text"),
    [
        (A[int, Arg(help="Size.")], 0, "Size. (default: 0)"),
        (A[float, Arg(help="Part.")], 0.0, "Part. (default: 0.0)"),
        (A[bool, Arg(help="On.")], True, "On. (default: True)"),
        (A[bool | None, Arg(help="Maybe.")], None, "Maybe."),
        (A[str, Arg(help="Name.")], "", "Name."),
        (A[Color, Arg(help="Color.")], Color.RED, "Color. (default: red)"),
        (A[tuple[int, ...], Arg(help="Sizes.")], (1, 2), "Sizes. (default: 1 2)"),
        (A[frozenset[str], Arg(help="Names.")], frozenset("ba"), "Names. (default: a b)"),
        (A[int, Arg(deprecated="--y")], 1, "Deprecated: use --y. (default: 1)"),
        (A[int, Arg(help="Size.", deprecated="--y")], None, "Size. Deprecated: use --y."),
        (
            A[str, Arg(help="Scaled (x100%) of %(prog)s.")],
            "9%",
            "Scaled (x100%) of %(prog)s. (default: 9%)",
        ),
        (A[str, Arg(help="train[:50%]", metavar="N%")], None, "train[:50%]"),
        (A[str, Arg(help="+79% more", choices=["5%", "%s"])], None, "+79% more"),
        (A[str, Arg(help="100%")], None, "100%"),
    ],
)
def test_help_shows_the_text_as_written_and_the_default(
    annotation: Any, default: Any, text: str
) -> None:
    One = one_field(annotation, default)
    for page in (plain_help(One), parser_of(One).format_topic("one")):
        shown = " ".join(page.rpartition("one:\n")[2].partition("choices: ")[0].split())
        assert shown.endswith(text)
        assert shown.count("(default") == text.count("(default")


def test_a_metavar_is_shown_even_with_choices() -> None:
    One = one_field(A[str, Arg(choices=["a", "b"], metavar="KIND")], "a")
    assert "--x KIND" in plain_help(One)
    assert "--x KIND" in parser_of(One).format_topic("one")


def test_two_fields_with_one_flag_are_refused_by_argparse() -> None:
    with pytest.raises(argparse.ArgumentError, match="conflicting option string"):
        parser_of(Args, one_field(A[int, Arg(cli_name="--page-size")], 1))
