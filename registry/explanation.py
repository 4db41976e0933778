"""Why a value is what it is, in a form that prints well."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Explanation", "Layer"]


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
        namespace: dotted path of its namespace.
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
        lines = [f"{self.namespace}.{self.name} = {self.value}"]
        for position, layer in enumerate(self.layers):
            mark = "  <- in effect" if position == 0 else ""
            line = f"  {layer.kind:9} {layer.value:{width}}  {layer.source} ({layer.where}){mark}"
            lines.append(line)
        if self.reads:
            lines.append(f"  it read   {', '.join(self.reads)}")
        return "\n".join(lines)
