"""The registry lists what is declared, stays consistent, and knows a rerun when it sees one."""

import importlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry import (
    A,
    Arg,
    DuplicateFieldError,
    Namespace,
    Registry,
    UnknownFieldError,
    compose,
    derived,
)


class Base(Namespace, registry=Registry("listed")):
    pass


class Parallel(Base):
    _NS_PATH = "parallel"

    tp_size: A[int, Arg(help="Width in ranks.")] = 1
    dp_size: A[int, "Replicas."] = 1
    port: int | None = None

    @derived
    def attn_tp_size(cfg) -> int:
        """Attention width
        in ranks.
        """
        return cfg.tp_size // cfg.dp_size


def test_an_entry_tells_everything_about_an_input_field() -> None:
    entry = Base.__ns_registry__.input["dp_size"]
    assert (entry.name, entry.namespace, entry.cls) == ("dp_size", "parallel", Parallel)
    assert entry.file == __file__
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[entry.line - 1].strip().startswith("dp_size:")
    assert (entry.default, entry.required) == (1, False)
    assert entry.type == A[int, "Replicas."]
    assert (entry.arg, entry.doc) == (Arg(help="Replicas."), "Replicas.")
    assert repr(entry) == "<InputField parallel.dp_size>"
    port = Base.__ns_registry__.input["port"]
    assert (port.arg, port.doc) == (None, "")


def test_an_entry_tells_everything_about_a_derived_field() -> None:
    entry = Base.__ns_registry__.derived["attn_tp_size"]
    assert (entry.name, entry.namespace, entry.cls) == ("attn_tp_size", "parallel", Parallel)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    assert lines[entry.line - 1].strip().startswith("def attn_tp_size")
    assert (entry.type, entry.doc) == (int, "Attention width\nin ranks.")


@pytest.mark.parametrize("half", ["input", "derived", "namespaces"])
def test_the_listings_are_read_only_and_in_declaration_order(half: str) -> None:
    listing = getattr(Base.__ns_registry__, half)
    with pytest.raises(TypeError):
        listing["x"] = None
    with pytest.raises(AttributeError):
        setattr(Base.__ns_registry__, half, {})


@pytest.mark.parametrize(
    ("half", "name", "message"),
    [
        (
            "input",
            "tp_sise",
            "the input half of Registry('listed') has no field 'tp_sise'. Did you mean 'tp_size'?",
        ),
        ("derived", "zzz", "the derived half of Registry('listed') has no field 'zzz'."),
    ],
)
def test_a_missing_name_is_answered_with_the_nearest(half: str, name: str, message: str) -> None:
    listing = getattr(Base.__ns_registry__, half)
    with pytest.raises(UnknownFieldError) as caught:
        listing[name]
    assert str(caught.value) == message
    assert isinstance(caught.value, KeyError)
    assert listing.get(name) is None
    assert name not in listing


def test_a_listing_taken_earlier_does_not_change_under_its_reader() -> None:
    registry = Registry("snapshots")
    first = type(Namespace)("First", (Namespace,), body("first", "a"), registry=registry)
    before = registry.input
    type(Namespace)("Second", (first,), body("second", "b"))
    assert (list(before), list(registry.input)) == (["a"], ["a", "b"])


def body(path: str, *names: str) -> dict[str, object]:
    fields = dict.fromkeys(names, 1)
    return {"_NS_PATH": path, "__annotations__": dict.fromkeys(names, int), **fields}


SOURCE = """
from registry import Namespace, Registry
class Base(Namespace, registry=Registry("reloaded")): pass
class First(Base):
    _NS_PATH = "first"
    a: int = 1
    b: int = 2
class Last(Base):
    _NS_PATH = "last"
    z: int = 3
"""


def test_a_reloaded_module_takes_the_place_of_its_earlier_run(
    module_from: Callable[..., ModuleType], tmp_path: Path
) -> None:
    shared = module_from(
        "from registry import *\nclass Base(Namespace, registry=Registry('r')): pass"
    )
    source = SOURCE.replace(
        'class Base(Namespace, registry=Registry("reloaded")): pass',
        f"from {shared.__name__} import Base",
    )
    module = module_from(source, "reloaded_module")
    registry = shared.Base.__ns_registry__
    changed = source.replace("a: int = 1", "new: int = 9\n    a: int = 7")
    (tmp_path / "reloaded_module.py").write_text(changed.replace("    b: int = 2\n", ""))
    os.utime(tmp_path / "reloaded_module.py", (1, 1))
    importlib.reload(module)
    assert list(registry.input) == ["new", "a", "z"]
    assert registry.input["a"].default == 7
    assert registry.namespaces["first"] is module.First
    assert compose("R", registry=registry)().a == 7


def test_a_refused_rerun_leaves_the_earlier_run_in_place() -> None:
    registry = Registry("rerun")
    base = type(Namespace)("Base", (Namespace,), {}, registry=registry)
    type(Namespace)("Other", (base,), body("other", "taken"))
    first = type(Namespace)("Cell", (base,), body("cell", "x"))
    with pytest.raises(DuplicateFieldError):
        type(Namespace)("Cell", (base,), body("cell", "x", "taken"))
    assert list(registry.input) == ["taken", "x"]
    assert registry.namespaces["cell"] is first


def test_a_notebook_cell_run_again_replaces_its_earlier_run() -> None:
    registry = Registry("notebook")
    cell = "class Cell(Namespace, registry=registry):\n    _NS_PATH = 'cell'\n    x: int = {}"
    names = {"Namespace": Namespace, "registry": registry, "__name__": "__main__"}
    for number in (1, 2):
        exec(compile(cell.format(number), f"<cell {number}>", "exec"), names)
    assert registry.input["x"].default == 2
    assert registry.input["x"].file == "<cell 2>"
    assert registry.input["x"].line == 1


def test_a_file_can_run_as_the_main_program_and_be_imported_too(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text(
        "from registry import Namespace, default_registry\n"
        "class Real(Namespace):\n"
        "    _NS_PATH = 'real'\n"
        "    x: int = 1\n"
        "if __name__ == '__main__':\n"
        "    import settings\n"
        "    print(len(default_registry.declarations), default_registry.input['x'].cls)\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    for command in (["settings.py"], ["-m", "settings"]):
        done = subprocess.run(
            [sys.executable, *command],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert (done.stderr, done.stdout) == ("", "1 <class 'settings.Real'>\n")


def test_a_main_program_started_through_a_link_is_the_module_it_links_to(tmp_path: Path) -> None:
    source = (
        "from registry import Namespace, default_registry\n"
        "class Real(Namespace):\n"
        "    _NS_PATH = 'real'\n"
        "    x: int = 1\n"
        "if __name__ == '__main__':\n"
        "    import settings\n"
        "    print(default_registry.input['x'].cls)\n"
    )
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "settings.py").write_text(source)
    (tmp_path / "start").symlink_to(tmp_path / "package" / "settings.py")
    path = os.pathsep.join([str(tmp_path / "package"), *sys.path])
    done = subprocess.run(
        [sys.executable, str(tmp_path / "start")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (done.stderr, done.stdout) == ("", "<class 'settings.Real'>\n")


def test_threads_can_declare_while_others_read() -> None:
    registry = Registry("threads")
    base = type(Namespace)("Base", (Namespace,), {}, registry=registry)
    failures: list[BaseException] = []
    started = threading.Barrier(12)

    def declare(number: int) -> None:
        try:
            started.wait()
            for step in range(25):
                name = f"f{number}_{step}"
                type(Namespace)(f"C{name}", (base,), body(f"p{number}", name))
        except BaseException as error:
            failures.append(error)

    def read() -> None:
        try:
            started.wait()
            for _ in range(200):
                for name, entry in registry.input.items():
                    assert entry.name == name
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=declare, args=(number,)) for number in range(8)]
    threads += [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(registry.input) == {f"f{n}_{step}" for n in range(8) for step in range(25)}


def test_one_of_many_threads_wins_a_name() -> None:
    registry = Registry("race")
    base = type(Namespace)("Base", (Namespace,), {}, registry=registry)
    refused = []

    def declare(number: int) -> None:
        try:
            type(Namespace)(f"C{number}", (base,), body(f"p{number}", "contested", f"own{number}"))
        except DuplicateFieldError:
            refused.append(number)

    threads = [threading.Thread(target=declare, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 15
    assert len(registry.input) == 2


@settings(deadline=None)  # a refusal reads the source file
@given(
    st.lists(
        st.tuples(st.sampled_from(["a", "a.b", "c", "c.d.e"]), st.integers(0, 12)), max_size=12
    )
)
def test_every_name_belongs_to_exactly_one_class_whatever_is_declared(
    statements: list[tuple[str, int]],
) -> None:
    registry = Registry("property")
    base = type(Namespace)("Base", (Namespace,), {}, registry=registry)
    expected: dict[str, str] = {}
    for number, (path, field) in enumerate(statements):
        name = f"field{field}"
        if name in expected:
            with pytest.raises(DuplicateFieldError):
                type(Namespace)(f"C{number}", (base,), body(path, name))
        else:
            type(Namespace)(f"C{number}", (base,), body(path, name))
            expected[name] = path
    assert {name: entry.namespace for name, entry in registry.input.items()} == expected
