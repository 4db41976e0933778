"""What --help shows: a screen, a namespace, a word, everything; and what the program added."""

import argparse
import dataclasses
import enum
import re
import sys
import warnings
from typing import Any, Literal

import pytest

from registry import (
    A,
    Arg,
    ArgumentParser,
    CommandLineError,
    DeprecatedFlagWarning,
    Derived,
    Namespace,
    Registry,
    add_cli_args,
    compose,
    derived,
    from_cli_args,
)

REGISTRY = Registry("help")


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Model(Namespace, registry=REGISTRY):
    """Which weights to load, and how:
    100% of them.

    More about it.
    """

    _NS_PATH = "model"

    model_path: A[str, Arg(help="Weights, 100% of them, for %(prog)s.", aliases=["--model"])]
    color: A[Color, "Paint."] = Color.RED
    api_key: A[str | None, Arg(help="Key.", secret=True)] = "sk-secret"
    old: A[bool, Arg(help="Gone.", deprecated="--color")] = False
    unseen: A[int, Arg(help=argparse.SUPPRESS)] = 5
    internal: A[int, Arg(no_cli=True)] = 3


class ExecMoe(Namespace, registry=REGISTRY):
    """Mixture of experts."""

    _NS_PATH = "exec.moe"

    backend: A[str, Arg(help="Kernels of the experts.", choices=["auto", "triton"])] = "auto"
    tuned: A[bool, "Tuned."] = True

    @derived
    def moe_width(cfg) -> int:
        """Ranks left to each expert.

        Not shown.
        """
        return 1


class AcmeMoe(ExecMoe):
    """Fused gates of Acme."""

    acme_gate: A[bool, "Run the gate inside the kernel."] = False


class ExecCache(Namespace, registry=REGISTRY):
    _NS_PATH = "exec.cache"

    page_size: A[int | None, "Tokens a page holds; see backend."] = None


class Facts(Namespace, registry=REGISTRY):
    _NS_PATH = "facts"

    @derived
    def ranks(cfg) -> int:
        "Ranks in all."
        return 0

    rank = Derived(doc="Its own rank.", type=int)


Args = compose("Args", registry=REGISTRY)


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def parser_of(*record_classes: type[Any], **options: Any) -> ArgumentParser:
    parser = ArgumentParser(prog="serve", **options)
    for each in record_classes or (Args,):
        add_cli_args(parser, each)
    return parser


def printed(parser: ArgumentParser, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        parser.parse_args(words)
    assert caught.value.code == 0
    return capsys.readouterr().out


# From 3.13 on the metavar is shown once.
MODEL = "--model-path, --model MODEL_PATH"
HELP = "-h, --help [TOPIC]  "
if sys.version_info < (3, 13):
    MODEL = "--model-path MODEL_PATH, --model MODEL_PATH"
    HELP = "-h [TOPIC], --help [TOPIC]\n" + " " * 24

OVERVIEW = f"""\
usage: serve [-h [TOPIC]] --model-path MODEL_PATH
             [--flag VALUE ...]

Serve 100%.

options:
  {HELP}show this help message and exit; with a TOPIC, help on that

required:
  {MODEL}
                        Weights, 100% of them, for %(prog)s. (required)

namespaces, with the number of their options:
  model       4  Which weights to load, and how: 100% of them.
  exec.moe    3  Mixture of experts.
  exec.cache  1
  facts       0

more:
  --help=model  a namespace with its options
  --help=WORD   options with that word in their name or description
  --help=all    all 8 options

Ask us.
"""

MOE = """\
exec.moe:
  Mixture of experts.
  Fused gates of Acme.

  --backend BACKEND    Kernels of the experts. (default: auto)
                       choices: auto, triton
  --tuned, --no-tuned  Tuned. (default: True)
  --acme-gate          Run the gate inside the kernel.

exec.moe, derived (not set by flags):
  moe_width            Ranks left to each expert.
"""


def test_help_is_a_screen_of_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(description="Serve 100%.", epilog="Ask us.")
    assert parser.format_help() == OVERVIEW
    assert printed(parser, capsys, "--help") == parser.format_help()
    assert printed(parser, capsys, "-h", "--color", "red") == parser.format_help()
    assert parser.format_help().startswith(parser.format_usage())


@pytest.mark.parametrize(
    "words", [["--help=exec.moe"], ["--help", "exec.moe"], ["-h", "EXEC.MOE"], ["--he=exec.moe."]]
)
def test_help_on_a_namespace(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(parser_of(), capsys, *words) == MOE


def flags_in(page: str) -> list[str]:
    return re.findall(r"^  (--[\w-]+)", page, re.M)


@pytest.mark.parametrize(
    ("topic", "flags"),
    [
        ("exec", ["--backend", "--tuned", "--acme-gate", "--page-size"]),
        ("exec.cache", ["--page-size"]),
        ("backend", ["--backend", "--page-size"]),
        ("BACKEND", ["--backend", "--page-size"]),
        ("--backend", ["--backend"]),
        ("page_size", ["--page-size"]),
        ("--page_size", ["--page-size"]),
        ("page-s", ["--page-size"]),
        ("--no-tuned", ["--tuned"]),
        ("--model", ["--model-path"]),
        ("Weights", ["--model-path"]),
        ("inside the kernel", ["--acme-gate"]),
        ("100%", ["--model-path"]),
    ],
)
def test_help_on_a_word_has_the_options_it_is_about(topic: str, flags: list[str]) -> None:
    assert flags_in(parser_of().format_topic(topic)) == flags


class Words(Namespace, registry=Registry("words")):
    _NS_PATH = "words"

    log_level_http: A[str, "Verbosity of the HTTP server."] = ""
    output_path: A[str, "Where outputs go, for TP ranks as well."] = ""
    tp_size: A[int, Arg(help="Width.", aliases=["--tensor-parallel-size", "--tp"])] = 1
    cuda_graph_bs: A[int, "Batch size of the largest CUDA graph."] = 1
    cuda_graph_max: A[int, "Largest one; see batches."] = 1
    policy: A[str, "How caches are shared."] = ""
    quantization: A[str, "Of weights."] = ""
    kv_quant: A[str, "Of the cache."] = ""
    api_key: A[str, "Password, sort of."] = ""


@pytest.mark.parametrize(
    ("topic", "flags"),
    [
        ("tensor parallel size", ["--tp-size"]),
        ("size of tensor", []),
        ("parallel width", ["--tp-size"]),
        ("cuda graph batch sizes", ["--cuda-graph-bs"]),
        ("CUDA graphs", ["--cuda-graph-bs", "--cuda-graph-max"]),
        ("batch", ["--cuda-graph-bs", "--cuda-graph-max"]),
        ("policies", ["--policy"]),
        ("cache", ["--policy", "--kv-quant"]),
        ("api key", ["--api-key"]),
        ("api_keys", ["--api-key"]),
        ("key api", ["--api-key"]),
        # The name itself, then what has the word in its name, then the others.
        ("tp", ["--tp-size", "--output-path"]),
        ("quant", ["--kv-quant", "--quantization"]),
        ("http", ["--log-level-http"]),
        # Only where there is nothing else, what has it inside of a word.
        ("ttp", ["--log-level-http"]),
        ("erbosit", ["--log-level-http"]),
        ("utput ath", ["--output-path"]),
        ("pi_ke", ["--api-key"]),
    ],
)
def test_help_on_words_has_the_best_answers_first(topic: str, flags: list[str]) -> None:
    parser = parser_of(compose("Worded", [Words]))
    if flags:
        assert flags_in(parser.format_topic(topic)) == flags
    else:
        with pytest.raises(CommandLineError, match="there is nothing about"):
            parser.format_topic(topic)


@pytest.mark.parametrize("topic", ["", "  ", "%", "--", "_"])
def test_a_topic_without_a_word_is_not_everything(topic: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        parser_of(compose("Worded", [Words])).format_topic(topic)
    assert str(caught.value) == f"there is nothing about {topic!r}."


@pytest.mark.parametrize(
    ("topic", "meant"),
    [
        ("tensr", "tensor"),
        ("quantisation", "--quantization"),
        ("size tensr", "size tensor"),
        ("parallell width", "parallel width"),
        ("tensr zzz", ""),
        ("tensr kv", ""),
    ],
)
def test_a_mistyped_word_is_answered_with_one_of_a_name(topic: str, meant: str) -> None:
    with pytest.raises(CommandLineError) as caught:
        parser_of(compose("Worded", [Words])).format_topic(topic)
    hint = f" Did you mean {meant}?" if meant else ""
    assert str(caught.value) == f"there is nothing about {topic!r}.{hint}"


def test_namespaces_with_the_best_answers_come_first() -> None:
    page = parser_of().format_topic("experts")
    assert flags_in(page) == ["--backend"]
    page = parser_of().format_topic("page size")
    assert page.startswith("exec.cache:\n")


def test_a_fact_is_told_from_what_is_derived() -> None:
    assert parser_of().format_topic("facts") == (
        "facts, derived (not set by flags):\n  ranks  Ranks in all.\n\n"
        "facts, set while it runs (not by flags):\n  rank   Its own rank.\n"
    )
    assert parser_of().format_topic("own rank") == (
        "facts, set while it runs (not by flags):\n  rank  Its own rank.\n"
    )


def test_help_on_what_is_derived() -> None:
    page = parser_of().format_topic("moe_width")
    assert flags_in(page) == []
    assert page.endswith("derived (not set by flags):\n  moe_width  Ranks left to each expert.\n")


def test_help_on_everything() -> None:
    parser = parser_of(description="Serve.", epilog="Ask us.")
    page = parser.format_topic("all")
    assert page.startswith(parser.format_usage() + "\nServe.\n")
    assert page.endswith("\nAsk us.\n")
    assert flags_in(page.partition("model:\n")[2]) == [
        *("--model-path", "--color", "--api-key", "--old"),
        *("--backend", "--tuned", "--acme-gate", "--page-size"),
    ]


def test_an_entry_says_what_there_is_to_know() -> None:
    page = " ".join(parser_of().format_topic("model").split())
    assert "Weights, 100% of them, for %(prog)s. (required)" in page
    assert "--color COLOR Paint. (default: red) choices: red, blue" in page
    assert "--api-key API_KEY Key. (default: ***)" in page
    assert "--old Gone. Deprecated: use --color." in page
    assert "sk-secret" not in page


def test_help_that_argparse_is_to_hide_stays_hidden() -> None:
    parser = parser_of()
    for page in (parser.format_help(), parser.format_topic("all"), parser.format_topic("model")):
        assert "unseen" not in page and "SUPPRESS" not in page
    with pytest.raises(CommandLineError):
        parser.format_topic("unseen")
    assert from_cli_args(Args, parser.parse_args(["--model", "m", "--unseen", "6"])).unseen == 6


@pytest.mark.parametrize(
    ("topic", "message"),
    [
        ("exec.mo", "there is nothing about 'exec.mo'. Did you mean exec.moe?"),
        ("exec.moe.x", "there is nothing about 'exec.moe.x'. Did you mean exec.moe?"),
        ("--page-sise", "there is nothing about '--page-sise'. Did you mean --page-size?"),
        ("zzz", "there is nothing about 'zzz'."),
    ],
)
def test_a_topic_that_there_is_not(
    topic: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parser_of().parse_args([f"--help={topic}"])
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        f"serve: error: argument -h/--help: {message} (see serve --help)\n"
    )


def program() -> ArgumentParser:
    parser = ArgumentParser(
        prog="serve", formatter_class=argparse.RawDescriptionHelpFormatter, epilog="a\n  b"
    )
    group = parser.add_argument_group("launcher", "Of the launcher.")
    group.add_argument("--hosts", default=[], help="machines, %(default)s at first")
    group.add_argument("--secretly", help=argparse.SUPPRESS)
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--json", action="store_true", help="as JSON")
    either.add_argument("--table", action="store_true")
    parser.add_argument("files", nargs="*", help="what to read")
    return parser


def test_what_the_program_added_is_shown_as_argparse_shows_it() -> None:
    bare, parser = program(), program()
    add_cli_args(parser, Args)
    shown = parser.format_help()
    for part in bare.format_help().split("\n\n")[1:]:
        if "--help" not in part:
            assert " ".join(part.split()) in " ".join(shown.split())
    assert "[--json | --table]" in shown and "[files ...]" in shown
    assert "secretly" not in shown and "secretly" not in parser.format_topic("all")
    assert shown.endswith("\na\n  b\n")


def test_help_on_a_word_finds_what_the_program_added() -> None:
    parser = program()
    add_cli_args(parser, Args)
    assert parser.format_topic("machines") == (
        "launcher:\n  Of the launcher.\n\n  --hosts HOSTS  machines, [] at first\n"
    )
    assert "--json" in parser.format_topic("--json")
    with pytest.raises(CommandLineError):
        parser.format_topic("secretly")


def test_a_usage_that_the_program_wrote_stays() -> None:
    assert parser_of(usage="%(prog)s FLAGS").format_usage() == "usage: serve FLAGS\n"


def test_without_a_record_help_is_that_of_argparse(capsys: pytest.CaptureFixture[str]) -> None:
    ours, plain = ArgumentParser(prog="serve"), argparse.ArgumentParser(prog="serve")
    for parser in (ours, plain):
        parser.add_argument("--json", help="as JSON")
    assert ours.format_help() == plain.format_help()
    assert ours.format_usage() == plain.format_usage()
    assert printed(ours, capsys, "--help", "--json", "x") == plain.format_help()


def test_no_help_where_none_is_wanted() -> None:
    parser = parser_of(add_help=False)
    assert parser.parse_known_args(["--model", "m", "--help"])[1] == ["--help"]
    assert "--help" not in parser.format_help()


def test_a_help_option_of_the_programs_own(capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(add_help=False)
    parser.add_argument("--hilfe", action="help", help="Hilfe")
    assert "  --hilfe=WORD   options with" in parser.format_help()
    assert "--acme-gate" in printed(parser, capsys, "--hilfe=exec.moe")


def test_subcommands_have_help_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser(prog="serve")
    commands = parser.add_subparsers(metavar="COMMAND")
    add_cli_args(commands.add_parser("run", help="run it"), Args)
    assert "COMMAND" in printed(parser, capsys, "--help")
    assert printed(parser, capsys, "run", "--help").startswith("usage: serve run [-h")
    assert "--acme-gate" in printed(parser, capsys, "run", "--help=exec.moe")


def test_options_that_come_from_a_parent() -> None:
    parent = parser_of(add_help=False)
    child = ArgumentParser(prog="serve", parents=[parent])
    assert child.format_help() == parser_of().format_help()
    assert child.format_topic("exec") == parser_of().format_topic("exec")


def test_two_records_are_listed_together() -> None:
    class Other(Namespace, registry=Registry("other")):
        """Elsewhere."""

        _NS_PATH = "model"
        depth: A[int, "Layers."] = 1

    page = parser_of(Args, compose("Others", [Other])).format_topic("model")
    assert flags_in(page) == ["--model-path", "--color", "--api-key", "--old", "--depth"]
    assert "  Elsewhere.\n" in page


@pytest.mark.parametrize("columns", ["1", "30", "50", "200"])
def test_pages_fit_the_terminal(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    Long = Literal["a-long-word", "another-word", "yet-another-word", "the-last-of-the-words"]

    class Choosy(Namespace, registry=Registry("choosy")):
        """One of several words, each of which is longer than those that one would like to type."""

        _NS_PATH = "choosy"
        word: A[Long, "Some more words about the words that there are."] = "a-long-word"

    parser = parser_of(compose("Choices", [Choosy]))
    for page in (parser.format_help(), parser.format_topic("choosy")):
        assert "another-word" in page or "choosy" in page
        if int(columns) >= 50:
            assert max(map(len, page.splitlines())) < max(int(columns), 81)


def test_formatting_help_leaves_the_parser_as_it_was() -> None:
    parser = parser_of()
    before = {each.dest: each.help for each in parser._actions}
    (
        parser.format_help(),
        parser.format_usage(),
        parser.format_topic("all"),
        parser.format_topic("x"),
    )
    assert {each.dest: each.help for each in parser._actions} == before
    assert parser.prog == "serve" and parser.usage is None


@pytest.mark.parametrize("kind", [ArgumentParser, argparse.ArgumentParser])
@pytest.mark.parametrize("words", [["--old"], ["--ol"]])
def test_a_deprecated_flag_warns_with_what_to_use(
    kind: type[argparse.ArgumentParser], words: list[str]
) -> None:
    parser = kind(prog="serve")
    add_cli_args(parser, Args)
    args = parser.parse_args(["--model", "m", *words])
    with pytest.warns(DeprecatedFlagWarning) as caught:
        from_cli_args(Args, args)
    (warning,) = caught
    assert str(warning.message) == "--old is deprecated; use --color instead"
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        from_cli_args(Args, parser.parse_args(["--model", "m"]))
        Args("m", old=True)


def test_fields_outside_of_namespaces_stay_among_the_options_of_the_program() -> None:
    @dataclasses.dataclass
    class Base:
        rounds: A[int, Arg(help="Rounds.")] = 3

    parser = parser_of(compose("Bench", registry=REGISTRY, bases=(Base,)))
    assert "--rounds ROUNDS" in parser.format_help()
    assert "Rounds. (default: 3)" in parser.format_topic("rounds")
