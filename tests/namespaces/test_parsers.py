"""What operators may type for sizes, JSON and adapters, and what they are told otherwise."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namespaces import parsers

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4096", 4096),
        ("-1", -1),
        ("+7", 7),
        ("1_000", 1000),
        ("8k", 8000),
        ("8K", 8000),
        ("2m", 2_000_000),
        ("3G", 3_000_000_000),
        ("1T", 10**12),
        ("8Ki", 8192),
        ("8ki", 8192),
        ("2Mi", 2 * 1024**2),
        ("1Gi", 1024**3),
        ("1Ti", 1024**4),
        ("1.5k", 1500),
        ("25.6k", 25600),
        ("0.5Ki", 512),
        ("-1.5k", -1500),
        (" 16 k ", 16000),
        ("4.0", 4),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_a_size_is_read_exactly(text: str, value: int) -> None:
    assert parsers.parse_human_readable_int(text) == value


@given(st.integers(), st.sampled_from(sorted(parsers._UNITS)))
def test_any_whole_number_with_any_unit_is_exact(number: int, unit: str) -> None:
    assert parsers.parse_human_readable_int(f"{number}{unit}") == number * parsers._UNITS[unit]


@pytest.mark.parametrize(
    "text", ["", "k", "1e3", "8kb", "1__0", "_1", "1_", "0x10", "eight", ".5k"]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        parsers.parse_human_readable_int(text)
    assert str(caught.value) == (f"expected a whole number such as 4096, 128k or 4Ki, not {text!r}")


def test_a_part_of_a_token_is_refused() -> None:
    with pytest.raises(ValueError) as caught:
        parsers.parse_human_readable_int("1.2345k")
    assert str(caught.value) == "expected a whole number, which '1.2345k' is not"


@given(JSON)
def test_json_is_read_as_the_standard_library_reads_it(value: object) -> None:
    assert parsers.parse_json(json.dumps(value)) == value


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (
            parsers.parse_json,
            '{"a": }',
            "expected JSON, but expecting value at character 7, near '{\"a\": }'",
        ),
        (parsers.parse_json, '{"a": NaN}', "expected JSON, which has no NaN"),
        (
            parsers.parse_json,
            '{"a": {"b": 1, "b": 2}}',
            "the key 'b' is given twice in one JSON object",
        ),
        (
            parsers.parse_json,
            '{"a": -1e999}',
            "expected a number in the range of a float, which -1e999 is not",
        ),
        (
            parsers.parse_json,
            "[" + "1" * 5000 + "]",
            "expected a number, but 5000 digits are too many",
        ),
        (
            parsers.parse_human_readable_int,
            "-" + "1" * 5000 + "k",
            "expected a number, but 5000 digits are too many",
        ),
        (parsers.parse_json, "[" * 100_000, "expected JSON, but it is nested too deeply"),
        (
            parsers.parse_json_list,
            '{"a": 1}',
            "expected a JSON array such as [1, 2], not '{\"a\": 1}'",
        ),
        (
            parsers.parse_lora_path,
            "sql=",
            "expected a path, name=path or a JSON object, not 'sql='",
        ),
        (
            parsers.parse_lora_path,
            " =adapters/sql",
            "expected a path, name=path or a JSON object, not ' =adapters/sql'",
        ),
        (
            parsers.parse_lora_path,
            '{"lora_name": "a", "lora_path": ""}',
            "expected lora_path to have text, not ''",
        ),
        (
            parsers.parse_lora_path,
            '{"lora_name": "a"}',
            'expected an adapter to have lora_path, which {"lora_name": "a"} lacks',
        ),
        (
            parsers.parse_lora_path,
            '{"lora_name": "a", "lora_paht": "b"}',
            "an adapter has no key 'lora_paht'; it takes lora_name, lora_path or pinned. "
            "Did you mean 'lora_path'?",
        ),
        (
            parsers.parse_lora_path,
            '{"lora_name": "a", "lora_path": "b", "pinned": 1}',
            "expected pinned to be a bool, not 1",
        ),
        (
            parsers.parse_cuda_graph_config,
            "[]",
            "expected a JSON object such as {\"decode\": {...}}, not '[]'",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"decod": {}}',
            "cuda_graph_config has no key 'decod'; it takes decode or prefill. "
            "Did you mean 'decode'?",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"decode": 1}',
            "expected decode to be a JSON object, not 1",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"decode": {"maxbs": 1}}',
            "decode has no key 'maxbs'; it takes backend, bs, max_bs or tc_compiler. "
            "Did you mean 'max_bs'?",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"decode": {"max_bs": true}}',
            "expected decode.max_bs to be a whole number above 0, not True",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"decode": {"max_bs": 0}}',
            "expected decode.max_bs to be a whole number above 0, not 0",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"prefill": {"bs": [1, "2"]}}',
            "expected prefill.bs to be a list of whole numbers above 0, not [1, '2']",
        ),
        (
            parsers.parse_cuda_graph_config,
            '{"prefill": {"backend": "half"}}',
            "expected prefill.backend to be full, breakable, tc_piecewise or disabled, not 'half'",
        ),
    ],
)
def test_wrong_text_is_answered_with_what_was_expected(parse, text: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "value"),
    [("None", None), ("null", None), ("", None), (" none ", None), ("scales.json", "scales.json")],
)
def test_a_nullable_string_can_be_none(text: str, value: str | None) -> None:
    assert parsers.parse_nullable_str(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("adapters/sql", "adapters/sql"),
        ("sql=adapters/sql", "sql=adapters/sql"),
        ("sql=adapters/sql=", "sql=adapters/sql="),
        (
            '{"lora_name": "sql", "lora_path": "p", "pinned": false}',
            {"lora_name": "sql", "lora_path": "p", "pinned": False},
        ),
    ],
)
def test_an_adapter_is_a_path_a_named_path_or_an_object(text: str, value: object) -> None:
    assert parsers.parse_lora_path(text) == value


def test_cuda_graph_settings_are_read_by_phase() -> None:
    text = '{"decode": {"backend": "full", "bs": [1, 2]}, "prefill": {"tc_compiler": "eager"}}'
    assert parsers.parse_cuda_graph_config(text) == {
        "decode": {"backend": "full", "bs": [1, 2]},
        "prefill": {"tc_compiler": "eager"},
    }
