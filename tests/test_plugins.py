"""Installed plugins, in interpreters of their own that have them installed."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import venv
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import typing_extensions

ROOT = Path(__file__).parent.parent
SAMPLES = Path(__file__).parent / "plugins"

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment that has this project, and beside it the plugins."""
    folder = tmp_path_factory.mktemp("plugins")
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")
    own = folder / "sources" / "own"
    for name in ("registry", "namespaces"):
        shutil.copytree(ROOT / name, own / name, ignore=skipped)
    for name in ("setup.cfg", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, own / name)
    for name in ("acme", "bolt"):
        shutil.copytree(SAMPLES / name, folder / "sources" / name, ignore=skipped)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    sources = sorted((folder / "sources").iterdir())
    wheels = ["--no-deps", "--no-build-isolation", f"--wheel-dir={folder}"]
    subprocess.run([*pip, "wheel", *wheels, *sources], check=True, timeout=300)
    venv.create(folder / "venv", with_pip=False)
    for wheel in sorted(folder.glob("*.whl")):
        name = wheel.name.partition("_")[0]
        # A plugin has a folder of its own, so that a process may do without it.
        target = [] if name == "namespace" else [f"--target={folder / name}"]
        options = [f"--python={python_of(folder)}", "install", "--no-deps", "--no-index", *target]
        subprocess.run([*pip, *options, wheel], check=True, timeout=300)
    (site,) = (folder / "venv").glob("**/site-packages")
    shutil.copy(typing_extensions.__file__, site)
    return folder


def python_of(folder: Path) -> Path:
    return folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture
def run(installed: Path, tmp_path: Path) -> Run:
    """A function that runs an interpreter with some plugins installed."""

    def process(
        *words: str | bytes, plugins: Sequence[str | Path] = ("acme", "bolt"), **variables: str
    ) -> Done:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NAMESPACES_PLUGINS", "SERVER_", "PYTHON"))
        }
        path = os.pathsep.join(str(installed / each) for each in plugins)
        return subprocess.run(
            [python_of(installed), *words],
            env={**kept, "PYTHONPATH": path, **variables},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return process


def output(done: Done) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_record_has_the_fields_of_plugins_after_its_own(run: Run) -> None:
    code = """
    from namespaces import POSITIONAL_FIELD_ORDER, ServerArgs
    from dataclasses import fields
    from registry import Context, default_registry, namespace_of
    print([field.name for field in fields(ServerArgs)][len(POSITIONAL_FIELD_ORDER):])
    print(namespace_of(ServerArgs, "acme_tiles"), namespace_of(ServerArgs, "bolt_streams"))
    print(default_registry.input["acme_tiles"].declaration.plugin)
    context = Context(ServerArgs("m", tp_size=8, ep_size=2))
    print(context.bag("exec").acme.acme_total_tiles, context.bag("exec").moe.bolt_streams)
    print(context.explain("moe_runner_backend"))
    """
    lines = output(run("-c", textwrap.dedent(code))).splitlines()
    assert lines[:4] == [
        "['acme_tiles', 'acme_token', 'bolt_fused_gate', 'bolt_streams']",
        "exec.acme exec.moe",
        "acme (acme-plugin 1.2)",
        "32 4",
    ]
    assert lines[4] == "exec.moe.moe_runner_backend = 'acme'"
    assert "set_default of acme_plugin (" in lines[5] and lines[5].endswith("<- in effect")
    assert lines[6].split()[:3] == ["default", "'auto'", "declaration"]


def test_the_program_knows_them_without_another_step(run: Run, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"exec.acme": {"acme_tiles": 6}}', encoding="utf-8")
    words = ["--model-path=m", "--config=run.json", "--bolt-fused-gate", "--attention-backend=acme"]
    secret = ["--acme-token=hunter2"]
    # The report comes from a spawned process that got the pickled record.
    done = run("-m", "namespaces", "--json", *words, *secret, SERVER_BOLT_STREAMS="3")
    report = json.loads(output(done))
    assert report["set"]["exec.acme"] == {"acme_tiles": 6, "acme_token": "***"}
    assert report["set"]["exec.moe"] == {"bolt_fused_gate": True, "bolt_streams": 3}
    assert report["derived"]["exec.acme"] == {"acme_total_tiles": 6}
    assert "hunter2" not in done.stdout
    page = output(run("-m", "namespaces", "--help=exec.acme"))
    assert "--acme-tiles" in page and "Tiles of one accelerator that a rank uses." in page


def test_a_check_of_a_plugin_holds(run: Run) -> None:
    done = run("-m", "namespaces", "--model-path=m", "--acme-tiles=3")
    assert done.returncode == 2
    assert "acme_tiles is even: tiles work in pairs, but acme_tiles=3" in done.stderr


FIRST = {
    "the package": "import namespaces, acme_plugin",
    "the record": "from namespaces import ServerArgs",
    "the module of the record": "import namespaces.record",
    "a plugin": "import acme_plugin",
    "a plugin, after one namespace": "from namespaces import ExecMoe; import acme_plugin",
    "the other plugin": "import bolt_moe",
    "a pickled class of a plugin": ("import pickle; pickle.loads(b'cacme_plugin\\nAcme\\n.')"),
    "the loader": "import registry; registry.load_plugins()",
}


@pytest.mark.parametrize("first", FIRST.values(), ids=FIRST)
def test_the_record_is_complete_whatever_is_imported_first(run: Run, first: str) -> None:
    code = (
        "\nfrom namespaces import ServerArgs\nimport dataclasses\n"
        "from registry import load_plugins\n"
        "args = ServerArgs('m')\n"
        "print(len(dataclasses.fields(args)), args.acme_tiles, args.bolt_streams, "
        "args.moe_runner_backend)\n"
        "print([(p.name, p.distribution, p.version, p.namespaces, p.fields, len(p.additions)) "
        "for p in load_plugins()])"
    )
    numbers, plugins = output(run("-c", first + code)).splitlines()
    assert numbers == "503 4 None acme"
    assert plugins == str(
        [
            ("acme", "acme-plugin", "1.2", ("exec.acme",), ("acme_tiles", "acme_token"), 3),
            ("bolt", "bolt-moe", "0.3", (), ("bolt_fused_gate", "bolt_streams"), 0),
        ]
    )


SELECTIONS = [
    ("acme,bolt", "acme bolt"),
    (" bolt ,", "bolt"),
    ("none", ""),
    ("", "acme bolt"),
]


@pytest.mark.parametrize(("names", "expected"), SELECTIONS)
def test_the_environment_says_which_are_loaded(run: Run, names: str, expected: str) -> None:
    code = "from namespaces.record import PLUGINS; print(*(plugin.name for plugin in PLUGINS))"
    assert output(run("-c", code, NAMESPACES_PLUGINS=names)).strip() == expected


def test_an_unknown_name_is_refused_with_the_nearest(run: Run) -> None:
    done = run("-c", "import namespaces.record", NAMESPACES_PLUGINS="acne")
    assert done.stderr.splitlines()[-1] == (
        "registry.plugin_loading.PluginError: plugin 'acne' is not installed; "
        "there are acme, bolt. Did you mean 'acme'?"
    )


def test_a_default_cannot_be_set_once_the_record_is_there(run: Run) -> None:
    code = "from namespaces import *; set_default('tp_size', 2)"
    assert (
        "ServerArgs: is composed already, with its default of 'tp_size'"
        in (run("-c", code).stderr.splitlines()[-1])
    )


def test_the_command_lists_what_each_adds(run: Run) -> None:
    assert output(run("-m", "registry", "plugins")) == textwrap.dedent("""\
        acme (acme-plugin 1.2) = acme_plugin
          namespaces  exec.acme
          fields      acme_tiles, acme_token
          derived     acme_total_tiles
          rules       acme_tiles_are_even
          choices     ATTENTION_BACKEND_CHOICES: acme
          choices     MOE_RUNNER_BACKEND_CHOICES: acme
          default     moe_runner_backend: 'acme'

        bolt (bolt-moe 0.3) = bolt_moe:declare
          fields      bolt_fused_gate, bolt_streams
          rules       choose_streams
    """)
    assert output(run("-m", "registry", "plugins", plugins=[])) == (
        "No plugin of namespaces.plugins is loaded.\n"
    )


WRITE = "import pickle, sys, namespaces; pickle.dump(namespaces.ServerArgs('m'{}), open('r', 'wb'))"
READ = "import pickle; print(pickle.load(open('r', 'rb')))"


def test_the_contract_says_what_came_with_which_distribution(run: Run, tmp_path: Path) -> None:
    done = run("-m", "registry", "snapshot", "namespaces:ServerArgs", "-o", "own.json", plugins=())
    assert (done.returncode, done.stderr) == (0, "")
    done = run("-m", "registry", "diff", "own.json", "namespaces:ServerArgs", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    changes = json.loads(done.stdout)
    assert {each["severity"] for each in changes} == {"compatible", "behaviour"}
    found = {each["field"]: each["detail"] for each in changes}
    assert found["moe_runner_backend"] == "also takes acme"
    assert found["acme_tiles"] == "new field in exec.acme, from acme (acme-plugin)"
    assert found["bolt_streams"] == "new field in exec.moe, from bolt (bolt-moe)"
    assert found["acme_total_tiles"] == "new derived field in exec.acme, from acme (acme-plugin)"
    details = [each["detail"] for each in changes]
    assert 'default was "auto" and is "acme", set by acme_plugin' in details

    done = run("-m", "registry", "check", "namespaces:ServerArgs", "own.json")
    assert done.returncode == 1
    assert (
        "write down what acme (acme-plugin 1.2), bolt (bolt-moe 0.3) added as well" in done.stderr
    )

    order = tmp_path / "field_order.py"
    shutil.copy(ROOT / "namespaces" / "field_order.py", order)
    output(run("-m", "registry", "freeze", "namespaces:ServerArgs", order.name))
    assert order.read_text() == (ROOT / "namespaces" / "field_order.py").read_text()

    output(run("-m", "registry", "snapshot", "namespaces:ServerArgs", "-o", "all.json"))
    done = run("-m", "registry", "diff", "all.json", "own.json", "--json")
    assert done.returncode == 1
    found = {each["field"]: each["detail"] for each in json.loads(done.stdout)}
    assert found["acme_tiles"] == "is removed, from acme (acme-plugin)"


def test_a_record_read_without_the_plugin_names_it(run: Run) -> None:
    output(run("-c", WRITE.format(", acme_tiles=8, bolt_fused_gate=True")))
    assert output(run("-c", READ)) == (
        "ServerArgs(model_path='m', acme_tiles=8, bolt_fused_gate=True)\n"
    )
    assert run("-c", READ, plugins=[]).stderr.splitlines()[-1] == (
        "registry.pickling.RecordUnpicklingError: cannot unpickle a ServerArgs: acme_tiles, "
        "bolt_fused_gate held a value when it was written, but the class has no such field here; "
        "install or enable the plugin it came from: acme (acme-plugin 1.2) for acme_tiles, "
        "bolt (bolt-moe 0.3) for bolt_fused_gate"
    )


READ_WARNED = """
import pickle, warnings
from registry import publish
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with open("r", "rb") as file:
        record = pickle.load(file)
print(record.moe_runner_backend, record.attention_backend)
for each in caught:
    print(each.category.__name__, each.filename, each.message)
try:
    publish(record)
except ValueError as error:
    print("not 'acme'" in str(error))
"""


@pytest.mark.parametrize("given", ["", ", attention_backend='acme'"])
def test_a_choice_of_a_plugin_is_named_where_the_plugin_is_missing(run: Run, given: str) -> None:
    output(run("-c", WRITE.format(given)))
    values, *warned, refused = output(run("-c", READ_WARNED, plugins=["bolt"])).splitlines()
    fields = ["attention_backend"] * bool(given) + ["moe_runner_backend"]
    assert (values.split()[0], refused) == ("acme", "True")
    assert sorted(warned) == [
        f"MissingChoiceWarning <string> a ServerArgs arrived with {field}='acme', which is no "
        "choice here: acme_plugin added it where the record was made; install or enable that plugin"
        for field in fields
    ]
    assert len(output(run("-c", READ_WARNED)).splitlines()) == 1


def test_changes_of_a_field_of_a_plugin_name_it_where_it_is_missing(run: Run) -> None:
    write = """
    import pickle, namespaces
    from registry import Context
    context = Context(namespaces.ServerArgs("m", moe_runner_backend="triton"))
    context.override("tune", acme_tiles=6)
    context.override("tune", acme_total_tiles=7)
    pickle.dump((context.record, context.changes()), open("r", "wb"))
    """
    read = """
    import pickle
    from registry import Context
    record, changes = pickle.load(open("r", "rb"))
    try:
        print(Context(record).apply_changes(changes))
    except ValueError as error:
        print(error)
    """
    output(run("-c", textwrap.dedent(write)))
    assert output(run("-c", textwrap.dedent(read))) == "2\n"
    assert output(run("-c", textwrap.dedent(read), plugins=["bolt"])) == (
        "changes 1 to 2 of ServerArgs, with 0 applied here: override by 'tune' (<string>:5): "
        "'acme_tiles' is not declared in this process; install or enable the plugin it came from: "
        "acme (acme-plugin 1.2)\n"
    )


def test_a_record_that_leaves_them_at_their_defaults_travels_anywhere(run: Run) -> None:
    output(run("-c", WRITE.format(", moe_runner_backend='triton'")))
    assert output(run("-c", READ, plugins=["bolt"])).startswith("ServerArgs(model_path='m'")


FAULTY = {
    "raises": (
        "bad",
        "{}['x']",
        "does not load: KeyError: 'x'",
    ),
    "exits": ("bad", "raise SystemExit('bye')", "does not load: SystemExit: bye"),
    "declares a field that exists": (
        "bad",
        "class Bad(Parallel):\n    tp_size: int = 2",
        "does not load: DuplicateFieldError: ",
    ),
    "has an annotation that cannot be evaluated": (
        "bad",
        "class Bad(Parallel):\n    bad_size: 'Lost' = 2",
        "does not load: UnresolvedNameError: ",
    ),
    "has a module that is not there": (
        "bda",
        "",
        "has the entry point 'bda', but there is no module 'bda'",
    ),
    "has a function that is not there": (
        "bad:registr",
        "def register(): pass",
        "has the entry point 'bad:registr', but there is no 'registr' in it. "
        "Did you mean 'register'?",
    ),
    "has something else for a function": (
        "bad:count",
        "count = 3",
        "has the entry point 'bad:count', which is int, no function",
    ),
    "has no path": (
        "bad-module",
        "",
        "has the entry point 'bad-module'; expected 'package.module' or 'package.module:function'",
    ),
    "needs a newer version": (
        "bad",
        "from namespaces import add_future_choices",
        "namespace-registry 0.1.0 is installed here; bad-plugin requires namespace-registry>=0rc1",
    ),
    "needs a newer version in passing": (
        "bad",
        "import namespaces; namespaces.add_future_choices(['x'])",
        "namespace-registry 0.1.0 is installed here; bad-plugin requires namespace-registry>=0rc1",
    ),
    "needs a newer version for an argument": (
        "bad",
        "from registry import Arg\nArg(future=1)",
        "namespace-registry 0.1.0 is installed here; bad-plugin requires namespace-registry>=0rc1",
    ),
    "asks for the record": (
        "bad",
        "from namespaces import ServerArgs",
        "a plugin imports it in the function that uses it",
    ),
    "sets a default that nobody declares": (
        "bad",
        "set_default('tp_sise', 2)",
        "does not load: UnknownFieldError: set_default() has no field 'tp_sise'. "
        "Did you mean 'tp_size'?",
    ),
    "sets a default of the wrong type": (
        "bad",
        "set_default('tp_size', '2')",
        "tp_size must be int, not '2' (str)",
    ),
    "sets the default of another plugin": (
        "bad",
        "set_default('moe_runner_backend', 'triton')",
        "does not load: ComposeError: ServerArgs: has its default of 'moe_runner_backend' set by "
        "acme_plugin (",
    ),
    **{
        what: ("bad", f"class Bad(Parallel):\n    {field}", message)
        for what, field, message in [
            (
                "has the flag of another field",
                "bad_size: A[int, Arg(aliases=['--tp-size'])] = 2",
                "bad.py:11: Bad.bad_size has the flag --tp-size, which is that of "
                "namespaces.parallel.Parallel.tp_size (",
            ),
            (
                "has the flag that turns another field off",
                "bad_size: A[int, Arg(cli_name='--no-bad-size')] = 2\n"
                "    bad_one: A[int, 'One.'] = 1\n"
                "    bad_on: A[bool, Arg(cli_name='--bad-size')] = True",
                "bad.py:13: Bad.bad_on has the flag --no-bad-size, which is that of "
                "bad.Bad.bad_size (",
            ),
            (
                "has a flag of the program",
                "config: A[int, 'Bad.'] = 2",
                "bad.py:11: Bad.config has the flag --config, which is an option of the program",
            ),
            (
                "has a type without a flag",
                "bad_size: A[object, 'Bad.'] = 2",
                "bad.py:11: Bad.bad_size has the type typing.Annotated[object, 'Bad.'], which "
                "no text turns into; give its Arg a type_parser, or no_cli=True",
            ),
            (
                "has an Arg that argparse refuses",
                "bad_size: A[int, Arg(action='stor')] = 2",
                "bad.py:11: Bad.bad_size has an Arg that argparse does not take: unknown action",
            ),
            (
                "has a field that must be given",
                "bad_size: int",
                "bad.py:11: Bad.bad_size has no default; a field of a plugin needs one, for "
                "records that were made and command lines that were written without the plugin",
            ),
            (
                "has a default of another type",
                "bad_size: int = '2'",
                "bad.py:11: the default of bad_size must be int, not '2' (str)",
            ),
            (
                "has a default that is no choice",
                "bad_size: A[str, Arg(choices=['one'])] = 'two'",
                "bad.py:11: the default of bad_size must be one of one, not 'two'.",
            ),
            (
                "has a secret default of another type",
                "bad_size: A[int, Arg(secret=True)] = 'hunter2'",
                "bad.py:11: the default of bad_size must be int, not *** (str)",
            ),
            (
                "has a default that cannot be made",
                "bad_size: list[str] = field(default_factory=lambda: {}['x'])",
                "bad.py:11: Bad.bad_size has a default_factory that fails: KeyError: 'x'",
            ),
            (
                "names a function of no module",
                "bad_size = Derived(fn='no.such:path')",
                "bad.py:11: Bad.bad_size names the function 'no.such:path', "
                "but there is no module 'no'",
            ),
            (
                "names a function of no module in a package",
                "bad_size = Derived(fn='xml.dom.lost:path')",
                "bad.py:11: Bad.bad_size names the function 'xml.dom.lost:path', "
                "but there is no module 'xml.dom.lost'",
            ),
            (
                "names no function of a module",
                "bad_size = Derived(fn='namespaces.parallel:lost.path')",
                "bad.py:11: Bad.bad_size names the function 'namespaces.parallel:lost.path', "
                "but there is no 'lost' in it",
            ),
        ]
    },
}
BEGINNING = """
from namespaces import Parallel, add_load_format_choices, set_default
from registry import A, Arg, Derived, Namespace
from dataclasses import field
add_load_format_choices(["bad"])
set_default("dp_size", 2)
class Half(Namespace):
    _NS_PATH = "bad"
    bad_half: int = 1
"""


def install_faulty(folder: Path, value: str, source: str, name: str = "bad") -> None:
    info = folder / f"{name}_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "bad.py").write_text(BEGINNING + source + "\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[namespaces.plugins]\nbad = {value}\n")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}-plugin\nVersion: 1.0\n"
        "Requires-Dist: namespace-registry>=0rc1\n"
    )


AFTERWARDS = """
import sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import namespaces
    args = namespaces.ServerArgs("m")
from registry import default_registry
print([str(each.message) for each in caught if each.category.__name__ == "PluginWarning"][0])
print(args.acme_tiles, args.dp_size, hasattr(args, "bad_half"),
      "bad_half" in default_registry.input, "bad" in default_registry.namespaces,
      "bad" in namespaces.LOAD_FORMAT_CHOICES, "bad" in sys.modules)
"""


@pytest.mark.parametrize(("value", "source", "message"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_plugin_is_named_and_the_rest_works_without_it(
    run: Run, tmp_path: Path, value: str, source: str, message: str
) -> None:
    folder = tmp_path / "faulty"
    install_faulty(folder, value, source)
    plugins = ["acme", folder]
    done = run("-c", "import namespaces; namespaces.ServerArgs", plugins=plugins)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("registry.plugin_loading.PluginError: plugin 'bad' (bad-plugin 1.0) ")
    assert message in last
    done = run("-c", AFTERWARDS, plugins=plugins, NAMESPACES_PLUGINS_ON_ERROR="warn")
    warning, left = output(done).splitlines()
    assert message in warning and warning.endswith("; it is left out")
    assert left == "4 1 False False False False False"


def install(folder: Path, entries: dict[str, str], files: dict[str, str], more: str = "") -> Path:
    """Install a distribution named after the folder, with entry points and modules."""
    info = folder / f"{folder.name}-1.0.dist-info"
    info.mkdir(parents=True)
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[namespaces.plugins]\n{lines}", encoding="utf-8")
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {folder.name}\nVersion: 1.0\n{more}", encoding="utf-8"
    )
    for name, source in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(source), encoding="utf-8")
    return folder


FIELDS = """
from namespaces import add_load_format_choices, set_default
from registry import Namespace
class {title}(Namespace):
    _NS_PATH = "{name}"
    {name}_size: int = 1
add_load_format_choices(["{name}"])
set_default("{setting}", 3)
"""
WELL = FIELDS.format(title="Well", name="well", setting="pp_size")
SICK = FIELDS.format(title="Sick", name="sick", setting="dp_size")
FAILS = "def fail(): raise KeyError('x')\n"
STATE = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import namespaces, namespaces.record as made
args = made.ServerArgs("m")
print([plugin.name for plugin in made.PLUGINS])
print(args.pp_size, hasattr(args, "well_size"), "well" in namespaces.LOAD_FORMAT_CHOICES)
print(args.dp_size, hasattr(args, "sick_size"), "sick" in namespaces.LOAD_FORMAT_CHOICES)
for each in caught:
    if each.category.__name__ == "PluginWarning":
        print(each.message)
"""


def state(run: Run, first: str, *plugins: Path, **variables: str) -> list[str]:
    """Return what is loaded, and what stands of `WELL` and of `SICK`, and the warnings."""
    variables = {"NAMESPACES_PLUGINS_ON_ERROR": "warn", **variables}
    return output(run("-c", first + "\n" + STATE, plugins=plugins, **variables)).splitlines()


ABSENT = "1 False False"
PRESENT = "3 True True"


@pytest.mark.parametrize("name", ["before", "x_after"])
def test_a_plugin_that_a_faulty_one_has_imported_is_whole(
    run: Run, tmp_path: Path, name: str
) -> None:
    files = {"well/__init__.py": "from well.fields import Well", "well/fields.py": WELL}
    well = install(tmp_path / "well", {"well": "well"}, files)
    source = f"{SICK}\nimport well\nraise KeyError('x')"
    sick = install(tmp_path / "sick", {name: "sick"}, {"sick.py": source})
    assert state(run, "", well, sick) == [
        "['well']",
        PRESENT,
        ABSENT,
        f"plugin '{name}' (sick 1.0) does not load: KeyError: 'x'; it is left out",
    ]


def test_one_that_fails_after_it_was_imported_leaves_nothing(run: Run, tmp_path: Path) -> None:
    sick = install(tmp_path / "sick", {"sick": "sick:fail"}, {"sick.py": SICK + FAILS})
    well = install(tmp_path / "well", {"well": "well"}, {"well.py": WELL})
    assert state(run, "import sick, well", sick, well) == [
        "['well']",
        PRESENT,
        ABSENT,
        "plugin 'sick' (sick 1.0) does not load: KeyError: 'x'; it is left out",
    ]


@pytest.mark.parametrize("name", ["early", "under"])
def test_one_that_needs_one_that_fails_is_left_out_too(run: Run, tmp_path: Path, name: str) -> None:
    sick = install(tmp_path / "sick", {"sick": "sick:fail"}, {"sick.py": SICK + FAILS})
    well = install(tmp_path / "well", {"well": "well"}, {"well.py": WELL})
    source = "from sick import Sick\nimport well\nclass Upper(Sick):\n    upper_size: int = 2"
    upper = install(tmp_path / "upper", {name: "upper"}, {"upper.py": source})
    for first in ("", "import upper"):
        loaded, whole, gone, *warnings = state(run, first, sick, upper, well)
        assert (loaded, whole, gone) == ("['well']", PRESENT, ABSENT)
        assert set(warnings) == {
            f"plugin '{name}' (upper 1.0) needs another: plugin 'sick' (sick 1.0) does not load: "
            "KeyError: 'x'; it is left out",
            "plugin 'sick' (sick 1.0) does not load: KeyError: 'x'; it is left out",
        }


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_of_two_in_one_package_the_faulty_one_alone_is_undone(
    run: Run, tmp_path: Path, names: tuple[str, str]
) -> None:
    entries = dict(zip(names, ("both.well", "both.sick"), strict=True))
    files = {
        "both/__init__.py": "",
        "both/well.py": WELL,
        "both/sick.py": "import both.well, both.fields\nraise KeyError('x')",
        "both/fields.py": SICK,
    }
    both = install(tmp_path / "both", entries, files)
    loaded, whole, gone, _ = state(run, "", both)
    assert (loaded, whole, gone) == (f"['{names[0]}']", PRESENT, ABSENT)


def test_one_that_is_imported_but_not_selected_changes_nothing(run: Run, tmp_path: Path) -> None:
    sick = install(tmp_path / "sick", {"sick": "sick"}, {"sick.py": SICK})
    well = install(tmp_path / "well", {"well": "well"}, {"well.py": WELL})
    first = "import sick, well"
    assert state(run, first, sick, well, NAMESPACES_PLUGINS="none") == ["[]", ABSENT, ABSENT]
    assert state(run, first, sick, well, NAMESPACES_PLUGINS="well") == ["['well']", PRESENT, ABSENT]


@pytest.mark.parametrize("first", ["", "import sick", "import upper"])
def test_one_that_needs_one_that_is_not_selected_is_refused(
    run: Run, tmp_path: Path, first: str
) -> None:
    sick = install(tmp_path / "sick", {"sick": "sick"}, {"sick.py": SICK})
    source = "from sick import Sick\nclass Upper(Sick):\n    upper_size: int = 2"
    upper = install(tmp_path / "upper", {"upper": "upper"}, {"upper.py": source})
    assert state(run, first, sick, upper, NAMESPACES_PLUGINS="upper") == [
        "[]",
        ABSENT,
        ABSENT,
        "plugin 'upper' (upper 1.0) needs 'sick' (sick 1.0), which NAMESPACES_PLUGINS does not "
        "select; it is left out",
    ]
    both = state(run, first, sick, upper, NAMESPACES_PLUGINS="sick,upper")
    assert both == ["['sick', 'upper']", ABSENT, PRESENT]


def test_the_command_shows_what_does_not_load_and_fails(run: Run, tmp_path: Path) -> None:
    install_faulty(tmp_path / "faulty", "bad", "{}['x']")
    done = run("-m", "registry", "plugins", plugins=["bolt", tmp_path / "faulty"])
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines()[:2] == [
        "error: plugin 'bad' (bad-plugin 1.0) does not load: KeyError: 'x'",
        "",
    ]
    assert "bolt (bolt-moe 0.3)" in done.stdout


def test_a_name_that_two_distributions_use_is_refused(run: Run, tmp_path: Path) -> None:
    install_faulty(tmp_path / "one", "bad", "")
    install_faulty(tmp_path / "two", "bad", "", "worse")
    done = run("-m", "registry", "plugins", plugins=[tmp_path / "one", tmp_path / "two"])
    assert done.stdout.splitlines()[0] == (
        "error: plugin 'bad' (bad-plugin 1.0) is also the name of a plugin of worse-plugin 1.0; "
        "uninstall one of them"
    )


@pytest.mark.parametrize("value", ["bad", "bad:other"])
def test_a_name_that_one_distribution_uses_twice_is_refused(
    run: Run, tmp_path: Path, value: str
) -> None:
    install_faulty(tmp_path / "one", f"bad\nbad = {value}", "")
    done = run("-m", "registry", "plugins", plugins=[tmp_path / "one"])
    assert done.stdout.splitlines()[0] == (
        "error: plugin 'bad' (bad-plugin 1.0) is listed twice in that distribution"
    )


def test_a_plugin_that_needs_the_record_while_imported_first_is_told(
    run: Run, tmp_path: Path
) -> None:
    install_faulty(tmp_path / "faulty", "bad", "from namespaces import ServerArgs")
    done = run(
        "-c", "import bad", plugins=[tmp_path / "faulty"], NAMESPACES_PLUGINS_ON_ERROR="warn"
    )
    last = done.stderr.splitlines()[-1]
    assert "asks, while it is being loaded, for what is made of all plugins" in last
    assert "bad.py:" in last


def test_a_program_in_the_package_of_a_plugin_may_use_the_record(run: Run, tmp_path: Path) -> None:
    files = {
        "well/__init__.py": WELL,
        "well/__main__.py": "import well.serve",
        "well/serve.py": "from namespaces import ServerArgs\nprint(ServerArgs('m').well_size)",
    }
    well = install(tmp_path / "well", {"well": "well"}, files)
    assert output(run("-m", "well", plugins=[well])) == "1\n"
    assert output(run("-c", "import well.serve", plugins=[well])) == "1\n"


LAYOUTS = {
    "the module": {"company/plugins/well.py": WELL},
    "a module that it imports": {
        "company/plugins/well.py": "from company.fields import Well",
        "company/fields.py": WELL,
    },
    "a module that the package around it imports": {
        "company/__init__.py": "from company.fields import Well",
        "company/plugins/well.py": "",
        "company/fields.py": WELL,
    },
    "a module below": {
        "company/plugins/well/__init__.py": "import company.plugins.well.fields",
        "company/plugins/well/fields.py": WELL,
    },
}


@pytest.mark.parametrize("files", LAYOUTS.values(), ids=LAYOUTS)
def test_a_plugin_has_what_its_module_declares_and_not_its_neighbours(
    run: Run, tmp_path: Path, files: dict[str, str]
) -> None:
    neighbour = """
        from registry import Namespace
        class Train(Namespace):
            _NS_PATH = "train"
            learning_rate: float = 1.0
    """
    empty = {"company/__init__.py": "", "company/plugins/__init__.py": ""}
    around = {**empty, "company/train.py": neighbour}
    well = install(tmp_path / "company", {"well": "company.plugins.well"}, {**around, **files})
    for first in ("", "import company.train", "import company.plugins.well, company.train"):
        code = f"{first}\nimport namespaces\nprint(hasattr(namespaces.ServerArgs, 'learning_rate'))"
        assert output(run("-c", code, plugins=[well])) == "False\n"
        assert state(run, first, well) == ["['well']", PRESENT, ABSENT]


def test_what_a_call_leaves_out_stays_out(run: Run, tmp_path: Path) -> None:
    sick = install(tmp_path / "sick", {"sick": "sick:fail"}, {"sick.py": SICK + FAILS})
    well = install(tmp_path / "well", {"well": "well"}, {"well.py": WELL})
    code = """
    import sys, warnings
    from registry import PluginError, load_plugins
    try:
        load_plugins()
    except PluginError as error:
        print(error)
    with warnings.catch_warnings(record=True):
        print([plugin.name for plugin in load_plugins(on_error="warn")])
    from namespaces import ServerArgs
    print(hasattr(ServerArgs, "well_size"), "sick" in sys.modules)
    try:
        load_plugins(on_error="raise")
    except PluginError as error:
        print(error)
    """
    fault = "plugin 'sick' (sick 1.0) does not load: KeyError: 'x'"
    lines = output(run("-c", textwrap.dedent(code), plugins=[sick, well])).splitlines()
    assert lines == [fault, "['well']", "True False", fault]


REQUIREMENTS = [
    ("namespace-registry>=9", False),
    ("namespace_registry (>=9)", False),
    ("Namespace.Registry[cli] >=0.1, >0.1.0", False),
    ("namespace-registry==0.2", False),
    ("namespace-registry>=0.1,<1", True),
    ("namespace-registry==0.1", True),
    ("namespace-registry>0.0.9", True),
    ("namespace-registry", True),
    # What takes more than numbers to compare is the installer's.
    ("namespace-registry>=9; python_version<'3'", True),
    ("namespace-registry>=9rc1", True),
    ("namespace-registry-extras>=9", True),
]


def test_a_plugin_for_a_newer_version_is_not_imported(run: Run, tmp_path: Path) -> None:
    plugins, expected = [], []
    for number, (required, met) in enumerate(REQUIREMENTS):
        name = f"plugin{number:02}"
        files = {f"{name}.py": f"print('{name}')"}
        more = f"Requires-Dist: {required}\n"
        plugins.append(install(tmp_path / name, {name: name}, files, more))
        problem = f"requires {required}, but namespace-registry 0.1.0 is installed here"
        expected.append(name if met else f"plugin '{name}' ({name} 1.0) {problem}")
    code = """
    from registry.plugin_loading import PluginError, each_plugin
    for outcome in each_plugin("namespaces.plugins"):
        if isinstance(outcome, PluginError):
            print(outcome)
    """
    assert output(run("-c", textwrap.dedent(code), plugins=plugins)).splitlines() == expected


def test_the_page_leads_from_an_empty_folder_to_a_plugin(
    run: Run, installed: Path, tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    blocks = dict(re.findall(r"^```(toml|python)\n(.*?)^```", page, re.M | re.S))
    assert "`pyproject.toml`:" in page and "`zoom_plugin.py`;" in page
    (tmp_path / "pyproject.toml").write_text(blocks["toml"], encoding="utf-8")
    (tmp_path / "zoom_plugin.py").write_text(blocks["python"], encoding="utf-8")
    install, *commands = re.findall(r"^    python (.*)$", page, re.M)
    # pip and setuptools of this environment do the work; what they make is the reader's.
    words = [*shlex.split(install), f"--target={installed / tmp_path.name}"]
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # From now on the installed module is what is imported.
    (tmp_path / "zoom_plugin.py").unlink()
    for each in ("build", "zoom_plugin.egg-info"):
        shutil.rmtree(tmp_path / each, ignore_errors=True)
    listed, described, explained = (
        output(run(*shlex.split(each), plugins=[tmp_path.name])) for each in commands
    )
    assert "zoom (zoom-plugin 1.0) = zoom_plugin\n  namespaces  exec.zoom" in listed
    assert "--zoom-tiles" in described
    assert re.search(r"exec.zoom +zoom_total_tiles +16", explained)
    assert "set_default of zoom_plugin (" in explained
