"""A program whose record class is in its script gets the class back that it sent by value."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("cloudpickle")

ROOT = Path(__file__).parents[2]

SCRIPT = """
import dataclasses, enum, json, pickle
import cloudpickle
from registry import Context, Namespace, compose, derive, derived, namespace_of

class Color(enum.Enum):
    RED = "red"

class Parallel(Namespace):
    _NS_PATH = "parallel"
    tp_size: int = 1
    tags: list[str] = dataclasses.field(default_factory=list)
    color: Color = Color.RED

    @derived
    def doubled(cfg) -> int:
        return 2 * cfg.tp_size

Args = compose("Args", [Parallel])

@dataclasses.dataclass
class Sub(Args):
    extra: int = 7

class Plain(Args):
    pass

def knows(cls):
    record = cls(tp_size=4)
    bag = Context(record).bag("parallel")
    return [derive(record).doubled, bag.doubled, namespace_of(cls, "tp_size"), record == cls(4)]

def echo(what):
    return what
"""

ROUNDS = {
    "a record": "cloudpickle.loads(cloudpickle.dumps({cls}(8)))",
    "the class": "cloudpickle.loads(cloudpickle.dumps({cls}))()",
    "plain pickle reads": "pickle.loads(cloudpickle.dumps({cls}(8)))",
    "twice": "cloudpickle.loads(cloudpickle.dumps(cloudpickle.loads(cloudpickle.dumps({cls}()))))",
    "changes": "cloudpickle.loads(cloudpickle.dumps(Context({cls}(8)).changes())).record",
}


def printed(folder: Path, script: str) -> list[object]:
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("cls", ["Args", "Sub", "Plain"])
def test_a_class_that_comes_back_knows_what_it_was_composed_of(tmp_path: Path, cls: str) -> None:
    lines = [f"what = {each.format(cls=cls)}" for each in ROUNDS.values()]
    asked = f"print(json.dumps([type(what) is {cls}, derive(what).doubled, *knows({cls})]))"
    script = "\n".join([SCRIPT, *(f"{line}\n{asked}" for line in lines)])
    knows = [8, 8, "parallel", True]
    assert printed(tmp_path, script) == [[True, each, *knows] for each in (16, 2, 16, 2, 16)]


def test_a_context_goes_on_after_its_changes_came_back(tmp_path: Path) -> None:
    script = f"""{SCRIPT}
context = Context(Args())
context.override("scale-up", tp_size=8)
back = cloudpickle.loads(cloudpickle.dumps(context.changes()))
print(json.dumps([context.apply_changes(back), Context(Args()).apply_changes(back)]))
context.override("scale-up", tp_size=16)
print(json.dumps([context.bag("parallel").doubled, repr(Args()), repr(back.record)]))
"""
    assert printed(tmp_path, script) == [[0, 1], [32, "Args()", "Args()"]]


def test_what_joblib_workers_return_is_of_the_class_here(tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    script = f"""{SCRIPT}
import joblib
if __name__ == "__main__":
    with joblib.parallel_config(backend="loky", n_jobs=2):
        for _ in "ab":
            sent = [Args(each) for each in range(3)] + [Sub(1, extra=2)]
            found = joblib.Parallel()(joblib.delayed(echo)(each) for each in sent)
            print(json.dumps([found == sent, *knows(Args), *knows(Sub)]))
            print(json.dumps([derive(each).doubled for each in found]))
"""
    knows = [8, 8, "parallel", True]
    assert printed(tmp_path, script) == [[True, *knows, *knows], [0, 2, 4, 2]] * 2


def test_another_copy_of_the_pickler_makes_a_class_that_knows_it_too(tmp_path: Path) -> None:
    """Such as the one inside of Ray: it does not recognise a class that another one sent."""
    script = f"""{SCRIPT}
import importlib.util, sys
def another():
    spec = importlib.util.spec_from_file_location("another", cloudpickle.cloudpickle.__file__)
    sys.modules["another"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["another"])
    return sys.modules["another"]
sent = another().dumps(Args(8))
copy = another().loads(sent)
print(json.dumps([type(copy) is Args, derive(copy).doubled, copy.tp_size, *knows(Args)]))
"""
    assert printed(tmp_path, script) == [[False, 16, 8, 8, 8, "parallel", True]]
