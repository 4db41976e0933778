"""What a configuration file means for a record, however its keys are spelled."""

import dataclasses
import enum
import json
import pickle
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ConfigFile,
    DeprecatedFlagWarning,
    Derived,
    InvalidSettingsError,
    InvalidValueError,
    Namespace,
    Registry,
    compose,
    derived,
    fields_set,
    read_config_file,
    validate,
    values_of_file,
)

REGISTRY = Registry("config values")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


def parse_size(text: str) -> int:
    if not text.rstrip("k").isdigit():
        raise ValueError(f"expected a size such as 4k, not {text!r}")
    return int(text.rstrip("k")) * (1000 if text.endswith("k") else 1)


def parse_graph(text: str) -> dict[str, int]:
    value = json.loads(text)
    if not isinstance(value, dict) or value.keys() - {"bs"}:
        raise ValueError(f"expected an object with the key bs, not {text}")
    return value


def parse_pair(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text)) if text.startswith("[") else tuple(text.split("="))


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"
    tp_size: A[int, Arg(help="Width.", aliases=["--tensor-parallel-size"])] = 1
    ranks: A[list[int] | None, "Ranks."] = None
    program_port: int | None = None
    _explicitly_set: A[bool, Arg(no_cli=True)] = False
    _private: A[int, "With a flag."] = 0

    @derived
    def attn_tp_size(cfg: Any) -> int:
        return cfg.tp_size

    tp_rank = Derived(doc="A fact.", type=int)


class Moe(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.moe"
    backend: A[str, Arg(help="Kernels.", choices=["auto", "triton"])] = "auto"
    graph: A[dict[str, Any] | None, Arg(type_parser=parse_graph)] = None
    text_graph: A[str | None, Arg(type_parser=parse_graph)] = None
    model: A[str, "A field called like a namespace."] = "m"


class Model(Namespace, registry=REGISTRY):
    _NS_PATH = "model"
    model_path: A[str, Arg(help="Weights.", aliases=["--model"])] = ""
    size: A[int | None, Arg(type_parser=parse_size)] = None
    pairs: A[list[tuple[str, ...]] | None, Arg(type_parser=parse_pair, nargs="*")] = None
    scale: A[float, "Scale."] = 1.0
    mode: A[Literal["null", "fast", "slow"], "Mode."] = "null"
    level: A[Literal[None, "low"] | None, "Level."] = "low"
    version: A[Literal[1, 2], "Version."] = 1
    limit: A[int | Literal["auto"], "Limit."] = "auto"
    color: A[Color | None, "Color."] = None
    colors: A[list[Color] | None, "Colors."] = None
    path: A[Path | None, "A path."] = None
    names: A[set[str] | None, "Names."] = None
    span: A[tuple[int, int] | None, "From and to."] = None
    either: A[list[str] | set[str] | None, "Either."] = None
    tags: A[dict[str, str] | None, "Tags."] = None
    flag: A[str | None, Arg(nargs="?", const="")] = None
    switch: A[bool, "Off by default."] = False
    pair: A[bool, Arg(help="On by default.", aliases=["--other-pair"])] = True
    forced_pair: A[bool, Arg(action="BooleanOptionalAction")] = False
    state: A[bool | None, "Three states."] = None
    old: A[int, Arg(deprecated="--tp-size")] = 0
    old_switch: A[bool, Arg(deprecated="--switch")] = False
    api_key: A[str | None, Arg(secret=True)] = None
    pin: A[int | None, Arg(secret=True, type_parser=parse_size)] = None
    secret_switch: A[bool, Arg(secret=True)] = False
    secret_word: A[Literal["red", "blue"] | None, Arg(secret=True)] = None


Args = compose("Args", registry=REGISTRY)
RETIRED = {
    "--enable-wide": "--tp-size",
    "--fast": "--mode fast",
    "--gone": "--mode=slow and --switch",
}


def values_of(values: Mapping[str, Any]) -> dict[str, Any]:
    return values_of_file(Args, ConfigFile("run.json", dict(values)), retired=RETIRED)


def refused(values: Mapping[str, Any]) -> str:
    """The message of the error, without the place at the start of each line."""
    with pytest.raises(InvalidSettingsError) as caught:
        values_of(values)
    lines = str(caught.value).split("\n")
    assert all(line.startswith("run.json: ") for line in lines)
    return "\n".join(line.removeprefix("run.json: ") for line in lines)


@pytest.mark.parametrize(
    "written",
    [
        {"tp_size": 8},
        {"tp-size": 8},
        {"tensor-parallel-size": 8},
        {"tensor_parallel_size": 8},
        {"parallel": {"tp_size": 8}},
        {"parallel": {"tensor-parallel-size": 8}},
        {"parallel.tp_size": 8},
        {"parallel.tp-size": 8},
    ],
)
def test_a_key_is_found_in_every_spelling(written: dict[str, Any]) -> None:
    assert values_of(written) == {"tp_size": 8}


@pytest.mark.parametrize(
    "written",
    [
        {"exec": {"moe": {"backend": "triton"}}},
        {"exec": {"moe.backend": "triton"}},
        {"exec.moe": {"backend": "triton"}},
        {"exec.moe.backend": "triton"},
        {"backend": "triton"},
    ],
)
def test_a_nested_namespace_is_written_with_dots_or_mappings(written: dict[str, Any]) -> None:
    assert values_of({**written, "parallel": {}}) == {"backend": "triton"}


def test_one_namespace_may_be_opened_several_times() -> None:
    written = {"exec": {"moe": {"backend": "triton"}}, "exec.moe": {"graph": {"bs": 1}}}
    assert values_of(written) == {"backend": "triton", "graph": {"bs": 1}}


def test_nothing_below_a_namespace_sets_nothing() -> None:
    assert values_of({}) == values_of({"exec": None, "parallel": {}, "exec.moe": None}) == {}


def test_a_name_of_a_namespace_and_a_field_is_what_its_value_is() -> None:
    # `--model` is the flag of model.model_path, and exec.moe has a field called model.
    assert values_of({"model": {"model_path": "a"}}) == {"model_path": "a"}
    assert values_of({"model": "a"}) == {"model": "a"}
    both = {"model": {"model_path": "a"}, "exec.moe.model": "b"}
    assert values_of(both) == {"model_path": "a", "model": "b"}


def test_a_field_without_a_flag_can_be_set_unless_it_is_the_programs_own() -> None:
    assert values_of({"program_port": 7, "_private": 1}) == {"program_port": 7, "_private": 1}
    assert values_of({"private": 1}) == {"_private": 1}
    assert refused({"_explicitly_set": True}) == (
        "_explicitly_set is the program's own, which only the program sets"
    )


def test_a_field_of_no_namespace_stands_alone() -> None:
    @dataclasses.dataclass
    class Base:
        rounds: int = 1

    Record = compose("Record", [Parallel], bases=(Base,))
    assert values_of_file(Record, ConfigFile("a.json", {"rounds": 2})) == {"rounds": 2}
    with pytest.raises(InvalidSettingsError) as caught:
        values_of_file(Record, ConfigFile("a.json", {"parallel": {"rounds": 2}}))
    assert str(caught.value) == (
        "a.json: parallel.rounds: rounds belongs to no namespace; write rounds"
    )


@pytest.mark.parametrize("field", ["tags", "tp_size", "color", "switch"])
def test_text_that_is_nested_too_deeply_is_refused_like_any_other(field: str) -> None:
    assert refused({field: "[" * 100_000})


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ({"pair": False}, False),
        ({"no_pair": True}, False),
        ({"no-pair": True}, False),
        ({"no_pair": False}, True),
        ({"model": {"no-other-pair": True}}, False),
        ({"other_pair": False}, False),
    ],
)
def test_a_pair_of_flags_has_a_name_that_means_the_opposite(
    written: dict[str, Any], value: bool
) -> None:
    assert values_of(written) == {"pair": value}


@pytest.mark.parametrize(
    ("field", "default"),
    [("switch", False), ("pair", True), ("forced_pair", False), ("state", None)],
)
@pytest.mark.parametrize("value", [True, False])
def test_true_and_false_are_told_from_not_given(field: str, default: Any, value: bool) -> None:
    for spelling in {field, field.replace("_", "-")}:
        record = Args(**values_of({spelling: value}))
        assert getattr(record, field) is value
        assert fields_set(record) == {field}
    assert getattr(Args(**values_of({})), field) is default


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"scale": 2}, 2),
        ({"size": "4k"}, 4000),
        ({"size": 4096}, 4096),
        ({"pairs": ["a=b", ["c", "d"]]}, [("a", "b"), ("c", "d")]),
        ({"pairs": []}, []),
        ({"mode": "fast"}, "fast"),
        ({"mode": "null"}, "null"),
        ({"level": "none"}, None),
        ({"level": None}, None),
        ({"version": 2}, 2),
        ({"limit": 5}, 5),
        ({"limit": "auto"}, "auto"),
        ({"color": "red"}, Color.RED),
        ({"colors": ["red", "blue"]}, [Color.RED, Color.BLUE]),
        ({"path": "/data"}, Path("/data")),
        ({"names": ["a", "b"]}, {"a", "b"}),
        ({"span": [1, 2]}, (1, 2)),
        ({"either": ["a"]}, ["a"]),
        ({"ranks": [1, 2]}, [1, 2]),
        ({"ranks": None}, None),
        ({"tags": {"a": "b"}}, {"a": "b"}),
        ({"tags": '{"a": "b"}'}, {"a": "b"}),
        ({"graph": {"bs": 1}}, {"bs": 1}),
        ({"graph": '{"bs": 1}'}, {"bs": 1}),
        ({"text_graph": {"bs": 1}}, {"bs": 1}),
        ({"flag": ""}, ""),
        ({"api_key": "hunter2"}, "hunter2"),
    ],
)
def test_a_value_is_taken_as_the_command_line_would(written: dict[str, Any], expected: Any) -> None:
    (value,) = values_of(written).values()
    assert value == expected
    assert type(value) is type(expected)
    validate(Args(**values_of(written)))


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            {"switch": "false"},
            "switch must be true or false, not 'false'; write false without quotes",
        ),
        ({"switch": "True"}, "switch must be true or false, not 'True'; write true without quotes"),
        ({"switch": 1}, "switch must be true or false, not 1; write true"),
        ({"switch": "off"}, "switch must be true or false, not 'off'; write false"),
        ({"switch": None}, "switch must be true or false, not null"),
        ({"switch": []}, "switch must be true or false, not []"),
        ({"no-pair": "yes"}, "no_pair must be true or false, not 'yes'; write true"),
        ({"state": 0}, "state must be true or false or null, not 0; write false"),
        ({"tp_size": "8"}, "tp_size must be int, not '8' (str); write it without quotes"),
        ({"version": "2"}, "version must be 1 or 2, not '2' (str); write it without quotes"),
        ({"limit": "5"}, "limit must be int or 'auto', not '5' (str); write it without quotes"),
        ({"ranks": ["1"]}, "ranks must be list[int] or None, not ['1'] (list)"),
        ({"tp_size": None}, "tp_size must be int, not null"),
        ({"tp_size": True}, "tp_size must be int, not True (bool)"),
        ({"tp_size": 1.5}, "tp_size must be int, not 1.5 (float)"),
        ({"tp_size": [1]}, "tp_size must be int, not [1] (list)"),
        ({"model_path": 5}, "model_path must be str, not 5 (int); write it in quotes"),
        ({"model_path": True}, "model_path must be str, not True (bool); write it in quotes"),
        (
            {"ranks": 5},
            "ranks must be list[int] or None, not 5 (int); write it as a list, "
            "even if there is only one",
        ),
        (
            {"names": "a"},
            "names must be set[str] or None, not 'a' (str); write it as a list, "
            "even if there is only one",
        ),
        ({"span": [1, 2, 3]}, "span must be tuple[int, int] or None, not [1, 2, 3] (list)"),
        ({"size": "4q"}, "size: expected a size such as 4k, not '4q'"),
        ({"size": 1.5}, "size must be int or None, not 1.5 (float)"),
        ({"graph": {"bz": 1}}, 'graph: expected an object with the key bs, not {"bz": 1}'),
        ({"graph": 5}, "graph must be dict[str, Any] or None, not 5 (int)"),
        (
            {"mode": "fsat"},
            "mode must be one of null, fast, slow, not 'fsat'. Did you mean 'fast'?",
        ),
        ({"mode": None}, "mode must be 'null' or 'fast' or 'slow', not null; write it in quotes"),
        (
            {"backend": "trition"},
            "backend must be one of auto, triton, not 'trition'. Did you mean 'triton'?",
        ),
        ({"color": "rad"}, "color must be one of red, blue, not 'rad'. Did you mean 'red'?"),
        (
            {"colors": ["red", "blu"]},
            "colors must be one of red, blue, not 'blu'. Did you mean 'blue'?",
        ),
        ({"tags": {"a": 1}}, "tags must be dict[str, str] or None, not {'a': 1} (dict)"),
    ],
)
def test_a_value_that_does_not_fit_is_answered_with_what_to_write(
    written: dict[str, Any], message: str
) -> None:
    assert refused(written) == message


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"tp_sise": 8}, "there is no setting 'tp_sise'. Did you mean 'tp_size'?"),
        ({"--tp-size": 8}, "there is no setting '--tp-size'. Did you mean 'tp_size'?"),
        ({"paralel": {"tp_size": 8}}, "there is no setting 'paralel'. Did you mean 'parallel'?"),
        ({"exec.mo": {"backend": "x"}}, "there is no setting 'exec.mo'. Did you mean 'moe'?"),
        (
            {"parallel": {"tp-sise": 8}},
            "there is no setting 'parallel.tp-sise'. Did you mean 'tp_size'?",
        ),
        (
            {"paralel.tp_sise": 8},
            "there is no setting 'paralel.tp_sise'. Did you mean 'parallel.tp_size'?",
        ),
        ({"": 8}, "there is no setting ''."),
        ({"zzzz": 8}, "there is no setting 'zzzz'."),
        ({"parallel": 8}, "parallel is a namespace; write its settings as a mapping below it"),
        ({"exec.moe": [1]}, "exec.moe is a namespace; write its settings as a mapping below it"),
        (
            {"parallel": {"backend": "auto"}},
            "parallel.backend: backend belongs to the namespace exec.moe; write exec.moe.backend",
        ),
        (
            {"exec": {"backend": "auto"}},
            "exec.backend: backend belongs to the namespace exec.moe; write exec.moe.backend",
        ),
        ({"graph.bs": 1}, "graph.bs: graph takes its value as a whole, not by key after a dot"),
        (
            {"exec": {"moe.graph.tp_size": 1}},
            "exec.moe.graph.tp_size: graph takes its value as a whole, not by key after a dot",
        ),
        (
            {"parallel": {"attn_tp_size": 1}},
            "parallel.attn_tp_size is derived from other settings and cannot be set here; a "
            "program that must state it overrides it after publish()",
        ),
        (
            {"tp_rank": 1},
            "tp_rank is a run-time fact and cannot be set here; a program that knows it overrides "
            "it after publish()",
        ),
        ({"enable-wide": 1}, "enable-wide is retired; write tp_size instead"),
        ({"fast": True}, "fast is retired; write mode: fast instead"),
        ({"gone": True}, "gone is retired; write --mode=slow and --switch instead"),
        (
            {"tp_size": 1, "tensor-parallel-size": 2},
            "tensor-parallel-size sets the same as tp_size (run.json); remove one of them",
        ),
        (
            {"parallel": {"tp_size": 1}, "tp-size": 2},
            "tp-size sets the same as parallel.tp_size (run.json); remove one of them",
        ),
        (
            {"pair": True, "no-pair": False},
            "no-pair sets the same as pair (run.json); remove one of them",
        ),
    ],
)
def test_a_key_that_cannot_be_meant_is_answered_with_what_to_write(
    written: dict[str, Any], message: str
) -> None:
    assert refused(written) == message


def test_one_error_has_every_problem_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("parallel:\n  tp_size: '8'\n\nswitch: 1\nno-such: 2\nexec:\n  moe.backend: x\n")
    with pytest.raises(InvalidSettingsError) as caught:
        values_of_file(Args, read_config_file(path))
    assert str(caught.value).replace(str(path), "~").split("\n") == [
        "~:2: tp_size must be int, not '8' (str); write it without quotes",
        "~:4: switch must be true or false, not 1; write true",
        "~:5: there is no setting 'no-such'.",
        "~:7: backend must be one of auto, triton, not 'x'.",
    ]
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems
    assert isinstance(caught.value, InvalidValueError)


class Counted(Namespace, registry=Registry("counted")):
    _NS_PATH = "counted"
    pair: A[list[int] | None, Arg(nargs=2)] = None
    both: A[set[int] | None, Arg(nargs=2)] = None
    parsed: A[list[int] | None, Arg(nargs=2, type_parser=int)] = None
    span: A[tuple[int, int] | None, "From and to."] = None
    pairs: A[list[list[int]] | None, Arg(action="append", action_kwargs={"nargs": 2})] = None


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ({"pair": [1, 2]}, {"pair": [1, 2]}),
        ({"both": [1, 1]}, {"both": {1}}),
        ({"parsed": ["1", "2"]}, {"parsed": [1, 2]}),
        ({"pairs": [[1, 2], [3, 4], [5, 6]]}, {"pairs": [[1, 2], [3, 4], [5, 6]]}),
        ({"pair": [1, 2, 3]}, "pair: expected 2 items, not 3"),
        ({"pair": []}, "pair: expected 2 items, not 0"),
        ({"both": [1]}, "both: expected 2 items, not 1"),
        ({"parsed": ["1"]}, "parsed: expected 2 items, not 1"),
        ({"span": [1]}, "span must be tuple[int, int] or None, not [1] (list)"),
    ],
)
def test_a_list_has_as_many_items_as_the_command_line_takes(
    written: dict[str, Any], values: dict[str, Any] | str
) -> None:
    file, record = ConfigFile("run.json", written), compose("Record", [Counted])
    if isinstance(values, dict):
        assert values_of_file(record, file) == values
    else:
        with pytest.raises(InvalidSettingsError) as caught:
            values_of_file(record, file)
        assert str(caught.value) == f"run.json: {values}"


def test_of_very_many_problems_the_message_lists_some_and_the_error_has_all() -> None:
    wrong = {f"paralel_thing_{number}": number for number in range(4000)}
    start = time.process_time()
    with pytest.raises(InvalidSettingsError) as caught:
        values_of_file(Args, ConfigFile("run.json", {"tp_sise": 1, **wrong}))
    assert time.process_time() - start < 1
    assert len(caught.value.problems) == 4001
    first, *lines, last = str(caught.value).split("\n")
    assert first == "run.json: there is no setting 'tp_sise'. Did you mean 'tp_size'?"
    assert lines[-1] == "run.json: there is no setting 'paralel_thing_48'."
    assert len(lines) == 49 and last == "... and 3951 more"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_the_same_field_twice_names_both_places(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("tp_size: 1\nparallel:\n  tensor-parallel-size: 2\n")
    with pytest.raises(InvalidSettingsError) as caught:
        values_of_file(Args, read_config_file(path))
    assert str(caught.value).replace(str(path), "~") == (
        "~:3: parallel.tensor-parallel-size sets the same as tp_size (~:1); remove one of them"
    )


def test_a_field_with_a_replacement_warns_once_and_is_taken() -> None:
    with pytest.warns(DeprecatedFlagWarning) as caught:
        assert values_of({"model": {"old": 3}}) == {"old": 3}
    assert [str(each.message) for each in caught] == [
        "run.json: model.old is deprecated; use --tp-size instead"
    ]
    assert caught[0].filename == __file__


def test_what_is_refused_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "must be int" in refused({"old": "x"})


@pytest.mark.parametrize(
    "written",
    [
        {"api_key": ["hunter2"]},
        {"api_key": {"a": "hunter2"}},
        {"pin": "hunter2"},
        {"pin": ["hunter2"]},
        {"secret_word": "hunter2"},
        {"secret_switch": "hunter2"},
        {"api_key": "hunter2", "model": {"api-key": "hunter2"}},
    ],
)
def test_a_secret_is_in_no_message(written: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        values_of(written)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_masked_secret_is_refused() -> None:
    assert refused({"api_key": "***"}) == (
        "api_key is masked, the file was written without its secrets; write the secret itself"
    )
    assert values_of({"model_path": "***"}) == {"model_path": "***"}


def test_a_value_that_the_fields_own_parser_makes_passes_the_check() -> None:
    validate(Args(text_graph={"bs": 1}))
    validate(Args(pairs=[("a", "b")]))
    for value in ({"bz": 1}, [1], {"bs": {1}}):
        with pytest.raises(InvalidValueError, match="text_graph must be str or None"):
            validate(Args(text_graph=value))


TEXT = st.text("ab1-.*{}[]\"', é\0\n", max_size=5) | st.sampled_from(["red", "4k", "***", "true"])
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from([*Args.__match_args__, "parallel", "exec", "exec.moe", "no_pair", "model."])


@settings(deadline=None)
@given(st.dictionaries(NAMES, PLAIN, max_size=4))
def test_whatever_a_file_has_is_taken_or_refused_with_one_message(written: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecatedFlagWarning)
        try:
            validate(Args(**values_of(written)))
        except InvalidSettingsError as error:
            assert all(problem.startswith("run.json: ") for problem in error.problems)
