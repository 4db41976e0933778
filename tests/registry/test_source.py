"""A class statement is found again in its file, and remembers the names around it."""

import inspect
import linecache
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from registry.source import Origin


def origin_of(source: str, file: str, qualname: str) -> Origin:
    """The origin that a class statement in `source` reports from its metaclass."""
    found: list[Origin] = []

    class Meta(type):
        def __new__(mcls, name: str, bases: Any, body: Any) -> Any:
            cls = super().__new__(mcls, name, bases, body)
            if cls.__qualname__ == qualname:
                frame = inspect.currentframe()
                assert frame is not None and frame.f_back is not None
                found.append(Origin(frame.f_back, "module", qualname))
            return cls

    exec(compile(textwrap.dedent(source), file, "exec"), {"Meta": Meta, "__name__": "module"})
    return found[-1]


def written(tmp_path: Path, source: str) -> str:
    file = tmp_path / "declared.py"
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    return str(file)


SOURCE = """\
def decorated(cls): return cls

class Real(metaclass=Meta):
    other: str = ""

@decorated
@decorated
class Long(
    metaclass=Meta,
):
    first: int = 1
    second: dict[
        str, int
    ] = None
    third = fourth = 3

    @property
    def fifth(self):
        return 1

def make():
    class Real(metaclass=Meta):
        inner: int = 1
    return Real
make()
"""


@pytest.mark.parametrize(
    ("qualname", "lines"),
    [
        ("Real", {"other": 4}),
        ("Long", {"first": 11, "second": 12, "third": 15, "fourth": 15, "fifth": 18}),
        ("make.<locals>.Real", {"inner": 23}),
    ],
)
def test_every_name_of_a_class_body_has_its_line(
    qualname: str, lines: dict[str, int], tmp_path: Path
) -> None:
    file = written(tmp_path, SOURCE)
    origin = origin_of(SOURCE, file, qualname)
    assert origin.lines() == lines
    name, line = next(iter(lines.items()))
    assert origin.where(name) == f"{file}:{line}"
    assert origin.where("no such name") == str(origin) == f"{file}:{origin.line}"


def test_a_class_whose_source_is_gone_is_placed_at_its_statement() -> None:
    origin = origin_of(SOURCE, "<nowhere>", "Real")
    assert origin.lines() == {}
    assert origin.where("other") == "<nowhere>:3"


@pytest.mark.parametrize("now", ["", "class Other: pass", "class Real(:\n", "\0"])
def test_a_file_that_has_changed_since_is_no_error(now: str, tmp_path: Path) -> None:
    file = written(tmp_path, SOURCE)
    origin = origin_of(SOURCE, file, "Real")
    linecache.clearcache()
    Path(file).write_text(now, encoding="utf-8")
    assert origin.where("other") == f"{file}:3"
    assert origin.imports_for_type_checking() == set()


def test_imports_for_type_checkers_are_found_in_all_their_forms(tmp_path: Path) -> None:
    source = """
        import typing
        import typing as t
        from typing import TYPE_CHECKING
        import always
        if TYPE_CHECKING:
            import one
            import two.deeper
            from three import four, five as six
        if typing.TYPE_CHECKING:
            if always:
                from seven import seven
        else:
            import eight
        class Real(metaclass=Meta): pass
    """
    file = written(tmp_path, source)
    runnable = "class Real(metaclass=Meta): pass"
    found = origin_of(runnable, file, "Real").imports_for_type_checking()
    assert found == {"one", "two", "four", "six", "seven"}


LOCAL = """\
def make():
    before = 1
    class Outer:
        class Real{parameters}(metaclass=Meta): pass
    after = 2
make()
"""


@pytest.mark.parametrize(
    "parameters",
    [
        "",
        pytest.param(
            "[T]", marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695 syntax")
        ),
    ],
)
def test_the_names_of_the_function_around_a_class_are_there_until_they_are_let_go(
    parameters: str,
) -> None:
    source = LOCAL.replace("{parameters}", parameters)
    origin = origin_of(source, "<local>", "make.<locals>.Outer.Real")
    found = origin.locals()
    assert (found["before"], found["after"]) == (1, 2)
    origin.forget_locals()
    assert origin.locals() == {}


def test_a_class_of_a_module_sees_no_locals(module_from: Callable[..., ModuleType]) -> None:
    module = module_from("""
        from registry import Namespace, Registry
        class Real(Namespace, registry=Registry("test")):
            _NS_PATH = "real"
    """)
    assert module.Real.__ns_registry__.declarations[0].origin.locals() == {}
