"""Secrets on a command line that is wrong: whatever the mistake, no message has them."""

import argparse
import traceback
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    ArgumentParser,
    CommandLineError,
    Namespace,
    Registry,
    add_cli_args,
    compose,
    from_argv,
)

SECRET = "hunter2"


class Noted(argparse.Action):
    """An action of a program's own."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, values)


class Typeless(Noted):
    """One whose constructor knows no type."""

    def __init__(self, option_strings: Any, dest: str, **options: Any) -> None:
        options.pop("type", None)
        super().__init__(option_strings, dest, **options)


class Keys(Namespace, registry=Registry("secrets typed in the wrong way")):
    _NS_PATH = "keys"

    api_key: A[str | None, Arg(secret=True, aliases=["--api-token"])] = None
    pins: A[list[str] | None, Arg(secret=True)] = None
    tokens: A[dict[str, str] | None, Arg(secret=True)] = None
    noted: A[str | None, Arg(secret=True, action=Noted)] = None
    typeless: A[str | None, Arg(secret=True, action=Typeless)] = None
    short: A[str | None, Arg(secret=True, cli_name="-k")] = None
    port: A[int, "The port."] = 80
    quick: A[bool, "Be quick."] = False


Args = compose("Args", [Keys])


def refused(words: list[str]) -> str:
    with pytest.raises(CommandLineError) as caught:
        from_argv(Args, words)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        # A secret of several words, only the first of which is taken.
        (["--api-key", "my", "hunter2"], "unrecognized arguments: ***"),
        (["--api-key=my", "hunter2"], "unrecognized arguments: ***"),
        (["--api-key", "my", "--port", "8", "hunter2"], "unrecognized arguments: ***"),
        (["-k", "my", "hunter2"], "unrecognized arguments: ***"),
        (["-kmy", "hunter2"], "unrecognized arguments: ***"),
        (["--noted", "my", "hunter2"], "unrecognized arguments: ***"),
        (["--tokens.a", "my", "hunter2"], "unrecognized arguments: ***"),
        # One that looks like a flag.
        (
            ["--api-key", "--hunter2"],
            "unrecognized arguments: ***. Then: argument --api-key/--api-token: "
            "expected one argument",
        ),
        (["--pins", "a", "--hunter2"], "unrecognized arguments: ***"),
        (["--pins", "a", "--hunter2", "b", "--hunter2"], "unrecognized arguments: *** *** ***"),
        # A flag that is none.
        (["--apikey", "hunter2"], "unrecognized arguments: --apikey ***; did you mean --api-key"),
        (["--apikey=hunter2"], "unrecognized arguments: --apikey=***; did you mean --api-key"),
        (["--apikey", "--hunter2"], "unrecognized arguments: --apikey ***; did you mean --api-key"),
        (["--apikey hunter2"], "unrecognized arguments: --apikey ***; did you mean --api-key"),
        (["--apikey\thunter2"], "unrecognized arguments: '--apikey\\t***'; did you mean"),
        (["-api-key", "hunter2"], "unrecognized arguments: -api-key ***; did you mean --api-key"),
        (["-api-key hunter2"], "unrecognized arguments: -api-key ***; did you mean --api-key"),
        (["-api-key=hunter2"], "unrecognized arguments: -api-key=***; did you mean --api-key"),
        (["--api-key:hunter2"], "unrecognized arguments: --api-key:***; did you mean --api-key"),
        (["--api-keyhunter2"], "unrecognized arguments: --api-key***; did you mean --api-key"),
        (["--api_key-hunter2"], "unrecognized arguments: --api_key***; did you mean --api-key"),
        (["--apiKeyhunter2=x"], "unrecognized arguments: --apiKey***"),
        (["--my-api-key", "hunter2"], "unrecognized arguments: --my-api-key ***; did you mean"),
        (["--key", "hunter2"], "unrecognized arguments: --key ***; did you mean --api-key"),
        (["api-key=hunter2"], "unrecognized arguments: api-key=***; did you mean --api-key (keys)"),
        (["api_key", "hunter2"], "unrecognized arguments: api_key ***; did you mean --api-key"),
        (["api_key hunter2"], "unrecognized arguments: api_key ***; did you mean --api-key"),
        *(
            (
                [f"{dash}key", "hunter2"],
                f"unrecognized arguments: {dash}key ***; did you mean --api",
            )
            for dash in ("\u2014api-", "\u2013-api-", "\u2212api-", "\u2010\u2010api\u2011")
        ),
        # In one word, or by a key.
        (
            ["--api-key hunter2"],
            "'--api-key ***' is one word; a flag and its value are two: '--api-key' '***'",
        ),
        (
            ["--tokens.a hunter2"],
            "'--tokens.*** ***' is one word; a flag and its value are two: '--tokens.***' '***'",
        ),
        (
            ["--api-key.hunter2", "x"],
            "--api-key.***: --api-key takes its value as a whole, not by key",
        ),
        (["--tokens.hunter2"], "argument --tokens.***: expected one argument"),
        (["--tokens.a", "--hunter2"], "argument --tokens.***: expected one argument"),
        # By the beginning of a flag.
        (["--api=hunter2", "x"], "unrecognized arguments: ***"),
        (["--ap", "my", "hunter2"], "unrecognized arguments: ***"),
        (["--n", "my", "hunter2"], "unrecognized arguments: ***"),
        (["--pi", "a", "--hunter2"], "unrecognized arguments: ***"),
    ],
)
def test_a_mistake_shows_no_secret(words: list[str], message: str) -> None:
    assert refused(words).startswith(message)


@pytest.mark.parametrize("kind", [ArgumentParser, argparse.ArgumentParser])
@pytest.mark.parametrize("flag", ["--api-key", "--pins", "--noted", "--typeless", "-k"])
def test_a_masked_secret_is_refused_whatever_the_action(
    kind: type[argparse.ArgumentParser], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = kind(prog="serve")
    add_cli_args(parser, Args)
    with pytest.raises(SystemExit):
        parser.parse_args([flag, "***"])
    assert "*** stands for a secret that was not shown; type the" in capsys.readouterr().err


def test_what_stands_before_any_secret_is_shown() -> None:
    assert refused(["stray", "--port", "8"]) == "unrecognized arguments: stray"
    assert refused(["stray", "--api-key", "hunter2"]) == "unrecognized arguments: stray"
    assert refused(["--prot", "8"]).startswith("unrecognized arguments: --prot 8; did you mean")
    assert refused(["--api-key", "x", "--prot", "8"]).startswith(
        "unrecognized arguments: --prot ***; did you mean --port (keys)?"
    )
