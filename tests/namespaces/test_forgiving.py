"""What an operator may type beyond what argparse takes, and what the refusals say."""

import argparse

import pytest

from namespaces import ServerArgs
from namespaces.retired import RETIRED
from registry import ArgumentParser, add_cli_args, from_cli_args


@pytest.fixture(scope="module")
def parser() -> ArgumentParser:
    parser = ArgumentParser(prog="serve", retired=RETIRED)
    add_cli_args(parser, ServerArgs)
    return parser


def parsed(parser: ArgumentParser, *words: str) -> ServerArgs:
    return from_cli_args(ServerArgs, parser.parse_args(["--model-path", "m", *words]))


def test_every_switch_may_be_written_with_underscores(parser: ArgumentParser) -> None:
    for word, action in list(parser._option_string_actions.items()):
        if word.startswith("--") and word != "--help" and action.nargs == 0:
            typed = "--" + word[2:].replace("-", "_")
            given = parser.parse_known_args(["--model-path", "m", typed])[0]
            assert vars(given) == vars(parser.parse_known_args(["--model-path", "m", word])[0])


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (["--enable_metrics"], {"enable_metrics": True}),
        (["--tp_size=8"], {"tp_size": 8}),
        (["--tp_size", "8"], {"tp_size": 8}),
        (["--reasoning_parser", "x_y"], {"reasoning_parser": "x_y"}),
        (["--tokenizer_pa", "t"], {"tokenizer_path": "t"}),
    ],
)
def test_underscores_stand_for_dashes_in_a_flag_and_stay_in_a_value(
    words: list[str], fields: dict, parser: ArgumentParser
) -> None:
    assert parsed(parser, *words) == ServerArgs("m", **fields)


@pytest.mark.parametrize(
    ("words", "config"),
    [
        (["--cuda-graph-config.decode.max_bs", "64"], {"decode": {"max_bs": 64}}),
        (["--cuda-graph-config.decode.max_bs=64"], {"decode": {"max_bs": 64}}),
        (["--cuda_graph_config.decode.backend", "full"], {"decode": {"backend": "full"}}),
        (
            ["--cuda-graph-config.decode.max_bs", "64", "--cuda-graph-config.decode.bs=[1, 2]"],
            {"decode": {"max_bs": 64, "bs": [1, 2]}},
        ),
        (
            [
                *("--cuda-graph-config", '{"decode": {"max_bs": 8}, "prefill": {"bs": [1]}}'),
                *("--cuda-graph-config.decode.max_bs", "64"),
            ],
            {"decode": {"max_bs": 64}, "prefill": {"bs": [1]}},
        ),
        (
            [
                *("--cuda-graph-config.decode.max_bs", "64"),
                *("--cuda-graph-config", '{"decode": {"max_bs": 8}, "prefill": {"bs": [1]}}'),
            ],
            {"decode": {"max_bs": 8}, "prefill": {"bs": [1]}},
        ),
        (
            [
                *("--cuda-graph-config", '{"decode": {"max_bs": 8}}'),
                *("--cuda-graph-config", '{"prefill": {"bs": [1]}}'),
            ],
            {"prefill": {"bs": [1]}},
        ),
    ],
)
def test_a_mapping_takes_one_key_at_a_time_and_all_merge_in_order(
    words: list[str], config: dict, parser: ArgumentParser
) -> None:
    given = parsed(parser, *words).cuda_graph_config
    assert (given, type(given)) == (config, dict)


def test_text_stays_text_where_a_mapping_holds_text(parser: ArgumentParser) -> None:
    record = parsed(parser, "--extra-metric-labels.team", "5", "--extra-metric-labels.zone", "a")
    assert record.extra_metric_labels == {"team": "5", "zone": "a"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--cuda-graph-config.decode.max_bz", "64"],
            "argument --cuda-graph-config: decode has no key 'max_bz'; it takes backend, bs, "
            "max_bs or tc_compiler. Did you mean 'max_bs'?",
        ),
        (["--tp-size.x", "1"], "--tp-size.x: --tp-size takes its value as a whole, not by key"),
        (
            ["--cuda-graph-config.", "1"],
            "--cuda-graph-config.: expected a key after each dot",
        ),
        (
            ["--cuda-graph-config.decode.max_bs"],
            "argument --cuda-graph-config.decode.max_bs: expected one argument",
        ),
        (
            ["--cuda-graph-config.decode.max_bs 64"],
            "'--cuda-graph-config.decode.max_bs 64' is one word; a flag and its value are two: "
            "'--cuda-graph-config.decode.max_bs' '64'",
        ),
        (
            ["--cuda_graph_config.decode 5", "zz"],
            "'--cuda_graph_config.decode 5' is one word; a flag and its value are two: "
            "'--cuda_graph_config.decode' '5'",
        ),
        (
            ["--mm-process-config.a b=5"],
            "'--mm-process-config.a b=5' is one word; a flag and its value are two: "
            "'--mm-process-config.a' 'b=5'",
        ),
        (["--mm-process-config.a ", "5"], "'--mm-process-config.a ': a key has no white space"),
        (
            ["--mm-process-config.a", "--tp-size", "8"],
            "argument --mm-process-config.a: expected one argument",
        ),
        (["--mm-process-config.a", "-x"], "argument --mm-process-config.a: expected one argument"),
        (
            ["--mm-process-config" + ".a" * 1500, "1"],
            "argument --mm-process-config: 1500 keys are nested too deeply; at most 100 are taken",
        ),
        (
            ["--mm-process-config" + ".a" * 101 + "=1"],
            "argument --mm-process-config: 101 keys are nested too deeply; at most 100 are taken",
        ),
        (["--=5"], "--= has a value but no flag; write --flag=value"),
        (
            ["--enable-reasoning"],
            "unrecognized arguments: --enable-reasoning; did you mean --reasoning-parser "
            "(serving)?",
        ),
        (
            ["--tp-size8"],
            "unrecognized arguments: --tp-size8; did you mean --tp-size (parallel), "
            "--pp-size (parallel) or --ep-size (parallel)?",
        ),
        (
            ["--model-impl.x.y8"],
            "--model-impl.x.y8: --model-impl takes its value as a whole, not by key",
        ),
        (
            ["--enable-metrics", "false"],
            "unrecognized arguments: false; --enable-metrics is a switch and takes no value; "
            "leave it out to keep it off",
        ),
        (
            ["--enable-metrics=false"],
            "--enable-metrics is a switch and takes no value; leave it out to keep it off",
        ),
        (
            ["--enable_metrics=true"],
            "--enable-metrics is a switch and takes no value; leave it out to keep it off",
        ),
        (
            ["--host=--"],
            "argument --host: the text -- cannot be typed here; set it in a file or by a variable",
        ),
        (["run.yaml"], "unrecognized arguments: run.yaml"),
        ([""], "unrecognized arguments: ''"),
        (["a\nb"], "unrecognized arguments: 'a\\nb'"),
        (["--", "x"], "unrecognized arguments: -- x"),
        (["--__"], "unrecognized arguments: --__"),
        (
            ["--cuda", "5"],
            "--cuda is ambiguous; it could be --cuda-graph-config, --cuda-graph-backend-decode, "
            "--cuda-graph-backend-prefill, --cuda-graph-max-bs-decode, "
            "--cuda-graph-max-bs-prefill, --cuda-graph-bs-decode or 2 more",
        ),
        (
            ["--cuda_graph.decode", "5"],
            "--cuda_graph.decode is ambiguous; it could be --cuda-graph-config, "
            "--cuda-graph-backend-decode, --cuda-graph-backend-prefill, "
            "--cuda-graph-max-bs-decode, --cuda-graph-max-bs-prefill, --cuda-graph-bs-decode "
            "or 2 more",
        ),
        (
            ["--cuda_graph_m=5"],
            "--cuda_graph_m is ambiguous; it could be --cuda-graph-max-bs-decode or "
            "--cuda-graph-max-bs-prefill",
        ),
        (["--enable-ep-moe"], "--enable-ep-moe is retired; type --ep-size instead"),
        (["--enable_ep_moe"], "--enable_ep_moe is retired; type --ep-size instead"),
        (
            ["--enable-deepep-moe"],
            "--enable-deepep-moe is retired; type --moe-a2a-backend deepep instead",
        ),
        (
            ["--nsa-prefill-backend=x"],
            "--nsa-prefill-backend is retired; type --dsa-prefill-backend instead",
        ),
        (
            ["--host 127.0.0.1", "--port 6379"],
            "'--host 127.0.0.1' is one word; a flag and its value are two: '--host' '127.0.0.1'",
        ),
        (
            ["--tp-sise", "8"],
            "unrecognized arguments: --tp-sise 8; did you mean --tp-size (parallel), "
            "--pp-size (parallel) or --ep-size (parallel)?",
        ),
    ],
)
def test_what_cannot_be_meant_is_answered_with_what_to_type(
    words: list[str], message: str, parser: ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        parsed(parser, *words)
    assert caught.value.code == 2
    assert capsys.readouterr().err == f"serve: error: {message} (see serve --help)\n"


@pytest.mark.parametrize(
    ("words", "config"),
    [
        (["--mm-process-config.image.scale=-1e-3"], {"image": {"scale": -0.001}}),
        (["--mm-process-config.image.scale", "-1e-3"], {"image": {"scale": -0.001}}),
        (["--mm-process-config.image.scale", "-5"], {"image": {"scale": -5}}),
        (["--mm-process-config.k=--x"], {"k": "--x"}),
        (["--mm-process-config.k=--"], {"k": "--"}),
        (["--mm-process-config.k=-x y"], {"k": "-x y"}),
        (["--mm-process-config.k", "-x y"], {"k": "-x y"}),
        (["--mm-process-config.k=--tp-size"], {"k": "--tp-size"}),
        (["--mm-process-config.k=a=b"], {"k": "a=b"}),
        (["--mm-process-config.k="], {"k": ""}),
        (["--mm-process-config.k", ""], {"k": ""}),
        (["--mm-process-config.-k=1"], {"-k": 1}),
    ],
)
def test_the_value_of_one_key_may_begin_with_a_dash_as_that_of_a_flag_may(
    words: list[str], config: dict, parser: ArgumentParser
) -> None:
    assert parsed(parser, *words).mm_process_config == config


def test_a_switch_that_is_on_names_what_turns_it_off(capsys: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser(prog="serve")
    parser.add_argument("--shuffle", action=argparse.BooleanOptionalAction)
    parser.add_argument("--verbose", "-v", action="count")
    for words, message in (
        (
            ["--shuffle", "false"],
            "unrecognized arguments: false; --shuffle is a switch and takes no value; "
            "--no-shuffle turns it off",
        ),
        (["--shuffle=no"], "--shuffle is a switch and takes no value; --no-shuffle turns it off"),
        (["--verbose=3"], "--verbose is a switch and takes no value"),
    ):
        with pytest.raises(SystemExit):
            parser.parse_args(words)
        assert capsys.readouterr().err == f"serve: error: {message} (see serve --help)\n"


def test_the_words_of_a_subcommand_are_its_own() -> None:
    parser = ArgumentParser(prog="serve")
    parser.add_argument("--quick", action="store_true")
    run = parser.add_subparsers().add_parser("run")
    run.add_argument("--quick")
    assert parser.parse_args(["run", "--quick=--x"]).quick == "--x"
    parser = ArgumentParser(prog="serve")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rest", nargs=argparse.REMAINDER)
    words = ["a", "--quick=5", "--re_st", "--x=--"]
    assert parser.parse_args(["--rest", *words]).rest == words


def test_a_beginning_is_no_flag_where_abbreviations_are_off() -> None:
    parser = ArgumentParser(prog="serve", allow_abbrev=False)
    add_cli_args(parser, ServerArgs)
    words = ["--model-path", "m", "--cuda", "--cuda_graph_m=5"]
    assert parser.parse_known_args(words)[1] == ["--cuda", "--cuda_graph_m=5"]


def test_a_mistyped_required_flag_is_named_and_not_only_missed(
    parser: ArgumentParser, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser.parse_args(["--modle-path", "m"])
    assert capsys.readouterr().err.startswith(
        "serve: error: unrecognized arguments: --modle-path; did you mean --model-path (model)"
    )


def test_a_word_of_an_earlier_command_line_is_in_no_later_message(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = ArgumentParser(prog="serve")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    parser.parse_args(["run", "--not-ours"])
    with pytest.raises(SystemExit):
        parser.error("the port is taken")
    assert capsys.readouterr().err == "serve: error: the port is taken (see serve --help)\n"


def test_what_replaces_a_retired_flag_can_be_typed(parser: ArgumentParser) -> None:
    for flag, instead in RETIRED.items():
        assert flag not in parser._option_string_actions
        assert instead.split()[0] in parser._option_string_actions


def test_an_ordinary_parser_takes_the_flags_as_they_are() -> None:
    parser = argparse.ArgumentParser(prog="serve")
    add_cli_args(parser, ServerArgs)
    assert from_cli_args(ServerArgs, parser.parse_args(["--model", "m"])) == ServerArgs("m")
