"""What is added while a journal is written is undone, and nothing else."""

import threading

import pytest

from registry import Defaults, Namespace, Registry, note_addition
from registry.journal import Journal, noted, withdraw, write


def declare(registry: Registry, name: str) -> type:
    body = {"_NS_PATH": name, "__annotations__": {f"{name}_size": int}, f"{name}_size": 1}
    return type(Namespace)(name.title(), (Namespace,), body, registry=registry)


def test_a_roll_back_leaves_what_others_registered_meanwhile() -> None:
    registry = Registry("journal")
    declare(registry, "before")
    journal = Journal()

    def action() -> None:
        declare(registry, "within")
        thread = threading.Thread(target=declare, args=(registry, "elsewhere"))
        thread.start()
        thread.join()

    write(action, journal)
    declare(registry, "after")
    journal.roll_back()
    assert list(registry.input) == ["before_size", "elsewhere_size", "after_size"]
    assert list(registry.namespaces) == ["before", "elsewhere", "after"]
    declare(registry, "within")


def test_a_roll_back_puts_the_earlier_run_of_a_class_back() -> None:
    registry = Registry("journal")
    first = declare(registry, "again")
    journal = Journal()
    write(lambda: declare(registry, "again"), journal)
    assert registry.namespaces["again"] is not first
    journal.roll_back()
    assert registry.namespaces["again"] is first


def test_additions_are_undone_in_reverse_although_the_action_raised() -> None:
    undone: list[str] = []
    before = noted()
    journal = Journal()

    def action() -> None:
        for name in ("one", "two"):
            note_addition("choices", "KERNELS", name, lambda name=name: undone.append(name))
        raise KeyError("x")

    with pytest.raises(KeyError):
        write(action, journal)
    (added, _) = journal.additions
    assert (added.module, added.where.rpartition(":")[0]) == (__name__, __file__)
    assert noted() == (*before, *journal.additions)
    journal.roll_back()
    assert undone == ["two", "one"]
    assert noted() == before


def test_what_is_withdrawn_is_not_undone_again() -> None:
    undone: list[str] = []
    journal = Journal()

    def action() -> None:
        for name in ("one", "two"):
            note_addition("choices", "KERNELS", name, lambda name=name: undone.append(name))

    write(action, journal)
    withdraw(lambda addition: addition.value == "one")
    assert undone == ["one"] and [each.value for each in noted()][-1:] == ["two"]
    journal.roll_back(lambda module: module == __name__)
    assert undone == ["one"] and journal.modules == {__name__}
    journal.roll_back()
    assert undone == ["one", "two"] and journal.modules == set()


def test_a_default_that_two_have_set_outlives_either() -> None:
    registry = Registry("journal")
    declare(registry, "shared")
    for loser in (0, 1):
        defaults = Defaults(registry, "Args")
        journals = [Journal(), Journal()]
        for journal in journals:
            write(lambda defaults=defaults: defaults.set("shared_size", 2), journal)
        journals[loser].roll_back()
        assert defaults.close()["shared_size"].value == 2
        journals[1 - loser].roll_back()
        assert defaults.close() == {}
