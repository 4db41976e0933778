"""Flags of a real module, however its types are spelt, and of a real process."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from registry import ArgumentParser, add_cli_args, from_cli_args

ROOT = Path(__file__).parents[2]


def parser_of(record_class: type[Any]) -> ArgumentParser:
    parser = ArgumentParser(prog="serve")
    add_cli_args(parser, record_class)
    return parser


SCRIPT = """
import sys
from collections.abc import Callable
sys.path.insert(0, {folder!r})
from test_flags import Args
from registry import ArgumentParser, add_cli_args, from_cli_args
parser = ArgumentParser(prog="serve")
add_cli_args(parser, Args)
print(from_cli_args(Args, parser.parse_args()))
"""

MODULE = """
{future}
import dataclasses
from pathlib import Path
from typing import {typing}
from registry import A, Arg, Namespace, Registry, compose

class Flags(Namespace, registry=Registry("flags")):
    _NS_PATH = "flags"
    model_path: A[str, Arg(help="Weights, 100% of them.")]
    tp_size: A[int, Arg(help="Width.")] = 1
    names: A[{list_str}, Arg(help="Names.")] = dataclasses.field(default_factory=list)
    options: A[{dict_int}, Arg(help="Options.")] = None
    limit: A[{opt_int}, Arg(help="Limit.")] = None
    switch: A[{opt_bool}, Arg(help="Switch.")] = None
    mode: A[{literal}, Arg(help="Mode.")] = None
    sizes: A[{opt_list}, Arg(help="Sizes.")] = None
    mixed: A[{union}, Arg(help="Mixed.")] = None
    path: A[{opt_path}, Arg(help="Path.")] = None

Args = compose("Args", [Flags])
"""

OLD = {
    "future": "",
    "typing": "Dict, List, Literal, Optional, Union",
    "list_str": "List[str]",
    "dict_int": "Dict[str, int]",
    "opt_int": "Optional[int]",
    "opt_bool": "Optional[bool]",
    "literal": "Optional[Literal['a', 'b']]",
    "opt_list": "Optional[List[int]]",
    "union": "Union[int, str, None]",
    "opt_path": "Optional[Path]",
}
NEW = {
    "future": "from __future__ import annotations",
    "typing": "Literal",
    "list_str": "list[str]",
    "dict_int": "dict[str, int]",
    "opt_int": "int | None",
    "opt_bool": "bool | None",
    "literal": "Literal['a', 'b'] | None",
    "opt_list": "list[int] | None",
    "union": "int | str | None",
    "opt_path": "Path | None",
}
NEW_AT_ONCE = {**NEW, "future": ""}


@pytest.mark.parametrize("spelling", [NEW, NEW_AT_ONCE], ids=["text", "objects"])
def test_new_style_types_make_the_same_flags_as_those_of_typing(
    module_from: Callable[..., ModuleType], spelling: dict[str, str]
) -> None:
    old, new = (module_from(MODULE.format(**each)).Args for each in (OLD, spelling))
    assert parser_of(new).format_topic("all") == parser_of(old).format_topic("all")
    words = "--model-path m --names a b --limit 3 --switch --mode b --sizes 1 2 --mixed 4 --path p"
    words += ' --options {"a":1}'
    records = [
        from_cli_args(each, parser_of(each).parse_args(words.split())) for each in (old, new)
    ]
    assert vars(records[0]) == vars(records[1])
    assert (records[1].sizes, records[1].mixed, records[1].options) == ([1, 2], 4, {"a": 1})


def serve(folder: Path, words: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_flags.py").write_text(MODULE.format(**NEW))
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.format(folder=str(folder)), *words.split()],
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_right_command_line_and_its_help(tmp_path: Path) -> None:
    done = serve(tmp_path, "--model-path m --switch false")
    assert (done.returncode, done.stdout) == (0, "Args(model_path='m', switch=False)\n")
    done = serve(tmp_path, "--help=all")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Weights, 100% of them." in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "the following arguments are required: --model-path"),
        (
            "--model-path m --tp-sise 8",
            "unrecognized arguments: --tp-sise 8; did you mean --tp-size (flags)?",
        ),
        (
            "--model-path m --tp-sise=8",
            "unrecognized arguments: --tp-sise=8; did you mean --tp-size (flags)?",
        ),
        ("--model-path m --zzzz", "unrecognized arguments: --zzzz"),
        ("--model-path m stray", "unrecognized arguments: stray"),
        ("--model-path m --tp-size many", "argument --tp-size: invalid int value: 'many'"),
        ("--model-path m --tp-size", "argument --tp-size: expected one argument"),
        (
            "--model-path m --mode bb",
            "argument --mode: invalid choice: 'bb' (choose from a, b). Did you mean 'b'?",
        ),
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(
    tmp_path: Path, words: str, message: str
) -> None:
    done = serve(tmp_path, words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"serve: error: {message} (see serve --help)\n"
