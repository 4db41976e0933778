"""What cannot be a declaration, and what the refusal says."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from registry import Namespace, Registry, RegistryError
from registry import errors as errors_module

PREAMBLE = """\
from dataclasses import KW_ONLY, InitVar, field
from registry import A, Arg, Derived, Namespace, Registry, derived
class Base(Namespace, registry=Registry("test")): pass
class Taken(Base):
    _NS_PATH = "exec"
    moe: int = 1
    @derived
    def implied(cfg) -> int: return 1
class Deep(Base):
    _NS_PATH = "a.b.c"
    x: int = 1
class Odd:  # unhashable and neither true nor false, as an array of numpy is
    __hash__ = None
    def __repr__(self): return "<odd>"
    def __bool__(self): raise ValueError
"""
LINES = PREAMBLE.count("\n")

# (class statement, error, base, line of the message in the statement, message)
REFUSALS = [
    (
        "class Lost(Base):\n    width: int = 1\n    height: int = 2",
        "MissingPathError",
        TypeError,
        1,
        'Lost declares width, height but has no path; add the line _NS_PATH = "lost"',
    ),
    (
        "class Lost(Base):\n    @derived\n    def width(cfg) -> int: return 1",
        "MissingPathError",
        TypeError,
        1,
        'Lost declares width but has no path; add the line _NS_PATH = "lost"',
    ),
    *(
        (
            f"class Bad(Base):\n    _NS_PATH = {path!r}\n    y: int = 1",
            "InvalidPathError",
            ValueError,
            1,
            f"Bad has the path {path!r}; a path is a string of identifiers joined by dots, such "
            'as "exec.moe"',
        )
        for path in ("", "exec.", ".moe", "exec moe", "exec.class", "2x", 3)
    ),
    (
        "class Again(Base):\n    _NS_PATH = 'other'\n\n    moe: int = 2",
        "DuplicateFieldError",
        ValueError,
        4,
        "{module}.Again.moe is already declared by {module}.Taken.moe ({file}:6); a field belongs "
        "to exactly one namespace of a registry. Rename one, or give one family a registry of "
        'its own: class Base(Namespace, registry=Registry("name"))',
    ),
    (
        "class Again(Base):\n    _NS_PATH = 'other'\n    implied: int = 2",
        "DuplicateFieldError",
        ValueError,
        3,
        "{module}.Again.implied is already declared by {module}.Taken.implied ({file}:8); a field "
        "belongs to exactly one namespace of a registry. Rename one, or give one family a registry "
        'of its own: class Base(Namespace, registry=Registry("name"))',
    ),
    (
        "class Moe(Base):\n    _NS_PATH = 'exec.moe'\n    y: int = 1",
        "PathConflictError",
        ValueError,
        1,
        "'exec.moe' would be both a namespace ({module}.Moe ({file}:{line})) and a field "
        "({module}.Taken.moe ({file}:6)); one attribute cannot answer for both. Rename one of them",
    ),
    (
        "class Deeper(Base):\n    _NS_PATH = 'exec.implied.deep'\n    y: int = 1",
        "PathConflictError",
        ValueError,
        1,
        "'exec.implied' would be both a namespace ({module}.Deeper ({file}:{line})) and a field "
        "({module}.Taken.implied ({file}:8)); one attribute cannot answer for both. Rename one of "
        "them",
    ),
    (
        "class Upper(Base):\n    _NS_PATH = 'a'\n    b: int = 1",
        "PathConflictError",
        ValueError,
        3,
        "'a.b' would be both a namespace ({module}.Deep ({file}:9)) and a field "
        "({module}.Upper.b ({file}:{line})); one attribute cannot answer for both. Rename one of "
        "them",
    ),
    (
        "class Bad(Base):\n    _NS_PATH = 'bad'\n    y: InitVar[int] = 1",
        "FieldDeclarationError",
        TypeError,
        3,
        "Bad.y is an InitVar; a record holds every input it is given, so that it can be pickled "
        "and compared. Declare it as a plain field",
    ),
    (
        "class Bad(Base):\n    _NS_PATH = 'bad'\n    _: KW_ONLY\n    y: int = 1",
        "FieldDeclarationError",
        TypeError,
        3,
        "Bad._ is the KW_ONLY marker; the order of a record is chosen by compose(order=...). Use "
        "field(kw_only=True) for one field",
    ),
    (
        "class Bad(Base):\n    _NS_PATH = 'bad'\n    y: int = field(init=False, default=1)",
        "FieldDeclarationError",
        TypeError,
        3,
        "Bad.y is field(init=False); what nobody can give is @derived",
    ),
    *(
        (
            f"class Bad(Base):\n    _NS_PATH = 'bad'\n    y = {value}",
            "FieldDeclarationError",
            TypeError,
            3,
            "Bad.y has no annotation, so it would not become a field; "
            "write y: A[int, Arg(...)] = default",
        )
        for value in ("field(default=1)", "Arg(help='x')", "A[int, 'x']")
    ),
    *(
        (
            f"class Bad(Base):\n    _NS_PATH = 'bad'\n    y: int = {value}",
            "FieldDeclarationError",
            TypeError,
            3,
            "Bad.y has its Arg as default; it belongs in the annotation: y: A[int, Arg(...)]",
        )
        for value in ("Arg(help='x')", "A[int, 'x']")
    ),
    (
        "class Bad(Base):\n    _NS_PATH = 'bad'\n    y: int = Derived(type=int)",
        "FieldDeclarationError",
        TypeError,
        3,
        "Bad.y is derived and has an annotation; a derived field has none",
    ),
    (
        "class Bad(Base):\n    _NS_PATH = 'bad'\n    y: int = property(lambda self: 1)",
        "FieldDeclarationError",
        TypeError,
        3,
        "Bad.y is a property and has an annotation; use @derived for it",
    ),
    (
        "class Bad(Taken):\n    moe = 2",
        "FieldDeclarationError",
        TypeError,
        2,
        "Bad.moe has no annotation and hides an inherited field, whose default it would not "
        "change; pass compose(..., defaults={{'moe': ...}})",
    ),
    (
        "class Bad(Taken):\n    def implied(self): return 2",
        "FieldDeclarationError",
        TypeError,
        2,
        "Bad.implied hides an inherited derived field, whose value it would not change; derive "
        "one of another name",
    ),
    (
        "Bad = type(Base)('Bad', (Base,), {{'_NS_PATH': 'bad', '__annotations__': "
        "{{'class': int}}}})",
        "FieldDeclarationError",
        TypeError,
        1,
        "Bad.class is no name an attribute can have; call it class_ and give its flag with "
        'Arg(cli_name="--class")',
    ),
    *(
        (
            f"class Bad(Base):\n    _NS_PATH = 'bad'\n    y: int = {value}",
            "MutableDefaultError",
            ValueError,
            3,
            f"Bad.y has the mutable default {shown}, which all records would share; "
            f"use field(default_factory={factory})",
        )
        for value, shown, factory in (
            ("[]", "[]", "list"),
            ("{{}}", "{{}}", "dict"),
            ("set()", "set()", "set"),
            ("[1, 2]", "[1, 2]", "lambda: [1, 2]"),
            ("field(default=[])", "[]", "list"),
            ("Odd()", "<odd>", "lambda: Odd(...)"),
        )
    ),
]


@pytest.mark.parametrize(
    ("statement", "error", "base", "line", "message"),
    REFUSALS,
    ids=[f"{error}-{number}" for number, (_, error, *_) in enumerate(REFUSALS)],
)
def test_a_statement_that_declares_nothing_sensible_is_refused_whole(
    statement: str,
    error: str,
    base: type,
    line: int,
    message: str,
    module_from: Callable[..., ModuleType],
) -> None:
    source = PREAMBLE + statement.replace("{{", "{").replace("}}", "}") + "\n"
    with pytest.raises(RegistryError) as caught:
        module_from(source, "refused")
    assert type(caught.value) is getattr(errors_module, error)
    assert isinstance(caught.value, base)
    file = caught.traceback[-1].frame.f_globals.get("__file__")
    place = str(caught.value).partition(": ")[0]
    file, _, number = place.rpartition(":")
    assert Path(file).name == "refused.py"
    assert int(number) == LINES + line
    expected = message.replace("{{", "{").replace("}}", "}")
    expected = expected.replace("{module}", "refused").replace("{file}", file)
    assert str(caught.value) == f"{place}: {expected.replace('{line}', number)}"


def test_a_refused_class_leaves_the_registry_as_it_was() -> None:
    class Base(Namespace, registry=Registry("whole")):
        pass

    class First(Base):
        _NS_PATH = "first"
        x: int = 1

    registry = Base.__ns_registry__
    before = (dict(registry.input), dict(registry.namespaces), registry.declarations)
    with pytest.raises(RegistryError):

        class Second(Base):
            _NS_PATH = "second"
            fine: int = 1
            x: int = 2

    with pytest.raises(RegistryError):

        class Third(Base):
            _NS_PATH = "third"
            also_fine: int = 1
            broken: int = []

    assert (dict(registry.input), dict(registry.namespaces), registry.declarations) == before


def test_refusals_hold_when_python_drops_assertions(tmp_path: Path) -> None:
    script = textwrap.dedent("""
        from registry import *
        class Base(Namespace, registry=Registry("test")): pass
        def refused(statement):
            try:
                exec(statement, {**globals(), "__name__": "x"})
            except RegistryError as error:
                return type(error).__name__
        print(__debug__, refused("class A(Base): x: int = 1"))
        print(refused("class B(Base): _NS_PATH = 'b'; x: int = []"))
        print(refused("class C(Base): _NS_PATH = 'c d'; x: int = 1"))
        print(refused("compose('R', [3])"))
        class Ok(Base):
            _NS_PATH = "ok"
            y: int = 1
            @derived
            def z(cfg): return cfg.z
        R = compose("R", [Ok])
        globals().update(R=R)
        print(refused("R(q=1)"), refused("R().q = 1"), refused("derive(R()).z"))
        print(refused("derive(R()).z = 1"), refused("Ok.y = 2"), refused("Ok()"))
    """)
    done = subprocess.run(
        [sys.executable, "-O", "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sys.path))},
    )
    assert done.stderr == ""
    assert done.stdout.split() == [
        *["False", "MissingPathError", "MutableDefaultError", "InvalidPathError", "ComposeError"],
        *["CallError", "UnknownAttributeError", "DerivationCycleError"],
        *["ReadOnlyError", "ReadOnlyError", "ComposeError"],
    ]
