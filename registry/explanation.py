"""Why a value is what it is, in a form that prints well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING
from typing import NamedTuple

from registry.masking import Mask
from registry.state import Model, State

__all__ = ["Explanation", "Layer", "explain"]

_NOT_SET = "(not set)"


class Layer(NamedTuple):
    """One place a value can come from.

    Attributes:
        kind: "scope", "override", "pin", "fact", "decision", "input", "fallback", "default" or
            "derived".
        value: the value there, as text; a secret reads `***`.
        source: who gave it.
        where: `file:line` of that.
    """

    kind: str
    value: str
    source: str
    where: str


class Explanation(NamedTuple):
    """What `Context.explain` returns.

    Attributes:
        name: the field.
        namespace: dotted path of its namespace, empty for a field that is in none.
        value: the value in effect, as text; a secret reads `***`.
        layers: where it could come from, the one in effect first.
        reads: what its derivation read, each as `name=value`; empty for an input field.

    Example:
        >>> layer = Layer("default", "1", "declaration", "parallel.py:9")
        >>> print(Explanation("tp_size", "parallel", "1", (layer,)))
        parallel.tp_size = 1
          default   1  declaration (parallel.py:9)  <- in effect
    """

    name: str
    namespace: str
    value: str
    layers: tuple[Layer, ...]
    reads: tuple[str, ...] = ()

    def __str__(self) -> str:
        width = max((len(layer.value) for layer in self.layers), default=0)
        lines = [f"{self.namespace + '.' if self.namespace else ''}{self.name} = {self.value}"]
        for position, layer in enumerate(self.layers):
            mark = "  <- in effect" if position == 0 else ""
            line = f"  {layer.kind:9} {layer.value:{width}}  {layer.source} ({layer.where}){mark}"
            lines.append(line)
        if self.reads:
            lines.append(f"  it read   {', '.join(self.reads)}")
        return "\n".join(lines)


def explain(model: Model, state: State, name: str) -> Explanation:
    """Say why a field has the value it has.

    Args:
        model: the configuration.
        state: what is in effect.
        name: the field.
    """
    mask = state.mask
    held = _held_layers(model, state, mask, name)
    reads = state.reads.get(name, ()) if state.holder(name) is None else ()
    own = _derived_layers if name in model.derived else _input_layers
    return Explanation(
        name,
        model.namespaces.get(name, ""),
        _shown(state, mask, name),
        (*held, *own(model, state, mask, name)),
        tuple(
            f"{read}={_shown(state, mask, read)}"
            for read in reads
            if read in state.values or read in model.derived
        ),
    )


def _shown(state: State, mask: Mask, name: str) -> str:
    return mask.show(name, state.values[name]) if name in state.values else _NOT_SET


def _held_layers(model: Model, state: State, mask: Mask, name: str) -> Iterator[Layer]:
    field = model.derived.get(name)
    for_good = "override" if field is None else "pin" if field.derived.fn is not None else "fact"
    scopes = [("scope", scope) for scope in reversed(state.scopes)]
    for kind, layer in (*scopes, (for_good, state.overrides)):
        if name in layer:
            held = layer[name]
            yield Layer(kind, mask.show(name, held.value), held.source, held.where)


def _input_layers(model: Model, state: State, mask: Mask, name: str) -> Iterator[Layer]:
    where = model.inputs[name].declaration.where(name) if name in model.inputs else "?"
    layers = []
    if name in model.given:
        layers.append(Layer("input", mask.show(name, model.typed[name]), "operator", where))
    declared = model.default_of(name)
    if name in model.default_origins:
        value, setter, place = model.default_origins[name]
        shown = mask.show(name, value)
        layers.append(Layer("default", shown, f"set_default of {setter}", place))
        declared = model.inputs[name].default
    # Below something else, a default of None says nothing.
    if declared is not MISSING and (declared is not None or not layers):
        layers.append(Layer("default", mask.show(name, declared), "declaration", where))
    if name in model.decisions:
        made = model.decisions[name]
        shown = mask.show(name, made.value)
        layers.insert(0, Layer("decision", shown, made.source, made.where))
    fallback = model.fallback(name)
    if fallback is not None:
        # None is how an input or a decision says that it leaves the value open.
        position = 0 if layers[0].value == repr(None) else len(layers)
        layers.insert(position, Layer("fallback", mask.show(name, fallback), "declaration", where))
    yield from layers


def _derived_layers(model: Model, state: State, mask: Mask, name: str) -> Iterator[Layer]:
    field = model.derived[name]
    where = field.declaration.where(name)
    if field.derived.fn is not None:
        computed = state.holder(name) is None
        shown = _shown(state, mask, name) if computed else "(not computed)"
        yield Layer("derived", shown, f"{field.cls.__qualname__}.{name}", where)
    elif field.default is not MISSING:
        yield Layer("default", mask.show(name, field.default), "declaration", where)
    elif state.holder(name) is None:
        yield Layer("fact", _NOT_SET, "declaration", where)
