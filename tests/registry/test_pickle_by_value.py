"""A record whose class itself is sent along, as cloudpickle does for a class of a script."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cloudpickle")

ROOT = Path(__file__).parents[2]

WRITER = """
import dataclasses, enum
import cloudpickle
from registry import A, Arg, Namespace, Registry, compose, derived

class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"

class Parallel(Namespace, registry=Registry("script")):
    _NS_PATH = "parallel"
    model_path: A[str, Arg(help="Weights.")]
    tp_size: int = 1
    tags: list[str] = dataclasses.field(default_factory=list)
    key: A[str | None, Arg(secret=True)] = None
    revision: str
    color: Color = Color.RED
    hook: object = len
    scorer: object = lambda value: value

    @derived
    def doubled(cfg) -> int:
        return cfg.tp_size * 2

def doubled_here(self):
    return self.tp_size * 2

Args = compose("Args", [Parallel], namespace={"doubled_here": doubled_here})

@dataclasses.dataclass
class Sub(Args):
    extra: int = 7

Sub("m", revision="r")  # its schema is worked out here already
records = [
    Args("m", 8, revision="r", key="sk", color=Color.BLUE),
    Sub("m", 8, revision="r", extra=1),
]
for record in records:
    record._book = {"a": 1}
with open("record.pickle", "wb") as file:
    cloudpickle.dump(records, file)
"""

READER = """
import copy, dataclasses, inspect, json, pickle, sys
assert "cloudpickle" not in sys.modules
with open("record.pickle", "rb") as file:
    record, sub = pickle.load(file)
from registry import derive, fields_set, namespace_of
cls, sub_class = type(record), type(sub)

def error(function):
    try:
        return repr(function())
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def values_of(record):
    functions = {"scorer": record.scorer(5), "hook": record.hook("ab")}
    return {**vars(record), "color": record.color.value, **functions}

print(json.dumps({
    "values": values_of(record),
    "a class of the script": type(record.color) is type(cls("n", revision="s").color),
    "set": sorted(fields_set(record)),
    "repr": repr(record),
    "made": repr(cls("n", revision="s")),
    "own": cls("n", revision="s").tags is not cls("n", revision="s").tags,
    "equal": record == copy.deepcopy(record) and record != cls("n", revision="s"),
    "signature": str(inspect.signature(cls)).partition(", tags")[0].replace("typing.", ""),
    "fields": [each.name for each in dataclasses.fields(cls)],
    "replaced": repr(dataclasses.replace(record, tp_size=2).tp_size),
    "path": namespace_of(cls, "tp_size"),
    "method": record.doubled_here(),
    "sub": repr(sub), "sub set": sorted(fields_set(sub)),
    "sub made": repr(sub_class("n", revision="s")),
    "sub values": values_of(sub), "sub path": namespace_of(sub_class, "tp_size"),
    "is a": isinstance(sub, cls),
    "call": error(lambda: cls("n")),
    "unknown": error(lambda: cls("n", tp_sise=3)),
    "assign": error(lambda: setattr(record, "tp_sise", 3)),
    "derive": error(lambda: derive(record)),
    "look up": error(lambda: namespace_of(cls, "doubled")),
    "back": error(lambda: pickle.dumps(record)),
}))
"""

VALUES = {
    "model_path": "m",
    "tp_size": 8,
    "tags": [],
    "key": "sk",
    "revision": "r",
    "color": "blue",
    "hook": 2,
    "scorer": 5,
}


def python(folder: Path, source: str) -> str:
    """Run a script in a process of its own and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", source],
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
    """What a process that cannot import the class sees of it."""
    folder = tmp_path_factory.mktemp("by_value")
    python(folder, WRITER)
    seen: dict[str, Any] = json.loads(python(folder, READER))
    return seen


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("values", {**VALUES, "_book": {"a": 1}}),
        ("a class of the script", True),
        ("set", ["color", "key", "model_path", "revision", "tp_size"]),
        (
            "repr",
            "Args(model_path='m', tp_size=8, key='***', revision='r', color=<Color.BLUE: 'blue'>)",
        ),
        ("made", "Args(model_path='n', revision='s')"),
        ("own", True),
        ("equal", True),
        ("signature", "(model_path: Annotated[str, Arg(help='Weights.')], tp_size: int = 1"),
        ("fields", list(VALUES)),
        ("replaced", "2"),
        ("path", "parallel"),
        ("method", 16),
        ("sub", "Sub(model_path='m', tp_size=8, revision='r', extra=1)"),
        ("sub set", ["extra", "model_path", "revision", "tp_size"]),
        ("sub made", "Sub(model_path='n', revision='s')"),
        ("sub values", {**VALUES, "key": None, "color": "red", "extra": 1, "_book": {"a": 1}}),
        ("sub path", "parallel"),
        ("is a", True),
        (
            "call",
            "CallError: Args.__init__() missing 1 required keyword-only argument: 'revision'",
        ),
        (
            "unknown",
            "CallError: Args.__init__() got an unexpected keyword argument 'tp_sise'. "
            "Did you mean 'tp_size'?",
        ),
        (
            "assign",
            "UnknownAttributeError: 'Args' object has no field 'tp_sise'. Did you mean 'tp_size'?",
        ),
        (
            "derive",
            "ComposeError: Args: was pickled by value, and what it was composed of did not come "
            "along; put its namespaces in a module that both processes import",
        ),
        ("look up", "UnknownFieldError: Args has no field 'doubled'."),
        (
            "back",
            "RecordPicklingError: cannot pickle a Args: the class is not __main__.Args, where a "
            "reader would look for it. Bind what compose() returned to that name at module "
            "level, or pass compose(..., module=...) the module that has it",
        ),
    ],
)
def test_a_process_that_cannot_import_the_class(
    seen: dict[str, Any], what: str, expected: Any
) -> None:
    assert seen[what] == expected
