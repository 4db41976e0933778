"""The commands about contracts, each in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = ROOT / "tests" / "data" / "schemas"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for file in SCHEMAS.glob("*.py"):
        shutil.copy(file, tmp_path)
    return tmp_path


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "registry", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_change_is_seen_before_it_ships_and_accepted_by_the_command_it_names(
    folder: Path,
) -> None:
    assert run(folder, "snapshot", "schema_1:ServerArgs", "-o", "c.json") == (0, "", "")
    assert run(folder, "check", "schema_1:ServerArgs", "c.json") == (0, "no changes\n", "")
    status, out, error = run(folder, "check", "schema_2:ServerArgs", "c.json")
    assert (status, out) == (1, (SCHEMAS / "schema_1_to_2.txt").read_text(encoding="utf-8"))
    command = "python -m registry snapshot schema_2:ServerArgs -o c.json"
    assert error == f"If this is meant: {command}\n"
    assert run(folder, *command.split()[3:]) == (0, "", "")
    assert run(folder, "check", "schema_2:ServerArgs", "c.json") == (0, "no changes\n", "")


def test_diff_takes_files_and_classes_and_says_whether_something_breaks(folder: Path) -> None:
    run(folder, "snapshot", "schema_1:ServerArgs", "-o", "1.json")
    run(folder, "snapshot", "schema_2:ServerArgs", "-o", "2.json")
    by_file = run(folder, "diff", "1.json", "2.json")
    assert by_file == run(folder, "diff", "schema_1:ServerArgs", "schema_2:ServerArgs")
    assert by_file[0] == 1
    assert run(folder, "diff", "1.json", "schema_1:ServerArgs") == (0, "no changes\n", "")
    status, out, _ = run(folder, "diff", "--json", "1.json", "2.json")
    assert status == 1
    assert json.loads(out)[0] == {
        "kind": "positional order",
        "field": "dtype",
        "severity": "breaking",
        "affects": "positional callers",
        "detail": "position 3 was dtype and is tokenizer_mode",
    }
    status, out, _ = run(folder, "diff", "--markdown", "1.json", "2.json")
    assert out.startswith("### Breaking\n\n- `dtype`: position 3 was dtype and is tokenizer\\_mode")


def test_what_breaks_nobody_ends_well(folder: Path) -> None:
    (folder / "wider.py").write_text(
        "from registry import A, compose\nimport schema_1\n"
        "class More(schema_1.Parallel):\n    more: A[int, 'More.'] = 1\n"
        "ServerArgs = compose('ServerArgs', [More])\n",
        encoding="utf-8",
    )
    status, out, _ = run(folder, "diff", "schema_1:ServerArgs", "wider:ServerArgs")
    assert (status, out) == (0, "Compatible (1)\n  more  new field in parallel\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (
            ["diff", "no.json", "schema_1:ServerArgs"],
            "no.json: cannot be read: No such file or directory",
        ),
        (
            ["diff", "schema_1.py", "schema_1:ServerArgs"],
            "schema_1.py: is no contract, not even JSON: Extra data: line 1 column 3 (char 2)",
        ),
        (
            ["diff", "other.json", "schema_1:ServerArgs"],
            "other.json: has the format 0, but this version reads 1; write it anew with "
            "`python -m registry snapshot module:Class -o FILE`",
        ),
        (
            ["snapshot", "schema1:ServerArgs"],
            "schema1:ServerArgs: there is no module 'schema1'. Did you mean 'schema_1'?",
        ),
        (
            ["snapshot", "schema_1:ServerArg"],
            "schema_1:ServerArg: the module schema_1 has no 'ServerArg'. Did you mean "
            "'ServerArgs'?",
        ),
        (
            ["snapshot", "schema_1:zzz"],
            "schema_1:zzz: the module schema_1 has no 'zzz'. Its record classes: ServerArgs.",
        ),
        (
            ["snapshot", "schema_1:Model"],
            "schema_1:Model: is no record class; schema_1 has ServerArgs",
        ),
        (
            ["snapshot", "schema_1"],
            "schema_1: is no class; name one as module:Class",
        ),
        (
            ["snapshot", "needy:R"],
            "needy:R: the module needy needs 'not_there', which is not installed",
        ),
        (
            ["snapshot", "faulty:R"],
            "faulty:R: the module faulty cannot be imported: ZeroDivisionError: division by zero",
        ),
        (
            ["check", "leaving:R", "c.json"],
            "leaving:R: the module leaving cannot be imported: SystemExit: 0",
        ),
        (
            ["check", "schema_1:ServerArgs", "no.json"],
            "no.json: is not there; write it with python -m registry snapshot "
            "schema_1:ServerArgs -o no.json",
        ),
        (
            ["freeze", "schema_1:ServerArgs", "order.py", "--retire", "x"],
            "--retire: takes NAME=TEXT, not 'x'",
        ),
        (
            ["prove", "schema_1:ServerArgs", "schema_1:ServerArgs", "--shapes", "other.json"],
            'other.json: is no list of {"name": ..., "args": {...}}; see row 1',
        ),
        (
            ["prove", "schema_1:ServerArgs", "schema_1:ServerArgs", "--shapes", "list.json"],
            'list.json: has a "derived" that is no object of values by field; see row 2',
        ),
        (
            ["prove", "schema_1:ServerArgs", "schema_1:ServerArgs", "--shapes", "twice.json"],
            "twice.json: has 'a' twice; see row 2",
        ),
    ],
)
def test_what_cannot_be_read_is_one_line(words: list[str], problem: str, folder: Path) -> None:
    (folder / "other.json").write_text('{"format": 0}', encoding="utf-8")
    twice = [{"name": "a", "args": {}}, {"name": "a", "args": {"tp_size": 2}}]
    (folder / "twice.json").write_text(json.dumps(twice), encoding="utf-8")
    rows = [{"args": {}, "derived": None}, {"args": {}, "derived": [1]}]
    (folder / "list.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / "needy.py").write_text("import not_there", encoding="utf-8")
    (folder / "faulty.py").write_text("1 / 0", encoding="utf-8")
    (folder / "leaving.py").write_text("import sys\nsys.exit(0)", encoding="utf-8")
    assert run(folder, *words) == (2, "", f"python -m registry: error: {problem}\n")


def test_freeze_then_compose_keeps_every_position(folder: Path) -> None:
    (folder / "order.py").write_text("ORDER = ()\nRETIRED_FIELDS = {}\n", encoding="utf-8")
    assert run(folder, "freeze", "schema_1:ServerArgs", "order.py")[:2] == (
        0,
        "appended: model_path, tokenizer_path, dtype, skip_tokenizer_init, api_key, tp_size, "
        "dp_size, enable_dp_attention, enable_ep_moe, load_balance_method\n",
    )
    (folder / "ordered.py").write_text(
        "from order import ORDER, RETIRED_FIELDS\nfrom registry import compose\nimport schema_2\n"
        "ServerArgs = compose('ServerArgs', [schema_2.Parallel], order=ORDER, "
        "retired=RETIRED_FIELDS)\n",
        encoding="utf-8",
    )
    retire = ["--retire", "enable_ep_moe=since 2.0, use ep_size"]
    status, out, error = run(folder, "freeze", "ordered:ServerArgs", "order.py", *retire)
    assert (status, error) == (0, "")
    assert out == (
        "appended: tokenizer_mode, ep_size\n"
        "retired: enable_ep_moe; pass RETIRED_FIELDS to compose(retired=...)\n"
    )
    _, out, _ = run(folder, "diff", "schema_1:ServerArgs", "ordered:ServerArgs")
    assert "position" not in out
    assert "enable_ep_moe        is retired: since 2.0, use ep_size" in out


def test_prove_counts_what_is_the_same_and_lists_what_is_not(folder: Path) -> None:
    status, out, error = run(folder, "prove", "schema_1:ServerArgs", "schema_1:ServerArgs")
    assert (status, error) == (0, "")
    assert out.splitlines()[:2] == [
        "input fields: 10 / 10, 0 differences",
        "derived fields: 2 / 2, 0 differences",
    ]
    changed = (folder / "schema_1.py").read_text(encoding="utf-8")
    changed = changed.replace("cfg.tp_size // cfg.dp_size if", "cfg.tp_size // 4 if")
    (folder / "changed.py").write_text(changed, encoding="utf-8")
    shapes = [{"name": "plain", "args": {}}]
    shapes += [{"name": "DP2", "args": {"tp_size": 8, "dp_size": 2, "enable_dp_attention": True}}]
    (folder / "shapes.json").write_text(json.dumps(shapes), encoding="utf-8")
    words = ["prove", "schema_1:ServerArgs", "changed:ServerArgs"]
    status, out, error = run(folder, *words, "--shapes", "shapes.json")
    assert (status, error) == (1, "")
    assert out.splitlines()[-2:] == [
        "derived values: 3 / 4, 1 difference",
        "  DP2: attn_tp_size: was 4 and is 2",
    ]
    # Without a table it finds as much by itself.
    status, out, _ = run(folder, *words)
    assert status == 1
    assert "attn_tp_size: was 8 and is 2" in out


def test_a_reader_that_leaves_early_is_no_error(folder: Path) -> None:
    command = f"{sys.executable} -m registry snapshot namespaces:ServerArgs | head -1"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("{\n", "")


CHANGED = "diff schema_1:ServerArgs schema_2:ServerArgs"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize(
    ("command", "status", "error"),
    [
        (f"{CHANGED} >/dev/full", 2, "the output cannot be written: No space left on device"),
        ("--help >/dev/full", 2, "the output cannot be written: No space left on device"),
        (f"{CHANGED} >&-", 1, ""),
        ("diff no.json no.json 2>&-", 2, ""),
        ("diff no.json no.json 2>/dev/full", 2, ""),
        (f"{CHANGED} | true; exit ${{PIPESTATUS[0]}}", 1, ""),
        ("--help | true; exit ${PIPESTATUS[0]}", 0, ""),
    ],
)
def test_the_exit_status_is_right_wherever_output_goes(
    command: str, status: int, error: str, folder: Path
) -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m registry {command}"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    told = f"python -m registry: error: {error}\n" if error else ""
    assert (done.returncode, done.stdout, done.stderr) == (status, "", told)


def test_output_in_an_encoding_without_a_character_is_still_json(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "accents.py").write_text(
        "from registry import A, Namespace, Registry, compose\n"
        "class N(Namespace, registry=Registry('n')):\n"
        "    _NS_PATH = 'n'\n    it: A[str, 'It.'] = 'é\\U0001f600'\n"
        "R = compose('R', [N])\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    status, out, error = run(folder, "snapshot", "accents:R")
    assert (status, error, out.isascii()) == (0, "", True)
    assert json.loads(out)["fields"]["it"]["default"] == "é\U0001f600"


def test_a_record_that_is_made_at_first_use_is_offered() -> None:
    command = [sys.executable, "-m", "registry", "diff", "namespaces:ServerArg", "x.json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "python -m registry: error: namespaces:ServerArg: the module namespaces has no "
        "'ServerArg'. Did you mean 'ServerArgs'?\n"
    )
