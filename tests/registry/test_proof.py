"""What a proof counts, what it does not, and that it says so."""

from typing import Any

import pytest

from registry import A, Arg, ContractError, Namespace, Registry, compose, derived, snapshot
from registry.proof import Proof, Shape, Side, prove


class Opaque:
    """Has no text by which one is told from another."""


def side(annotation: Any = int, default: Any = 1, result: Any = 1) -> Side:
    def made(cfg: Any) -> Any:
        return result

    body = {"_NS_PATH": "n", "__annotations__": {"it": annotation}, "it": default}
    body["made"] = derived(made)
    cls = type(Namespace)("N", (Namespace,), body, registry=Registry("proved"))
    record = compose("Record", [cls])
    return Side(snapshot(record), record, ["Record"])


def differing(old: Side, new: Side) -> dict[str, tuple[str, ...]]:
    return {each.what: each.differences for each in prove(old, new) if each.differences}


@pytest.mark.parametrize(
    ("old", "new", "what", "difference"),
    [
        (
            side(bool | int, False),
            side(bool | int, 0),
            "defaults",
            'it: was {"default": false} and is {"default": 0}',
        ),
        (
            side(A[int, Arg(help="It.")]),
            side(A[int, Arg(help="It.", required=True)]),
            "flags",
            'it: was {"flags": ["--it"]} and is {"flags": ["--it"], "flag_required": true}',
        ),
        (
            side(A[Any, Arg(nargs="?", const=(1,), type_parser=int)]),
            side(A[Any, Arg(nargs="?", const=(2,), type_parser=int)]),
            "flags",
            'it: was {"flags": ["--it"], "nargs": "?", "const_text": "(1,)"} and is '
            '{"flags": ["--it"], "nargs": "?", "const_text": "(2,)"}',
        ),
        (side(result=Opaque()), side(result=1), "derived values", ": made: was <Opaque> and is 1"),
    ],
)
def test_a_difference_is_counted(old: Side, new: Side, what: str, difference: str) -> None:
    assert differing(old, new) == {what: (difference,)}
    assert differing(old, old) == differing(new, new) == {}


def test_values_without_a_text_are_not_said_to_be_the_same() -> None:
    proof = prove(side(result=Opaque()), side(result=Opaque()))[-1]
    assert proof == Proof("derived values", 0, 0, (), "", (": made",))
    assert str(proof) == (
        "derived values: 0 / 0, 0 differences, 1 not compared\n"
        "  : made: not compared, its value has no stable text"
    )


def test_launches_of_one_name_are_refused() -> None:
    shapes = [Shape("a", {}, {}), Shape("a", {"it": 2}, {})]
    with pytest.raises(ContractError) as caught:
        prove(side(), side(), shapes)
    assert str(caught.value) == "shapes: has 'a' twice; give each launch its own name"
