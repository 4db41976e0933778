"""Every error arrives in another process with its type, message and parts."""

import importlib
import inspect
import pickle
import pkgutil
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

import registry
from registry import RegistryError
from registry.errors import did_you_mean

for module in pkgutil.iter_modules(registry.__path__, "registry."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)


def below(error: type[RegistryError]) -> set[type[RegistryError]]:
    """All subclasses that the package defines, wherever they stand."""
    found = {each for each in error.__subclasses__() if each.__module__.startswith("registry.")}
    return found.union(*map(below, found))


ERRORS = sorted(below(RegistryError), key=lambda each: each.__name__)
BUILTINS = (
    TypeError,
    ValueError,
    KeyError,
    AttributeError,
    NameError,
    RuntimeError,
    ImportError,
    pickle.PickleError,
)

each_error = pytest.mark.parametrize("error", ERRORS, ids=[each.__name__ for each in ERRORS])


def example(error: type[RegistryError]) -> RegistryError:
    """An instance with a distinct text for every part."""
    parts: list[Any] = []
    for name, parameter in inspect.signature(error).parameters.items():
        several = "Sequence" in str(parameter.annotation)
        parts.append((f"{name} one", f"{name} two") if several else f"the {name}")
    return error(*parts)


def raise_it(error: type[RegistryError]) -> None:
    raise example(error)


def parts_of(error: RegistryError) -> dict[str, Any]:
    return {name: value for name, value in vars(error).items() if not name.startswith("__")}


def test_all_errors_have_one_base_and_are_public() -> None:
    exported = (getattr(registry, name) for name in registry.__all__)
    public = {
        each
        for each in exported
        if isinstance(each, type) and issubclass(each, Exception) and each is not RegistryError
    }
    assert {each for each in public if not issubclass(each, Warning)} == set(ERRORS)


@each_error
def test_it_is_also_what_a_caller_would_catch(error: type[RegistryError]) -> None:
    assert issubclass(error, BUILTINS)


@each_error
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_it_survives_pickling(error: type[RegistryError], protocol: int) -> None:
    here = example(error)
    there = pickle.loads(pickle.dumps(here, protocol))
    assert type(there) is type(here)
    assert str(there) == str(here)
    assert parts_of(there) == parts_of(here)


def test_a_worker_can_raise_any_of_them() -> None:
    with ProcessPoolExecutor(max_workers=1) as pool:
        for error in ERRORS:
            arrived = pool.submit(raise_it, error).exception(timeout=60)
            assert type(arrived) is error
            assert str(arrived) == str(example(error))
            assert parts_of(arrived).items() >= parts_of(example(error)).items()


@each_error
def test_its_message_says_all_its_parts(error: type[RegistryError]) -> None:
    here = example(error)
    for part in vars(here).values():
        for text in part if isinstance(part, tuple) else (part,):
            assert str(text) in str(here)


@each_error
def test_it_documents_its_parts(error: type[RegistryError]) -> None:
    documented = "".join(inspect.getdoc(base) or "" for base in error.__mro__[:3])
    for name in vars(example(error)):
        assert f"{name}: " in documented


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("tp_sise", " Did you mean 'tp_size'?"), ("zzz", ""), ("", "")],
)
def test_the_nearest_name_is_offered_if_one_is_near(name: str, sentence: str) -> None:
    assert did_you_mean(name, ["tp_size", "dp_size"]) == sentence


def test_what_is_wrong_with_a_contract_or_fingerprint_is_one_line() -> None:
    contract = registry.ContractError("c.json", "has the format 2")
    assert str(contract) == "c.json: has the format 2"
    unstable = registry.FingerprintError("Args", "hook", "is a function")
    assert str(unstable) == "no fingerprint of a Args: hook is a function"
