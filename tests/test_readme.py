"""What the README shows runs as it stands there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.M | re.S)


@pytest.mark.parametrize("block", BLOCKS, ids=[block.splitlines()[0][:40] for block in BLOCKS])
def test_an_example_runs(block: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=README.parent,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_example_is_short_and_prints_what_it_says() -> None:
    lines = [line for line in BLOCKS[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    done = subprocess.run([sys.executable, "-c", BLOCKS[0]], capture_output=True, text=True)
    assert done.stdout == "4\n"


def test_the_readme_gives_two_set_up_commands() -> None:
    section = README.read_text(encoding="utf-8").partition("## Set up")[2].partition("\n## ")[0]
    assert re.findall(r"^    (pip install .*)$", section, re.M) == [
        "pip install . && python -m namespaces --model-path my-model --tp-size 8 --dp-size 2 "
        "--enable-dp-attention",
        "pip install '.[test]' && python -m pytest",
    ]
