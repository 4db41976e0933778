"""Configuration files are read into plain values, or refused quickly with one message."""

import functools
import json
import math
import os
import pickle
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from registry.config_file import ConfigFileError, read_config_file
from registry.errors import RegistryError

DEEP = "nested too deeply, more than 100 levels; write it flatter"


def written(tmp_path: Path, suffix: str, content: str | bytes) -> Path:
    path = tmp_path / f"run{suffix}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def values_of(tmp_path: Path, suffix: str, content: str | bytes) -> Any:
    return read_config_file(written(tmp_path, suffix, content)).values


def refused(tmp_path: Path, suffix: str, content: str | bytes) -> str:
    """The message of the error, with `~` for the path."""
    path = written(tmp_path, suffix, content)
    with pytest.raises(ConfigFileError) as caught:
        read_config_file(path)
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message.replace(str(path), "~")


@pytest.fixture(params=["C", "Python"])
def either_parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "Python":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    return str(request.param)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".yaml", "a: {b: [1, 2.5, x, true]}\nc: ''\n"),
        (".yml", "a:\n  b: [1, 2.5, x, true]\nc: ''\n"),
        (".toml", "a.b = [1, 2.5, 'x', true]\nc = ''\n"),
        (".json", '{"a": {"b": [1, 2.5, "x", true]}, "c": ""}'),
        (".JSON", b'\xef\xbb\xbf{"a": {"b": [1, 2.5, "x", true]}, "c": ""}'),
        (".yaml", b"\xef\xbb\xbfa: {b: [1, 2.5, x, true]}\r\nc: ''\r\n"),
        (".toml", b"\xef\xbb\xbfa.b = [1, 2.5, 'x', true]\r\nc = ''\r\n"),
    ],
)
def test_three_formats_hold_the_same_values(
    suffix: str, content: str | bytes, tmp_path: Path
) -> None:
    assert values_of(tmp_path, suffix, content) == {"a": {"b": [1, 2.5, "x", True]}, "c": ""}


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        *[(suffix, "") for suffix in (".yaml", ".toml", ".json")],
        *[(suffix, b"\xef\xbb\xbf \r\n\n") for suffix in (".yaml", ".toml", ".json")],
        (".yaml", "# nothing\n"),
        (".yaml", "---\n"),
        (".yaml", "null\n"),
        (".yaml", "~"),
        (".toml", "# nothing\n"),
        (".json", "null"),
    ],
)
def test_a_file_without_settings_is_empty(
    suffix: str, content: str | bytes, tmp_path: Path
) -> None:
    assert values_of(tmp_path, suffix, content) == {}


EXPECTED = "~: a mapping of settings was expected, but the file holds {}; "


@pytest.mark.parametrize(
    ("suffix", "content", "found"),
    [
        (".yaml", "- 1", "a list"),
        (".yaml", "x", "a string"),
        (".yaml", "true", "true or false"),
        (".json", "[]", "a list"),
        (".json", '"x"', "a string"),
        (".json", "1.5", "a number"),
        (".json", "0", "a number"),
        (".json", "false", "true or false"),
    ],
)
def test_the_top_must_be_a_mapping(suffix: str, content: str, found: str, tmp_path: Path) -> None:
    expected = EXPECTED.format(found) + "write each setting with its name"
    assert refused(tmp_path, suffix, content) == expected


@pytest.mark.parametrize(
    ("suffix", "content", "message"),
    [
        (".yaml", "a: 1\n---\nb: 1\n", "~:2: a second YAML document starts here; write one"),
        (".yaml", "a: 1\nb: [1\n", "~:2: not YAML: while parsing a flow sequence: "),
        (".yaml", "a: 1\n\tb: 1", "~:2: not YAML: "),
        (".yaml", "a: 'x\n", "~:1: not YAML: while scanning a quoted scalar: found unexpected end"),
        (".yaml", "a: 1\nb: \0", "~:2: YAML does not allow the character '\\x00'; write it as an"),
        (".yaml", "a: 1\nb: *c", "~:2: an alias has no anchor before it; define one, or write"),
        (".yaml", "a: &x 1\nb: &x 1", "~:2: an anchor is defined twice; rename one, or write"),
        (".yaml", "a: &x\n  - *x", "~:2: an alias stands inside of its own anchor; remove it"),
        (".yaml", "a: &x\n  <<: *x", "~:2: an alias stands inside of its own anchor; remove it"),
        (".yaml", "<<: 1", "~:1: << merges mappings, not a number; write an alias of one"),
        (".yaml", "<<: [[]]", "~:1: << merges mappings, not a list; write an alias of one"),
        (".yaml", "a: 1\nb: 2\na: 3", "~:3: the key 'a' is already given on line 1; remove one of"),
        (".yaml", "x: [{a: 1,\n a: 2}]", "~:2: the key 'a' is already given on line 1; remove"),
        (
            ".yaml",
            "x:\n 1: 2",
            "~:2: a key must be a string, not a number; write it in quotes",
        ),
        (
            ".yaml",
            "true: 2",
            "~:1: a key must be a string, not true or false; write it in quotes",
        ),
        (".yaml", "~: 2", "~:1: a key must be a string, not null; write it in quotes"),
        (".yaml", "[a]: 2", "~:1: a key must be a string, not a list; write a string"),
        (".yaml", "a: 1e999", "~:1: a number is too large; write a smaller one, or a text"),
        (".yaml", "a: " + "1" * 4301, "~:1: an integer has more than 4300 digits; shorten it"),
        (".yaml", "a: 0x" + "F" * 4000, "~:1: an integer has more than 4300 digits; shorten it"),
        (".toml", "a = 1\nb = \n", "~:2: not TOML: Invalid value"),
        (".toml", "a = 1\nb = [", "~:2: not TOML: "),
        (
            ".toml",
            'a.k = 1\n# x = 1\na.k = [\n \'b = 1\', """\nc = 2""",\n]\nz = 1',
            "~:6: not TOML: a.k gives a key again, write it once (Cannot overwrite a value)",
        ),
        (".toml", "[a]\nb=1\n[a]\n", "~:3: not TOML: [a] gives a key again, write it once (Cann"),
        (".toml", "a = 1\n'a' = 2", "~:2: not TOML: 'a' gives a key again, write it once (Canno"),
        (".toml", "x = {a = 1, a = 2}\n", "~:1: not TOML: Duplicate inline table key 'a'"),
        (".toml", "a = " + "1" * 4301, "~: an integer has more than 4300 digits; shorten it"),
        (".toml", "a = 0x" + "F" * 4000, "~: an integer has more than 4300 digits; shorten it"),
        (".toml", "a = 1e999", "~: a number is too large; write a smaller one, or a text"),
        (
            ".toml",
            "x.y = [{z = 2026-12-01}]",
            "~: the key 'x.y[0].z' is a date or time; write it as a string, in quotes",
        ),
        (".json", '{"a": 1,\n]', "~:2: not JSON: "),
        (".json", '{"a": 1}\n{}', "~:2: not JSON: Extra data"),
        (".json", "// x\n{}", "~:1: not JSON: Expecting value"),
        (".json", '{"x": [{"a": 1, "a": 2}]}', "~: the key 'a' is given twice; remove one of them"),
        (".json", '{"a": NaN}', "~: NaN is not JSON; write a number, a string or null"),
        (".json", '{"a": -Infinity}', "~: -Infinity is not JSON; write a number, a string or null"),
        (".json", '{"a": 1e999}', "~: a number is too large; write a smaller one, or a text"),
        (".json", '{"a": ' + "1" * 4301 + "}", "~: an integer has more than 4300 digits; shorten"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    suffix: str, content: str, message: str, tmp_path: Path, either_parser: str
) -> None:
    if either_parser == "Python" and suffix == ".yaml" and "not YAML: " in message:
        message = message[: message.index("not YAML: ")]  # The two parsers have other words.
    assert refused(tmp_path, suffix, content).startswith(message)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".yaml", "api_key: *hunter2"),
        (".yaml", "api_key: &hunter2 [*hunter2]"),
        (".yaml", "api_key: &hunter2 a\nb: &hunter2 b"),
        (".yaml", "api_key: !hunter2"),
        (".yaml", "api_key: !!hunter2 x"),
        (".yaml", "api_key: !<hunter2> x"),
        (".yaml", "api_key: !hunter2!x y"),
        (".yaml", "%TAG !hunter2! a:\n%TAG !hunter2! b:\n---\nx: 1"),
        (".yaml", "api_key: @hunter2"),
        (".yaml", "api_key: `hunter2"),
        (".yaml", "api_key: hunter2: x"),
        (".yaml", 'api_key: "hunter2'),
        (".yaml", "api_key: {22002e999: x}"),
        (".yaml", "api_key: {22002: x}"),
        (".yaml", "api_key: 22002e999"),
        (".toml", "api_key = hunter2"),
        (".toml", 'api_key = "a" hunter2'),
        (".toml", "api_key = 22002e999"),
        (".toml", "api_key = 2200-02-02"),
        (".json", '{"api_key": hunter2}'),
        (".json", '{"api_key": 22002e999}'),
    ],
)
def test_no_text_of_a_value_is_told(
    suffix: str, content: str, tmp_path: Path, either_parser: str
) -> None:
    message = refused(tmp_path, suffix, content)
    assert message.startswith("~:")
    assert "hunter2" not in message and "22" not in message


@pytest.mark.parametrize(
    "tag",
    ["!!python/object/apply:os.system", "!!binary", "!!timestamp", "!!set", "!x", "!!int", "!!map"],
)
@pytest.mark.parametrize("value", ["[x]", "x", "{x: y}"])
def test_tags_build_nothing(tag: str, value: str, tmp_path: Path) -> None:
    if (tag, value) == ("!!map", "{x: y}"):
        assert values_of(tmp_path, ".yaml", f"a: {tag} {value}") == {"a": {"x": "y"}}
        return
    message = "~:2: a tag is not allowed here; write a plain value, in quotes if it begins with !"
    assert refused(tmp_path, ".yaml", f"b: 1\na: {tag} {value}") == message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[(word, word) for word in ["no", "No", "NO", "yes", "on", "off", "y", "n", "N", "=", "<"]],
        *[(word, True) for word in ["true", "True", "TRUE"]],
        *[(word, False) for word in ["false", "False", "FALSE"]],
        *[(word, None) for word in ["null", "Null", "NULL", "~", ""]],
        *[
            (word, word)
            for word in [
                "tRUE",
                "nULL",
                "1_000",
                "1:30",
                "2026-12-01",
                "0b1",
                "-0x1F",
                "0o8",
                "1e",
                "1.2.3",
            ]
        ],
        *[("1e3", 1000.0), ("1.5e3", 1500.0), ("1E-5", 1e-5), (".5", 0.5), ("5.", 5.0)],
        *[("-.inf", -math.inf), (".INF", math.inf), ("+.inf", math.inf)],
        *[("0o17", 15), ("0x1F", 31), ("010", 10), ("+7", 7), ("-7", -7), ("0", 0)],
        *[("'1'", "1"), ('"true"', "true"), ("! 12", "12"), ("!!str 12", "12")],
        *[("!!float 1", 1.0), ("!!int 1", 1), ("!!null ''", None), ("!!bool true", True)],
        ("|\n  1\n", "1\n"),
        ('"\\0"', "\0"),
    ],
)
def test_plain_scalars_follow_yaml_1_2(
    text: str, value: object, tmp_path: Path, either_parser: str
) -> None:
    found = values_of(tmp_path, ".yaml", f"a: {text}\n")["a"]
    assert (type(found), found) == (type(value), value)


def test_not_a_number_and_the_key_no(tmp_path: Path) -> None:
    values = values_of(tmp_path, ".yaml", "no: .nan\n'1': [.NaN]\n\"<<\": 1")
    assert list(values) == ["no", "1", "<<"] and math.isnan(values["no"])


MERGED = """\
base: &base
  width: 1
  depth: {a: 1}
other: &other {width: 2, extra: [1]}
one:
  width: 9
  <<: *base
many:
  <<: [*base, *other]
twice: {<<: *base, <<: *other,
  x: 1}
list: &list
  - {a: 1}
copy: *list
"""


def test_merge_keys_and_aliases(tmp_path: Path) -> None:
    # Not compared with PyYAML, whose answer for two sources of one key depends on its version.
    base, other = {"width": 1, "depth": {"a": 1}}, {"width": 2, "extra": [1]}
    assert values_of(tmp_path, ".yaml", MERGED) == {
        "base": base,
        "other": other,
        "one": {"width": 9, "depth": {"a": 1}},
        "many": {"width": 1, "depth": {"a": 1}, "extra": [1]},
        "twice": {"width": 1, "depth": {"a": 1}, "extra": [1], "x": 1},
        "list": [{"a": 1}],
        "copy": [{"a": 1}],
    }


def test_nothing_is_merged_from_empty_mappings(tmp_path: Path) -> None:
    values = values_of(tmp_path, ".yaml", "e: &e {}\na: {<<: [*e, {}, {x: 1}]}\nb: {<<: *e}")
    assert values == {"e": {}, "a": {"x": 1}, "b": {}}


def test_aliased_values_are_copies(tmp_path: Path) -> None:
    values = values_of(tmp_path, ".yaml", MERGED)
    values["base"]["depth"]["a"] = 7
    values["list"][0]["a"] = 7
    assert values["one"]["depth"] == values["many"]["depth"] == {"a": 1}
    assert values["copy"] == [{"a": 1}]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (("base",), 1),
        (("base", "depth"), 3),
        (("base", "depth", "a"), 3),
        (("other", "extra"), 4),
        (("one", "width"), 6),
        (("one", "depth", "a"), 3),
        (("many", "width"), 2),
        (("many", "extra"), 4),
        (("twice", "x"), 11),
        (("copy",), 14),
        ((), None),
        (("base", "wid"), None),
        (("base", "width", "x"), None),
    ],
)
def test_a_key_stands_on_a_line(
    keys: tuple[str, ...], line: int | None, tmp_path: Path, either_parser: str
) -> None:
    path = written(tmp_path, ".yaml", MERGED)
    assert read_config_file(path).where(*keys) == (f"{path}:{line}" if line else str(path))


@pytest.mark.parametrize(("suffix", "content"), [(".toml", "a.b = 1"), (".json", '{"a": 1}')])
def test_other_formats_know_no_lines(suffix: str, content: str, tmp_path: Path) -> None:
    path = written(tmp_path, suffix, content)
    file = read_config_file(str(path))
    assert file.path == file.where("a") == str(path)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".yaml", "a: " + "[" * 100_000),
        (".yaml", "a: " + "{a: " * 100_000),
        (".yaml", "- " * 100_000),
        (".yaml", "? " * 100_000),
        (".yaml", "a: " + "[" * 100 + "]" * 100),
        (".yaml", "\n".join(f"{' ' * n}a:" for n in range(101)) + " {}"),
        (".yaml", "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 2000))),
        (".json", "[" * 100_000),
        (".json", '{"a":' * 100_000),
        (".json", '{"\\"": ' + "[" * 100 + "]" * 100 + "}"),
        (".toml", "a = " + "[" * 100_000),
        (".toml", "a = " + "{a = " * 100_000),
        (".toml", "a = " + "[" * 100 + "]" * 100),
        (".toml", ".".join("a" * 100_000) + " = 1"),
        (".toml", "[" + ".".join("a" * 100_000) + "]"),
        (".toml", "[" + ".".join("a" * 60) + "]\n" + ".".join("a" * 60) + " = 1"),
    ],
)
def test_deep_nesting_is_refused(
    suffix: str, content: str, tmp_path: Path, either_parser: str
) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)  # As programs do that then die of a full stack.
    try:
        message = refused(tmp_path, suffix, content)
    finally:
        sys.setrecursionlimit(limit)
    assert message.endswith(DEEP)


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        (".yaml", "a: " + "[" * 99 + "1.5" + "]" * 99),
        (".json", '{"a": ' + "[" * 99 + "1.5" + "]" * 99 + "}"),
        (".toml", "a = " + "[" * 99 + "1.5" + "]" * 99),
    ],
)
def test_a_hundred_levels_are_read(suffix: str, content: str, tmp_path: Path) -> None:
    value = values_of(tmp_path, suffix, content)["a"]
    assert json.dumps(value) == "[" * 99 + "1.5" + "]" * 99


def test_brackets_and_dots_in_strings_and_comments_are_no_nesting(tmp_path: Path) -> None:
    many = "[." * 200
    toml = (
        f'a = \'{many}\\\' # {many}\nb = "\\"{many}"\nc = \'\'\'{many}\'\'\'\'\nd = """\\"{many}"""'
    )
    assert list(values_of(tmp_path, ".toml", toml)) == ["a", "b", "c", "d"]
    assert values_of(tmp_path, ".json", json.dumps({"a": '"' + many})) == {"a": '"' + many}


@pytest.mark.parametrize("merge", [False, True])
def test_alias_bombs_are_refused_quickly(merge: bool, tmp_path: Path) -> None:
    lines = ["a0: &a0 {x: 1}"]
    for n in range(1, 30):
        nine = [f"<<: *a{n - 1}" if merge and k == 0 else f"k{k}: *a{n - 1}" for k in range(9)]
        lines.append(f"a{n}: &a{n} {{{', '.join(nine)}}}")
    started = time.monotonic()
    message = refused(tmp_path, ".yaml", "\n".join(lines))
    assert time.monotonic() - started < 20
    assert message.endswith("the aliases stand for more than 1000000 values; use fewer of them")


def test_a_long_list_of_merges_takes_no_square_of_time(tmp_path: Path) -> None:
    large = ", ".join(f"k{n}: 1" for n in range(20_000))
    started = time.monotonic()
    content = f"a: {{<<: [{{{large}}}, {'{x: 1}, ' * 20_000}]}}\nb: ]"
    assert refused(tmp_path, ".yaml", content).startswith("~:2: not YAML: ")
    assert time.monotonic() - started < 10


def test_a_key_that_is_given_again_at_the_end_takes_no_square_of_time(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("".join(f"k{number} = {number}\n" for number in range(50_000)) + "k0 = 1\n")
    start = time.process_time()
    with pytest.raises(ConfigFileError) as caught:
        read_config_file(path)
    assert caught.value.where == f"{path}:50001"
    assert "k0 gives a key again" in caught.value.problem
    assert time.process_time() - start < 2


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(ConfigFileError) as caught:
        read_config_file(path)
    assert str(caught.value) == (
        f"{path}: the file has 50000000 bytes; a configuration file has at most 16777216 bytes"
    )


@pytest.mark.skipif(os.name == "nt", reason="special files of POSIX")
@pytest.mark.parametrize("suffix", [".yaml", ".toml", ".json"])
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda path: os.mkfifo(path), "a pipe"),
        (functools.partial(os.symlink, "/dev/zero"), "a device"),
        (functools.partial(os.symlink, "/dev/null"), "a device"),
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(
    make: Callable[[Path], None], kind: str, suffix: str, tmp_path: Path
) -> None:
    path = tmp_path / f"run{suffix}"
    make(path)
    with pytest.raises(ConfigFileError) as caught:
        read_config_file(path)
    assert str(caught.value) == f"{path}: this is {kind}; write the settings to a file"


@pytest.mark.parametrize("suffix", [".yaml", ".toml", ".json"])
def test_files_that_cannot_be_opened(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def message(path: Path) -> str:
        with pytest.raises(ConfigFileError) as caught:
            read_config_file(path)
        assert caught.value.__cause__ is not None
        return str(caught.value)

    path = tmp_path / f"run{suffix}"
    assert message(path) == f"{path}: there is no such file; check the path"
    path.symlink_to(path)
    said = f"{path}: the file cannot be read: Too many levels of symbolic links"
    assert message(path) == said
    path.unlink()
    path.mkdir()
    assert message(path) == f"{path}: this is a directory; give the path of a file in it"
    assert "this cannot be the path of a file: " in message(Path(f"x\0{suffix}"))
    if os.geteuid():
        path = written(tmp_path, "2" + suffix, "")
        path.chmod(0)
        assert message(path) == f"{path}: the file cannot be read: Permission denied"


@pytest.mark.parametrize("suffix", [".yaml", ".toml", ".json"])
def test_a_file_must_be_utf_8(suffix: str, tmp_path: Path) -> None:
    said = "~:2: the byte 0xe9 is not UTF-8; save the file as UTF-8"
    assert refused(tmp_path, suffix, b"\n\xe9") == said


@pytest.mark.parametrize("suffix", ["", ".ini", ".yaml~"])
def test_the_suffix_tells_the_format(suffix: str, tmp_path: Path) -> None:
    assert refused(tmp_path, suffix, "") == (
        "~: the suffix tells the format of a configuration file; "
        "name it .yaml (or .yml), .toml or .json"
    )


def test_strings_may_hold_any_character(tmp_path: Path) -> None:
    values = values_of(tmp_path, ".json", '{"a": "\\u0000\\ud800"}')
    assert values == {"a": "\0\ud800"}


@pytest.mark.parametrize("text", ['"\\ud800"', '"\\UFFFFFFFF"', '"\\U00110000"'])
def test_a_wrong_escape_is_no_traceback(text: str, tmp_path: Path, either_parser: str) -> None:
    path = written(tmp_path, ".yaml", f"a: {text}")
    try:
        read_config_file(path)
    except ConfigFileError as error:
        assert "not YAML: " in str(error)


@pytest.mark.parametrize(
    ("suffix", "module", "message"),
    [
        (
            ".yaml",
            "yaml",
            "~: reading YAML needs a package; pip install 'namespace-registry[yaml]'",
        ),
        (
            ".toml",
            "tomllib" if sys.version_info >= (3, 11) else "tomli",
            "~: reading TOML needs a package; pip install 'namespace-registry[toml]'",
        ),
    ],
)
def test_a_missing_package_is_named(
    suffix: str, module: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert refused(tmp_path, suffix, "") == message


def test_packages_are_imported_only_when_used(tmp_path: Path) -> None:
    path = written(tmp_path, ".json", '{"a": 1}')
    program = f"""
        import sys
        from registry.config_file import read_config_file
        assert read_config_file({str(path)!r}).values == {{"a": 1}}
        assert not {{"yaml", "tomllib", "tomli"}} & set(sys.modules)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


def test_the_error_keeps_its_parts_and_its_cause(tmp_path: Path) -> None:
    path = written(tmp_path, ".json", "{")
    with pytest.raises(RegistryError) as caught:
        read_config_file(path)
    assert isinstance(caught.value.__cause__, json.JSONDecodeError)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(copy, ConfigFileError) and isinstance(copy, ValueError)
    assert (copy.where, str(copy)) == (f"{path}:1", str(caught.value))
