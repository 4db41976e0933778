"""The contract of a record: written down the same everywhere, and read back."""

import dataclasses
import enum
import itertools
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NewType, Optional, Union

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ComposeError,
    ContractError,
    Derived,
    Namespace,
    Registry,
    compose,
    derived,
    read_contract,
    snapshot,
    write_contract,
)
from registry.canonical import UnstableError, text_of_type, text_of_value
from registry.contract import text_of_contract

_numbers = itertools.count()
ROOT = Path(__file__).parent.parent.parent


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Odd(enum.Enum):
    ONE = 1
    OTHER = object()


class Cache(Namespace, registry=Registry("contract")):
    _NS_PATH = "cache"

    folder: A[str, "Where it is."]
    size: A[int | None, Arg(help="Pages.", aliases=["--pages"], resolvable=True, fallback=8)] = None
    color: A[Color, "Of the log."] = Color.RED
    tags: A[set[str] | None, "To keep."] = None
    names: list[str] = dataclasses.field(default_factory=lambda: ["b", "a"])
    token: A[str, Arg(help="Key.", secret=True)] = "hunter2"
    warm: A[bool, "Fill it first."] = True
    id: uuid.UUID = dataclasses.field(default_factory=uuid.uuid4)
    kept: frozenset[str] = frozenset({"y", "x"})
    hook: Callable[[int], int] | None = None
    port: A[int, Arg(fingerprint=False, no_cli=True)] = 1
    _mine: bool = dataclasses.field(default=False, kw_only=True)

    @derived
    def pages(cfg) -> int:
        """Pages in all."""
        return cfg.size * len(cfg.folder)

    @derived
    def broken(cfg) -> int:
        return cfg.pages // (cfg.port - 1)

    rank = Derived(doc="Who.", type=int, default=0)


Args = compose("Args", [Cache])


def test_a_snapshot_says_what_callers_rely_on() -> None:
    contract = snapshot(Args)
    fields = contract["fields"]
    assert contract["positional"][:3] == ["folder", "size", "color"]
    assert "_mine" not in contract["positional"]
    for each in fields.values():
        each.pop("help", None)
    assert fields == {
        "_mine": {"namespace": "cache", "type": "bool", "default": False, "keyword_only": True},
        "folder": {"namespace": "cache", "type": "str", "required": True, "flags": ["--folder"]},
        "size": {
            "namespace": "cache",
            "type": "int | None",
            "default": None,
            "flags": ["--size", "--pages"],
            "resolvable": True,
            "fallback": 8,
        },
        "color": {
            "namespace": "cache",
            "type": f"{__name__}.Color",
            "default_text": f"{__name__}.Color.RED",
            "choices": ["blue", "red"],
            "flags": ["--color"],
        },
        "tags": {
            "namespace": "cache",
            "type": "set[str] | None",
            "default": None,
            "flags": ["--tags"],
            "nargs": "+",
        },
        "names": {"namespace": "cache", "type": "list[str]", "default": ["b", "a"]},
        "token": {
            "namespace": "cache",
            "type": "str",
            "default": "***",
            "flags": ["--token"],
            "secret": True,
        },
        "warm": {
            "namespace": "cache",
            "type": "bool",
            "default": True,
            "flags": ["--warm", "--no-warm"],
            "action": "boolean_optional",
        },
        "id": {
            "namespace": "cache",
            "type": "uuid.UUID",
            "default_text": "made anew by uuid.uuid4",
        },
        "kept": {
            "namespace": "cache",
            "type": "frozenset[str]",
            "default_text": "{'x', 'y'}",
        },
        "hook": {
            "namespace": "cache",
            "type": "collections.abc.Callable[[int], int] | None",
            "default": None,
        },
        "port": {"namespace": "cache", "type": "int", "default": 1, "fingerprint": False},
    }


def test_it_has_the_derived_half_with_what_it_reads() -> None:
    half = snapshot(Args)["derived"]
    for each in half.values():
        each.pop("help", None)
    assert half == {
        "broken": {"namespace": "cache", "type": "int", "reads": ["pages", "port"]},
        "pages": {"namespace": "cache", "type": "int", "reads": ["folder", "size"]},
        "rank": {"namespace": "cache", "type": "int", "fact": True, "default": 0},
    }


def test_no_secret_is_in_it() -> None:
    assert "hunter2" not in text_of_contract(snapshot(Args))


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (A[str, Arg(help="", secret=True, choices=["k1", "k2"])], {"choices": ["***"]}),
        (A[Color, Arg(help="", secret=True)], {"choices": ["***"]}),
        (
            A[str, Arg(help="", secret=True, nargs="?", const="k1")],
            {"nargs": "?", "const": "***"},
        ),
        (Color, {"choices": ["blue", "red"]}),
        (Color | None, {"choices": ["blue", "red"]}),
        (Color | Odd, {"choices": ["1", "OTHER", "blue", "red"]}),
        (tuple[Color, ...], {"choices": ["blue", "red"]}),
        (list[Color] | None, {"choices": ["blue", "red"]}),
        (A[set[Color] | None, "Some."], {"nargs": "+", "choices": ["blue", "red"]}),
        (Color | str, {}),
        (list[Color | str], {}),
        (tuple[()], {}),
        (dict[Color, Color], {}),
    ],
    ids=str,
)
def test_choices_are_what_a_type_takes_and_no_secrets(
    annotation: Any, said: dict[str, Any]
) -> None:
    body = {"_NS_PATH": "n", "__annotations__": {"x": annotation}, "x": None}
    cls = type(Namespace)("N", (Namespace,), body, registry=Registry(f"made {next(_numbers)}"))
    field = snapshot(compose("Made", [cls]))["fields"]["x"]
    keys = ("choices", "const", "nargs")
    assert {key: field[key] for key in keys if key in field} == said


def test_a_file_has_a_line_for_each_field_and_reads_back(tmp_path: Path) -> None:
    contract = snapshot(Args)
    write_contract(contract, tmp_path / "c.json")
    lines = (tmp_path / "c.json").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith('  "size": {')]
    assert len(lines) == 2 + 1 + 1 + (11 + 2) + 1 + (12 + 2) + (3 + 2)
    assert read_contract(tmp_path / "c.json") == contract
    assert list(tmp_path.iterdir()) == [tmp_path / "c.json"]


# The first example waits for the table of all characters.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.text("abc", min_size=1, max_size=4), unique=True, max_size=6), st.data())
def test_any_snapshot_is_the_same_after_json(names: list[str], data: st.DataObject) -> None:
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    body: dict[str, Any] = {"_NS_PATH": "n", "__annotations__": dict.fromkeys(names, Any)}
    body |= {name: data.draw(plain, label=name) for name in names}
    cls = type(Namespace)("N", (Namespace,), body, registry=Registry(f"made {next(_numbers)}"))
    contract = snapshot(compose("Made", [cls]))
    assert json.loads(text_of_contract(contract)) == contract


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read: No such file or directory"),
        ("{", "is no contract, not even JSON: "),
        ("[]", "is no contract; `python -m registry snapshot module:Class -o FILE` writes one"),
        ('{"format": 9}', "has the format 9, but this version reads 1; write it anew with "),
        ('{"format": 1}', "is damaged: 'positional' is not what a snapshot has"),
        (
            '{"format": 1, "positional": [], "retired": {}, "fields": {"a": 1}, "derived": {}}',
            "is damaged: fields.a has to be a mapping, not 1",
        ),
        (
            '{"format": 1, "positional": [], "retired": {"a": 1}, "fields": {}, "derived": {}}',
            "is damaged: 'retired' is not what a snapshot has",
        ),
        (
            '{"format": 1, "positional": [[]], "retired": {}, "fields": {}, "derived": {}}',
            "is damaged: 'positional' is not what a snapshot has",
        ),
    ],
)
def test_a_bad_file_is_named(content: str | None, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(ContractError) as caught:
        read_contract(file)
    assert str(caught.value).startswith(f"{file}: {problem}")


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("type", 1, "a text, not 1"),
        ("type", None, "a text, not None"),
        ("flags", "--a", "a list of texts, not '--a'"),
        ("flags", [1], "a list of texts, not [1]"),
        ("choices", {"a": 1}, "a list of texts, not {'a': 1}"),
        ("choices", ["x" * 99], ""),
        ("reads", [None], "a list of texts, not [None]"),
        ("nargs", [2], "a text or a number, not [2]"),
        ("nargs", 2, ""),
        ("namespace", 1, "a text or null, not 1"),
        ("namespace", None, ""),
        ("required", "x" * 99, f"true or false, not '{'x' * 56}..."),
        ("help", 1, "a text, not 1"),
        ("default", [1], ""),
        ("of_a_later_version", [1], ""),
    ],
)
@pytest.mark.parametrize("section", ["fields", "derived"])
def test_a_damaged_entry_is_named(
    section: str, key: str, value: Any, problem: str, tmp_path: Path
) -> None:
    contract = snapshot(Args)
    contract[section]["size" if section == "fields" else "pages"][key] = value
    file = tmp_path / "c.json"
    write_contract(contract, file)
    if not problem:
        assert read_contract(file) == contract
        return
    with pytest.raises(ContractError) as caught:
        read_contract(file)
    subject = "fields.size" if section == "fields" else "derived.pages"
    assert str(caught.value) == f"{file}: is damaged: {key!r} of {subject} has to be {problem}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("\udc80", "'\\udc80'"),
        (["\udc80"], "['\\udc80']"),
        ({"\udc80": 1}, "{'\\udc80': 1}"),
        (10**5000, hex(10**5000)),
    ],
    ids=["text", "list", "key", "number"],
)
def test_a_default_that_no_file_can_have_is_a_text(value: Any, text: str, tmp_path: Path) -> None:
    body = {"_NS_PATH": "n", "__annotations__": {"x": Any}}
    body |= {"x": dataclasses.field(default_factory=lambda: value)}
    cls = type(Namespace)("N", (Namespace,), body, registry=Registry(f"made {next(_numbers)}"))
    contract = snapshot(compose("Made", [cls]))
    assert contract["fields"]["x"]["default_text"] == text
    write_contract(contract, tmp_path / "c.json")
    assert read_contract(tmp_path / "c.json") == contract


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("\udc80", "'utf-8' codec can't encode"),
        (10**5000, "Exceeds the limit"),
        (object(), "Object of type object is not JSON serializable"),
    ],
    ids=["surrogate", "digits", "object"],
)
def test_what_no_file_can_have_is_an_error(value: Any, reason: str, tmp_path: Path) -> None:
    contract = snapshot(Args)
    contract["fields"]["size"]["default"] = value
    with pytest.raises(ContractError) as caught:
        write_contract(contract, tmp_path / "c.json")
    start = f"{contract['record']}: fields.'size' cannot be written: {reason}"
    assert str(caught.value).startswith(start)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("no/c.json", "No such file or directory"),
        ("file/c.json", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("pipe", "what is there is no regular file"),
        ("folder", "what is there is no regular file"),
        ("link", "what is there is no regular file"),
        ("nul\0", "(lstat: )?embedded null"),
    ],
)
def test_a_file_that_cannot_be_written_is_an_error(path: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ContractError) as caught:
        write_contract(snapshot(Args), tmp_path / path)
    start = re.escape(f"{tmp_path / path}: cannot be written: ")
    assert re.match(start + reason, str(caught.value))
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "pipe").is_fifo()


def test_a_file_that_is_replaced_keeps_its_mode_and_links_to_it(tmp_path: Path) -> None:
    file = tmp_path / ("c" * 255)
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    (tmp_path / "link").symlink_to(file)
    write_contract(snapshot(Args), tmp_path / "link")
    assert read_contract(file) == snapshot(Args)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert (tmp_path / "link").is_symlink()


def test_what_is_no_record_class_has_no_contract() -> None:
    with pytest.raises(ComposeError, match="int: is no record class"):
        snapshot(int)


Port = NewType("Port", int)
Inner = NewType("Inner", Port)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (Optional[int], "int | None"),  # noqa: UP045
        (None | int, "int | None"),
        (Union[str, int], "int | str"),  # noqa: UP007
        (Literal[None, "b", "a"], "Literal['b', 'a'] | None"),
        (Literal["a"] | Literal["b"] | None, "Literal['a', 'b'] | None"),
        (A[int, "Width."] | None, "int | None"),
        (dict[str, Any], "dict[str, Any]"),
        (tuple[()], "tuple[()]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (pathlib.Path, "pathlib.Path"),
        (Color, f"{__name__}.Color"),
        (Port, f"{__name__}.Port(int)"),
        (list[Inner], f"list[{__name__}.Inner({__name__}.Port(int))]"),
        (type[Any] | None, "type[Any] | None"),
    ],
)
def test_a_type_has_one_text(annotation: Any, text: str) -> None:
    assert text_of_type(annotation) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # Python 3.10 does not know the first one, 3.13 does.
        ("\U0001fae8", "'\\U0001fae8'"),
        ("\xe9'", '"\\xe9\'"'),
        (["\udc80"], "['\\udc80']"),
        (pathlib.PurePosixPath("\U0001fae8"), "pathlib.PurePosixPath(pathlib.PurePath('{}'))"),
    ],
)
def test_a_text_is_ascii_whichever_characters_a_python_knows(value: Any, text: str) -> None:
    assert text_of_value(value) == text.format("\\U0001fae8")
    assert text_of_type(Literal["\U0001fae8"]) == "Literal['\\U0001fae8']"


@pytest.mark.parametrize(
    "value", [object(), lambda: 1, [lambda: 1], {"a": object()}, [].append], ids=repr
)
def test_what_differs_between_processes_has_no_text(value: Any) -> None:
    with pytest.raises(UnstableError):
        text_of_value(value)


def test_what_contains_itself_has_no_text() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(UnstableError, match="contains itself, or nests too deeply"):
        text_of_value(endless)


PYTHONS = [sys.executable, *filter(None, map(shutil.which, ("python3.10", "python3.14")))]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("seed", ["0", "1"])
def test_it_is_the_same_in_every_process(python: str, seed: str) -> None:
    probe = [python, "-c", "import typing_extensions"]
    if subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("this Python lacks typing_extensions")
    done = subprocess.run(
        [python, "-m", "registry", "snapshot", "namespaces:ServerArgs"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONHASHSEED": seed},
        timeout=60,
    )
    written = (ROOT / "namespaces" / "contract.json").read_text(encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == written
