"""`python -m namespaces`: a launch command becomes a report, or one readable line."""

import json
import subprocess
import sys

import pytest


def run(*words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "namespaces", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_launch_command_is_reported_by_the_process_that_received_it() -> None:
    words = "--model-path my-model --tp-size 8 --dp-size 2 --enable-dp-attention --json"
    done = run(*words.split())
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["record"] == "namespaces.record.ServerArgs"
    assert report["set"] == {
        "model": {"model_path": "my-model"},
        "parallel": {"tp_size": 8, "dp_size": 2, "enable_dp_attention": True},
    }
    assert report["derived"]["parallel"] == {
        "attn_dcp_size": 1,
        "attn_dp_size": 2,
        "attn_tp_size": 4,
        "dcp_enabled": False,
        "moe_ep_size": 1,
        "moe_tp_size": 8,
    }
    assert sum(map(len, report["derived"].values())) == 11
    assert report["pickle"]["derived_names"] == []
    assert 1_000 < report["pickle"]["bytes"] < 6_000
    assert report["pickle"]["texts"] > 499


def test_the_report_reads_well_and_keeps_secrets() -> None:
    done = run(
        *["--model", "m", "--tp", "8", "--moe-a2a-backend", "deepep"],
        *["--api-key", "hunter2", "--explain", "ep_size"],
    )
    assert done.returncode == 0
    assert "hunter2" not in done.stdout
    assert "  serving   api_key          '***'\n" in done.stdout
    assert "  parallel  ep_size                  8\n" in done.stdout
    assert "0 of the 11 derived names are among the" in done.stdout
    assert "parallel.ep_size = 8\n  decision  8  experts_spread_over_all_ranks (" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "--tp-size 8",
            "model_path is required: type --model-path, or write model_path in a file and type "
            "--config FILE, or set the variable SERVER_MODEL_PATH",
        ),
        ("--model-path", "argument --model-path/--model: expected one argument"),
        (
            "--model m --tp-sise 8",
            "unrecognized arguments: --tp-sise 8. Did you mean --tp-size (parallel), "
            "--pp-size (parallel) or --ep-size (parallel)?",
        ),
        (
            "--model m --tp-size eight",
            "argument --tp-size/--tensor-parallel-size: invalid int value: 'eight'",
        ),
        (
            "--model m --sampling-backend pytorhc",
            "argument --sampling-backend: invalid choice: 'pytorhc' "
            "(choose from ascend, flashinfer, pytorch). Did you mean 'pytorch'?",
        ),
        (
            "--model m --context-length 8kb",
            "argument --context-length: expected a whole number such as 4096, 128k or 4Ki, "
            "not '8kb'",
        ),
        (
            "--model m --explain tp_sise",
            "the configuration has no field 'tp_sise'. Did you mean 'tp_size'?",
        ),
    ],
)
def test_a_wrong_command_line_ends_with_status_2_and_one_line(words: str, message: str) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"python -m namespaces: error: {message} (see python -m namespaces --help)\n"
    )


def test_a_launch_that_breaks_a_rule_ends_with_the_rule_and_the_values() -> None:
    done = run("--model", "m", "--tp-size", "4", "--dp-size", "3", "--enable-dp-attention")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert (
        "attn_tp_size * attn_dp_size * attn_cp_size is tp_size, but "
        "attn_tp_size=1, attn_dp_size=3, attn_cp_size=1, tp_size=4" in done.stderr
    )


def test_help_lists_every_group() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert "exec.moe:" in done.stdout
    assert "--tp-size" in done.stdout
