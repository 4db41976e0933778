"""The command line over the environment over configuration files over defaults."""

import argparse
import dataclasses
import json
import os
import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ArgumentParser,
    ComposeError,
    ConfigFileError,
    FieldDeclarationError,
    InvalidSettingsError,
    MissingSettingsError,
    Namespace,
    Registry,
    RegistryError,
    UnknownVariableWarning,
    add_cli_args,
    compose,
    fields_set,
    from_cli_args,
)

REGISTRY = Registry("layers")


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"
    tp_size: A[int, "Width."] = 1
    dp_size: A[int, "Replicas."] = 1
    pp_size: A[int, "Stages."] = 1
    switch: A[bool, "Off."] = False
    pair: A[bool, "On."] = True
    state: A[bool | None, "Three states."] = None
    names: A[list[str] | None, "Names."] = None
    graph: A[dict[str, Any] | None, "A mapping."] = None
    program_port: int | None = None
    api_key: A[str | None, Arg(secret=True)] = None


class Model(Namespace, registry=REGISTRY):
    _NS_PATH = "model"
    model_path: A[str, Arg(help="Weights.", aliases=["--model"])]
    weights: A[str, Arg(help="Asked for although it has a default.", required=True)] = "auto"


Args = compose("Args", [Parallel], registry=REGISTRY)
Strict = compose("Strict", registry=REGISTRY)

each_parser = pytest.mark.parametrize("kind", [ArgumentParser, argparse.ArgumentParser])


def parser_of(
    record_class: type[Any] = Args,
    kind: type[argparse.ArgumentParser] = ArgumentParser,
    **options: Any,
) -> Any:
    parser = kind(prog="serve")
    add_cli_args(parser, record_class, **{"config": "--config", "env_prefix": "SERVER_", **options})
    return parser


def record_of(*words: str, environ: Mapping[str, str] | None = None, **options: Any) -> Any:
    parsed = parser_of(**options).parse_args(words)
    return from_cli_args(options.get("record_class", Args), parsed, environ=environ or {})


def written(tmp_path: Path, values: Any, name: str = "run.json") -> str:
    path = tmp_path / name
    path.write_text(values if isinstance(values, str) else json.dumps(values))
    return str(path)


@each_parser
def test_the_command_line_counts_most_then_the_environment_then_the_last_file(
    tmp_path: Path, kind: type[argparse.ArgumentParser]
) -> None:
    first = written(tmp_path, {"tp_size": 2, "dp_size": 2, "pp_size": 2, "switch": True}, "a.json")
    last = written(tmp_path, {"parallel": {"tp-size": 3, "dp-size": 3, "pp-size": 3}}, "b.json")
    words = ["--tp-size", "5", "--config", first, "--config", last]
    record = record_of(*words, environ={"SERVER_TP_SIZE": "4", "SERVER_DP_SIZE": "4"}, kind=kind)
    assert record == Args(tp_size=5, dp_size=4, pp_size=3, switch=True)
    assert fields_set(record) == {"tp_size", "dp_size", "pp_size", "switch"}


@pytest.mark.parametrize("position", [0, 1, 2])
@pytest.mark.parametrize("equals", [True, False])
@each_parser
def test_the_file_is_read_alike_wherever_and_however_it_is_named(
    tmp_path: Path, position: int, equals: bool, kind: type[argparse.ArgumentParser]
) -> None:
    path = written(tmp_path, {"tp_size": 2, "dp_size": 2})
    named = [f"--config={path}"] if equals else ["--config", path]
    words = ["--switch", "--tp-size=5"]
    words[position:position] = named
    assert record_of(*words, kind=kind) == Args(tp_size=5, dp_size=2, switch=True)


FIELDS = {
    "tp_size": st.integers(0, 9),
    "switch": st.just(True),
    "pair": st.booleans(),
    "state": st.booleans(),
    "names": st.lists(st.sampled_from(["a", "b c", "d=e"]), min_size=1, max_size=3),
    "graph": st.dictionaries(st.sampled_from(["a", "b"]), st.integers(), max_size=2),
}
LAYER = st.fixed_dictionaries({}, optional=FIELDS)


def words_for(name: str, value: Any) -> list[str]:
    flag = "--" + name.replace("_", "-")
    if name in ("switch", "pair"):
        return [flag if value else f"--no-{name}"]
    if isinstance(value, list):
        return [flag, *value]
    return [flag, json.dumps(value)]


def text_for(value: Any) -> str:
    return " ".join(map(repr, value)) if isinstance(value, list) else json.dumps(value)


@settings(deadline=None)
@given(layers=st.tuples(LAYER, LAYER, LAYER, LAYER))
def test_any_layers_make_one_record(
    layers: tuple[dict[str, Any], ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    first, last, environment, typed = layers
    folder = tmp_path_factory.mktemp("layers")
    environ = {f"SERVER_{name.upper()}": text_for(each) for name, each in environment.items()}
    words = ["--config", written(folder, first, "a.json")]
    words += ["--config", written(folder, last, "b.json")]
    for name, value in typed.items():
        words += words_for(name, value)
    expected = first | last | environment | typed
    record = record_of(*words, environ=environ)
    assert vars(record) == vars(Args(**expected))
    assert fields_set(record) == expected.keys()


@pytest.mark.parametrize(
    ("words", "graph"),
    [
        ([], {"a": {"x": 1, "y": 2}, "b": 3}),
        (["--graph.a.x", "9"], {"a": {"x": 9, "y": 2}, "b": 3}),
        (["--graph.a.x", "9", "--graph.c=1"], {"a": {"x": 9, "y": 2}, "b": 3, "c": 1}),
        (["--graph", '{"a": 1}'], {"a": 1}),
        (["--graph", '{"a": 1}', "--graph.b", "2"], {"a": 1, "b": 2}),
        (["--graph.b", "2", "--graph", '{"a": 1}'], {"a": 1, "b": 2}),
        (["--graph.b", "2", "--graph", '{"a": 1}', "--graph.c", "3"], {"a": 1, "b": 2, "c": 3}),
    ],
)
@pytest.mark.parametrize("layer", ["file", "environment"])
def test_keys_typed_one_at_a_time_go_over_the_mapping_under_them(
    tmp_path: Path, words: list[str], graph: dict[str, Any], layer: str
) -> None:
    under = {"a": {"x": 1, "y": 2}, "b": 3}
    environ = {"SERVER_GRAPH": json.dumps(under)} if layer == "environment" else {}
    path = written(tmp_path, {} if environ else {"graph": under})
    record = record_of("--config", path, *words, environ=environ)
    assert (record.graph, type(record.graph)) == (graph, dict)


def test_mappings_of_two_files_do_not_merge(tmp_path: Path) -> None:
    first = written(tmp_path, {"graph": {"a": 1}}, "a.json")
    last = written(tmp_path, {"graph": {"b": 2}}, "b.json")
    assert record_of("--config", first, "--config", last).graph == {"b": 2}


def test_one_parser_reads_each_command_line_anew(tmp_path: Path) -> None:
    parser = parser_of()
    path = written(tmp_path, {"tp_size": 2})
    assert from_cli_args(Args, parser.parse_args(["--config", path]), environ={}).tp_size == 2
    assert from_cli_args(Args, parser.parse_args([]), environ={}) == Args()


def test_parsed_arguments_can_go_to_another_process(tmp_path: Path) -> None:
    parsed = parser_of().parse_args(["--config", written(tmp_path, {"tp_size": 2})])
    there = pickle.loads(pickle.dumps(parsed))
    assert from_cli_args(Args, there, environ={"SERVER_DP_SIZE": "3"}) == Args(tp_size=2, dp_size=3)


def test_the_variables_of_the_process_are_the_ones_that_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(os.environ, "SERVER_TP_SIZE", "4")
    assert from_cli_args(Args, parser_of().parse_args([])).tp_size == 4
    assert parser_of().parse_record(Args, []).tp_size == 4
    assert parser_of().parse_record(Args, [], environ={}).tp_size == 1
    assert from_cli_args(Args, parser_of(env_prefix=None).parse_args([])).tp_size == 1


def test_a_parser_may_serve_several_records_each_with_its_own_layers(tmp_path: Path) -> None:
    class Own(Namespace, registry=Registry("client")):
        _NS_PATH = "client"
        rounds: A[int, "A field."] = 1

    Client = compose("Client", [Own])
    parser = parser_of()
    add_cli_args(parser, Client, env_prefix="CLIENT_")
    parsed = parser.parse_args(["--config", written(tmp_path, {"tp_size": 2})])
    environ = {"CLIENT_ROUNDS": "3", "SERVER_DP_SIZE": "4"}
    assert from_cli_args(Args, parsed, environ=environ) == Args(tp_size=2, dp_size=4)
    assert from_cli_args(Client, parsed, environ=environ) == Client(rounds=3)


def test_a_subclass_of_the_record_has_the_same_layers(tmp_path: Path) -> None:
    @dataclasses.dataclass
    class Own(Args):  # type: ignore[misc, valid-type]
        rounds: int = 1

    parsed = parser_of().parse_args(["--config", written(tmp_path, {"tp_size": 2, "rounds": 3})])
    assert from_cli_args(Own, parsed, environ={}) == Own(tp_size=2, rounds=3)


def test_either_layer_can_be_had_without_the_other(tmp_path: Path) -> None:
    path = written(tmp_path, {"tp_size": 2})
    environ = {"SERVER_DP_SIZE": "3"}
    alone = record_of("--config", path, environ=environ, env_prefix=None)
    assert alone == Args(tp_size=2)
    assert record_of(environ=environ, config=None) == Args(dp_size=3)
    assert record_of("--settings", path, config="--settings") == Args(tp_size=2)
    with pytest.raises(SystemExit):
        record_of("--config", path, config=None)


def test_a_required_field_may_be_given_in_any_layer(tmp_path: Path) -> None:
    path = written(tmp_path, {"model": "m", "weights": "w"})
    environ = {"SERVER_MODEL_PATH": "m", "SERVER_WEIGHTS": "w"}
    expected = Strict(model_path="m", weights="w")
    assert record_of("--config", path, record_class=Strict) == expected
    assert record_of(environ=environ, record_class=Strict) == expected
    assert record_of("--model", "m", "--weights", "w", record_class=Strict) == expected


@pytest.mark.parametrize(
    ("options", "ways"),
    [
        (
            {},
            "type --model-path, or write model_path in a file and type --config FILE, or set the "
            "variable SERVER_MODEL_PATH",
        ),
        (
            {"env_prefix": None},
            "type --model-path, or write model_path in a file and type --config FILE",
        ),
        ({"config": None}, "type --model-path, or set the variable SERVER_MODEL_PATH"),
    ],
)
def test_a_required_field_that_nothing_gives_is_missed_with_the_ways_to_give_it(
    options: dict[str, Any], ways: str
) -> None:
    with pytest.raises(MissingSettingsError) as caught:
        record_of("--weights", "w", record_class=Strict, **options)
    assert str(caught.value) == f"model_path is required: {ways}"


def test_all_missing_fields_are_named_and_the_file_that_was_given(tmp_path: Path) -> None:
    path = written(tmp_path, {})
    with pytest.raises(MissingSettingsError) as caught:
        record_of("--config", path, record_class=Strict, env_prefix=None)
    assert caught.value.problems == (
        f"model_path is required: type --model-path, or write model_path in {path}",
        f"weights is required: type --weights, or write weights in {path}",
    )


def test_a_variable_that_may_have_been_meant_is_named() -> None:
    environ = {"SERVER_MODLE_PATH": "m", "SERVER_WEIGHTS": "w"}
    with (
        pytest.warns(UnknownVariableWarning),
        pytest.raises(MissingSettingsError, match="There is a variable SERVER_MODLE_PATH; was it"),
    ):
        record_of(environ=environ, record_class=Strict)


def test_without_layers_argparse_itself_requires(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        record_of("--weights", "w", record_class=Strict, config=None, env_prefix=None)
    assert "the following arguments are required: --model-path" in capsys.readouterr().err


def test_parse_record_fills_in_the_options_of_the_program(tmp_path: Path) -> None:
    parser = parser_of()
    parser.add_argument("--rounds", type=int, default=1)
    options = argparse.Namespace()
    record = parser.parse_record(Args, ["--rounds", "3", "--tp-size", "2"], options, environ={})
    assert (record, options.rounds) == (Args(tp_size=2), 3)


@pytest.mark.parametrize(
    ("values", "environ", "message"),
    [
        ({"tp_sise": 1}, {}, "~: there is no setting 'tp_sise'. Did you mean 'tp_size'? "),
        (
            {"switch": 1, "tp_size": "x"},
            {},
            "~: switch must be true or false, not 1; write true\n"
            "~: tp_size must be int, not 'x' (str)\n",
        ),
        ({}, {"SERVER_TP_SIZE": "x"}, "SERVER_TP_SIZE: invalid int value: 'x' "),
        (
            [],
            {},
            "~: a mapping of settings was expected, but the file holds a list; write each "
            "setting with its name ",
        ),
        ("{", {}, "~:1: not JSON: Expecting property name enclosed in double quotes "),
        ({"api_key": 1}, {}, "~: api_key must be str or None, not *** (int); write it in quotes "),
    ],
)
def test_what_the_operator_got_wrong_is_printed_with_status_2(
    tmp_path: Path,
    values: Any,
    environ: dict[str, str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = written(tmp_path, values)
    with pytest.raises(SystemExit) as caught:
        parser_of().parse_record(Args, ["--config", path], environ=environ)
    assert caught.value.code == 2
    printed = capsys.readouterr().err.replace(path, "~")
    assert printed == f"serve: error: {message}(see serve --help)\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--config"], "argument --config: expected one argument"),
        (["--config="], "argument --config: expected the path of a file"),
        (["--config", ""], "argument --config: expected the path of a file"),
        (["--config", "--switch"], "argument --config: expected one argument"),
        (["--config", "no/such.yaml"], "no/such.yaml: there is no such file; check the path"),
        (
            ["--config", "run"],
            "run: the suffix tells the format of a configuration file; name it "
            ".yaml (or .yml), .toml or .json",
        ),
        (["--confg=run.yaml"], "unrecognized arguments: --confg=run.yaml; did you mean --config?"),
        (["--config=a\0.yaml"], "a\0.yaml: this cannot be the path of a file: embedded null byte"),
    ],
)
def test_a_file_that_cannot_be_meant_is_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parser_of().parse_record(Args, words, environ={})
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"serve: error: {message} (see serve --help)\n"


def test_an_ordinary_parser_leaves_the_errors_to_the_program(tmp_path: Path) -> None:
    path = written(tmp_path, {"tp_size": "8"})
    with pytest.raises(InvalidSettingsError, match="write it without quotes"):
        record_of("--config", path, kind=argparse.ArgumentParser)
    with pytest.raises(ConfigFileError, match="there is no such file"):
        record_of("--config", "no.yaml", kind=argparse.ArgumentParser)


def test_retired_flags_are_retired_in_every_layer(tmp_path: Path) -> None:
    parser = ArgumentParser(prog="serve", retired={"--wide": "--tp-size"})
    add_cli_args(parser, Args, config="--config", env_prefix="SERVER_")
    path = written(tmp_path, {"wide": 2})
    for words, environ, message in (
        (["--config", path], {}, "wide is retired; write tp_size instead"),
        ([], {"SERVER_WIDE": "2"}, "SERVER_WIDE is retired; set SERVER_TP_SIZE instead"),
    ):
        with pytest.raises(RegistryError, match=message):
            from_cli_args(Args, parser.parse_args(words), environ=environ)


def test_a_field_with_the_flag_for_files_needs_another_name_for_that() -> None:
    class Own(Namespace, registry=Registry("own config")):
        _NS_PATH = "own"
        config: A[str, "A field."] = ""

    Record = compose("Record", [Own])
    with pytest.raises(FieldDeclarationError) as caught:
        parser_of(Record)
    assert str(caught.value).endswith(
        "Record.config has the flag --config; give add_cli_args another one for files, config=..."
    )
    parsed = parser_of(Record, config="--settings").parse_args(["--config", "c"])
    assert from_cli_args(Record, parsed, environ={}) == Record(config="c")


def test_a_parser_that_has_the_flag_already_says_so() -> None:
    parser = ArgumentParser(prog="serve")
    parser.add_argument("--config")
    with pytest.raises(argparse.ArgumentError, match="conflicting option string: --config"):
        add_cli_args(parser, Args, config="--config")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"config": "config"}, "Args: takes config as a flag, such as \"--config\", not 'config'"),
        (
            {"env_prefix": ""},
            'Args: takes an env_prefix such as "SERVER_"; without, any variable would count',
        ),
    ],
)
def test_layers_that_make_no_sense_are_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(ComposeError) as caught:
        parser_of(**options)
    assert str(caught.value) == message


def test_the_faults_of_the_program_are_not_printed_as_the_operators() -> None:
    with pytest.raises(ComposeError):
        parser_of().parse_record(int, [])
