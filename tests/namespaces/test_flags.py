"""Every flag of the table parses as plain argparse would have it."""

import argparse
import dataclasses
import json
import typing
import warnings
from pathlib import Path

import pytest

import namespaces
from namespaces import ServerArgs
from registry import (
    ArgumentParser,
    DeprecatedFlagWarning,
    add_cli_args,
    fields_set,
    from_cli_args,
)

ROWS = json.loads(
    (Path(__file__).parent.parent / "data" / "server_args.json").read_text(encoding="utf-8")
)["fields"]
FLAGGED = [row for row in ROWS if not row["cli"].get("no_cli")]


@pytest.fixture(scope="module")
def parser() -> ArgumentParser:
    parser = ArgumentParser(prog="serve")
    add_cli_args(parser, ServerArgs)
    return parser


def flags_of(row: dict) -> list[str]:
    cli = row["cli"]
    flags = [cli.get("cli_name", "--" + row["name"].replace("_", "-")), *cli.get("aliases", [])]
    if cli.get("action") == "BooleanOptionalAction":
        flags = [word for flag in flags for word in (flag, "--no-" + flag.removeprefix("--"))]
    return flags


def samples_of(row: dict) -> list[tuple[list[str], object]]:
    """Words to type after the flag, and the value they mean."""
    cli, kind = row["cli"], row["type"]
    choices = cli.get("choices")
    if isinstance(choices, str):
        choices = getattr(namespaces, choices)
    inner = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Opt") else kind
    parsed = {
        "json": (['{"a": 1}'], {"a": 1}),
        "json_list": (["[1]"], [1]),
        "human_readable_int": (["4k"], 4000),
        "nullable_str": (["none"], None),
        "lora_path": (["a", "b=c"], ["a", "b=c"]),
        "cuda_graph_config": (['{"decode": {"max_bs": 8}}'], {"decode": {"max_bs": 8}}),
    }
    if "type_parser" in cli:
        return [parsed[cli["type_parser"]]]
    if cli.get("action") == "BooleanOptionalAction" or inner == "bool":
        return [([], True)]
    if "Literal" in kind:
        literal = typing.get_args(eval(f"typing.{kind[kind.index('Literal') :].rstrip(']')}]"))
        return [(["none" if value is None else str(value)], value) for value in literal]
    if choices and cli.get("nargs") == "*":
        return [(choices[:2], choices[:2]), ([], [])]
    if choices:
        return [([str(choice)], choice) for choice in choices]
    if "const" in cli:
        return [([], cli["const"]), (["x"], "x")]
    if inner.startswith("List["):
        element = {"int": int, "float": float, "str": str}[inner[5:-1]]
        return [(["1", "2"], [element(1), element(2)])]
    value = {"int": 3, "float": 0.5}.get(inner, "text")
    return [([str(value)], value)]


def test_every_flag_of_the_table_exists_and_no_other(parser: ArgumentParser) -> None:
    actual = {
        action.dest: action.option_strings for action in parser._actions if action.dest != "help"
    }
    assert actual == {row["name"]: flags_of(row) for row in FLAGGED}


@pytest.mark.parametrize("row", FLAGGED, ids=[row["name"] for row in FLAGGED])
def test_a_flag_gives_its_field_the_value(row: dict, parser: ArgumentParser) -> None:
    model = [] if row["name"] == "model_path" else ["--model-path", "m"]
    for words, value in samples_of(row):
        for flag in flags_of(row):
            turned_off = flag.startswith("--no-") and "action" in row["cli"]
            expected = False if turned_off else value
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                record = from_cli_args(ServerArgs, parser.parse_args([*model, flag, *words]))
            assert [each.category for each in caught] == (
                [DeprecatedFlagWarning] if "deprecated" in row["cli"] else []
            )
            assert getattr(record, row["name"]) == expected
            assert type(getattr(record, row["name"])) is type(expected)
            assert fields_set(record) == {"model_path", row["name"]}


def test_what_is_not_typed_keeps_its_default_and_does_not_count_as_set(
    parser: ArgumentParser,
) -> None:
    record = from_cli_args(ServerArgs, parser.parse_args(["--model-path", "m"]))
    assert record == ServerArgs("m")
    assert fields_set(record) == {"model_path"}


def test_a_unique_prefix_is_enough(parser: ArgumentParser) -> None:
    assert from_cli_args(ServerArgs, parser.parse_args(["--model", "m", "--tp", "8"])).tp_size == 8


@pytest.mark.parametrize(
    ("words", "value"), [([], None), (["--enable-lora"], True), (["--enable-lora", "false"], False)]
)
def test_an_optional_switch_has_three_states(
    words: list[str], value: bool | None, parser: ArgumentParser
) -> None:
    record = from_cli_args(ServerArgs, parser.parse_args(["--model", "m", *words]))
    assert record.enable_lora is value
    assert ("enable_lora" in fields_set(record)) is (value is not None)


def test_the_flags_can_join_a_parser_of_the_program() -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument("--rounds", type=int, default=1)
    add_cli_args(parser, ServerArgs)
    args = parser.parse_args(["--rounds", "3", "--model", "m"])
    assert args.rounds == 3
    assert from_cli_args(ServerArgs, args) == ServerArgs("m")


def test_help_prints_every_description_as_it_is_written(parser: ArgumentParser) -> None:
    printed = "".join(parser.format_topic("all").split())
    for field in dataclasses.fields(ServerArgs):
        (marker,) = field.type.__metadata__
        text = marker if isinstance(marker, str) else marker.help
        if isinstance(marker, str) or not marker.no_cli:
            assert "".join(text.split()) in printed
