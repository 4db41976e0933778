"""A plugin adds choices, and the next parser offers them."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import namespaces
from namespaces import ServerArgs, choices
from registry import add_cli_args

TABLE = json.loads(
    (Path(__file__).parent.parent / "data" / "server_args.json").read_text(encoding="utf-8")
)
EXTENDING = [name for name, adder in TABLE["adders"].items() if adder["method"] == "extend"]


@pytest.fixture(autouse=True)
def restored_lists() -> Iterator[None]:
    before = {name: list(getattr(choices, name)) for name in TABLE["choices"]}
    yield
    for name, values in before.items():
        getattr(choices, name)[:] = values


@pytest.mark.parametrize("name", EXTENDING)
def test_an_adder_extends_its_list_and_passes_over_duplicates(name: str) -> None:
    target = getattr(namespaces, TABLE["adders"][name]["list"])
    before = list(target)
    getattr(namespaces, name)([before[0], "acme", "acme", "bolt"])
    assert target == [*before, "acme", "bolt"]


def test_the_adder_of_one_name_takes_one_name() -> None:
    before = list(namespaces.CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS)
    namespaces.add_chunked_prefix_cache_attention_backend("acme")
    namespaces.add_chunked_prefix_cache_attention_backend("acme")
    assert [*before, "acme"] == namespaces.CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("acme", "expected a list of choices, not one string; write ['acme']"),
        (["acme", 3], "a choice is a string, not 3 (int)"),
    ],
)
def test_what_is_no_list_of_names_is_refused_and_adds_nothing(given: object, message: str) -> None:
    before = list(namespaces.LOAD_FORMAT_CHOICES)
    with pytest.raises(TypeError) as caught:
        namespaces.add_load_format_choices(given)
    assert str(caught.value) == message
    assert before == namespaces.LOAD_FORMAT_CHOICES


def test_the_next_parser_offers_a_late_addition_and_the_last_one_does_not() -> None:
    def attention_choices() -> list[str]:
        parser = argparse.ArgumentParser()
        add_cli_args(parser, ServerArgs)
        return list(parser._option_string_actions["--attention-backend"].choices)

    before = attention_choices()
    namespaces.add_attention_backend_choices(["acme"])
    assert attention_choices() == [*before, "acme"]
