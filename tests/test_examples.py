"""The examples run, from a checkout and with an installed copy, and say so by their status."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "ray_scale_up.py"

needs_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray")


def run(script: Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run an example in a folder from which nothing can be imported by accident."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, str(script)],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


def rows(text: str, title: str) -> list[list[str]]:
    """Return the table under a title, without its head."""
    table = text.partition(f"{title}\n")[2].partition("\n\n")[0]
    return [line.strip().rsplit(maxsplit=5) for line in table.splitlines()[1:]]


@needs_ray
def test_ray_actors_scale_up_and_are_replaced(tmp_path: Path) -> None:
    done = run(EXAMPLE, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    before, after = ["4", "2", "2", "2", "4"], ["8", "4", "4", "2", "8"]
    small = [["driver", *before], *([f"worker {rank}", *before] for rank in range(4))]
    large = [["driver", *after], *([f"worker {rank}", *after] for rank in range(8))]
    tables = {
        "Published: DP2, TP4": small,
        "Scaled up: DP4, TP8, four joined": large,
        "Worker 1 killed and replaced": large,
    }
    for title, expected in tables.items():
        assert rows(done.stdout, title) == expected
    assert done.stdout.endswith("\nall processes agree\n")


@needs_ray
def test_with_an_installed_copy_and_a_worker_that_disagrees(tmp_path: Path) -> None:
    """The script alone, beside no checkout; one worker leaves out the changes."""
    installed = tmp_path / "site"
    for package in ("registry", "namespaces"):
        shutil.copytree(ROOT / package, installed / package)
    script = tmp_path / "elsewhere" / "examples" / "scale_up.py"
    script.parent.mkdir(parents=True)
    text = EXAMPLE.read_text(encoding="utf-8")
    told = "        self.context.apply_changes(changes)\n"
    assert text.count(told) == 1
    script.write_text(text.replace(told, f"        if rank != 5:\n    {told}"), encoding="utf-8")
    done = run(script, tmp_path, PYTHONPATH=str(installed))
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.count("   differs\n") == 1
    assert done.stdout.endswith("\nthe processes disagree\n")
