"""What changed between two contracts, and whom it hits: one rule for each thing that is written.

Nothing here reads classes or files; a snapshot is plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from registry.contract import require_contract, snapshot
from registry.contract_rules import RULES, Finding, input_added, origin
from registry.contract_types import accepts, alike

__all__ = ["BEHAVIOUR", "BREAKING", "COMPATIBLE", "ContractChange", "diff"]

BREAKING, BEHAVIOUR, COMPATIBLE = "breaking", "behaviour", "compatible"
_SEVERITIES = (BREAKING, BEHAVIOUR, COMPATIBLE)

_Entry = Mapping[str, Any]
_Half = Mapping[str, _Entry]


class ContractChange(NamedTuple):
    """One difference between two contracts. Its text is one line.

    Attributes:
        kind: what happened, such as "positional order", "removed" or "default".
        field: the field it happened to.
        severity: "breaking", "behaviour" (the same call means something else) or "compatible".
        affects: whom it hits.
        detail: what was and what is.
    """

    kind: str
    field: str
    severity: str
    affects: str
    detail: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.field}: {self.detail}"


def diff(old: Any, new: Any) -> list[ContractChange]:
    """Return what changed from one contract to another, the worst first.

    Args:
        old: a snapshot, or a record class.
        new: a snapshot, or a record class.

    Returns:
        The changes. A field that went away where another one of the same type and namespace came
        in its position is taken for renamed, and compared with that one.

    Raises:
        ContractError: a snapshot is damaged or of another format.
        ComposeError: a class is no record class.

    Example:
        >>> from registry import Namespace, Registry, compose
        >>> class Parallel(Namespace, registry=Registry("example")):
        ...     _NS_PATH = "parallel"
        ...     tp_size: int = 1
        ...     dp_size: int = 1
        >>> changed = compose("Args", [Parallel], order=["dp_size"])
        >>> print(*diff(compose("Args", [Parallel]), changed))
        breaking: tp_size: position 1 was tp_size and is dp_size
    """
    old, new = _contract(old, "the old contract"), _contract(new, "the new contract")
    renamed = _renamed(old, new)
    changes = [
        *_order(old, new, renamed),
        *_inputs(old, new, renamed),
        *_derived(old["derived"], new["derived"], {**old["fields"], **new["fields"]}),
        *_retirement(old["retired"], new["retired"], new["fields"]),
    ]
    return sorted(changes, key=lambda each: _SEVERITIES.index(each.severity))


def _contract(given: Any, source: str) -> Any:
    if isinstance(given, type):
        return snapshot(given)
    require_contract(given, source)
    return given


def _renamed(old: Any, new: Any) -> dict[str, str]:
    """Return the fields that seem to have another name now, with that name."""
    renamed = {}
    known = old["fields"].keys() | old["derived"].keys()
    left = new["fields"].keys() | new["derived"].keys()
    for was, now in zip(old["positional"], new["positional"], strict=False):
        gone = was in old["fields"] and was not in left
        came = now in new["fields"] and now not in known
        if gone and came and _place(old["fields"][was]) == _place(new["fields"][now]):
            renamed[was] = now
    return renamed


def _place(entry: _Entry) -> tuple[Any, Any]:
    return entry.get("type"), entry.get("namespace")


def _order(old: Any, new: Any, renamed: Mapping[str, str]) -> Iterator[ContractChange]:
    """Find the first position at which an argument means something else."""
    places = new["positional"]
    for at, was in enumerate(old["positional"]):
        now = places[at] if at < len(places) else None
        if now == renamed.get(was, was) or (now is None and was not in new["fields"]):
            continue  # what is gone without another in its place is reported as removed
        is_now = "is taken by keyword only" if now is None else f"is {now}"
        detail = f"position {at + 1} was {was} and {is_now}"
        if was in old["retired"]:
            detail += " (it kept the place of a retired field)"
        yield ContractChange("positional order", was, BREAKING, "positional callers", detail)
        return


def _inputs(old: Any, new: Any, renamed: Mapping[str, str]) -> Iterator[ContractChange]:
    fields: _Half = old["fields"]
    for name, entry in fields.items():
        now = renamed.get(name, name)
        if now != name:
            detail = f"seems to be {now} now (same position, type and namespace)"
            yield ContractChange("renamed", name, BREAKING, "keyword callers", detail)
        if now in new["fields"]:
            yield from _compared(now, entry, new["fields"][now])
        elif name in new["derived"]:
            detail = "is derived now, and can no longer be given"
            yield ContractChange("became derived", name, BREAKING, "whoever sets it", detail)
        else:
            retired = new["retired"].get(name)
            gone = f"is removed{origin(entry)}"
            detail = gone if retired is None else f"is retired: {retired}"
            yield ContractChange("removed", name, BREAKING, "whoever sets or reads it", detail)
    taken = renamed.values()
    for name, entry in new["fields"].items():
        if name in old["derived"]:
            detail = "was derived and is an input now: it is what is given, or its default"
            yield ContractChange("became input", name, BREAKING, "whoever reads it", detail)
        elif name not in fields and name not in taken:
            yield _change(name, input_added(entry))


def _derived(old: _Half, new: _Half, inputs: _Half) -> Iterator[ContractChange]:
    for name, entry in old.items():
        if name in new:
            yield from _compared(name, entry, new[name], _DERIVED_RULES)
        elif name not in inputs:
            detail = f"derived field is removed{origin(entry)}"
            yield ContractChange("derived removed", name, BREAKING, "whoever reads it", detail)
    for name in new:
        if name not in old and name not in inputs:
            detail = f"new derived field in {new[name].get('namespace')}{origin(new[name])}"
            yield ContractChange("derived added", name, COMPATIBLE, "nobody", detail)


def _retirement(
    old: Mapping[str, str], new: Mapping[str, str], fields: _Half
) -> Iterator[ContractChange]:
    for name, advice in old.items():
        if name in fields:
            continue
        if name not in new:
            detail = "is no longer known as retired"
            yield ContractChange("retired", name, COMPATIBLE, "who still gives it", detail)
        elif new[name] != advice:
            detail = f"is retired with another advice: {new[name]}"
            yield ContractChange("retired", name, COMPATIBLE, "who still gives it", detail)
    for name in new:
        if name not in old:
            detail = f"is known as retired: {new[name]}"
            yield ContractChange("retired", name, COMPATIBLE, "who still gives it", detail)


def _derived_type(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("type"), new.get("type")
    if was == now:
        return
    # Of what is read, fewer values are the promise kept.
    kept = was is None or (now is not None and accepts(was, now))
    severity = COMPATIBLE if kept else BREAKING
    affects = "nobody" if kept else "whoever reads it"
    yield Finding("type", severity, affects, f"derived type was {was} and is {now}")


_Rule = Callable[[_Entry, _Entry], Iterator[Finding]]
_DERIVED_RULES: Mapping[str, _Rule] = {**RULES, "type": _derived_type}


def _compared(
    name: str, old: _Entry, new: _Entry, rules: Mapping[str, _Rule] = RULES
) -> Iterator[ContractChange]:
    if alike(old, new):
        return
    keys = {key: None for entry in (old, new) for key in entry}
    for rule in dict.fromkeys(rules.get(key) or _unknown(key) for key in keys):
        for finding in rule(old, new):
            yield _change(name, finding)


def _unknown(key: str) -> _Rule:
    """Return the rule for what no other rule speaks of: nothing that is written is passed over."""

    def rule(old: _Entry, new: _Entry) -> Iterator[Finding]:
        if not alike(old.get(key), new.get(key)):
            detail = f"{key} was {old.get(key)!r} and is {new.get(key)!r}"
            yield Finding(key, BEHAVIOUR, "whoever relies on it", detail)

    return rule


def _change(name: str, finding: Finding) -> ContractChange:
    return ContractChange(finding.kind, name, finding.severity, finding.affects, finding.detail)
