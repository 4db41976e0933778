"""One text for a configuration: the same for the same, another for another, everywhere."""

import dataclasses
import enum
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ComposeError,
    Context,
    Derived,
    FingerprintError,
    Namespace,
    Registry,
    compose,
    derived,
    explain_fingerprint,
    fingerprint,
    resolver,
)

ROOT = Path(__file__).parent.parent.parent


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Point:
    def __init__(self, x: int) -> None:
        self.x = x

    def __fingerprint__(self) -> Any:
        return {"x": self.x}


class Refusing:
    def __fingerprint__(self) -> Any:
        raise LookupError("no state")


@dataclasses.dataclass
class Size:
    width: int
    height: int = 0

    def __fingerprint__(self) -> Any:
        return [self.width, self.height]


@dataclasses.dataclass
class Half:
    whole: int = dataclasses.field(init=False)


@dataclasses.dataclass
class Other:
    whole: int = dataclasses.field(init=False)


class Serving(Namespace, registry=Registry("fingerprints")):
    _NS_PATH = "serving"

    width: A[int, "Ranks."] = 1
    ratio: A[float | None, Arg(help="Of memory.", fallback=0.5)] = None
    backend: A[str | None, Arg(help="Kernels.", resolvable=True)] = None
    port: A[int, Arg(help="To listen on.", fingerprint=False)] = 30000
    api_key: A[str | None, Arg(help="Key.", secret=True)] = None
    header: A[str | None, Arg(help="Made of the key.", resolvable=True)] = None
    anything: Any = None
    labels: set[str] = dataclasses.field(default_factory=set)

    @resolver
    def choose(cfg) -> dict[str, Any]:
        return {"backend": "fast"} if cfg.backend is None else {}

    @resolver
    def make_header(cfg) -> dict[str, Any]:
        return {"header": f"Bearer {cfg.api_key}"} if cfg.api_key else {}

    @derived
    def double(cfg) -> int:
        return cfg.width * 2

    rank = Derived(type=int, default=0)


Args = compose("Args", [Serving])


def test_a_field_counts_and_a_port_does_not() -> None:
    assert fingerprint(Args(width=2)) != fingerprint(Args())
    assert fingerprint(Args(port=1)) == fingerprint(Args())


def test_a_new_field_is_never_forgotten() -> None:
    class Later(Serving):
        added_later: int = 1

    Both = compose("Args", [Later])
    assert fingerprint(Both()) != fingerprint(Args())
    (found,) = explain_fingerprint(Args(), Both())
    assert str(found) == "added_later: (absent) and 1"


def test_what_is_in_effect_counts_however_it_came_there() -> None:
    assert fingerprint(Args(ratio=0.5, backend="fast", width=1)) == fingerprint(Args())
    context = Context(Args())
    assert fingerprint(context) == fingerprint(Args())
    context.override("test", width=3)
    assert fingerprint(context) == fingerprint(Args(width=3))


def test_a_derived_field_counts_where_it_is_pinned() -> None:
    context = Context(Args())
    context.override("test", rank=5)
    assert fingerprint(context) == fingerprint(Args())
    context.override("test", double=7)
    assert [str(each) for each in explain_fingerprint(context, Args())] == [
        "double: 7 and (absent)"
    ]
    context.release("double")
    assert fingerprint(context) == fingerprint(Args())


def test_no_secret_counts_or_shows() -> None:
    assert fingerprint(Args(api_key="hunter2")) == fingerprint(Args(api_key="other"))
    found = explain_fingerprint(Args(api_key="hunter2"), Args())
    assert [str(each) for each in found] == ["header: '***' and None"]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1.0, True),
        (1, True, False),
        (1, "1", False),
        ([1], (1,), False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"x", "y"}, {"y", "x"}, True),
        (Level.LOW, Level.HIGH, False),
        (Point(1), Point(1), True),
        (Point(1), Point(2), False),
        (len, max, False),
        (Half, Other, False),
        (Size, Half, False),
        (Size, Size, True),
        (list[int], list[str], False),
        (Path("a"), Path("a"), True),
        (float("nan"), float("nan"), True),
        (-0.0, 0, True),
    ],
)
def test_values_count_by_what_they_are(one: Any, other: Any, same: bool) -> None:
    assert (fingerprint(Args(anything=one)) == fingerprint(Args(anything=other))) is same


def test_a_number_of_any_size_counts() -> None:
    assert fingerprint(Args(anything=10**5000)) != fingerprint(Args(anything=10**5000 + 1))


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "is a object, which has no text that is always the same"),
        ([lambda: 1], "is "),
        (Refusing(), "is a Refusing, whose __fingerprint__ failed: LookupError: no state"),
        ([Half()], "is a Half that lacks its 'whole'"),
    ],
    ids=["object", "lambda", "refusing", "unset"],
)
def test_a_value_without_stable_text_is_refused_by_its_field(value: Any, problem: str) -> None:
    with pytest.raises(FingerprintError) as caught:
        fingerprint(Args(anything=value))
    text = str(caught.value)
    assert text.startswith(f"no fingerprint of a Args: anything {problem}")
    assert text.endswith(
        "; declare the field Arg(fingerprint=False), or give the class a method __fingerprint__ "
        "that returns plain values"
    )


def test_what_is_no_configuration_is_refused() -> None:
    with pytest.raises(ComposeError, match="takes an instance of a composed record, not a dict"):
        fingerprint({})


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


# The first example waits for the table of all characters.
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(plain, plain)
def test_equal_values_and_no_others_have_equal_fingerprints(one: Any, other: Any) -> None:
    same = fingerprint(Args(anything=one)) == fingerprint(Args(anything=other))
    assert same is (_typed(one) == _typed(other))
    assert bool(explain_fingerprint(Args(anything=one), Args(anything=other))) is not same


def _typed(value: Any) -> Any:
    """The value, with bools told from numbers."""
    if isinstance(value, list):
        return list(map(_typed, value))
    if isinstance(value, dict):
        return {key: _typed(item) for key, item in value.items()}
    return (isinstance(value, bool), value)


CODE = """
from namespaces import ServerArgs
from registry import fingerprint
print(fingerprint(ServerArgs("m", tp_size=8, lora_target_modules={"q_proj", "k_proj", "v_proj"})))
"""


def test_it_is_the_same_whatever_the_hash_seed() -> None:
    found = set()
    for seed in "0", "1", "2":
        done = subprocess.run(
            [sys.executable, "-c", CODE],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            timeout=60,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_it_is_the_same_on_every_python() -> None:
    # Pinned: a cache outlives the process and the Python that filled it.
    record = Args(width=2, ratio=0.25, labels={"b", "a"}, anything={"k": [1.5, None]})
    assert fingerprint(record) == (
        "f931c1d146b6791a751587247a3b2220d25241c02a503739536dc68f9b956d86"
    )
