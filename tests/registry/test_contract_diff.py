"""What changed between two contracts, how bad it is, and in which words."""

import copy
import dataclasses
import importlib
import sys
import time
from pathlib import Path
from typing import Any, Literal, Optional

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    ContractChange,
    ContractError,
    Derived,
    Namespace,
    Registry,
    assert_contract,
    check_contract,
    compose,
    derived,
    diff,
    snapshot,
    write_contract,
)
from registry.contract_report import as_json, as_markdown, as_table

SCHEMAS = Path(__file__).parent.parent / "data" / "schemas"


def schema(number: int, monkeypatch: pytest.MonkeyPatch) -> type[Any]:
    monkeypatch.syspath_prepend(SCHEMAS)
    name = f"schema_{number}"
    record: type[Any] = importlib.import_module(name).ServerArgs
    monkeypatch.delitem(sys.modules, name)
    return record


@pytest.mark.parametrize(("old", "new"), [(1, 2), (2, 3)])
def test_what_real_schemas_did_reads_like_a_release_note(
    old: int, new: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes = diff(schema(old, monkeypatch), schema(new, monkeypatch))
    pinned = (SCHEMAS / f"schema_{old}_to_{new}.txt").read_text(encoding="utf-8")
    assert as_table(changes) + "\n" == pinned


def record_of(annotation: Any, default: Any = None, path: str = "n", **options: Any) -> type[Any]:
    """A record with one field `it`."""
    body = {"_NS_PATH": path, "__annotations__": {"it": annotation}}
    if default is not dataclasses.MISSING:
        body["it"] = default
    cls = type(Namespace)("N", (Namespace,), body, registry=Registry("one"))
    return compose("Record", [cls], **options)


def arg(kind: Any = str, **options: Any) -> Any:
    return A[kind, Arg(**options)]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (record_of(int), record_of(int, path="m"), "breaking: it: moved from n to m"),
        (
            record_of(int),
            record_of(Optional[int]),  # noqa: UP045
            "compatible: it: type was int and is int | None",
        ),
        (record_of(int | None), record_of(int), "breaking: it: type was int | None and is int"),
        (record_of(int), record_of(float), "compatible: it: type was int and is float"),
        (record_of(float), record_of(int), "breaking: it: type was float and is int"),
        (record_of(int), record_of(str), "breaking: it: type was int and is str"),
        (
            record_of(arg()),
            record_of(arg(int | str)),
            "behaviour: it: type was str and is int | str; a word may be read as another type",
        ),
        (
            record_of(arg(float)),
            record_of(arg(int | float)),
            "behaviour: it: type was float and is float | int; a word may be read as another type",
        ),
        (
            record_of(arg(Literal["1", "2"])),
            record_of(arg(int | str)),
            "behaviour: it: type was Literal['1', '2'] and is int | str; "
            "a word may be read as another type",
        ),
        (
            record_of(arg(list[str])),
            record_of(arg(list[int | str])),
            "behaviour: it: type was list[str] and is list[int | str]; "
            "a word may be read as another type",
        ),
        (
            record_of(arg(type_parser=str)),
            record_of(arg(int | str, type_parser=str)),
            "compatible: it: type was str and is int | str",
        ),
        (
            record_of(arg(int)),
            record_of(arg(int | str)),
            "compatible: it: type was int and is int | str",
        ),
        (record_of(arg(str | Literal["a", "b"])), record_of(arg(str | Literal["a"])), ""),
        (record_of(arg(str | Literal["a"])), record_of(arg(str | Literal["b", "a"])), ""),
        (
            record_of(arg(int | Literal["a", "b"])),
            record_of(arg(int | Literal["a"])),
            "breaking: it: no longer takes 'b'",
        ),
        (
            record_of(bool | int, False),
            record_of(bool | int, 0),
            "behaviour: it: default was false and is 0",
        ),
        (
            record_of(list[Any], dataclasses.field(default_factory=lambda: [True])),
            record_of(list[Any], dataclasses.field(default_factory=lambda: [1])),
            "behaviour: it: default was [true] and is [1]",
        ),
        (
            record_of(Literal["a", "b"]),
            record_of(Literal["a"]),
            "breaking: it: no longer takes 'b'",
        ),
        (
            record_of(Literal["a"]),
            record_of(str),
            "compatible: it: type was Literal['a'] and is str",
        ),
        (
            record_of(arg(choices=["a", "b"])),
            record_of(arg(choices=["b", "c"])),
            "breaking: it: no longer takes a\ncompatible: it: also takes c",
        ),
        (record_of(arg()), record_of(arg(choices=["a"])), "breaking: it: takes only a now"),
        (
            record_of(arg(choices=["a"])),
            record_of(arg()),
            "compatible: it: takes more than some choices now",
        ),
        (
            record_of(arg(aliases=["--i"])),
            record_of(arg(aliases=["--j"])),
            "breaking: it: no longer has the flag --i\ncompatible: it: also has the flag --j",
        ),
        (
            record_of(arg(bool), False),
            record_of(arg(bool, action="BooleanOptionalAction"), False),
            "compatible: it: also has the flag --no-it\n"
            "compatible: it: flag was store_true and is boolean_optional",
        ),
        (
            record_of(arg(nargs="+", type_parser=int)),
            record_of(arg(type_parser=int)),
            "breaking: it: flag was store with nargs '+' and is store",
        ),
        (
            record_of(arg(type_parser=int)),
            record_of(arg(nargs="+", type_parser=int)),
            "compatible: it: flag was store and is store with nargs '+'",
        ),
        (record_of(arg(), "a"), record_of(arg(), "b"), 'behaviour: it: default was "a" and is "b"'),
        (
            record_of(arg()),
            record_of(arg(), dataclasses.MISSING),
            "breaking: it: is required now, its default was null",
        ),
        (
            record_of(arg(), dataclasses.MISSING),
            record_of(arg()),
            "compatible: it: is no longer required, its default is null",
        ),
        (
            record_of(arg()),
            record_of(arg(required=True)),
            "breaking: it: flag is required now",
        ),
        (
            record_of(arg(fallback=1)),
            record_of(arg(fallback=2)),
            "behaviour: it: fallback was 1 and is 2",
        ),
        (
            record_of(arg()),
            record_of(arg(resolvable=True)),
            "behaviour: it: resolvers may decide it now",
        ),
        (
            record_of(arg()),
            record_of(arg(secret=True)),
            "behaviour: it: is a secret now, and shows as ***",
        ),
        (record_of(arg(help="a")), record_of(arg(help="b")), "compatible: it: help is another"),
        (
            record_of(arg(type_parser=int)),
            record_of(arg(type_parser=float)),
            "behaviour: it: parser was 'int' and is 'float'",
        ),
        (
            record_of(arg(), retired={"was": "since 2, use it"}, order=["was", "it"]),
            record_of(arg()),
            "compatible: was: is no longer known as retired",
        ),
    ],
)
def test_a_change_of_one_field_is_said_in_a_line(
    old: type[Any], new: type[Any], expected: str
) -> None:
    found = [str(change) for change in diff(old, new)]
    assert "\n".join(each for each in found if "position" not in each) == expected


def contract_of(names: list[str]) -> dict[str, Any]:
    """A contract of many fields, as data."""
    entries = {name: {"namespace": "n", "type": f"Kind{name}", "default": 1} for name in names}
    return {
        "format": 1,
        "record": "m.R",
        "positional": names,
        "retired": {},
        "fields": entries,
        "derived": {},
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("abc", "acb", ["breaking: b: position 2 was b and is c"]),
        (
            "abc",
            "axbc",
            ["breaking: b: position 2 was b and is x", "compatible: x: new field in n"],
        ),
        ("abc", "ab", ["breaking: c: is removed"]),
        (
            "abc",
            "ac",
            ["breaking: b: position 2 was b and is c", "breaking: b: is removed"],
        ),
        ("ab", "abc", ["compatible: c: new field in n"]),
    ],
)
def test_the_first_position_that_means_something_else_is_named(
    old: str, new: str, expected: list[str]
) -> None:
    assert list(map(str, diff(contract_of(list(old)), contract_of(list(new))))) == expected


def test_a_retired_field_keeps_later_positions() -> None:
    class Old(Namespace, registry=Registry("before retirement")):
        _NS_PATH = "n"
        a: int = 1
        b: int = 2
        c: int = 3

    class New(Namespace, registry=Registry("after retirement")):
        _NS_PATH = "n"
        a: int = 1
        c: int = 3

    kept = compose("R", [New], order=["a", "b", "c"], retired={"b": "since 2, use c"})
    found = list(map(str, diff(compose("R", [Old]), kept)))
    assert found == [
        "breaking: b: is retired: since 2, use c",
        "compatible: b: is known as retired: since 2, use c",
    ]


def test_derived_types_promise_what_is_read() -> None:
    def with_result(kind: Any) -> type[Any]:
        def width(cfg: Any) -> Any:
            return 1

        width.__annotations__["return"] = kind
        body = {"_NS_PATH": "n", "width": derived(width)}
        return compose("R", [type(Namespace)("N", (Namespace,), body, registry=Registry("r"))])

    assert list(map(str, diff(with_result(int), with_result(int | None)))) == [
        "breaking: width: derived type was int and is int | None"
    ]
    assert list(map(str, diff(with_result(int | None), with_result(int)))) == [
        "compatible: width: derived type was int | None and is int"
    ]


def test_a_new_field_whose_flag_is_required_breaks_commands() -> None:
    class More(Namespace, registry=Registry("more")):
        _NS_PATH = "n"
        it: int = 1
        new: A[int, Arg(required=True)] = 2

    (change,) = diff(record_of(int, 1), compose("Record", [More]))
    assert str(change) == "breaking: new: new field in n whose flag is required"
    assert change.affects == "commands without it"


def test_what_is_derived_and_what_is_stated_are_not_the_same() -> None:
    def width(cfg: Any) -> int:
        return 1

    def with_width(entry: Any) -> type[Any]:
        body = {"_NS_PATH": "n", "width": entry}
        return compose("R", [type(Namespace)("N", (Namespace,), body, registry=Registry("r"))])

    function, fact = with_width(derived(width)), with_width(Derived(doc="", type=int))
    assert list(map(str, diff(function, fact))) == [
        "breaking: width: was derived and is a run-time fact now: it is what is stated, or its "
        "default"
    ]
    assert list(map(str, diff(fact, function))) == [
        "behaviour: width: was a run-time fact and is derived now"
    ]


NAMES = [f"f{number}" for number in range(8)]
EDITS = {
    "type": "object",
    "default": 2,
    "namespace": "m",
    "choices": ["a"],
    "flags": ["--x"],
    "resolvable": True,
    "anything": 3,
}


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(sorted(EDITS)), max_size=8))
def test_it_names_the_fields_that_were_edited_and_no_other(edits: dict[str, str]) -> None:
    old, new = contract_of(NAMES), copy.deepcopy(contract_of(NAMES))
    for name, key in edits.items():
        new["fields"][name][key] = EDITS[key]
    assert {change.field for change in diff(old, new)} == set(edits)
    assert diff(new, new) == diff(old, old) == []


@settings(max_examples=50, deadline=None)
@given(st.permutations(NAMES), st.sets(st.sampled_from(NAMES)))
def test_any_other_order_is_breaking(order: list[str], gone: set[str]) -> None:
    new = contract_of([name for name in order if name not in gone])
    changes = diff(contract_of(NAMES), new)
    assert {each.field for each in changes if each.kind == "removed"} == gone
    moved = any(now != was for was, now in zip(NAMES, new["positional"], strict=False))
    assert any(each.kind == "positional order" for each in changes) is moved


def test_the_time_it_takes_grows_with_the_fields_alone() -> None:
    def seconds(count: int) -> float:
        old = contract_of([f"f{number}" for number in range(count)])
        new = copy.deepcopy(old)
        for entry in new["fields"].values():
            entry["default"] = 2
        new["positional"] = new["positional"][::-1]
        start = time.perf_counter()
        assert len(diff(old, new)) == count + 1
        return time.perf_counter() - start

    # In turn, since the machine may be busy with something else; the square would be 100 times.
    pairs = [(seconds(1_000), seconds(10_000)) for _ in range(5)]
    small, large = (min(each) for each in zip(*pairs, strict=True))
    assert large < 40 * small


def test_a_snapshot_of_another_format_is_refused() -> None:
    with pytest.raises(ContractError, match="the new contract: has the format 2"):
        diff(contract_of([]), {**contract_of([]), "format": 2})


CHANGE = ContractChange("default", "it", "behaviour", "who does not give it", "was *a* and is b")


def test_changes_are_printed_in_three_forms() -> None:
    assert as_table([CHANGE]) == (
        "The same call does something else (1)\n  it  was *a* and is b (hits: who does not give it)"
    )
    assert as_markdown([CHANGE]) == (
        "### The same call does something else\n\n"
        "- `it`: was \\*a\\* and is b (hits: who does not give it)"
    )
    assert '"severity": "behaviour"' in as_json([CHANGE])
    assert (as_table([]), as_markdown([]), as_json([])) == ("no changes", "No changes.", "[]")


def test_a_test_fails_with_the_table_and_the_command_that_accepts_it(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    write_contract(snapshot(record_of(int, 1)), file)
    assert_contract(record_of(int, 1), file)
    assert check_contract(record_of(int, 1), file) == []
    changed = record_of(int, 2)
    with pytest.raises(AssertionError) as caught:
        assert_contract(changed, file)
    assert str(caught.value) == (
        f"{__name__}:Record is not what {file} says\n"
        "The same call does something else (1)\n"
        "  it  default was 1 and is 2 (hits: who does not give it)\n"
        f"If this is meant: python -m registry snapshot {__name__}:Record -o {file}"
    )
