"""What pip installs is complete: both packages, typed, with one run-time dependency."""

import email
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    source.mkdir()
    for name in ("setup.cfg", "setup.py", "README.md", "LICENSE", "registry", "namespaces"):
        _copy(ROOT / name, source / name)
    options = ["--quiet", "--no-deps", "--use-pep517", "--wheel-dir", folder]
    command = [sys.executable, "-m", "pip", "wheel", *options, source]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir(parents=True)
        for each in source.iterdir():
            if each.name != "__pycache__":
                _copy(each, target / each.name)
    else:
        target.write_bytes(source.read_bytes())


def test_every_module_is_installed_and_typed(wheel: zipfile.ZipFile) -> None:
    expected = {
        str(path.relative_to(ROOT))
        for package in ("registry", "namespaces")
        for path in (ROOT / package).rglob("*")
        if path.suffix == ".py" or path.name in ("py.typed", "contract.json")
    }
    installed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert installed == expected
    assert {"registry/py.typed", "namespaces/py.typed", "namespaces/contract.json"} <= installed


def test_the_metadata_names_one_run_time_dependency(wheel: zipfile.ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(wheel.read(name))
    required = [each for each in metadata.get_all("Requires-Dist") if "extra ==" not in each]
    assert (metadata["Name"], metadata["Version"]) == ("namespace-registry", "0.1.0")
    assert [each.partition(">")[0] for each in required] == ["typing-extensions"]
    assert metadata["Requires-Python"] == ">=3.10"
    assert set(metadata.get_all("Provides-Extra")) >= {"test"}
