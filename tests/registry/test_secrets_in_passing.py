"""A secret does not get out through what someone else's code says, returns or is given."""

import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    ArgumentParser,
    CheckError,
    Context,
    Derived,
    InvalidValueError,
    Namespace,
    Registry,
    RegistryError,
    ResolutionError,
    add_cli_args,
    bag,
    check,
    compose,
    derive,
    derived,
    publish,
    reset,
    resolver,
)

REGISTRY = Registry("secrets in passing")
SECRET = "sk-hunter2"


def in_the_cause(key: str) -> None:
    try:
        raise KeyError(key)
    except KeyError as error:
        raise LookupError("no such server") from error


def in_the_context(key: str) -> None:
    try:
        raise KeyError(key)
    except KeyError:
        raise LookupError("no such server")  # noqa: B904


def in_a_note(key: str) -> None:
    error = LookupError("no such server")
    error.__notes__ = [f"tried with {key}"]  # add_note() of Python 3.11
    raise error


def in_a_group(key: str) -> None:
    if sys.version_info < (3, 11):
        raise LookupError(key)
    raise ExceptionGroup("no such server", [LookupError(key)])


def in_part(key: str) -> None:
    int(key[3:])


def in_another_form(key: str) -> None:
    raise LookupError(json.dumps({"key": key[::-1]}))


def in_an_error_without_text(key: str) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError(key)

    raise Mute


WAYS = [
    in_the_cause,
    in_the_context,
    in_a_note,
    in_a_group,
    in_part,
    in_another_form,
    in_an_error_without_text,
]


class Serving(Namespace, registry=REGISTRY):
    _NS_PATH = "serving"

    api_key: A[str | None, Arg(secret=True)] = None
    pin: A[int | None, Arg(secret=True)] = None
    fault: Any = None
    decide: Any = None
    url: A[str | None, Arg(resolvable=True)] = None
    port: A[int, Arg(resolvable=True)] = 80

    session = Derived(doc="The session, set once there is one.", type=int)

    @derived
    def token(cfg) -> int:
        where, way = cfg.fault or ("", None)
        if where == "derivation":
            way(cfg.api_key)
        if where == "derivation, past its view":
            way(bag("serving").api_key)
        return len(cfg.api_key or "")

    @resolver
    def decided(cfg) -> Any:
        where, way = cfg.fault or ("", None)
        if where == "resolver":
            way(cfg.api_key)
        return cfg.decide(cfg.api_key) if cfg.decide else None

    @derived
    def endpoint(cfg) -> str:
        return f"{cfg.url}/v1"

    @check
    def is_reachable(cfg):
        """the server is reachable"""
        where, way = cfg.fault or ("", None)
        if where == "check":
            way(cfg.api_key)
        return True


Args = compose("Args", registry=REGISTRY)


def told(error: BaseException) -> str:
    """All that is printed of an error, but for the lines of this file, which hold secrets."""
    lines = traceback.format_exception(error)
    return str(error) + "".join(each for each in lines if not each.startswith("  File"))


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize(
    ("where", "line"),
    [
        ("derivation", "deriving token failed after reading"),
        ("resolver", "resolver decided failed after reading"),
        ("check", "the server is reachable ("),
    ],
)
def test_no_error_of_who_read_a_secret_tells_it(way: Callable, where: str, line: str) -> None:
    with pytest.raises(RegistryError) as caught:
        Context(Args(api_key=SECRET, fault=(where, way)))
    text = told(caught.value)
    assert "hunter2" not in text
    assert "2retnuh" not in text
    assert line in text
    assert f"{__file__}:" in text
    assert "whose text is not shown, since a secret was read" in text
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("way", WAYS[:4], ids=lambda way: way.__name__)
def test_nor_does_one_of_who_read_it_past_its_view(way: Callable) -> None:
    reset()
    context = publish(Args(api_key=SECRET))
    try:
        with pytest.raises(RegistryError) as caught:
            context.override("test", fault=("derivation, past its view", way))
        assert SECRET not in told(caught.value)
        assert "deriving token failed after reading" in str(caught.value)
    finally:
        reset()


FALLBACKS = {
    "a field that fails": lambda cfg: cfg.broken,
    "a fact that is not set": lambda cfg: cfg.missing,
    "a cycle": lambda cfg: cfg.fallback,
}


@pytest.mark.parametrize("fall_back", FALLBACKS.values(), ids=FALLBACKS)
@pytest.mark.parametrize("door", [Context, lambda record: derive(record).fallback])
def test_who_fails_after_an_error_of_its_own_tells_nothing_of_it(
    fall_back: Callable, door: Callable
) -> None:
    registry = Registry("falling back")

    class Serving(Namespace, registry=registry):
        _NS_PATH = "serving"

        api_key: A[str | None, Arg(secret=True)] = None

        @derived
        def fallback(cfg) -> int:
            try:
                return int(cfg.api_key[3:])
            except ValueError:
                return fall_back(cfg)

        @derived
        def broken(cfg) -> int:
            return 1 // 0

        missing = Derived(doc="A fact.", type=int)

        @check
        def has_a_fallback(cfg):
            """there is a fallback"""
            return cfg.fallback > 0

    Args = compose("Args", registry=registry)
    try:
        door(Args(api_key=SECRET))
    except Exception as error:
        assert "hunter2" not in told(error)
        parts = [error.__cause__, error.__context__]
        assert "hunter2" not in "".join(map(repr, parts))
    else:
        assert door is Context  # it waits for the fact


def test_the_secret_of_before_is_not_told_either() -> None:
    reset()
    context = publish(Args(api_key=SECRET))
    try:
        way = ("derivation, past its view", in_the_cause)
        with pytest.raises(RegistryError) as caught:
            context.override("rotation", api_key="sk-other", fault=way)
        assert SECRET not in told(caught.value)
    finally:
        reset()


def test_a_bag_shows_values_and_masks_of_one_moment() -> None:
    registry = Registry("one moment")
    context: Any = None

    class Turning:
        def __repr__(self) -> str:
            context.override("turn", use_key=False)
            return "turned"

    class Serving(Namespace, registry=registry):
        _NS_PATH = "serving"

        api_key: A[str | None, Arg(secret=True)] = None
        a_turn: Any = None
        use_key: bool = True

        @derived
        def header(cfg) -> str:
            return f"Bearer {cfg.api_key if cfg.use_key else None}"

    context = Context(compose("Args", registry=registry)(api_key=SECRET, a_turn=Turning()))
    assert "hunter2" not in repr(context.bag("serving"))
    assert context.bag("serving").header == "Bearer None"


def test_who_read_no_secret_is_told_in_full() -> None:
    with pytest.raises(CheckError) as caught:
        Context(Args(fault=("check", in_the_cause)))
    assert "LookupError: no such server" in str(caught.value)
    assert isinstance(caught.value.__cause__, LookupError)


def test_a_pin_that_does_not_fit_is_not_shown_for_what_is_made_of_a_secret() -> None:
    context = Context(Args(api_key=SECRET))
    with pytest.raises(InvalidValueError, match=r"token must be int, not \*\*\* \(str\)"):
        context.override("test", token=f"token of {SECRET}")
    with pytest.raises(InvalidValueError, match="session must be int, not 'a'"):
        context.override("test", session="a")


def test_a_decision_made_of_a_secret_is_one() -> None:
    context = Context(Args(api_key=SECRET, decide=lambda key: {"url": f"http://{key}@host"}))
    assert context.bag("serving").endpoint == f"http://{SECRET}@host/v1"
    context.override("test", port=81)
    shown = [context.resolved(), context.bag("serving"), context.log]
    shown += [str(context.explain(name)) for name in ("url", "endpoint", "port")]
    assert SECRET not in str(shown)
    assert context.resolved()["url"] == "***"
    assert context.resolved()["port"] == 81
    assert Context(Args(decide=lambda key: {"url": "x"})).resolved()["url"] == "***"


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda key: {"port": key}, InvalidValueError, r"port must be int, not \*\*\* \(str\)"),
        (lambda key: {key: 1}, ResolutionError, r"decided \*\*\*, which is no input field"),
        (lambda key: [key], ResolutionError, "returned a value of type list"),
    ],
)
def test_a_wrong_decision_made_of_a_secret_is_not_shown(
    answer: Callable, error: type, message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        Context(Args(api_key=SECRET, decide=answer))
    assert "hunter2" not in told(caught.value)


def test_a_typed_secret_that_cannot_be_read_is_not_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = ArgumentParser(prog="serve")
    add_cli_args(parser, compose("Args", [Pins]))
    for words in (
        ["--pin", SECRET],
        ["--colour", SECRET],
        [f"--several={SECRET}"],
        ["--map", SECRET],
    ):
        with pytest.raises(SystemExit):
            parser.parse_args(words)
        message = capsys.readouterr().err
        assert "hunter2" not in message
        assert words[0].partition("=")[0] in message


class Pins(Namespace, registry=Registry("secrets on the command line")):
    _NS_PATH = "pins"

    pin: A[int | None, Arg(secret=True)] = None
    colour: A[str, Arg(secret=True, choices=["red", "blue"])] = "red"
    several: A[list[int] | None, Arg(secret=True)] = None
    map: A[dict[str, int] | None, Arg(secret=True)] = None
