"""Every setting of the server comes back from a command line and from a file as it was."""

import dataclasses
import pickle
import shlex
import signal
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from namespaces import ServerArgs
from registry import (
    UnwritableError,
    default_registry,
    dump,
    fields_set,
    from_argv,
    load,
    namespace_of,
    to_argv,
    to_dict,
)
from registry.annotations import arg_of

# Each field is tried, those among them that have a replacement.
pytestmark = pytest.mark.filterwarnings("ignore::registry.DeprecatedFlagWarning")

ROOT = Path(__file__).parents[2]
UNIONS = (Union, types.UnionType)
PATHS = namespace_of(ServerArgs)
SPECS = {spec.name: spec for spec in dataclasses.fields(ServerArgs)}
TYPED = [name for name, spec in SPECS.items() if not arg_of(spec.type).no_cli]  # type: ignore[union-attr]
UNTYPED = {name for name in SPECS if name not in TYPED}

TEXT = st.text(max_size=8).filter(lambda text: "\0" not in text)
# argparse of some Pythons loses a text of two dashes.
ONE_WORD = TEXT.filter(lambda text: text not in ("--", "***"))
# Of several words, none can begin with a dash.
WORD = TEXT.filter(lambda text: not text.startswith("-"))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
SIZES = st.integers(1, 10**6)
GRAPH = st.fixed_dictionaries(
    {},
    optional={
        "backend": st.sampled_from(["full", "breakable", "tc_piecewise", "disabled"]),
        "bs": st.lists(SIZES, max_size=3),
        "max_bs": SIZES,
        "tc_compiler": st.sampled_from(["eager", "inductor"]),
    },
)
ADAPTER_NAME = WORD.filter(
    lambda text: text.strip() and "=" not in text and text.lstrip()[0] != "{"
)
ADAPTER = st.fixed_dictionaries(
    {"lora_name": ADAPTER_NAME, "lora_path": ADAPTER_NAME}, optional={"pinned": st.booleans()}
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=2)
BY_FIELD: dict[str, st.SearchStrategy[Any]] = {
    "cuda_graph_config": st.dictionaries(st.sampled_from(["decode", "prefill"]), GRAPH, max_size=2),
    "decoupled_spec_connect_endpoints": st.lists(TEXT, max_size=3),
    "default_chat_template_kwargs": OBJECTS,
    "extra_metric_labels": st.dictionaries(TEXT, TEXT, max_size=2),
    "forward_hooks": st.lists(OBJECTS, max_size=2),
    "limit_mm_data_per_request": st.dictionaries(TEXT, st.integers(), max_size=2),
    "lora_paths": st.lists(ADAPTER_NAME | ADAPTER, max_size=3),
    "mm_process_config": OBJECTS,
    "preferred_sampling_params": OBJECTS,
    "quantization_param_path": WORD.filter(
        lambda text: text.strip().lower() not in ("", "none", "null")
    ),
    "radix_eviction_policy_config": OBJECTS,
    "remote_instance_weight_loader_send_weights_group_ports": st.lists(st.integers(), max_size=3),
    "sidecar_args": st.lists(TEXT, max_size=3),
}
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(),
    float: FLOATS,
    str: ONE_WORD,
}
ITEMS = {str: WORD, int: st.integers(), float: FLOATS}


def values_of(name: str) -> st.SearchStrategy[Any]:
    """Values of a field that have words on the command line."""
    if name in BY_FIELD:
        return BY_FIELD[name]
    annotation, arg = SPECS[name].type.__origin__, arg_of(SPECS[name].type)  # type: ignore[union-attr]
    members = [
        each
        for each in (get_args(annotation) if get_origin(annotation) in UNIONS else [annotation])
        if each is not type(None)
    ]
    assert arg is not None
    kind = members[0]
    if get_origin(kind) in (list, set):
        item = ITEMS[get_args(kind)[0]] if arg.choices is None else st.sampled_from(arg.choices)
        return st.lists(item, min_size=0 if arg.nargs == "*" else 1, max_size=3)
    if get_origin(kind) is Literal:
        return st.sampled_from(get_args(kind))
    if arg.choices is not None:
        return st.sampled_from(arg.choices)
    return PLAIN[kind]


def records(names: list[str]) -> st.SearchStrategy[Any]:
    """Records with some of the fields set, to any value that has words."""
    given = st.fixed_dictionaries({}, optional={name: values_of(name) for name in names})
    return given.map(lambda values: ServerArgs(**{"model_path": "m", **values}))


def assert_equal_and_as_much_set(back: Any, record: Any) -> None:
    assert back == record
    # What no word sets: a switch to be off, an option to be None, one of several words to be empty.
    unwritten = {name: getattr(record, name) for name in fields_set(record) - fields_set(back)}
    assert {repr(value) for value in unwritten.values()} <= {"False", "None", "[]"}
    assert fields_set(back) <= fields_set(record)


each_namespace = pytest.mark.parametrize("path", sorted(set(PATHS.values())))
# The first example waits for the table of all characters.
few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@each_namespace
@few
@given(data=st.data())
def test_a_command_line_and_back(path: str, data: st.DataObject) -> None:
    record = data.draw(records([name for name in TYPED if PATHS[name] == path]))
    words = to_argv(record, reveal=True)
    assert_equal_and_as_much_set(from_argv(ServerArgs, words), record)


@each_namespace
@few
@given(data=st.data(), suffix=st.sampled_from([".yaml", ".toml", ".json"]), nested=st.booleans())
def test_a_file_and_back(path: str, data: st.DataObject, suffix: str, nested: bool) -> None:
    record = data.draw(records([name for name in TYPED if PATHS[name] == path]))
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "run" + suffix)
        try:
            dump(record, file, nested=nested, reveal=True)
        except UnwritableError as error:
            assert suffix == ".toml" and "no null" in str(error)
            return
        back = load(ServerArgs, file)
    assert back == record
    unwritten = fields_set(record) - fields_set(back)
    assert all(suffix == ".toml" and getattr(record, name) is None for name in unwritten)


# By field, a value that only the program sets, and what is said of it.
PROGRAMS_OWN: dict[str, tuple[Any, str]] = {
    "custom_sigquit_handler": (signal.default_int_handler, "builtin_function_or_method"),
    "grpc_worker_threads": (4, "int"),
    "stat_loggers": ({"a": int}, "dict"),
    "_speculative_draft_quantization_explicitly_set": (True, "bool"),
    "uses_mamba_radix_cache": (True, "bool"),
    "_radix_eviction_policy_explicitly_set": (True, "bool"),
}


def test_the_fields_without_a_flag_are_known() -> None:
    assert set(PROGRAMS_OWN) == UNTYPED


@pytest.mark.parametrize("name", PROGRAMS_OWN)
def test_a_field_without_a_flag_has_no_words(name: str) -> None:
    value, kind = PROGRAMS_OWN[name]
    record = ServerArgs("m", **{name: value})
    with pytest.raises(UnwritableError) as caught:
        to_argv(record)
    place = default_registry.input[name]
    assert str(caught.value) == (
        f"{place.file}:{place.line}: {name}, whose value is of type {kind}, has no flag; "
        "write the record to a file with dump(), or send it by pickle"
    )
    assert to_argv(record, exclude=[name]) == ["--model-path", "m"]
    assert to_argv(ServerArgs("m", **{name: SPECS[name].default})) == ["--model-path", "m"]


@pytest.mark.parametrize("name", PROGRAMS_OWN)
def test_a_file_has_what_is_plain_and_no_private_name(name: str) -> None:
    value, kind = PROGRAMS_OWN[name]
    record = ServerArgs("m", **{name: value})
    if name in ("grpc_worker_threads", "uses_mamba_radix_cache"):
        assert to_dict(record) == {"model_path": "m", name: value}
        return
    with pytest.raises(UnwritableError) as caught:
        to_dict(record)
    place = default_registry.input[name]
    own = "is the program's own, which a file cannot set"
    why = own if name.startswith("_") else "has no plain value that a file could hold for it"
    assert str(caught.value) == (
        f"{place.file}:{place.line}: {name}, whose value is of type {kind}, {why}; "
        f"leave it out with exclude=['{name}'], or send the record by pickle"
    )


def test_a_mapping_of_adapters_has_no_words() -> None:
    record = ServerArgs("m", lora_paths={"sql": "adapters/sql"})
    with pytest.raises(UnwritableError, match="no words that --lora-paths reads as that value"):
        to_argv(record)
    assert to_dict(record) == {"model_path": "m", "lora_paths": {"sql": "adapters/sql"}}


def test_all_fields_at_once() -> None:
    """Set to their defaults, every field that has words is written, and set again."""
    defaults = {name: getattr(ServerArgs("m"), name) for name in TYPED}
    record = ServerArgs(**{**defaults, "model_path": "m"})
    back = from_argv(ServerArgs, to_argv(record))
    assert_equal_and_as_much_set(back, record)
    assert len(fields_set(back)) > 100


def test_the_words_launch_a_process() -> None:
    record = ServerArgs(
        "a model",
        tp_size=4,
        served_model_name="-dash",
        api_key="hunter 2",
        cuda_graph_config={"decode": {"max_bs": 64}},
        lora_target_modules=["q_proj", "k_proj"],
        enable_metrics=True,
    )
    line = shlex.join(to_argv(record, reveal=True))
    script = (
        "from namespaces import ServerArgs; from registry import from_argv; import pickle, sys; "
        "sys.stdout.buffer.write(pickle.dumps(from_argv(ServerArgs)))"
    )
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(script)} {line}"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, check=True)
    back = pickle.loads(done.stdout)
    assert back == record
    assert fields_set(back) == fields_set(record)
