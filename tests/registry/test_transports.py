"""A record and its changes reach a joiner by every transport, and it reads the same widths."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

MODULE = """
from registry import A, Arg, Namespace, Registry, check, compose, derived, live, publish

class Parallel(Namespace, registry=Registry("transports")):
    _NS_PATH = "parallel"

    tp_size: int = 1
    dp_size: int = 1
    key: A[str, Arg(help="Key.", secret=True)] = ""
    {more}

    @derived
    def attn_tp_size(cfg) -> int:
        return cfg.tp_size // cfg.dp_size

    @derived
    def keyed(cfg) -> int:
        return len(cfg.key)

    @check
    def it_divides(cfg):
        "dp_size divides tp_size"
        return cfg.tp_size % cfg.dp_size == 0

Args = compose("Args", [Parallel])

def widths():
    parallel = live.parallel
    return [parallel.tp_size, parallel.dp_size, parallel.attn_tp_size, parallel.keyed]

def lead():
    context = publish(Args(tp_size=4, dp_size=2, key="abc"))
    context.override("scale-up", tp_size=8, dp_size=4)
    context.override("planner", attn_tp_size=16)
    context.release("attn_tp_size")
    context.override("operator", key="abcdef")
    return context

def join(record, *changes):
    context = publish(record, role="joiner")
    for each in changes:
        context.apply_changes(each)
    return widths(), [(each.source, dict(each.fields)) for each in context.log]
"""

LEAD = """
import sys
import acme_joins as acme

if __name__ == "__main__":
    context = acme.lead()
    record, changes = context.record, context.changes()
    late = context.changes(since=2)
    def agree(found):
        here = acme.widths(), [(each.source, dict(each.fields)) for each in context.log]
        assert found == here, (found, here)
        print(found[0])
"""

TRANSPORTS = {
    "spawn": """
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        agree(pool.apply(acme.join, [record, changes, late]))
""",
    "forkserver": """
    import multiprocessing
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        agree(pool.apply(acme.join, [record, changes, late]))
""",
    "a queue": """
    import multiprocessing
    context_of = multiprocessing.get_context("spawn")
    inbox, outbox = context_of.Queue(), context_of.Queue()
    process = context_of.Process(target=acme.serve, args=(inbox, outbox))
    process.start()
    inbox.put((record, changes, late))
    agree(outbox.get(timeout=60))
    process.join()
""",
    "concurrent.futures": """
    import concurrent.futures, multiprocessing
    context_of = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, context_of) as pool:
        agree(pool.submit(acme.join, record, changes, late).result(60))
""",
    "cloudpickle": """
    import cloudpickle, pickle, subprocess
    done = subprocess.run([sys.executable, "-c", "import sys, pickle; "
        "join, given = pickle.load(sys.stdin.buffer); pickle.dump(join(*given), sys.stdout.buffer)"
        ], input=cloudpickle.dumps((acme.join, (record, changes, late))), stdout=subprocess.PIPE,
        check=True, timeout=60)
    agree(pickle.loads(done.stdout))
""",
    "loky": """
    import joblib
    with joblib.parallel_config(backend="loky", n_jobs=2):
        found = joblib.Parallel()(joblib.delayed(acme.join)(record, changes, late) for _ in "ab")
    for each in found:
        agree(each)
""",
}
MODULES = {"cloudpickle": "cloudpickle", "loky": "joblib"}


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


SERVE = """
def serve(inbox, outbox):
    outbox.put(join(*inbox.get(timeout=60)))
"""


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_joiner_reads_the_widths_of_the_one_that_scaled(tmp_path: Path, transport: str) -> None:
    if transport in MODULES:
        pytest.importorskip(MODULES[transport])
    (tmp_path / "acme_joins.py").write_text(MODULE.format(more="") + SERVE)
    (tmp_path / "main.py").write_text(LEAD + TRANSPORTS[transport])
    printed = run(tmp_path, "main.py").splitlines()
    assert {tuple(json.loads(line)) for line in printed} == {(8, 4, 2, 6)}


WRITER = """
import pickle, sys
import acme_joins as acme
context = acme.lead()
for source, name, value in {extra}:
    context.override(source, **{{name: value}})
with open(sys.argv[1], "wb") as file:
    for each in (context.record, context.changes(), context.changes(since=2)):
        pickle.dump(each, file)
"""

READER = """
import json, pickle, sys
import acme_joins as acme
from registry import current
with open(sys.argv[1], "rb") as file:
    record = pickle.load(file)
    try:
        found = acme.join(record, pickle.load(file), pickle.load(file))[0]
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        assert not current().log
print(json.dumps(found))
"""

EXTRA = "new: int = 5"
ANOTHER_DEFAULT = "new: int = 6"


@pytest.mark.parametrize(
    ("writer", "reader", "extra", "expected"),
    [
        ("", EXTRA, [], [8, 4, 2, 6]),
        (EXTRA, "", [], [8, 4, 2, 6]),
        (EXTRA, ANOTHER_DEFAULT, [("tune", "new", 9)], [8, 4, 2, 6]),
        (
            EXTRA,
            "newer: int = 5",
            [("tune", "new", 9)],
            "ChangesError: changes 1 to 5 of Args, with 0 applied here: override by 'tune' "
            "(<string>:6): 'new' is not declared in this process; update it. "
            "Did you mean 'newer'?",
        ),
        (
            EXTRA,
            "from registry import Derived; new = Derived(doc='New.')",
            [("tune", "new", 9)],
            "ChangesError: changes 1 to 5 of Args, with 0 applied here: override by 'tune' "
            "(<string>:6): 'new' is a run-time fact of each process where this one runs; "
            "update it",
        ),
    ],
    ids=["one more", "one less", "another default", "an unknown one changed", "a fact here"],
)
def test_between_versions_of_the_declarations(
    tmp_path: Path, writer: str, reader: str, extra: list[Any], expected: Any
) -> None:
    folders = [tmp_path / "writer", tmp_path / "reader"]
    for folder, more in zip(folders, (writer, reader), strict=True):
        folder.mkdir()
        (folder / "acme_joins.py").write_text(MODULE.format(more=more))
    pickled = str(tmp_path / "pickled")
    run(folders[0], "-c", WRITER.format(extra=extra), pickled)
    assert json.loads(run(folders[1], "-c", READER, pickled)) == expected


def test_each_side_that_builds_its_own_record_is_told_of_another_default(tmp_path: Path) -> None:
    """As in a joiner of another version that was launched with the same command line."""
    reader = READER.replace("acme.join(record,", "acme.join(acme.Args(4, 2, 'abc'),")
    for name, more in {"writer": EXTRA, "reader": ANOTHER_DEFAULT}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "acme_joins.py").write_text(MODULE.format(more=more))
    pickled = str(tmp_path / "pickled")
    run(tmp_path / "writer", "-c", WRITER.format(extra=[]), pickled)
    assert json.loads(run(tmp_path / "reader", "-c", reader, pickled)) == (
        "ChangesError: changes 1 to 4 of Args, with 0 applied here: they were made on another "
        "record: new is 5 there and 6 here"
    )
