"""The rules that compare what a contract says of one field, a table of them by key."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from registry.contract_types import (
    accepts,
    is_only_choices,
    members_of,
    reads_otherwise,
    without_covered,
)

__all__ = ["RULES", "Finding", "input_added", "origin"]

_BREAKING, _BEHAVIOUR, _COMPATIBLE = "breaking", "behaviour", "compatible"
_Entry = Mapping[str, Any]


class Finding(NamedTuple):
    """What a rule found, without the name of the field.

    Attributes:
        kind: what happened.
        severity: how bad it is.
        affects: whom it hits.
        detail: what was and what is.
    """

    kind: str
    severity: str
    affects: str
    detail: str


def input_added(entry: _Entry) -> Finding:
    """Return what a new input field means; what its position does is another matter.

    Args:
        entry: what the contract says of it.
    """
    where = f"in {entry.get('namespace')}{origin(entry)}"
    if entry.get("required"):
        return Finding("required", _BREAKING, "every caller", f"new field {where} that is required")
    if entry.get("flag_required"):
        detail = f"new field {where} whose flag is required"
        return Finding("flag required", _BREAKING, "commands without it", detail)
    return Finding("added", _COMPATIBLE, "nobody", f"new field {where}")


def origin(entry: _Entry) -> str:
    """Return which plugin a field comes with, as the end of a sentence, or an empty string.

    Args:
        entry: what the contract says of it.
    """
    return f", from {entry['plugin']}" if "plugin" in entry else ""


def _plugin(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("plugin", "the program itself"), new.get("plugin", "the program itself")
    if was != now:
        detail = f"came with {was} and comes with {now}"
        yield Finding("plugin", _BEHAVIOUR, "whoever has only one of them", detail)


def _namespace(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("namespace"), new.get("namespace")
    if was != now:
        affects = "who reads it from its namespace, nested files"
        yield Finding("namespace", _BREAKING, affects, f"moved from {was} to {now}")


def _type(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("type", "Any"), new.get("type", "Any")
    if was == now:
        return
    other_words = accepts(now, was) and reads_otherwise(was, now)
    if other_words and not ("parser" in old and "parser" in new):
        detail = f"type was {was} and is {now}; a word may be read as another type"
        yield Finding("type widened", _BEHAVIOUR, "commands and files with it", detail)
        return
    if is_only_choices(was, now):
        choices = without_covered(was), without_covered(now)
        if any(choices):  # what another member takes anyway is no choice
            yield from _choice_changes(*choices)
        return
    if accepts(now, was):
        only_none = members_of(was)[0] == [e for e in members_of(now)[0] if e != "None"]
        kind = "Optional added" if only_none and members_of(now)[1] == members_of(was)[1] else ""
        kind = kind or "type widened"
        yield Finding(kind, _COMPATIBLE, "nobody", f"type was {was} and is {now}")
        return
    kind = "type narrowed" if accepts(was, now) else "type changed"
    yield Finding(kind, _BREAKING, "whoever sets it", f"type was {was} and is {now}")


def _choices(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("choices"), new.get("choices")
    if was == now:
        return
    if was is None:
        detail = f"takes only {', '.join(now or ())} now"
        yield Finding("choices limited", _BREAKING, "who gives it something else", detail)
    elif now is None:
        yield Finding(
            "choices unlimited", _COMPATIBLE, "nobody", "takes more than some choices now"
        )
    else:
        yield from _choice_changes(was, now)


def _choice_changes(was: list[str], now: list[str]) -> Iterator[Finding]:
    removed, added = _only_in(was, now), _only_in(now, was)
    if removed:
        detail = f"no longer takes {', '.join(removed)}"
        yield Finding("choice removed", _BREAKING, "commands and files with it", detail)
    if added:
        yield Finding("choice added", _COMPATIBLE, "nobody", f"also takes {', '.join(added)}")
    if not removed and not added:
        detail = f"choices are in another order: {', '.join(now)}"
        yield Finding("choice order", _COMPATIBLE, "nobody", detail)


def _flags(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("flags", []), new.get("flags", [])
    removed, added = _only_in(was, now), _only_in(now, was)
    if removed:
        detail = f"no longer has the flag {', '.join(removed)}"
        yield Finding("flag removed", _BREAKING, "commands with it", detail)
    if added:
        yield Finding("flag added", _COMPATIBLE, "nobody", f"also has the flag {', '.join(added)}")
    if was != now and not removed and not added:
        detail = f"flags are in another order: {', '.join(now)}"
        yield Finding("flag order", _COMPATIBLE, "nobody", detail)


def _action(old: _Entry, new: _Entry) -> Iterator[Finding]:
    """Compare how many words a flag takes, and what becomes of them."""
    keys = ("action", "nargs")
    if all(old.get(key) == new.get(key) for key in keys):
        return
    if not old.get("flags") or not new.get("flags"):
        return  # that it came or went is said
    (least, most), (now_least, now_most) = _words(old), _words(new)
    covers = now_least <= least and most <= now_most
    was, now = old.get("action", "store"), new.get("action", "store")
    covers = covers and (was == now or was in _SWITCHES or (was, now) == ("store", "merge_keys"))
    detail = f"flag was {_shown(old)} and is {_shown(new)}"
    if covers:
        yield Finding("flag action", _COMPATIBLE, "nobody", detail)
    else:
        yield Finding("flag action", _BREAKING, "commands with it", detail)


def _const(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = _value(old, "const"), _value(new, "const")
    if was != now and old.get("nargs") == new.get("nargs"):  # otherwise the action says so
        detail = f"flag without a value meant {was} and means {now}"
        yield Finding("const", _BEHAVIOUR, "commands with it", detail)


_SWITCHES = ("store_true", "store_false", "boolean_optional")
_WORDS: dict[Any, tuple[float, float]] = {
    None: (1, 1),
    "?": (0, 1),
    "*": (0, math.inf),
    "+": (1, math.inf),
}


def _words(entry: _Entry) -> tuple[float, float]:
    if entry.get("action") in (*_SWITCHES, "store_const", "count"):
        return (0, 0)
    nargs = entry.get("nargs")
    return (nargs, nargs) if isinstance(nargs, int) else _WORDS.get(nargs, (0, math.inf))


def _shown(entry: _Entry) -> str:
    nargs = f" with nargs {entry['nargs']!r}" if "nargs" in entry else ""
    return f"{entry.get('action', 'store')}{nargs}"


def _default(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = _value(old, "default"), _value(new, "default")
    if was == now:
        return
    if new.get("required"):
        detail = f"is required now, its default was {was}"
        yield Finding("required", _BREAKING, "who does not give it", detail)
    elif old.get("required"):
        detail = f"is no longer required, its default is {now}"
        yield Finding("default added", _COMPATIBLE, "nobody", detail)
    else:
        by = f", set by {new['default_by']}" if "default_by" in new else ""
        detail = f"default was {was} and is {now}{by}"
        yield Finding("default", _BEHAVIOUR, "who does not give it", detail)


def _fallback(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = _value(old, "fallback"), _value(new, "fallback")
    if was != now:
        detail = f"fallback was {was} and is {now}"
        yield Finding("fallback", _BEHAVIOUR, "who does not give it", detail)


def _value(entry: _Entry, key: str) -> str:
    if f"{key}_text" in entry:
        return str(entry[f"{key}_text"])
    return json.dumps(entry[key], sort_keys=True, ensure_ascii=False) if key in entry else "none"


def _fact(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("fact"), new.get("fact")
    if now and not was:
        detail = "was derived and is a run-time fact now: it is what is stated, or its default"
        yield Finding("became fact", _BREAKING, "whoever reads it", detail)
    elif was and not now:
        detail = "was a run-time fact and is derived now"
        yield Finding("became derived", _BEHAVIOUR, "whoever states it", detail)


def _keyword_only(old: _Entry, new: _Entry) -> Iterator[Finding]:
    # That a position is gone shows in the order.
    if old.get("keyword_only") and not new.get("keyword_only"):
        yield Finding("positional", _COMPATIBLE, "nobody", "has a position now")
    elif new.get("keyword_only") and not old.get("keyword_only"):
        yield Finding("keyword only", _BREAKING, "positional callers", "is keyword-only now")


def _init(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("init", True), new.get("init", True)
    if was and not now:
        detail = "is no argument of the constructor any more"
        yield Finding("init", _BREAKING, "whoever sets it", detail)
    elif now and not was:
        yield Finding("init", _COMPATIBLE, "nobody", "is an argument of the constructor now")


def _flag_required(old: _Entry, new: _Entry) -> Iterator[Finding]:
    was, now = old.get("flag_required"), new.get("flag_required")
    if was == now:
        return
    must = now if now is not None else new.get("required", False)
    if must:
        yield Finding("flag required", _BREAKING, "commands without it", "flag is required now")
    else:
        yield Finding("flag required", _COMPATIBLE, "nobody", "flag is no longer required")


def _state(
    key: str, usual: bool, on: str, off: str
) -> Callable[[_Entry, _Entry], Iterator[Finding]]:
    def rule(old: _Entry, new: _Entry) -> Iterator[Finding]:
        was, now = old.get(key, usual), new.get(key, usual)
        if was != now:
            yield Finding(key, _BEHAVIOUR, "whoever relies on it", on if now else off)

    return rule


def _text(key: str, said: str) -> Callable[[_Entry, _Entry], Iterator[Finding]]:
    def rule(old: _Entry, new: _Entry) -> Iterator[Finding]:
        if old.get(key) != new.get(key):
            yield Finding(key, _COMPATIBLE, "nobody", said)

    return rule


def _only_in(one: list[str], other: list[str]) -> list[str]:
    return [each for each in one if each not in other]


RULES: Mapping[str, Callable[[_Entry, _Entry], Iterator[Finding]]] = {
    "namespace": _namespace,
    "plugin": _plugin,
    "type": _type,
    "choices": _choices,
    "flags": _flags,
    "action": _action,
    "nargs": _action,
    "const": _const,
    "const_text": _const,
    "default": _default,
    "default_text": _default,
    "default_by": _default,
    "required": _default,
    "fallback": _fallback,
    "fallback_text": _fallback,
    "fact": _fact,
    "keyword_only": _keyword_only,
    "init": _init,
    "flag_required": _flag_required,
    "resolvable": _state(
        "resolvable", False, "resolvers may decide it now", "no resolver may decide it any more"
    ),
    "secret": _state("secret", False, "is a secret now, and shows as ***", "is no secret any more"),
    "fingerprint": _state(
        "fingerprint", True, "counts in fingerprints now", "no longer counts in fingerprints"
    ),
    "help": _text("help", "help is another"),
    "deprecated": _text("deprecated", "is deprecated with another text, or no longer"),
}
"""The rule for each key; whatever has none is compared as it is, and changes behaviour."""
