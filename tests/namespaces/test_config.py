"""Every setting of the server means the same in a file, in the environment and as a flag."""

import dataclasses
import json
import os
import shlex
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namespaces import ServerArgs
from namespaces.parsers import (
    parse_cuda_graph_config,
    parse_human_readable_int,
    parse_json,
    parse_json_list,
    parse_lora_path,
    parse_nullable_str,
)
from registry import (
    Arg,
    ArgumentParser,
    ConfigFile,
    add_cli_args,
    fields_set,
    from_cli_args,
    namespace_of,
    read_config_file,
    validate,
    values_of_environment,
    values_of_file,
)
from registry.values import problems_with

pytestmark = pytest.mark.filterwarnings("ignore::registry.DeprecatedFlagWarning")

TYPES = {spec.name: spec.type for spec in dataclasses.fields(ServerArgs)}
ARGS = {
    name: next((each for each in kind.__metadata__ if isinstance(each, Arg)), Arg())
    for name, kind in TYPES.items()
}
FLAGGED = [name for name, arg in ARGS.items() if not arg.no_cli]
PAIRS = [name for name in FLAGGED if ARGS[name].action == "BooleanOptionalAction"]
SWITCHES = [name for name in FLAGGED if TYPES[name].__origin__ is bool and name not in PAIRS]
STATES = [name for name in FLAGGED if TYPES[name].__origin__ == bool | None]
PATHS = namespace_of(ServerArgs)

WORDS = st.text("abcxyz0123456789_/.", min_size=1, max_size=6)
NUMBERS = st.integers(0, 9999)
JSON = st.dictionaries(WORDS, NUMBERS | WORDS | st.booleans(), max_size=2)
PARSED = {
    parse_json: JSON | st.dictionaries(WORDS, NUMBERS) | st.dictionaries(WORDS, WORDS),
    parse_json_list: st.lists(WORDS, max_size=2) | st.lists(JSON, max_size=2),
    parse_human_readable_int: NUMBERS,
    parse_nullable_str: WORDS,
    parse_lora_path: WORDS | st.fixed_dictionaries({"lora_name": WORDS, "lora_path": WORDS}),
    parse_cuda_graph_config: st.fixed_dictionaries(
        {}, optional={"decode": st.fixed_dictionaries({"max_bs": st.integers(1, 9)})}
    ),
}


def members_of(annotation: Any) -> list[Any]:
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = annotation.__origin__
    is_union = hasattr(annotation, "__args__") and type(None) in annotation.__args__
    members = annotation.__args__ if is_union else (annotation,)
    return [each for each in members if each is not type(None)]


def values_for(name: str) -> st.SearchStrategy[Any]:
    """Values of a setting that JSON can hold and one command line can say."""
    arg, members = ARGS[name], members_of(TYPES[name])
    scalars = {int: NUMBERS, float: st.floats(0, 1e6), str: WORDS}
    kind = next((each for each in members if each in scalars), members[0])
    if name in SWITCHES:
        return st.just(True)
    if name in PAIRS or name in STATES:
        return st.booleans()
    if arg.type_parser is not None:
        one = PARSED[arg.type_parser]
    elif arg.choices is not None:
        one = st.sampled_from([each for each in arg.choices if each is not None])
    elif typing.get_origin(kind) is typing.Literal:
        one = st.sampled_from([each for each in kind.__args__ if each is not None])
    elif typing.get_origin(kind) in (list, set):
        return st.lists(scalars[kind.__args__[0]], min_size=1, max_size=3)
    else:
        one = scalars[kind]
    values = st.lists(one, min_size=1, max_size=3) if arg.nargs in ("+", "*") else one
    # A parser may make more than the type takes, as one of JSON does.
    return values.filter(lambda value: not [*problems_with(name, TYPES[name], value)])


def words_of(value: Any) -> list[str]:
    """What is typed after a flag to say a value."""
    if isinstance(value, str):
        return [value]
    return [json.dumps(value)]


def typed(values: dict[str, Any]) -> list[str]:
    words = []
    for name, value in values.items():
        flag = ARGS[name].cli_name or "--" + name.replace("_", "-")
        if name in PAIRS and not value:
            words.append("--no-" + flag.removeprefix("--"))
        elif name in PAIRS or name in SWITCHES:
            words.append(flag)
        elif isinstance(value, list) and ARGS[name].type_parser is not parse_json_list:
            words += [flag, *(word for each in value for word in words_of(each))]
        else:
            words += [flag, *words_of(value)]
    return words


def variables(values: dict[str, Any]) -> dict[str, str]:
    return {
        f"SERVER_{name.upper()}": shlex.join(word for each in value for word in words_of(each))
        if isinstance(value, list) and ARGS[name].type_parser is not parse_json_list
        else words_of(value)[0]
        for name, value in values.items()
    }


@pytest.fixture(scope="module")
def parser() -> ArgumentParser:
    parser = ArgumentParser(prog="serve")
    add_cli_args(parser, ServerArgs)
    return parser


def check_all_ways(values: dict[str, Any], parser: ArgumentParser) -> None:
    """Say some settings in each way and expect one record."""
    record = from_cli_args(ServerArgs, parser.parse_args(typed(values)))
    validate(record)
    nested: dict[str, Any] = {}
    for name, value in values.items():
        inner = nested
        for part in PATHS[name].split("."):
            inner = inner.setdefault(part, {})
        inner[name.replace("_", "-")] = value
    files = [values, {f"{PATHS[name]}.{name}": value for name, value in values.items()}, nested]
    ways = [values_of_file(ServerArgs, ConfigFile("run.json", file)) for file in files]
    ways.append(values_of_environment(ServerArgs, "SERVER_", variables(values)))
    for given_so in ways:
        other = ServerArgs(**given_so)
        assert vars(other) == vars(record)
        assert fields_set(other) == fields_set(record) == values.keys()


@pytest.mark.parametrize("path", sorted(set(PATHS.values())))
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_a_setting_means_the_same_in_every_way_to_give_it(
    path: str, data: st.DataObject, parser: ArgumentParser
) -> None:
    names = [name for name in FLAGGED if PATHS[name] == path]
    values = {name: data.draw(values_for(name), label=name) for name in names}
    check_all_ways({"model_path": "m", **values}, parser)


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_so_do_many_at_once(data: st.DataObject, parser: ArgumentParser) -> None:
    names = data.draw(st.lists(st.sampled_from(FLAGGED), max_size=20, unique=True))
    values = {"model_path": "m", **{name: data.draw(values_for(name)) for name in names}}
    check_all_ways(values, parser)


@pytest.mark.parametrize(
    "spelled",
    [
        lambda name: name,
        lambda name: name.replace("_", "-"),
        lambda name: f"{PATHS[name]}.{name}",
    ],
)
def test_false_in_a_file_is_off_and_set_whichever_way_it_is_spelled(
    spelled: Callable[[str], str],
) -> None:
    names = [*SWITCHES, *PAIRS, *STATES]
    file = ConfigFile("run.json", {spelled(name): False for name in names})
    assert values_of_file(ServerArgs, file) == dict.fromkeys(names, False)


@pytest.mark.parametrize("prefix", ["no_", "no-"])
def test_the_flag_that_turns_a_pair_off_does_so_in_a_file(prefix: str) -> None:
    for value in (True, False):
        file = ConfigFile("run.json", {prefix + name: value for name in PAIRS})
        assert values_of_file(ServerArgs, file) == dict.fromkeys(PAIRS, not value)


def run(*words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "namespaces", *words]
    return subprocess.run(
        command,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_launch_with_all_layers_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(
        "# everything in the file\n"
        "model: my-model\n"
        "parallel: {tp-size: 8, dp_size: 4}\n"
        "exec.graph:\n"
        "  cuda_graph_config: {decode: {max_bs: 8}, prefill: {bs: [1]}}\n"
        "enable-metrics: true\n"
        "enable_dp_attention: true\n"
        "lora_paths: [a, b=c]\n"
        "api_key: hunter2\n"
    )
    done = run(
        *[f"--config={path}", "--cuda-graph-config.decode.max_bs", "64", "--json"],
        SERVER_DP_SIZE="2",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "hunter2" not in done.stdout
    assert json.loads(done.stdout)["set"] == {
        "exec.graph": {"cuda_graph_config": {"decode": {"max_bs": 64}, "prefill": {"bs": [1]}}},
        "lora": {"lora_paths": ["a", "b=c"]},
        "model": {"model_path": "my-model"},
        "observability": {"enable_metrics": True},
        "parallel": {"tp_size": 8, "dp_size": 2, "enable_dp_attention": True},
        "serving": {"api_key": "***"},
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("enable_metrics: no", "~:1: enable_metrics must be true or false, not 'no'; write false"),
        ("enable_metrics: on", "~:1: enable_metrics must be true or false, not 'on'; write true"),
        ("tp_size: 1e3", "~:1: tp_size must be int, not 1000.0 (float)"),
        ("api_key: 31337", "~:1: api_key must be str or None, not *** (int); write it in quotes"),
        (
            "\nnsa-prefill-backend: x",
            "~:2: nsa-prefill-backend is retired; write dsa_prefill_backend instead",
        ),
        (
            "cuda_graph_config: {decode: {max_bz: 1}}",
            "~:1: cuda_graph_config: decode has no key 'max_bz'; it takes backend, bs, max_bs or "
            "tc_compiler. Did you mean 'max_bs'?",
        ),
        (
            "- tp_size",
            "~: a mapping of settings was expected, but the file holds a list; write "
            "each setting with its name",
        ),
        (
            "a: " + "[" * 200 + "]" * 200,
            "~:1: nested too deeply, more than 100 levels; write it flatter",
        ),
        (
            "",
            "model_path is required: type --model-path, or write model_path in ~, or set the "
            "variable SERVER_MODEL_PATH",
        ),
    ],
)
def test_a_wrong_file_ends_with_status_2_and_one_line(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "run.yaml"
    path.write_text(content)
    done = run("--config", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.replace(str(path), "~") == (
        f"python -m namespaces: error: {message} (see python -m namespaces --help)\n"
    )


def test_a_huge_file_ends_with_status_2_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    done = run("--config", str(path))
    assert done.returncode == 2
    assert "the file has 52428800 bytes; a configuration file has at most" in done.stderr


def test_every_problem_of_a_launch_has_its_line(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("tp_sise = 8\nenable_metrics = 1\n[exec]\ntp_size = 2\n")
    done = run(f"--config={path}", "--model", "m")
    assert done.returncode == 2
    assert done.stderr.replace(str(path), "~").splitlines() == [
        "python -m namespaces: error: ~: there is no setting 'tp_sise'. Did you mean 'tp_size'?",
        "~: enable_metrics must be true or false, not 1; write true",
        "~: exec.tp_size: tp_size belongs to the namespace parallel; write parallel.tp_size",
        "(see python -m namespaces --help)",
    ]


def test_what_a_file_gives_can_be_asked_without_a_command_line(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("# only comments\n")
    assert values_of_file(ServerArgs, read_config_file(path)) == {}
