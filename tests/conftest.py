"""What several test files share: modules made of source text, imported for real."""

import importlib
import itertools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

# Distributions that tests install elsewhere.
collect_ignore = ["plugins"]

_numbers = itertools.count()


@pytest.fixture
def module_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., ModuleType]]:
    """A function that writes a module's source to a file and imports it."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def import_source(source: str, name: str | None = None) -> ModuleType:
        name = name or f"written_{next(_numbers)}"
        made.append(name)
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        importlib.invalidate_caches()
        return importlib.import_module(name)

    yield import_source
    for name in made:
        sys.modules.pop(name, None)
