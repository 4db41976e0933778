"""A record written by one version of a class and read by another, in two real processes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from registry import RecordUnpicklingError

ROOT = Path(__file__).parents[2]

MODULE = """
import dataclasses
from registry import Namespace, Registry, compose, derived

class Versioned(Namespace, registry=Registry("versioned")):
    _NS_PATH = "versioned"
    {body}

Args = compose("Args", [Versioned]{options})
"""

WRITER = """
import importlib, json, pickle, sys
for name, call in json.load(open(sys.argv[1])).items():
    record = eval("module.Args(" + call + ")", {"module": importlib.import_module(name)})
    record._note = "kept"
    with open(name + ".pickle", "wb") as file:
        pickle.dump(record, file)
"""

READER = """
import json, pathlib, pickle, sys
from registry import fields_set
seen = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.pickle")):
    try:
        record = pickle.loads(path.read_bytes())
    except Exception as error:
        bases = [each.__name__ for each in type(error).__mro__]
        seen[path.stem] = {"error": str(error), "bases": bases}
    else:
        assert vars(record).pop("_note") == "kept"
        values = {name: str(value) for name, value in vars(record).items()}
        seen[path.stem] = {"values": values, "set": sorted(fields_set(record))}
print(json.dumps(seen))
"""


class Case(NamedTuple):
    """One change between two versions, and what becomes of a record.

    `values` are those of the fields as text, or the text of the error after the class name.
    """

    writer: str
    call: str
    reader: str
    values: dict[str, str] | str
    given: str = ""
    options: str = ""


UNKNOWN = (
    " held a value when it was written, but the class has no such field here; update this side, "
    "or leave the field at its default on the other"
)
LACKING = " must be given here, but the class that wrote the record has no such field"
TWO = "a: int = 1; b: int = 2"
TAGS = "tags: list[str] = dataclasses.field(default_factory=list)"

CASES = {
    "the_same": Case(TWO, "a=5", TWO, {"a": "5", "b": "2"}, "a"),
    "reader_lacks_a_field_at_its_default": Case(TWO, "a=5", "a: int = 1", {"a": "5"}, "a"),
    "reader_lacks_a_field_set_to_its_default": Case(TWO, "5, b=2", "a: int = 1", {"a": "5"}, "a"),
    "reader_lacks_a_field_with_a_value": Case(TWO, "b=3", "a: int = 1", "b" + UNKNOWN),
    "reader_lacks_two_fields_with_values": Case(TWO, "4, 3", "c: int = 1", "a, b" + UNKNOWN),
    "reader_lacks_true_where_the_default_is_1": Case(TWO, "True", "b: int = 2", "a" + UNKNOWN),
    "reader_lacks_a_required_field": Case("a: int", "1", "b: int = 2", "a" + UNKNOWN),
    "reader_lacks_an_empty_list": Case(f"{TAGS}; b: int = 2", "", "b: int = 2", {"b": "2"}),
    "reader_lacks_a_given_empty_list": Case(f"{TAGS}; b: int = 2", "[]", "b: int = 2", {"b": "2"}),
    "reader_lacks_a_filled_list": Case(
        f"{TAGS}; b: int = 2", "['x']", "b: int = 2", "tags" + UNKNOWN
    ),
    "reader_lacks_a_class_of_values": Case(
        "b: int = 2; hook: object = len", "3", "b: int = 2", {"b": "3"}, "b"
    ),
    "reader_has_one_more": Case(
        "a: int = 1", "5", "a: int = 1; b: int = 2", {"a": "5", "b": "2"}, "a"
    ),
    "reader_has_one_more_before": Case(
        "a: int = 1", "5", "b: int = 2; a: int = 1", {"b": "2", "a": "5"}, "a"
    ),
    "reader_has_a_list_more": Case(
        "a: int = 1", "5", f"a: int = 1; {TAGS}", {"a": "5", "tags": "[]"}, "a"
    ),
    "reader_requires_one_more": Case("a: int = 1", "5", "b: int; a: int = 1", "b" + LACKING),
    "reader_requires_two_more": Case(
        "a: int = 1", "", "b: int; c: int; a: int = 1", "b, c" + LACKING
    ),
    "reader_requires_what_the_writer_had_by_default": Case("a: int = 1", "", "a: int", {"a": "1"}),
    "writer_required_what_the_reader_has_by_default": Case(
        "a: int", "5", "a: int = 1", {"a": "5"}, "a"
    ),
    "reordered": Case(TWO, "5, 6", "b: int = 2; a: int = 1", {"b": "6", "a": "5"}, "a b"),
    "reordered_by_order": Case(
        TWO, "b=5, a=6", TWO, {"b": "5", "a": "6"}, "a b", ", order=['b', 'a']"
    ),
    "renamed_at_its_default": Case(TWO, "a=5", "a: int = 1; c: int = 3", {"a": "5", "c": "3"}, "a"),
    "renamed_with_a_value": Case(TWO, "b=5", "a: int = 1; c: int = 3", "b" + UNKNOWN),
    "another_default": Case(TWO, "", "a: int = 7; b: int = 2", {"a": "1", "b": "2"}),
    "another_default_of_a_given_field": Case(
        TWO, "a=1", "a: int = 7; b: int = 2", {"a": "1", "b": "2"}, "a"
    ),
    "another_default_and_one_more": Case(
        TWO, "", "a: int = 7; b: int = 2; c: int = 3", {"a": "1", "b": "2", "c": "3"}
    ),
    "a_list_instead_of_none": Case(
        "tags: object = None; a: int = 1", "", f"{TAGS}; a: int = 1", {"tags": "None", "a": "1"}
    ),
    "a_field_became_derived": Case(
        TWO, "5", "a: int = 1\n    @derived\n    def b(cfg): return cfg.a", {"a": "5"}, "a"
    ),
    "a_field_with_a_value_became_derived": Case(
        TWO, "b=5", "a: int = 1\n    @derived\n    def b(cfg): return cfg.a", "b" + UNKNOWN
    ),
    "first_field_of_all": Case("c: ClassVar = 1", "", "a: int = 1", {"a": "1"}),
    "last_field_of_all": Case("a: int = 1", "", "c: ClassVar = 1", {}),
    "last_field_of_all_with_a_value": Case("a: int = 1", "2", "c: ClassVar = 1", "a" + UNKNOWN),
}


def python(folder: Path, source: str, argument: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source, str(argument)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the reader sees of each case's record: two folders, two processes."""
    writer, reader = tmp_path_factory.mktemp("writer"), tmp_path_factory.mktemp("reader")
    for name, case in CASES.items():
        texts = {writer: (case.writer, ""), reader: (case.reader, case.options)}
        for folder, (body, options) in texts.items():
            text = MODULE.format(body=body, options=options)
            (folder / f"{name}.py").write_text("from typing import ClassVar\n" + text)
    calls = tmp_path_factory.mktemp("calls") / "calls.json"
    calls.write_text(json.dumps({name: case.call for name, case in CASES.items()}))
    python(writer, WRITER, calls)
    seen: dict[str, Any] = json.loads(python(reader, READER, writer))
    return seen


@pytest.mark.parametrize("name", CASES)
def test_values_are_matched_by_name(seen: dict[str, Any], name: str) -> None:
    case = CASES[name]
    if isinstance(case.values, str):
        assert seen[name]["error"] == f"cannot unpickle a Args: {case.values}"
        assert seen[name]["bases"][0] == RecordUnpicklingError.__name__
        assert "UnpicklingError" in seen[name]["bases"]
    else:
        assert seen[name] == {"values": case.values, "set": case.given.split()}
        assert list(seen[name]["values"]) == list(case.values)
