"""`python -m namespaces`: a launch command becomes a report, or one readable line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from namespaces.__main__ import _parser
from namespaces.defaults import PROGRAM_FLAGS
from namespaces.record import ServerArgs
from registry import default_registry, namespace_of


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
            "unrecognized arguments: --tp-sise 8; did you mean --tp-size (parallel), "
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


def test_help_is_a_screen_with_every_namespace() -> None:
    done = run("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) < 60
    assert re.search(r"^  exec\.moe +38  Mixture-of-experts execution:", done.stdout, re.M)
    assert "--explain NAME" in done.stdout and "--model-path" in done.stdout
    assert "--tp-size" not in done.stdout


@pytest.mark.parametrize("words", [["--help=parallel"], ["--help", "parallel"], ["-hparallel"]])
def test_help_on_a_namespace_has_its_options_and_what_is_derived(words: list[str]) -> None:
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("parallel:\n  Distributed layout:")
    assert re.search(r"^  --tp-size( TP_SIZE)?, --tensor-parallel-size", done.stdout, re.M)
    assert re.search(r"^  attn_tp_size +Attention tensor-parallel width", done.stdout, re.M)
    assert "--model-path" not in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="the shell of POSIX")
@pytest.mark.parametrize("words", ["--help", "--help=all", "--print-completion=bash"])
def test_a_reader_that_leaves_early_gets_no_traceback(words: str) -> None:
    command = f"{sys.executable} -m namespaces {words} | true; echo ${{PIPESTATUS[@]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("0 0\n", "")


def test_a_deprecated_flag_is_told_in_one_line() -> None:
    done = run("--model", "m", "--disable_cuda_graph")
    assert done.returncode == 0
    assert done.stderr == (
        "python -m namespaces: warning: --disable-cuda-graph is deprecated; use "
        "--cuda-graph-backend-decode=disabled and --cuda-graph-backend-prefill=disabled instead\n"
    )


def test_check_vets_a_command_without_launching_it() -> None:
    done = run(
        *[
            "check",
            "--",
            "--model",
            "m",
            "--tp-size",
            "8",
            "--moe-a2a-backend",
            "deepep",
            "--api-key",
            "hunter2",
        ]
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Valid: 4 settings of namespaces.record.ServerArgs.\n\nSet by")
    assert "\n\nResolved:\n  parallel  ep_size                  8\n" in done.stdout
    assert "\n\nImplied:\n" in done.stdout
    assert re.search(r"^  parallel +attn_tp_size +8$", done.stdout, re.M)
    assert "hunter2" not in done.stdout
    assert run("check", "--model", "m").stdout.startswith("Valid: 1 setting of ")


def test_check_vets_files_the_last_one_first_and_flags_above_them(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text("model_path: m\ntp_size: 2\nparallel:\n  dp-size: 2\n")
    (tmp_path / "more.json").write_text('{"tp_size": 4, "api_key": "hunter2"}')
    files = [str(tmp_path / "base.yaml"), str(tmp_path / "more.json")]
    done = run("check", *files, "--", "--dp", "1", "--json", "--explain", "tp_size")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["set"]["parallel"] == {"tp_size": 4, "dp_size": 1}
    assert report["set"]["serving"] == {"api_key": "***"}
    assert report["explained"]["tp_size"].startswith("parallel.tp_size = 4\n")


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("tp_size: 8", (), "model_path is required: "),
        (
            "model: m\ntp_sise: 8",
            (),
            "FILE:2: there is no setting 'tp_sise'. Did you mean 'tp_size'?",
        ),
        (
            "model: m\ntp_size: 4\ndp_size: 3\nenable_dp_attention: true",
            (),
            "attn_tp_size * attn_dp_size * attn_cp_size is tp_size, but ",
        ),
        ("model: m", ("--tp-sise", "8"), "unrecognized arguments: --tp-sise 8; did you mean "),
        ("model: m", ("--tp-size", "eight"), "argument --tp-size/--tensor-parallel-size: invalid"),
    ],
)
def test_check_ends_with_status_2_and_what_is_wrong(
    text: str, words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(text)
    done = run("check", str(file), "--", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.replace(str(file), "FILE")
    assert done.stderr.startswith("python -m namespaces check: error: ")
    assert len(done.stderr.splitlines()) == 1


def test_a_report_is_json_whatever_the_numbers() -> None:
    command = (
        "check",
        "--json",
        "--model",
        "m",
        "--mem-fraction-static",
        "nan",
        "--watchdog-timeout",
        "inf",
    )
    report = json.loads(run(*command).stdout, parse_constant=pytest.fail)
    assert report["set"]["schedule"] == {"mem_fraction_static": "nan"}
    assert "mem_fraction_static" not in report["resolved"]["schedule"]
    assert "inf" in [each.get("watchdog_timeout") for each in report["set"].values()]


def test_check_of_a_file_that_is_not_there() -> None:
    done = run("check", "none.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "none.yaml: there is no such file; check the path" in done.stderr


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "run.yaml").write_text("model_path: m\ntp_size: 4\n")
    (tmp_path / "more.toml").write_text("dp_size = 2\n")
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "tp_size", "dp_size"),
    [
        ("check --json run.yaml", 4, None),
        ("check run.yaml --json", 4, None),
        ("check run.yaml --json -- --tp-size 8", 8, None),
        ("check --json run.yaml -- --tp-size 8", 8, None),
        ("check --json --config run.yaml -- --tp-size 8", 8, None),
        ("check --json --config run.yaml more.toml", 4, 2),
        ("check run.yaml --json more.toml", 4, 2),
        ("check --json run.yaml more.toml -- --dp 4", 4, 4),
        ("check --json --tp-size 2 --config=more.toml run.yaml", 2, 2),
        ("check --json --served-model-name run.yaml run.yaml", 4, None),
        ("check --json -- --model m --tp-size 8", 8, None),
        ("check --json --model m --tp-size 8 --", 8, None),
    ],
)
def test_check_takes_files_and_options_in_any_order(
    words: str, tp_size: int, dp_size: int | None, folder: Path
) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stderr) == (0, "")
    given = json.loads(done.stdout)["set"]["parallel"]
    assert (given.get("tp_size"), given.get("dp_size")) == (tp_size, dp_size)


def test_check_explains_beside_a_launch_command(folder: Path) -> None:
    done = run(*["check", "--explain", "tp_size", "--", "--tp-size", "8", "--model", "m"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "parallel.tp_size = 8\n" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "run.yaml",
            "'run.yaml' stands alone; type `--config run.yaml` to launch with the file, or "
            "`check run.yaml` to vet it",
        ),
        ("none.toml --tp-size 8", "'none.toml' stands alone; type `--config none.toml` to launch"),
        ("chekc run.yaml", "there is no command 'chekc'. Did you mean 'check'?"),
        ("launch", "unrecognized arguments: launch (see"),
        ("check --json none.yaml", "none.yaml: there is no such file; check the path"),
        ("check --model m -- run.yaml", "unrecognized arguments: run.yaml (see"),
        ("check run.yaml --json false", "unrecognized arguments: false; --json is a switch"),
        ("check run.yaml --tp-sise 8", "unrecognized arguments: --tp-sise 8; did you mean --tp-"),
        ("check --tp-sise run.yaml", "unrecognized arguments: --tp-sise; did you mean --tp-size"),
    ],
)
def test_a_file_or_command_out_of_place_is_told_where_it_goes(
    words: str, message: str, folder: Path
) -> None:
    done = run(*words.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"error: {message}" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_help_of_check_shows_files_and_that_of_both_the_variables() -> None:
    usage, _, rest = run("check", "--help").stdout.partition("\n\n")
    assert "[FILE ...] [-- --flag VALUE ...]" in " ".join(usage.split())
    line = "  SERVER_NAME   variables, which set what the command line leaves out\n"
    assert rest.endswith(line)
    assert run("--help").stdout.endswith(line)


@pytest.mark.skipif(os.name != "posix", reason="the shell of POSIX")
@pytest.mark.parametrize("words", ["--model m", "check --json --model m"])
@pytest.mark.parametrize(
    ("reader", "status", "message"),
    [
        ("| true", 0, ""),
        ("| head -n 1 >/dev/null", 0, ""),
        (">&-", 0, ""),
        (">/dev/full", 2, "error: the report cannot be written: No space left on device"),
    ],
)
def test_a_report_that_nobody_can_read_is_no_traceback(
    words: str, reader: str, status: int, message: str
) -> None:
    if "full" in reader and not os.path.exists("/dev/full"):
        pytest.skip("there is no device that is full")
    command = f"{sys.executable} -m namespaces {words} {reader}; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert done.stdout == f"{status}\n"
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == bool(message)


@pytest.mark.parametrize("words", ["--model m", "check --model m"])
def test_a_report_is_escaped_where_the_output_has_no_code_for_it(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run(*words.split(), "--served-model-name", "caf\xe9")
    assert (done.returncode, done.stderr) == (0, "")
    assert "served_model_name  'caf\\xe9'" in done.stdout


def test_no_plugin_can_take_a_flag_of_the_program_that_is_no_setting() -> None:
    settings = namespace_of(ServerArgs)
    actions = _parser("program", "Its options.")._actions
    own = [flag for each in actions if each.dest not in settings for flag in each.option_strings]
    assert sorted(own) == sorted(PROGRAM_FLAGS)
    assert default_registry.reserved_flags >= set(PROGRAM_FLAGS)
