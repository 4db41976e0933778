"""A record crosses to a freshly started process, with values of every kind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MODULE = """
import dataclasses, enum
from typing import Any, NamedTuple
from registry import Namespace, Registry, compose, derive, derived, fields_set, namespace_of

class Color(enum.Enum):
    RED = "red"

class Pair(NamedTuple):
    left: int
    right: str

@dataclasses.dataclass
class Inner:
    depth: int
    names: list

class Values(Namespace, registry=Registry("acme")):
    _NS_PATH = "values"
    inner: Any = None
    color: Color = Color.RED
    names: Any = dataclasses.field(default_factory=set)
    pair: Any = None
    width: int = 1

    @derived
    def doubled(cfg) -> int:
        return cfg.width * 2

Args = compose("Args", [Values])

def make():
    record = Args(inner=Inner(2, ["a"]), names={"x", "y"}, pair=Pair(1, "r"), width=4)
    record._book = {"a": 1}
    return record

def look(record):
    assert record == make() and vars(record) == vars(make()), record
    assert type(record.pair) is Pair and record.color is Color.RED
    assert not hasattr(record, "doubled")
    asdict = dataclasses.asdict(record)
    assert asdict["inner"] == {"depth": 2, "names": ["a"]} and "doubled" not in asdict
    return {"set": sorted(fields_set(record)), "doubled": derive(record).doubled,
            "book": record._book, "path": namespace_of(record, "pair")}
"""

MAIN = """
import json, multiprocessing, sys
import acme_args

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(1) as pool:
        print(json.dumps(pool.apply(acme_args.look, [acme_args.make()])))
        assert pool.apply(acme_args.make) == acme_args.make()
"""

SEEN = {
    "set": ["inner", "names", "pair", "width"],
    "doubled": 8,
    "book": {"a": 1},
    "path": "values",
}


def run(folder: Path, *arguments: str) -> str:
    """Run a Python script in a folder that has its modules, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT}:{folder}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_fresh_process_sees_the_same_record(tmp_path: Path, method: str) -> None:
    (tmp_path / "acme_args.py").write_text(MODULE)
    (tmp_path / "main.py").write_text(MAIN)
    assert json.loads(run(tmp_path, "main.py", method)) == SEEN


def test_a_record_declared_in_the_main_script_reaches_its_children(tmp_path: Path) -> None:
    script = MODULE + MAIN.replace("import acme_args\n", "acme_args = sys.modules[__name__]\n")
    (tmp_path / "main.py").write_text(script)
    assert json.loads(run(tmp_path, "main.py", "spawn")) == SEEN
