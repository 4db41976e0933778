"""A record as plain values and as a file, and a file as a record."""

import dataclasses
import decimal
import enum
import errno
import functools
import json
import math
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ComposeError,
    ConfigFileError,
    InvalidSettingsError,
    MissingSettingsError,
    Namespace,
    Registry,
    UnknownFieldError,
    UnwritableError,
    compose,
    dump,
    fields_set,
    load,
    to_dict,
)

ROOT = Path(__file__).parents[2]
MISSING = dataclasses.MISSING
PLAIN = Arg(help="Value.")
SUFFIXES = (".yaml", ".yml", ".toml", ".json")

each_suffix = pytest.mark.parametrize("suffix", SUFFIXES)
nested_or_flat = pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Point:
    x: int = 0


class Pair(NamedTuple):
    left: int
    right: str


def record_of(annotation: Any, arg: Arg = PLAIN, default: Any = MISSING) -> type[Any]:
    """A record with one field `x` of a type, in the namespace `some.path`."""
    body: dict[str, Any] = {"_NS_PATH": "some.path", "__annotations__": {"x": A[annotation, arg]}}
    if default is not MISSING:
        body["x"] = default
    Some = type(Namespace)("Some", (Namespace,), body, registry=Registry("types"))
    return compose("Args", [Some])


def problem_of(write: Callable[[], object]) -> str:
    with pytest.raises(UnwritableError) as caught:
        write()
    # The place of a class that was made without a class statement says nothing.
    return str(caught.value).partition(": ")[2]


WRITTEN: list[tuple[Any, Any, Any]] = [
    (int, 8, 8),
    (float, 1, 1),
    (float, 0.1, 0.1),
    (float, -1e30, -1e30),
    (int, -(10**4000), -(10**4000)),
    (bool, False, False),
    (str, "", ""),
    (str, "8", "8"),
    (str, "no", "no"),
    (str, "1e3", "1e3"),
    (str, "null", "null"),
    (str, "# x: {y}", "# x: {y}"),
    (str, "a\0\t\r\n\x7f\x85\u2028\ufeff\uffff\U0001f600", None),
    (int | str, "8", "8"),
    (Color, Color.BLUE, "blue"),
    (Level, Level.HIGH, "2"),
    (Literal["a", 1], 1, 1),
    (set[int], {10, 9}, [9, 10]),
    (set[str], set(), []),
    (frozenset[Color], frozenset(Color), ["blue", "red"]),
    (tuple[int, int], (1, 2), [1, 2]),
    (tuple[str, ...], (), []),
    (list[str], ["-x", ""], ["-x", ""]),
    (list[pathlib.Path], [pathlib.Path("/a b")], ["/a b"]),
    (list[Level], [Level.HIGH], ["2"]),
    (dict[str, int], {"": 1, "a.b": 2, 'q"': 3}, {"": 1, "a.b": 2, 'q"': 3}),
    (dict[str, Any], {"a": [{"b": []}]}, {"a": [{"b": []}]}),
    (str | dict[str, int], {"a": 1}, {"a": 1}),
    (decimal.Decimal, decimal.Decimal("1.10"), "1.10"),
    (complex, 1j, "1j"),
]


@each_suffix
@nested_or_flat
@pytest.mark.parametrize(("annotation", "value", "plain"), WRITTEN)
def test_a_value_comes_back(
    annotation: Any, value: Any, plain: Any, suffix: str, nested: bool, tmp_path: Path
) -> None:
    Args = record_of(annotation)
    record = Args(x=value)
    assert to_dict(record) == {"x": value if plain is None else plain}
    file = tmp_path / f"run{suffix}"
    dump(record, file, nested=nested)
    back = load(Args, file)
    assert back == record
    assert type(back.x) is type(value)
    assert fields_set(back) == {"x"}
    assert os.listdir(tmp_path) == [file.name]


UNWRITTEN: list[tuple[Any, Any, str]] = [
    (Any, Point(1), "Point, has no plain value that a file could hold for it"),
    (Any, Pair(1, "a"), "Pair, has no plain value that a file could hold for it"),
    (Any, {1, 2}, "set, has no plain value that a file could hold for it"),
    (Any, len, "builtin_function_or_method, has no plain value that a file could hold for it"),
    (bytes, b"x", "bytes, has no plain value that a file could hold for it"),
    (dict[int, int], {1: 1}, "dict, has no plain value that a file could hold for it"),
    (dict[str, Any], {"a": (1,)}, "dict, has no plain value that a file could hold for it"),
    (int, True, "bool, has no plain value that a file could hold for it"),
    (int, None, "NoneType, has no plain value that a file could hold for it"),
]
ADVICE = "; leave it out with exclude=['x'], or send the record by pickle"


@pytest.mark.parametrize(("annotation", "value", "problem"), UNWRITTEN)
def test_what_is_not_plain_is_refused(annotation: Any, value: Any, problem: str) -> None:
    Args = record_of(annotation, Arg(no_cli=True))
    refused = problem_of(lambda: to_dict(Args(x=value)))
    assert refused == f"x, whose value is of type {problem}{ADVICE}"
    assert to_dict(Args(x=value), exclude=["x"]) == {}


def test_what_contains_itself_is_refused() -> None:
    value: dict[str, Any] = {}
    value["x"] = value
    record = record_of(dict[str, Any])(x=value)
    assert "type dict, has no plain value" in problem_of(lambda: to_dict(record))


LACKING: list[tuple[str, Any, Any, str]] = [
    (".toml", int | None, None, "cannot be written: TOML has no null, YAML and JSON have"),
    (
        ".toml",
        dict[str, Any],
        {"a": [None]},
        "cannot be written: TOML has no null, YAML and JSON have",
    ),
    (
        ".json",
        float,
        math.inf,
        "cannot be written: JSON has no infinity and no NaN, YAML and TOML have",
    ),
    (
        ".json",
        list[float],
        [math.nan],
        "cannot be written: JSON has no infinity and no NaN, YAML and TOML have",
    ),
    (".yaml", str, "\ud800", "does not come back from a .yaml file as it is"),
    (".toml", str, "\ud800", "does not come back from a .toml file as it is"),
    (".json", int, 10**5000, "does not come back from a .json file as it is"),
]


@pytest.mark.parametrize(
    ("suffix", "annotation", "value", "problem"), LACKING, ids=map(str, range(len(LACKING)))
)
def test_what_a_format_cannot_hold_is_refused(
    suffix: str, annotation: Any, value: Any, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / f"run{suffix}"
    file.write_text("before")
    record = record_of(annotation)(x=value)
    kind = type(value).__name__
    refused = problem_of(lambda: dump(record, file))
    assert refused == f"x, whose value is of type {kind}, {problem}{ADVICE}"
    assert file.read_text() == "before"
    assert os.listdir(tmp_path) == [file.name]


@pytest.mark.parametrize("depth", [90, 200, 100_000])
@each_suffix
def test_only_what_can_be_read_is_written(depth: int, suffix: str, tmp_path: Path) -> None:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    record = record_of(list[Any] | int, Arg(no_cli=True))(x=value)
    if depth == 90:
        dump(record, tmp_path / f"run{suffix}")
        assert load(type(record), tmp_path / f"run{suffix}") == record
    else:
        assert "type list, " in problem_of(lambda: dump(record, tmp_path / f"run{suffix}"))
        assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("suffix", [".yaml", ".toml"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_beyond_the_finite(suffix: str, value: float, tmp_path: Path) -> None:
    Args = record_of(list[float])
    dump(Args(x=[value]), tmp_path / f"run{suffix}")
    (back,) = load(Args, tmp_path / f"run{suffix}").x
    assert back == value or (back != back and value != value)


def test_a_default_that_a_format_cannot_hold_is_left_out(tmp_path: Path) -> None:
    Args = record_of(int | None, default=None)
    dump(Args(x=None), tmp_path / "run.toml")
    assert load(Args, tmp_path / "run.toml") == Args()
    assert to_dict(Args(x=None)) == {"x": None}
    dump(Args(x=None), tmp_path / "run.yaml")
    assert fields_set(load(Args, tmp_path / "run.yaml")) == {"x"}


FAMILY = Registry("family")


class Model(Namespace, registry=FAMILY):
    _NS_PATH = "model"
    model: A[str, "Weights."]
    options: A[dict[str, int] | None, "Options."] = None


class Device(Namespace, registry=FAMILY):
    _NS_PATH = "device"
    device: A[dict[str, str] | str | None, "Kind."] = "cuda"
    count: A[int, "How many."] = 1


class ExecMoe(Namespace, registry=FAMILY):
    _NS_PATH = "exec.moe"
    ep_size: A[int, "Width."] = 1


class Exec(Namespace, registry=FAMILY):
    _NS_PATH = "exec"
    overlap: A[bool, "Overlap."] = True
    worker_hook: int | None = None
    _mark: A[int | None, Arg(no_cli=True)] = None


Args = compose("Args", [Model, Device, ExecMoe, Exec])
RECORD = Args("m", {"a": 1}, count=2, ep_size=4, overlap=True, worker_hook=3)

TEXTS = {
    (".yaml", False): """\
model: m
options:
  a: 1
count: 2
ep_size: 4
overlap: true
worker_hook: 3
""",
    (".yaml", True): """\
model:
  model: m
  options:
    a: 1
device:
  count: 2
exec:
  moe:
    ep_size: 4
  overlap: true
  worker_hook: 3
""",
    (".toml", False): """\
model = "m"
count = 2
ep_size = 4
overlap = true
worker_hook = 3

[options]
a = 1
""",
    (".toml", True): """\
[model]
model = "m"

[model.options]
a = 1

[device]
count = 2

[exec]
overlap = true
worker_hook = 3

[exec.moe]
ep_size = 4
""",
    (".json", True): """\
{
  "model": {
    "model": "m",
    "options": {
      "a": 1
    }
  },
  "device": {
    "count": 2
  },
  "exec": {
    "moe": {
      "ep_size": 4
    },
    "overlap": true,
    "worker_hook": 3
  }
}
""",
}


@pytest.mark.parametrize(("suffix", "nested"), TEXTS)
def test_a_file_reads_well(suffix: str, nested: bool, tmp_path: Path) -> None:
    file = tmp_path / f"run{suffix}"
    dump(RECORD, file, nested=nested)
    assert file.read_text() == TEXTS[suffix, nested]
    assert load(Args, file) == RECORD
    assert fields_set(load(Args, file)) == fields_set(RECORD)


@each_suffix
@nested_or_flat
@pytest.mark.parametrize("device", [{"a": "b"}, "cpu", None])
def test_a_field_with_the_name_of_a_namespace(
    device: Any, suffix: str, nested: bool, tmp_path: Path
) -> None:
    if suffix == ".toml" and device is None:
        pytest.skip("TOML has no null")
    record = Args("m", device=device, count=2)
    dump(record, tmp_path / f"run{suffix}", nested=nested)
    assert load(Args, tmp_path / f"run{suffix}") == record
    key = "device" if device == "cpu" else "device.device"
    assert to_dict(record)[key] == device


@each_suffix
@nested_or_flat
def test_a_record_with_nothing_set(suffix: str, nested: bool, tmp_path: Path) -> None:
    Some = compose("Some", [Device])
    dump(Some(), tmp_path / f"run{suffix}", nested=nested)
    back = load(Some, tmp_path / f"run{suffix}")
    assert back == Some()
    assert fields_set(back) == set()


def test_names_that_are_no_bare_keys(tmp_path: Path) -> None:
    body = {
        "_NS_PATH": "größe",
        "__annotations__": dict.fromkeys(["höhe", "null", "nan"], A[int, "x"]),
    }
    Odd = type(Namespace)("Odd", (Namespace,), body, registry=Registry("odd"))
    Some = compose("Some", [Odd])
    record = Some(1, 2, 3)
    for suffix in SUFFIXES:
        for nested in (False, True):
            dump(record, tmp_path / f"run{suffix}", nested=nested)
            assert load(Some, tmp_path / f"run{suffix}") == record


def test_the_programs_own_fields_are_refused_or_left_out() -> None:
    record = Args("m", _mark=1)
    problem = problem_of(lambda: to_dict(record))
    assert problem == (
        "_mark, whose value is of type int, is the program's own, which a file cannot set; "
        "leave it out with exclude=['_mark'], or send the record by pickle"
    )
    assert to_dict(record, exclude=["_mark"]) == {"model": "m"}
    assert to_dict(Args("m", _mark=None)) == {"model": "m"}
    record = Args("m")
    record._seen = True
    assert to_dict(record) == {"model": "m"}


def test_a_problem_has_its_place(module_from: Callable[..., ModuleType]) -> None:
    written = module_from("""
        from registry import Namespace, Registry, compose

        class Hooks(Namespace, registry=Registry("places")):
            _NS_PATH = "hooks"
            before: object = None
            after: object = None

        Args = compose("Args", [Hooks])
    """)
    with pytest.raises(UnwritableError) as caught:
        to_dict(written.Args(len, len))
    first, second = str(caught.value).splitlines()
    assert first.startswith(f"{written.__file__}:6: before, whose value is of type builtin_")
    assert second.startswith(f"{written.__file__}:7: after, whose value is of type builtin_")


def test_what_was_changed_in_place_is_written() -> None:
    class Lists(Namespace, registry=Registry("lists")):
        _NS_PATH = "lists"
        names: A[list[str], "Names."] = dataclasses.field(default_factory=list)

    record = compose("Listed", [Lists])()
    assert to_dict(record) == {}
    record.names.append("a")
    plain = to_dict(record)
    assert plain == {"names": ["a"]}
    plain["names"].append("b")
    assert record.names == ["a"]


class Server(Namespace, registry=Registry("secrets")):
    _NS_PATH = "server"
    api_key: A[str | None, Arg(help="Key.", secret=True)] = None
    pins: A[list[int] | None, Arg(help="Pins.", secret=True)] = None
    port: A[int, "Port."] = 80


Secrets = compose("Secrets", [Server])
KNOWN = Secrets("hunter2", [4711], 8080)


@each_suffix
@nested_or_flat
def test_secrets_are_masked_and_then_not_read(suffix: str, nested: bool, tmp_path: Path) -> None:
    file = tmp_path / f"run{suffix}"
    dump(KNOWN, file, nested=nested)
    assert "hunter2" not in file.read_text() and "4711" not in file.read_text()
    with pytest.raises(InvalidSettingsError) as caught:
        load(Secrets, file)
    assert "api_key is masked" in str(caught.value) and "pins is masked" in str(caught.value)
    dump(KNOWN, file, nested=nested, reveal=True)
    assert load(Secrets, file) == KNOWN


def test_masked_values() -> None:
    assert to_dict(KNOWN) == {"api_key": "***", "pins": "***", "port": 8080}
    assert to_dict(KNOWN, reveal=True) == {"api_key": "hunter2", "pins": [4711], "port": 8080}
    assert to_dict(Secrets(api_key=None)) == {"api_key": None}


def test_no_message_shows_a_secret(tmp_path: Path) -> None:
    for record in (Secrets("hunter2\ud800"), Secrets(pins=["hunter2"]), Secrets("***")):
        with pytest.raises(UnwritableError) as caught:
            dump(record, tmp_path / "run.toml", reveal=True)
        assert "hunter2" not in str(caught.value)
    assert os.listdir(tmp_path) == []


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_only_the_owner_reads_secrets(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    umask = os.umask(0o022)
    try:
        dump(KNOWN, file)
        assert mode_of(file) == 0o644
        file.chmod(0o640)
        dump(KNOWN, file)
        assert mode_of(file) == 0o640
        dump(KNOWN, file, reveal=True)
        assert mode_of(file) == 0o600
        dump(KNOWN, file)
        assert mode_of(file) == 0o600
        dump(Secrets(port=1), tmp_path / "other.json", reveal=True)
        assert mode_of(tmp_path / "other.json") == 0o644
    finally:
        os.umask(umask)


@pytest.mark.skipif(os.name == "nt", reason="special files of POSIX")
@pytest.mark.parametrize("reveal", [False, True])
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda path: os.mkfifo(path), "a pipe"),
        (functools.partial(os.symlink, os.devnull), "a device"),
    ],
)
def test_what_is_no_file_is_not_replaced(
    make: Callable[[Path], None], kind: str, reveal: bool, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    make(path)
    before = path.stat()
    with pytest.raises(ConfigFileError) as caught:
        dump(KNOWN, path, reveal=reveal)
    assert str(caught.value) == f"{path}: this is {kind}, only a file can be replaced"
    assert os.listdir(tmp_path) == ["run.json"] and path.stat().st_ino == before.st_ino


DUMP_AS_NOBODY = """
import encodings.utf_8_sig, os, sys  # nobody may be unable to read what is installed
import registry
from registry import A, Arg, Namespace, Registry, compose, dump

if not os.geteuid():
    os.setgid(65534)
    os.setuid(65534)

class Secrets(Namespace, registry=Registry("secrets")):
    _NS_PATH = "server"
    api_key: A[str | None, Arg(secret=True)] = None

record = compose("Secrets", [Secrets])(api_key="k")
for reveal in (False, True):
    try:
        dump(record, sys.argv[1], reveal=reveal)
        print("written", oct(os.stat(sys.argv[1]).st_mode & 0o777))
    except registry.ConfigFileError as error:
        print(error.problem)
"""


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
@pytest.mark.parametrize(
    ("mode", "lines"),
    [
        (0o444, ["the file cannot be written: it is read-only"] * 2),
        (0o200, ["written 0o200", "written 0o600"]),
        (0o000, ["the file cannot be written: it is read-only"] * 2),
    ],
)
def test_a_file_that_may_not_be_written_stays_and_one_that_may_not_be_read_is_replaced(
    mode: int, lines: list[str]
) -> None:
    # Not below the directory of tests: nobody else can enter that.
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory, "run.json")
        file.write_text("{}")
        if not os.geteuid():
            os.chown(directory, 65534, 65534)
            os.chown(file, 65534, 65534)
        file.chmod(mode)
        command = [sys.executable, "-c", DUMP_AS_NOBODY, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stdout.splitlines(), done.stderr) == (lines, "")


def test_of_a_link_the_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "run.yaml"
    link.symlink_to(tmp_path / "real" / "settings.yaml")
    dump(Secrets(port=1), link)
    assert link.is_symlink()
    assert load(Secrets, tmp_path / "real" / "settings.yaml") == Secrets(port=1)


def test_a_file_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("port: 1\n")

    def full(*args: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigFileError) as caught:
        dump(Secrets(port=2), file)
    assert str(caught.value) == f"{file}: the file cannot be written: No space left on device"
    assert file.read_text() == "port: 1\n"
    assert os.listdir(tmp_path) == ["run.yaml"]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (
            "run.ini",
            "the suffix tells the format to write; name it .yaml (or .yml), .toml or .json",
        ),
        ("run", "the suffix tells the format to write; name it .yaml (or .yml), .toml or .json"),
        ("none/run.yaml", "the file cannot be written: No such file or directory"),
        ("there.yaml", "this is a directory, only a file can be replaced"),
        ("nul\0.yaml", "this cannot be the path of a file: "),
    ],
)
def test_a_path_that_cannot_be_written(name: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "there.yaml").mkdir()
    with pytest.raises(ConfigFileError) as caught:
        dump(Secrets(port=1), f"{tmp_path}/{name}")
    assert str(caught.value).startswith(f"{tmp_path}/{name}: {problem}")
    assert os.listdir(tmp_path) == ["there.yaml"]


@pytest.mark.parametrize(
    ("package", "suffix", "task", "extra"),
    [("yaml", ".yaml", "reading YAML", "yaml"), ("tomli_w", ".toml", "writing TOML", "toml")],
)
def test_a_format_whose_package_is_missing(
    package: str,
    suffix: str,
    task: str,
    extra: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigFileError) as caught:
        dump(Secrets(port=1), tmp_path / f"run{suffix}")
    assert str(caught.value) == (
        f"{tmp_path}/run{suffix}: {task} needs a package; pip install 'namespace-registry[{extra}]'"
    )
    assert os.listdir(tmp_path) == []


def test_a_file_that_lacks_what_is_required(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(MissingSettingsError) as caught:
        load(Args, tmp_path / "run.json")
    assert str(caught.value) == f"{tmp_path}/run.json: model is required; write it in the file"


def test_what_is_retired(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"old": 1}')
    with pytest.raises(InvalidSettingsError, match="old is retired; write port instead"):
        load(Secrets, tmp_path / "run.json", retired={"--old": "--port"})


def test_they_take_a_record_and_fields_of_it(tmp_path: Path) -> None:
    with pytest.raises(ComposeError, match=r"to_dict\(\): takes an instance of a composed record"):
        to_dict({"a": 1})
    with pytest.raises(ComposeError, match=r"dump\(\): takes an instance of a composed record"):
        dump(Secrets, tmp_path / "run.json")
    with pytest.raises(UnknownFieldError, match="Secrets has no field 'prot'"):
        to_dict(KNOWN, exclude=["prot"])


def test_a_file_that_is_too_large_is_not_written(tmp_path: Path) -> None:
    text = record_of(str)
    with pytest.raises(UnwritableError, match="does not come back from a"):
        dump(text(x="x" * (17 * 1024 * 1024)), tmp_path / "run.json")
    assert os.listdir(tmp_path) == []


VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
Anything = record_of(dict[str, Any])


# Each example writes files, and the first one waits for the table of all characters.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    value=st.dictionaries(st.text(), VALUES, max_size=3),
    suffix=st.sampled_from(SUFFIXES),
    nested=st.booleans(),
)
def test_whatever_is_plain_comes_back(
    value: dict[str, Any], suffix: str, nested: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("dump") / f"run{suffix}"
    record = Anything(x=value)
    dump(record, file, nested=nested)
    assert load(Anything, file) == record
    # TOML has plain values before mappings, whatever the order was.
    again, before = (
        json.dumps(to_dict(each), sort_keys=suffix == ".toml")
        for each in (load(Anything, file), record)
    )
    assert again == before
