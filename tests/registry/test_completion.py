"""The completion scripts: what a real shell offers, and what is said without the package."""

import argparse
import enum
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from registry import A, Arg, ArgumentParser, Namespace, Registry, add_cli_args, compose
from registry.completion import add_completion

pytest.importorskip("shtab")

REGISTRY = Registry("completion")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Parallel(Namespace, registry=REGISTRY):
    _NS_PATH = "parallel"

    tp_size: A[int, Arg(help="Width, 100% of it.", aliases=["--tensor-parallel-size"])] = 1
    tp_order: A[Color | None, "Order of ranks."] = None
    dp_size: A[int, Arg(choices=[1, 2, 4])] = 1
    mode: A[str | None, Arg(choices=["none", "fast"], type_parser=lambda text: text)] = None
    unseen: A[int, Arg(help=argparse.SUPPRESS)] = 1


Args = compose("Args", [Parallel])


def parser_of(kind: type[argparse.ArgumentParser], prog: str, **options: Any) -> Any:
    parser = kind(prog=prog)
    add_completion(parser, **options)
    add_cli_args(parser, Args)
    return parser


def script(parser: argparse.ArgumentParser, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(words)
    assert caught.value.code == 0
    return capsys.readouterr().out


def completed(text: str, folder: Path, *words: str) -> set[str]:
    """What bash offers for the last word of a command line, by the function it was told of."""
    (folder / "script.bash").write_text(text)
    lines = [
        f"source {folder}/script.bash",
        f'COMP_WORDS=({" ".join(words[:-1])} "{words[-1]}"); COMP_CWORD={len(words) - 1}',
        # complete -p prints the words that would register the function again.
        f"registered=($(complete -p {words[0]}))",
        'for ((i = 0; i < ${#registered[@]}; i++)); do [ "${registered[i]}" = -F ] && '
        '"${registered[i+1]}"; done',
        r'printf "%s\n" "${COMPREPLY[@]}"',
    ]
    done = subprocess.run(
        ["bash", "--norc", "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return set(done.stdout.split())


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not there")


@needs_bash
@pytest.mark.parametrize("kind", [ArgumentParser, argparse.ArgumentParser])
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["--tp-"], {"--tp-size", "--tp-order"}),
        (["--ten"], {"--tensor-parallel-size"}),
        (["--un"], set()),
        (["--tp-size", "1", "--dp-"], {"--dp-size"}),
        (["--dp-size", ""], {"1", "2", "4"}),
        (["--tp-order", ""], {"red", "blue"}),
        (["--tp-order", "r"], {"red"}),
        (["--mode", ""], {"none", "fast"}),
    ],
)
def test_bash_completes_flags_and_choices(
    kind: type[argparse.ArgumentParser],
    typed: list[str],
    offered: set[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    text = script(parser_of(kind, "serve"), capsys, "--print-completion", "bash")
    assert completed(text, tmp_path, "serve", *typed) == offered


@needs_bash
@pytest.mark.parametrize(
    ("prog", "options", "command"),
    [
        ("python -m serve", {}, "serve"),
        ("./bin/serve", {}, "serve"),
        ("python -m serve", {"command": "launch"}, "launch"),
    ],
)
def test_the_shell_completes_after_one_word(
    prog: str,
    options: dict[str, str],
    command: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    parser = parser_of(ArgumentParser, prog, **options)
    text = script(parser, capsys, "--print-completion=bash")
    assert completed(text, tmp_path, command, "--tp-s") == {"--tp-size"}
    assert parser.prog == prog


@needs_bash
def test_bash_completes_the_choices_of_subcommands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    parser = ArgumentParser(prog="serve")
    add_completion(parser, "--completion")
    add_cli_args(parser.add_subparsers().add_parser("run", help="Run it."), Args)
    text = script(parser, capsys, "--completion", "bash")
    assert completed(text, tmp_path, "serve", "run", "--tp-order", "") == {"red", "blue"}


@needs_bash
def test_bash_completes_a_real_program(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "namespaces", "--print-completion", "bash"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert completed(done.stdout, tmp_path, "namespaces", "--tp-") == {"--tp-size"}
    offered = completed(done.stdout, tmp_path, "namespaces", "--sampling-backend", "")
    assert offered == {"ascend", "flashinfer", "pytorch"}


ODD = ["x y", "$(touch MARK)", "`touch MARK`", "it's", 'a"b', "a;touch MARK", "*", "b\\s", "n\nl"]
ODD += ["$HOME", "a:b", "a=b", "", "(a)", "a|b", "é", "ok", "o.k-1"]


class Odd(Namespace, registry=Registry("choices that a shell would not take")):
    _NS_PATH = "odd"

    one: A[str, Arg(choices=ODD)] = "ok"
    none: A[str, Arg(choices=["x y", "$(touch MARK)"])] = "x y"
    other: A[int, "After it."] = 1


@needs_bash
def test_bash_neither_offers_nor_runs_what_is_no_plain_word(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = ArgumentParser(prog="serve")
    add_completion(parser)
    add_cli_args(parser, compose("OddArgs", [Odd]))
    text = script(parser, capsys, "--print-completion", "bash")
    assert completed(text, tmp_path, "serve", "--one", "") == {"é", "ok", "o.k-1"}
    assert completed(text, tmp_path, "serve", "--none", "") == set()
    assert completed(text, tmp_path, "serve", "--none", "x", "--ot") == {"--other"}
    assert not (tmp_path / "MARK").exists()
    text = script(parser, capsys, "--print-completion", "zsh")
    assert ":one:(é ok o.k-1)" in text
    assert "MARK" not in text


@pytest.mark.parametrize(
    ("prog", "options", "word"),
    [
        ("a;b", {}, "a;b"),
        ("", {}, ""),
        ("serve/", {}, ""),
        ("python -m $(serve)", {}, "$(serve)"),
        ("serve", {"command": "a b"}, "a b"),
        ("serve", {"command": "it's"}, "it's"),
        ("serve", {"command": "-x"}, "-x"),
    ],
)
def test_a_command_that_is_no_plain_word_is_refused(
    prog: str, options: dict[str, str], word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parser_of(ArgumentParser, prog, **options).parse_args(["--print-completion", "bash"])
    assert caught.value.code == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert (
        f"argument --print-completion: a shell completes after a plain word, not {word!r}; "
        'give add_completion() another one, command="serve"' in told.err
    )


def test_zsh_takes_the_script(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = script(parser_of(ArgumentParser, "serve"), capsys, "--print-completion", "zsh")
    assert text.startswith("#compdef serve\n")
    assert ":tp_order:(red blue)" in text
    zsh = shutil.which("zsh")
    if zsh is None:
        pytest.skip("zsh is not there")
    (tmp_path / "_serve").write_text(text)
    done = subprocess.run([zsh, "-f", "-n", tmp_path / "_serve"], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_parser_is_as_it_was_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(ArgumentParser, "python -m serve")
    before = parser.format_topic("all")
    script(parser, capsys, "--print-completion", "bash")
    assert parser.format_topic("all") == before
    assert parser.parse_args(["--tp-order", "red"]).tp_order is Color.RED


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser_of(ArgumentParser, "serve").parse_args(["--print-completion", "fish"])
    assert "invalid choice: 'fish' (choose from" in capsys.readouterr().err


def test_without_the_package_the_message_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "sys.modules['shtab'] = None\n"  # as Python itself marks a module that is not there
        "from namespaces.__main__ import main\n"
        "main(sys.argv[1:])\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        [*command, "--print-completion", "bash"], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "python -m namespaces: error: argument --print-completion: needs a package; "
        "pip install 'namespace-registry[completion]' (see python -m namespaces --help)\n"
    )


def test_the_package_is_loaded_only_when_a_script_is_wanted() -> None:
    code = (
        "import sys\n"
        "from namespaces.__main__ import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "finally:\n"
        "    assert 'shtab' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
