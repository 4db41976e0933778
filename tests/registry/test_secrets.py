"""A secret, and what is derived from one, is shown by no output, log or message."""

import argparse
import dataclasses
import pickle
import re
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from registry import (
    A,
    Arg,
    CheckError,
    ComposeError,
    Context,
    DerivationError,
    InvalidValueError,
    Namespace,
    Registry,
    RegistryError,
    ResolutionError,
    check,
    compose,
    derive,
    derived,
    fields_set,
    publish,
    reset,
    resolver,
    validate,
)
from registry.masking import Mask

REGISTRY = Registry("secrets")
SECRETS = ("hunter2", "hunter3", "hunter4", "aHVudGVyMg", "31337")


class Serving(Namespace, registry=REGISTRY):
    _NS_PATH = "serving"

    api_key: A[str | None, Arg(secret=True, resolvable=True)] = None
    other_keys: A[list[str] | None, Arg(secret=True)] = None
    pin: A[int | None, Arg(secret=True)] = None
    fault: str = ""
    port: int = 80

    @derived
    def header(cfg) -> str:
        return f"Bearer {cfg.api_key}"

    @derived
    def request(cfg) -> dict[str, str]:
        return {"authorization": cfg.header}

    @derived
    def key_length(cfg) -> int:
        return len(cfg.api_key or "")

    @derived
    def number(cfg) -> int:
        if cfg.fault == "derivation, indirectly":
            raise LookupError(f"{cfg.request}")
        return int(cfg.api_key) if cfg.fault == "derivation" else 0

    @derived
    def doubled_port(cfg) -> int:
        return cfg.port * 2

    @resolver
    def faulty(cfg) -> Any:
        """Decide wrongly, if asked to."""
        if cfg.fault == "resolver":
            raise LookupError(f"no server knows {cfg.api_key} or {cfg.header}")
        return {"decision": {"api_key": 31337}, "answer": cfg.api_key}.get(cfg.fault)

    @check
    def no_fault(cfg) -> bool:
        """nothing is wrong"""
        if cfg.fault == "check raises harmlessly":
            raise LookupError(f"no port {cfg.port}")
        if cfg.fault == "check raises":
            raise LookupError(f"{cfg.request} and {cfg.pin} and {cfg.other_keys!r}")
        return not (cfg.fault == "check" and cfg.request and cfg.api_key)


Args = compose("Args", registry=REGISTRY)
GIVEN = {"api_key": "hunter2", "other_keys": ["hunter4"], "pin": 31337}


def shown(text: str) -> list[str]:
    """The secrets that a text gives away."""
    return [secret for secret in SECRETS if secret in text]


def rotated() -> Context:
    context = Context(Args(**GIVEN))
    context.override("rotation", api_key="hunter3", header="Bearer hunter4")
    return context


def republished() -> str:
    reset()
    publish(Args(**GIVEN)).override("rotation", api_key="hunter3", header="Bearer hunter4")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        publish(Args())
    reset()
    return str(warned[0].message)


def in_a_scope() -> str:
    context = rotated()
    with context.scoped(api_key="hunter4"):
        return str(context.explain("api_key")) + repr(context.explain("api_key"))


OUTPUTS: dict[str, Callable[[], object]] = {
    "repr of the record": lambda: repr(Args(**GIVEN)),
    "repr of the bag": lambda: repr(rotated().bag("serving")),
    "repr of the context": lambda: repr(rotated()),
    "explain": lambda: [str(rotated().explain(name)) for name in REGISTRY.input],
    "explain, derived": lambda: [str(rotated().explain(name)) for name in REGISTRY.derived],
    "repr of what is explained": lambda: [rotated().explain(name) for name in REGISTRY.derived],
    "explain in a scope": in_a_scope,
    "resolved": lambda: rotated().resolved(),
    "log": lambda: rotated().log,
    "overridden": lambda: rotated().held(),
    "the warning about dropped overrides": republished,
}


@pytest.mark.parametrize("show", OUTPUTS.values(), ids=OUTPUTS)
def test_no_output_shows_a_secret(show: Callable[[], object]) -> None:
    text = str(show())
    assert shown(text) == []
    assert "***" in text or "context of" in text


FAULTS: dict[str, tuple[Callable[[], object], type, str]] = {
    "a value of another type": (
        lambda: Context(Args(api_key=31337)),
        InvalidValueError,
        "api_key must be str or None, not *** (int)",
    ),
    "an override of another type": (
        lambda: rotated().override("typo", api_key=31337),
        InvalidValueError,
        "api_key must be str or None, not *** (int)",
    ),
    "a decision of another type": (
        lambda: Context(Args(**GIVEN, fault="decision")),
        InvalidValueError,
        "api_key must be str or None, not *** (int)",
    ),
    "a resolver that returns it": (
        lambda: Context(Args(**GIVEN, fault="answer")),
        ResolutionError,
        "resolver faulty returned a value of type str; a resolver returns {name: value} or None",
    ),
    "a resolver that speaks of it": (
        lambda: Context(Args(**GIVEN, fault="resolver")),
        ResolutionError,
        "resolver faulty failed after reading fault='resolver', api_key='***', header='***': "
        "LookupError at THIS LINE, whose text is not shown, since a secret was read",
    ),
    "a derivation that speaks of it": (
        lambda: rotated().override("try", fault="derivation"),
        DerivationError,
        "deriving number failed after reading fault='derivation', api_key='***': ValueError "
        "at THIS LINE, whose text is not shown, since a secret was read",
    ),
    "a derivation that speaks of what is derived from it": (
        lambda: Context(Args(**GIVEN, fault="derivation, indirectly")),
        DerivationError,
        "deriving number failed after reading fault='derivation, indirectly', request='***': "
        "LookupError at THIS LINE, whose text is not shown, since a secret was read",
    ),
    "a derivation from a record": (
        lambda: derive(Args(**GIVEN, fault="derivation")).number,
        DerivationError,
        "deriving number failed after reading fault='derivation', api_key='***': ValueError "
        "at THIS LINE, whose text is not shown, since a secret was read",
    ),
    "a check that does not hold": (
        lambda: rotated().override("try", fault="check"),
        CheckError,
        "nothing is wrong, but fault='check', request='***', api_key='***'",
    ),
    "a check that speaks of it": (
        lambda: rotated().override("try", fault="check raises"),
        CheckError,
        "nothing is wrong (LookupError at THIS LINE, "
        "whose text is not shown, since a secret was read), but "
        "fault='check raises', request='***', pin='***', other_keys='***'",
    ),
}


@pytest.mark.parametrize(("cause", "error", "message"), FAULTS.values(), ids=FAULTS)
def test_no_message_shows_a_secret_nor_does_its_traceback(
    cause: Callable[[], object], error: type, message: str
) -> None:
    with pytest.raises(RegistryError) as caught:
        cause()
    assert type(caught.value) is error
    text = str(caught.value).partition(": ")[2]
    assert re.sub(rf"{re.escape(__file__)}:\d+", "THIS LINE", text) == message
    lines = traceback.format_exception(caught.value)
    # The lines of this file hold secrets; what is printed of the errors must not.
    assert shown("".join(line for line in lines if not line.startswith("  File"))) == []


def test_an_error_without_a_secret_keeps_its_cause() -> None:
    with pytest.raises(CheckError) as caught:
        Context(Args(**GIVEN, fault="check raises harmlessly"))
    assert isinstance(caught.value.__cause__, LookupError)


def test_an_absent_secret_is_told_as_absent() -> None:
    context = Context(Args())
    assert str(context.explain("api_key")).startswith("serving.api_key = None\n")
    assert context.resolved()["api_key"] is None


def test_what_reads_no_secret_is_shown() -> None:
    context = rotated()
    assert context.explain("doubled_port").value == "160"
    assert context.explain("key_length").value == "'***'"
    assert context.resolved()["doubled_port"] == 160


def test_whoever_uses_a_secret_has_it() -> None:
    record = Args(**GIVEN)
    serving = Context(record).bag("serving")
    assert (serving.api_key, serving.header, serving.key_length) == ("hunter2", "Bearer hunter2", 7)
    assert dataclasses.asdict(record)["api_key"] == "hunter2"
    there = pickle.loads(pickle.dumps(vars(record)))
    assert there["api_key"] == "hunter2"
    assert fields_set(record) == set(GIVEN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("invalid literal: 'it\\'s \"me\"'", "invalid literal: '***'"),
        ('it\'s "me"', "***"),
        ("hunter2 and hunter22", "*** and ***2"),
        ("0", "0"),
    ],
)
def test_a_secret_is_found_in_a_text_however_it_is_quoted(text: str, expected: str) -> None:
    mask = Mask({"one", "two", "empty"}, {"length": ["one"]})
    values = {"one": 'it\'s "me"', "two": [{"key": "hunter2"}, None], "empty": "", "length": 0}
    error = ValueError(text)
    cause = error if text == expected else None
    assert mask.told(error, {}, values) == (f"ValueError: {expected}", cause)


@pytest.mark.parametrize(
    "door", [publish, Context, derive, validate], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("kind", [dict, argparse.Namespace])
def test_settings_that_are_no_record_yet_are_refused_without_being_shown(
    kind: Callable[..., Any], door: Callable[[Any], object]
) -> None:
    with pytest.raises(TypeError) as caught:
        door(kind(api_key="hunter2"))
    assert type(caught.value) is ComposeError
    assert str(caught.value).endswith(
        f": takes an instance of a composed record, not a {kind.__name__}"
    )
