"""`ServerArgs` is the table of the server's settings, field by field."""

import ast
import collections.abc
import dataclasses
import inspect
import json
import types
import typing
from pathlib import Path

import pytest

import namespaces
from namespaces import POSITIONAL_FIELD_ORDER, ServerArgs, parsers
from registry import Arg, default_registry, namespace_of

DATA = Path(__file__).parent.parent / "data"
TABLE = json.loads((DATA / "server_args.json").read_text(encoding="utf-8"))
ROWS = sorted(TABLE["fields"], key=lambda row: row["position"])
NAMES = [row["name"] for row in ROWS]
FIELDS = {field.name: field for field in dataclasses.fields(ServerArgs)}

each_row = pytest.mark.parametrize("row", ROWS, ids=NAMES)


def arg_of(name: str) -> Arg:
    (marker,) = FIELDS[name].type.__metadata__
    return Arg(help=marker) if isinstance(marker, str) else marker


def canonical(annotation: object) -> object:
    """Spell a type one way: unions as sets, bare generics with Any, List as list."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None:
        return type(None)
    if origin is not None and not arguments:
        annotation = origin  # a bare name of typing stands for the class
    bare = {
        dict: (dict, typing.Any, typing.Any),
        collections.abc.Callable: (collections.abc.Callable, ..., typing.Any),
        type: (type, typing.Any),
    }
    if annotation in bare:
        return bare[annotation]
    if origin in (typing.Union, types.UnionType):
        return frozenset(map(canonical, arguments))
    if origin is typing.Literal:
        return (typing.Literal, *arguments)
    if origin is not None:
        return (origin, *map(canonical, arguments))
    return annotation


def test_the_table_has_499_settings_in_21_namespaces() -> None:
    assert len(ROWS) == 499
    assert len({row["namespace"] for row in ROWS}) == 21


def test_the_positional_order_is_that_of_the_table() -> None:
    assert list(POSITIONAL_FIELD_ORDER) == NAMES
    assert list(FIELDS) == NAMES
    parameters = inspect.signature(ServerArgs).parameters
    assert list(parameters) == NAMES
    assert {each.kind for each in parameters.values()} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}


def test_positions_mean_what_they_always_meant() -> None:
    args = ServerArgs("m", "/tok")
    assert args.model_path == "m"
    assert args.tokenizer_path == "/tok"
    assert args.load_format == "auto"


def test_every_field_is_in_its_namespace() -> None:
    assert namespace_of(ServerArgs) == {row["name"]: row["namespace"] for row in ROWS}


@each_row
def test_the_type_is_that_of_the_table(row: dict) -> None:
    names = {**vars(typing), "set": set, "dict": dict, "type": type}
    expected = eval(row["type"], names)  # the text is our own test data
    actual, *_ = typing.get_args(FIELDS[row["name"]].type)
    assert canonical(actual) == canonical(expected)


@each_row
def test_the_default_is_that_of_the_table(row: dict) -> None:
    field = FIELDS[row["name"]]
    if row.get("required"):
        assert field.default is field.default_factory is dataclasses.MISSING
    elif "default_factory" in row:
        assert field.default_factory() == []
    else:
        assert (type(field.default), field.default) == (type(row["default"]), row["default"])


@each_row
def test_what_an_operator_is_told_is_that_of_the_table(row: dict) -> None:
    arg, expected = arg_of(row["name"]), dict(row["cli"])
    choices = expected.pop("choices", None)
    if isinstance(choices, str):
        # The list itself, so that a plugin's addition is seen.
        assert arg.choices is getattr(namespaces, choices)
    elif arg.choices is None and choices is not None:
        literal = next(
            node
            for node in ast.walk(ast.parse(row["type"]))
            if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal"
        )
        assert list(ast.literal_eval(literal.slice)) == choices
    else:
        assert arg.choices == choices
    assert arg.help == row["help"]
    assert list(arg.aliases) == expected.pop("aliases", [])
    parser = expected.pop("type_parser", None)
    assert arg.type_parser is (None if parser is None else getattr(parsers, f"parse_{parser}"))
    for key, value in expected.items():
        assert getattr(arg, key) == value, key
    silent = {
        "cli_name",
        "action",
        "nargs",
        "const",
        "no_cli",
        "resolvable",
        "fallback",
        "deprecated",
    }
    for key in silent - expected.keys():
        assert getattr(arg, key) == getattr(Arg(), key), key


def test_the_choice_lists_and_their_adders_are_those_of_the_table() -> None:
    for name, choices in TABLE["choices"].items():
        assert getattr(namespaces, name) == choices
    assert len(TABLE["choices"]) == 17
    for name in TABLE["adders"]:
        assert callable(getattr(namespaces, name))
    assert len(TABLE["adders"]) == 16


@pytest.mark.parametrize("row", TABLE["derived"], ids=[row["name"] for row in TABLE["derived"]])
def test_a_derived_field_is_declared_beside_its_leaves_and_on_no_record(row: dict) -> None:
    entry = default_registry.derived[row["name"]]
    assert entry.namespace == row["namespace"]
    assert entry.doc == row["doc"]
    assert entry.type.__name__ == row["type"]
    assert row["name"] not in FIELDS


def test_every_class_is_documented_and_in_the_module_of_the_table() -> None:
    for row in TABLE["namespaces"]:
        cls = getattr(namespaces, row["class"])
        assert cls.__module__ == f"namespaces.{row['module']}"
        assert row["path"] == cls._NS_PATH
        assert " ".join(cls.__doc__.split()) == row["summary"]
        assert list(namespace_of(ServerArgs).values()).count(row["path"]) == row["inputs"]


def test_the_declarations_import_nothing_but_the_standard_library_and_the_registry() -> None:
    import sys

    for row in TABLE["namespaces"]:
        source = Path(namespaces.__file__).with_name(f"{row['module']}.py")
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            for module in modules:
                top = module.partition(".")[0]
                assert top in {"registry", "namespaces"} | sys.stdlib_module_names
