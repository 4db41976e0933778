"""What environment variables mean for a record."""

import argparse
import enum
import json
import traceback
import warnings
from typing import Any, Literal

import pytest

from registry import (
    A,
    Arg,
    DeprecatedFlagWarning,
    Derived,
    InvalidSettingsError,
    Namespace,
    Registry,
    UnknownVariableWarning,
    compose,
    derived,
    validate,
    values_of_environment,
)

REGISTRY = Registry("environment")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"
    tp_size: A[int, Arg(help="Width.", aliases=["--tensor-parallel-size"])] = 1
    model_path: A[str, "Weights."] = ""
    backend: A[str, Arg(choices=["auto", "triton"])] = "auto"
    switch: A[bool, "Off."] = False
    pair: A[bool, "On."] = True
    state: A[bool | None, "Three states."] = None
    scale: A[float | None, "Scale."] = None
    names: A[list[str] | None, Arg(nargs="*")] = None
    sizes: A[list[int] | None, "Sizes."] = None
    span: A[tuple[int, int] | None, "From and to."] = None
    colors: A[set[Color] | None, "Colors."] = None
    mode: A[Literal["null", "fast"], "Mode."] = "null"
    tags: A[dict[str, int] | None, "Tags."] = None
    parsed: A[dict[str, Any] | None, Arg(type_parser=json.loads)] = None
    pairs: A[list[Any] | None, Arg(type_parser=json.loads, nargs=2)] = None
    counted: A[int, Arg(action="count")] = 0
    appended: A[list[int] | None, Arg(action="append", action_kwargs={"type": int})] = None
    port: int | None = None
    handler: Any = None
    old: A[int, Arg(deprecated="--tp-size")] = 0
    api_key: A[str | None, Arg(secret=True)] = None
    pin: A[int | None, Arg(secret=True)] = None
    pins: A[list[int] | None, Arg(secret=True)] = None
    secret_word: A[str, Arg(secret=True, choices=["red", "blue"])] = "red"
    secret_json: A[dict[str, Any] | None, Arg(secret=True, type_parser=json.loads)] = None
    _own: bool = False
    rest: A[list[str] | None, Arg(nargs=argparse.REMAINDER)] = None
    tp_rank = Derived(doc="Rank.")

    @derived
    def attn_tp_size(cfg: Any) -> int:
        return cfg.tp_size


Args = compose("Args", registry=REGISTRY)


def values_of(**environ: str) -> dict[str, Any]:
    retired = {"--wide": "--tp-size", "--fast": "--mode fast", "--gone": "--a and --b"}
    return values_of_environment(Args, "SERVER_", environ, retired=retired)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("TP_SIZE", "8", {"tp_size": 8}),
        ("TENSOR_PARALLEL_SIZE", "8", {"tp_size": 8}),
        ("MODEL_PATH", "8", {"model_path": "8"}),
        ("MODEL_PATH", "a b", {"model_path": "a b"}),
        ("MODEL_PATH", "", {"model_path": ""}),
        ("BACKEND", "triton", {"backend": "triton"}),
        ("SWITCH", "true", {"switch": True}),
        ("SWITCH", "False", {"switch": False}),
        ("PAIR", "false", {"pair": False}),
        ("NO_PAIR", "true", {"pair": False}),
        ("NO_PAIR", "false", {"pair": True}),
        ("STATE", "false", {"state": False}),
        ("SCALE", "1e3", {"scale": 1000.0}),
        ("NAMES", "a 'b c' \"d\"", {"names": ["a", "b c", "d"]}),
        ("NAMES", "--a -1", {"names": ["--a", "-1"]}),
        ("SIZES", "1 -2", {"sizes": [1, -2]}),
        ("SPAN", "1 2", {"span": (1, 2)}),
        ("COLORS", "red blue", {"colors": {Color.RED, Color.BLUE}}),
        ("MODE", "fast", {"mode": "fast"}),
        ("TAGS", '{"a": 1}', {"tags": {"a": 1}}),
        ("PARSED", '{"a": 1}', {"parsed": {"a": 1}}),
        ("PAIRS", "1 '[2]'", {"pairs": [1, [2]]}),
        ("SWITCH", "1", {"switch": True}),
        ("SWITCH", "0", {"switch": False}),
        ("PAIR", "0", {"pair": False}),
        ("NO_PAIR", "1", {"pair": False}),
        ("STATE", "1", {"state": True}),
        ("NAMES", "", {"names": []}),
        ("NAMES", "  ", {"names": []}),
        ("REST", "", {"rest": []}),
        ("COUNTED", "3", {"counted": 3}),
        ("APPENDED", "3 4", {"appended": [3, 4]}),
        ("PORT", "7", {"port": 7}),
        ("API_KEY", "hunter2", {"api_key": "hunter2"}),
    ],
)
def test_a_text_is_read_as_on_the_command_line(name: str, text: str, value: dict[str, Any]) -> None:
    values = values_of(**{f"SERVER_{name}": text})
    assert values == value
    validate(Args(**values))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("TP_SIZE", "eight", ": invalid int value: 'eight'"),
        ("TP_SIZE", "", " is empty; give it a value or leave it out"),
        ("SWITCH", "", " is empty; give it a value or leave it out"),
        ("SWITCH", "2", ": expected true or false, not '2'"),
        ("SWITCH", "yes", ": expected true or false, not 'yes'"),
        ("PAIR", "off", ": expected true or false, not 'off'"),
        ("STATE", "none", ": expected true or false, not 'none'"),
        ("SIZES", "", " is empty; give it a value or leave it out"),
        ("SIZES", "  ", " is empty; give it a value or leave it out"),
        ("COLORS", " \t", " is empty; give it a value or leave it out"),
        ("APPENDED", "  ", " is empty; give it a value or leave it out"),
        ("PAIRS", " ", " is empty; give it a value or leave it out"),
        ("NAMES", "a 'b", ": words are split as in a shell, but there is no closing quotation"),
        ("SIZES", "1 b", ": invalid int value: 'b'"),
        ("SPAN", "1 2 3", ": expected 2 words, not 3"),
        (
            "BACKEND",
            "trition",
            ": invalid choice: 'trition' (choose from auto, triton). Did you mean 'triton'?",
        ),
        ("BACKEND", "", ": invalid choice: '' (choose from auto, triton)."),
        ("TAGS", "[1]", ": expected a JSON object, not '[1]'"),
        ("TAGS", '{"a": "b"}', " must be dict[str, int] or None, not {'a': 'b'} (dict)"),
        ("HANDLER", "{}", ": no text turns into Any; the program sets it"),
        (
            "ATTN_TP_SIZE",
            "1",
            " is derived from other settings and cannot be set here; a program "
            "that must state it overrides it after publish()",
        ),
        (
            "TP_RANK",
            "1",
            " is a run-time fact and cannot be set here; a program that knows it overrides it "
            "after publish()",
        ),
        ("WIDE", "1", " is retired; set SERVER_TP_SIZE instead"),
        ("FAST", "1", " is retired; set SERVER_MODE=fast instead"),
        ("GONE", "1", " is retired; set --a and --b instead"),
    ],
)
def test_what_cannot_be_taken_names_the_variable(name: str, text: str, message: str) -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        values_of(**{f"SERVER_{name}": text})
    assert str(caught.value) == f"SERVER_{name}{message}"


def test_one_error_names_every_variable() -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        values_of(SERVER_TP_SIZE="x", SERVER_TENSOR_PARALLEL_SIZE="1", SERVER_SWITCH="y")
    assert caught.value.problems == (
        "SERVER_TP_SIZE: invalid int value: 'x'",
        "SERVER_TENSOR_PARALLEL_SIZE sets the same as SERVER_TP_SIZE; unset one of them",
        "SERVER_SWITCH: expected true or false, not 'y'",
    )


@pytest.mark.parametrize("name", ["SERVER_TP_SISE", "SERVER_tp_size", "SERVER_NO_PAIRS"])
def test_a_variable_that_is_nearly_one_is_warned_of(name: str) -> None:
    with pytest.warns(UnknownVariableWarning) as caught:
        assert values_of(**{name: "1"}) == {}
    (warning,) = caught
    meant = "SERVER_NO_PAIR" if "PAIR" in name else "SERVER_TP_SIZE"
    assert str(warning.message) == f"the variable {name} sets nothing. Did you mean {meant!r}?"
    assert warning.filename == __file__


class Moe(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.moe"
    ep_size: A[int, "Width."] = 1
    _hidden_size: A[int, "Size."] = 1


Both = compose("Both", [Parallel, Moe])


@pytest.mark.parametrize(
    ("rest", "meant"),
    [
        ("PARALLEL_TP_SIZE", "TP_SIZE"),
        ("PARALLEL__TP_SIZE", "TP_SIZE"),
        ("parallel_tp_size", "TP_SIZE"),
        ("PARALLEL__TENSOR_PARALLEL_SIZE", "TENSOR_PARALLEL_SIZE"),
        ("PARALLEL_NO_PAIR", "NO_PAIR"),
        ("EXEC_MOE_EP_SIZE", "EP_SIZE"),
        ("EXEC__MOE__EP_SIZE", "EP_SIZE"),
        ("EXEC_EP_SIZE", "EP_SIZE"),
        ("EXEC__MOE___HIDDEN_SIZE", "HIDDEN_SIZE"),
    ],
)
def test_a_variable_with_a_namespace_in_its_name_is_warned_of(rest: str, meant: str) -> None:
    with pytest.warns(UnknownVariableWarning) as caught:
        assert values_of_environment(Both, "SERVER_", {f"SERVER_{rest}": "8"}) == {}
    (warning,) = caught
    assert str(warning.message) == (
        f"the variable SERVER_{rest} sets nothing; its name has no namespace in it. "
        f"Did you mean 'SERVER_{meant}'?"
    )


class Cases(Namespace, registry=Registry("cases")):
    _NS_PATH = "cases"
    ab: A[int, "One."] = 0
    AB: A[int, "Another."] = 0
    cd: A[int, Arg(aliases=["--CD"])] = 0
    ef: A[bool, "On."] = True
    NO_EF: A[bool, "On."] = True


def test_a_variable_that_could_set_two_fields_is_refused() -> None:
    Cased = compose("Cased", [Cases])
    assert values_of_environment(Cased, "S_", {"S_CD": "1"}) == {"cd": 1}
    with pytest.raises(InvalidSettingsError) as caught:
        values_of_environment(Cased, "S_", {"S_AB": "1", "S_NO_EF": "true"})
    assert caught.value.problems == (
        "S_AB could set ab and AB, which differ in case alone; set them some other way",
        "S_NO_EF could set NO_EF and no_ef, which differ in case alone; set them some other way",
    )


def test_variables_of_others_are_passed_over() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        others = {"SERVER_SOFTWARE": "nginx", "SERVER_": "", "SERVER__OWN": "true", "TP_SIZE": "x"}
        assert values_of(**others, server_tp_size="x") == {}


def test_a_field_with_a_replacement_warns() -> None:
    with pytest.warns(DeprecatedFlagWarning) as caught:
        assert values_of(SERVER_OLD="3") == {"old": 3}
    assert str(caught[0].message) == "SERVER_OLD is deprecated; use --tp-size instead"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PIN", "hunter2"),
        ("PINS", "1 hunter2"),
        ("SECRET_WORD", "hunter2"),
        ("SECRET_JSON", "hunter2"),
        ("SECRET_JSON", '"hunter2"'),
    ],
)
def test_a_secret_is_in_no_message(name: str, text: str) -> None:
    with pytest.raises(InvalidSettingsError, match=f"SERVER_{name}") as caught:
        values_of(**{f"SERVER_{name}": text})
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))


def test_a_masked_secret_is_refused() -> None:
    with pytest.raises(InvalidSettingsError) as caught:
        values_of(SERVER_API_KEY="***")
    assert str(caught.value) == "SERVER_API_KEY is masked; give the secret itself"
