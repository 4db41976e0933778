"""What may be imported from the package, and when."""

import subprocess
import sys
from pathlib import Path

import namespaces

# Importing the package composes the record; a plugin that is loaded then finds it half-imported.
PLUGIN_IMPORTED_ON_THE_WAY = """
import registry

compose = registry.compose

def load_plugin_then_compose(*args, **options):
    from namespaces import {names}
    print("plugin loaded")
    return compose(*args, **options)

registry.compose = load_plugin_then_compose
from namespaces import ServerArgs
"""


def test_everything_public_is_there() -> None:
    assert [name for name in namespaces.__all__ if not hasattr(namespaces, name)] == []


def test_a_plugin_may_import_everything_but_the_record_while_the_package_is_imported() -> None:
    names = [name for name in namespaces.__all__ if name not in ("NAMESPACES", "ServerArgs")]
    source = PLUGIN_IMPORTED_ON_THE_WAY.format(names=", ".join(names))
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=Path(namespaces.__file__).parent.parent,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("plugin loaded\n", "")


def test_the_record_is_listed_before_it_is_composed() -> None:
    source = "import namespaces, sys; print(*dir(namespaces)); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", source],
        cwd=Path(namespaces.__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    listed, imported = (set(line.split()) for line in done.stdout.splitlines())
    assert {*namespaces.__all__, "__doc__"} <= listed
    assert "namespaces.record" not in imported
