"""Changes of a contract as text: a table like a release note, Markdown, JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from registry.contract_diff import BEHAVIOUR, BREAKING, COMPATIBLE, ContractChange

__all__ = ["as_json", "as_markdown", "as_table"]

_HEADINGS = {
    BREAKING: "Breaking",
    BEHAVIOUR: "The same call does something else",
    COMPATIBLE: "Compatible",
}


def as_table(changes: Sequence[ContractChange]) -> str:
    """Return changes for a terminal, the worst first.

    Args:
        changes: what `diff` returned.

    Example:
        >>> change = ContractChange("added", "tp_size", COMPATIBLE, "nobody", "new field")
        >>> print(as_table([change]))
        Compatible (1)
          tp_size  new field
    """
    if not changes:
        return "no changes"
    width = max(len(each.field) for each in changes)
    lines = []
    for severity, heading in _HEADINGS.items():
        some = [each for each in changes if each.severity == severity]
        if some:
            lines.append(f"{heading} ({len(some)})")
            lines += [f"  {each.field:{width}}  {each.detail}{_hits(each)}" for each in some]
    return "\n".join(lines)


def as_markdown(changes: Sequence[ContractChange]) -> str:
    """Return changes as the lists of a release note.

    Args:
        changes: what `diff` returned.
    """
    if not changes:
        return "No changes."
    parts = []
    for severity, heading in _HEADINGS.items():
        some = [each for each in changes if each.severity == severity]
        if some:
            items = [f"- `{each.field}`: {_escaped(each.detail + _hits(each))}" for each in some]
            parts.append("\n".join([f"### {heading}", "", *items]))
    return "\n\n".join(parts)


def as_json(changes: Sequence[ContractChange]) -> str:
    """Return changes as a JSON list of objects.

    Args:
        changes: what `diff` returned.
    """
    return json.dumps([each._asdict() for each in changes], indent=1, ensure_ascii=False)


def _hits(change: ContractChange) -> str:
    return "" if change.affects == "nobody" else f" (hits: {change.affects})"


def _escaped(text: str) -> str:
    return "".join(f"\\{each}" if each in "*_`<[]|" else each for each in text)
