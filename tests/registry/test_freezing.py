"""The order file: what is new is appended, what is gone keeps its place, the rest stays."""

import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import ContractError, Namespace, Registry, compose, freeze

ORDER = '''"""The order."""

__all__ = ["ORDER"]

ORDER: tuple[str, ...] = (
    "a",  # first of all
    "b",
    "c",
)
"""By position."""
'''


def record_of(names: list[str], **options: Any) -> type[Any]:
    body: dict[str, Any] = {"_NS_PATH": "n", "__annotations__": dict.fromkeys(names, int)}
    body |= dict.fromkeys(names, 1)
    cls = type(Namespace)("N", (Namespace,), body, registry=Registry("frozen"))
    return compose("Args", [cls], **options)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "order.py").write_text(ORDER, encoding="utf-8")
    return tmp_path / "order.py"


def values_of(file: Path) -> dict[str, Any]:
    values: dict[str, Any] = {}
    exec(file.read_text(encoding="utf-8"), values)
    return values


def test_a_new_field_is_appended_wherever_it_is_declared(file: Path) -> None:
    record = record_of(["x", "a", "b", "c"], order=["a", "b", "c"])
    assert freeze(record, file) == (("x",), ())
    assert file.read_text(encoding="utf-8") == ORDER.replace('"c",\n', '"c",\n    "x",\n')
    assert freeze(record, file) == ((), ())


def test_a_field_that_is_gone_keeps_its_place(file: Path) -> None:
    done = freeze(record_of(["a", "c"]), file, {"b": 'since 2.0, use "c"'})
    assert done == ((), ("b",))
    assert file.read_text(encoding="utf-8") == ORDER + (
        "\nRETIRED_FIELDS: dict[str, str] = {\n"
        '    "b": "since 2.0, use \\"c\\"",\n'
        "}\n"
        '"""What to use instead of fields that are gone, for `compose(retired=...)`."""\n'
    )
    values = values_of(file)
    record = record_of(["a", "c"], order=values["ORDER"], retired=values["RETIRED_FIELDS"])
    assert freeze(record, file) == ((), ())
    record = record_of(["a"], order=values["ORDER"], retired=values["RETIRED_FIELDS"])
    assert freeze(record, file, {"c": "since 3.0"}) == ((), ("c",))
    assert values_of(file)["RETIRED_FIELDS"] == {"b": 'since 2.0, use "c"', "c": "since 3.0"}


@pytest.mark.parametrize(
    ("names", "retire", "problem"),
    [
        (
            ["a", "c"],
            {},
            "{file}: b went away; say since when and what to use: "
            "--retire 'b=since VERSION, use NAME'",
        ),
        (["a", "b", "c"], {"b": "x"}, "{file}: 'b' is not gone, it cannot be retired."),
        (
            ["a", "b"],
            {"d": "x"},
            "{file}: 'd' has no place, it cannot be retired.",
        ),
        (
            ["b", "a", "c"],
            {},
            "Args: the order file has a where Args has b, at position 1; the record must be "
            "composed with order= from this file",
        ),
    ],
)
def test_what_would_move_a_position_is_refused(
    names: list[str], retire: dict[str, str], problem: str, file: Path
) -> None:
    with pytest.raises(ContractError) as caught:
        freeze(record_of(names), file, retire)
    assert str(caught.value) == problem.format(file=file)
    assert file.read_text(encoding="utf-8") == ORDER


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("x = (", "is no Python module: "),
        ("x = 1", "must have one tuple of field names for the order; it has none"),
        ('x = ("a",)\ny = ("b",)', "must have one tuple of field names for the order; it has x, y"),
        ('x = "a", "b"', "has its order without parentheses; put the names in parentheses"),
        ('x = ("a",)\nx += ("b",)', "changes x again in line 2; write all of it where it begins"),
        ('x = ["a"]\nx.append("b")', "changes x again in line 2; write all of it where it begins"),
        ('x = ("a",)\nx = ("b",)', "changes x again in line 2; write all of it where it begins"),
        (
            'x = ("a",)\nRETIRED_FIELDS = {}\nRETIRED_FIELDS["b"] = "c"',
            "changes RETIRED_FIELDS again in line 3; write all of it where it begins",
        ),
        ("# coding: klingon\nx = ()", "is no Python module: unknown encoding"),
        ('x = ("a",)\nRETIRED_FIELDS = f()', "has a RETIRED_FIELDS that is no dict of names and"),
    ],
)
def test_what_is_no_order_file_is_refused(content: str, problem: str, file: Path) -> None:
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ContractError) as caught:
        freeze(record_of(["a", "b", "c"]), file)
    assert str(caught.value).startswith(f"{file}: {problem}")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="cannot be read: No such file or directory"):
        freeze(record_of(["a"]), tmp_path / "no.py")


@pytest.mark.parametrize("advice", ["it's gone", "\\ \" '", "two\nlines", "é\u2028\x00"], ids=ascii)
def test_any_advice_is_kept(advice: str, file: Path) -> None:
    freeze(record_of(["a", "c"]), file, {"b": advice})
    assert values_of(file)["RETIRED_FIELDS"] == {"b": advice}


@pytest.mark.parametrize(
    "content", ["O = ()", "O = []\r\n", 'O = ("a",)', 'O = ["a"]  # é', 'é = ("a",)']
)
def test_any_spelling_of_the_tuple_is_edited(content: str, file: Path) -> None:
    file.write_bytes(content.encode("utf-8"))
    freeze(record_of(["a", "b"]), file)
    values = values_of(file)
    assert list(values.get("O") or values["é"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('O = (\n    "a",  # since 2019\n)', 'O = (\n    "a",  # since 2019\n    "b",\n)'),
        ('O = [\n    "a"  # since 2019\n]', 'O = [\n    "a",  # since 2019\n    "b",\n]'),
        ('O = ["a",  # 2019\r\n]\r\n', 'O = ["a",  # 2019\r\n    "b",\r\n]\r\n'),
        ('O = (\n    "a",\n    # more\n)', 'O = (\n    "a",\n    "b",\n    # more\n)'),
    ],
)
def test_a_comment_stays_with_its_entry(content: str, expected: str, file: Path) -> None:
    file.write_bytes(content.encode("utf-8"))
    freeze(record_of(["a", "b"]), file)
    assert file.read_bytes().decode("utf-8") == expected


@pytest.mark.parametrize(
    ("encoding", "cookie"), [("utf-8-sig", ""), ("iso-8859-1", "# coding: latin-1\n")]
)
def test_the_encoding_of_the_module_stays(encoding: str, cookie: str, file: Path) -> None:
    file.write_bytes(f'{cookie}O = ("a",)  # é\n'.encode(encoding))
    freeze(record_of(["a", "b"]), file)
    assert file.read_bytes() == f'{cookie}O = ("a",\n    "b",)  # é\n'.encode(encoding)


def test_what_the_encoding_lacks_is_refused(file: Path) -> None:
    content = b'# coding: latin-1\nO = ("a", "b")\n'
    file.write_bytes(content)
    with pytest.raises(ContractError) as caught:
        freeze(record_of(["a"]), file, {"b": "costs 1 \u20ac"})
    problem = "is written in iso-8859-1, which has no '\u20ac'; save it as UTF-8"
    assert str(caught.value) == f"{file}: {problem}"
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == content


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_the_permissions_stay(file: Path) -> None:
    file.chmod(0o640)
    freeze(record_of(["a", "b", "c", "d"], order=["a", "b", "c"]), file)
    assert file.stat().st_mode & 0o777 == 0o640


def test_the_time_it_takes_grows_with_the_fields_alone(file: Path) -> None:
    def seconds(count: int) -> float:
        file.write_text("ORDER = ()\n", encoding="utf-8")
        record = record_of([f"f{number}" for number in range(count)])
        start = time.perf_counter()
        freeze(record, file)
        assert freeze(record, file) == ((), ())
        return time.perf_counter() - start

    small = min(seconds(300) for _ in range(3))
    assert seconds(3_000) < 30 * small


NAMES = [f"f{number}" for number in range(6)]


@settings(deadline=None)  # each example writes files
@given(st.lists(st.tuples(st.sets(st.sampled_from(NAMES)), st.booleans()), max_size=4))
def test_no_position_moves_over_any_number_of_versions(
    tmp_path_factory: pytest.TempPathFactory, versions: list[tuple[set[str], bool]]
) -> None:
    file = tmp_path_factory.mktemp("versions") / "order.py"
    file.write_text("ORDER = ()\nRETIRED_FIELDS = {}\n", encoding="utf-8")
    before: tuple[str, ...] = ()
    for declared, backwards in versions:
        values = values_of(file)
        # A name that is retired does not come back.
        names = sorted(declared - values["RETIRED_FIELDS"].keys(), reverse=backwards)
        options = {"order": values["ORDER"], "retired": values["RETIRED_FIELDS"]}
        gone = set(before) - set(names) - values["RETIRED_FIELDS"].keys()
        freeze(record_of(names, **options), file, dict.fromkeys(gone, "use none"))
        after = values_of(file)["ORDER"]
        assert tuple(after[: len(before)]) == tuple(before)
        before = after
