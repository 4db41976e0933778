"""Acme accelerators: a namespace of their own, two backends and a default."""

from namespaces import add_attention_backend_choices, add_moe_runner_backend_choices, set_default
from registry import A, Arg, Namespace, check, derived


class Acme(Namespace):
    """Acme accelerators."""

    _NS_PATH = "exec.acme"

    acme_tiles: A[int, "Tiles of one accelerator that a rank uses."] = 4
    acme_token: A[str | None, Arg(help="Licence token.", secret=True)] = None

    @derived
    def acme_total_tiles(cfg) -> int:
        """Tiles that one attention group uses."""
        return cfg.acme_tiles * cfg.attn_tp_size

    @check
    def acme_tiles_are_even(cfg) -> bool:
        """acme_tiles is even: tiles work in pairs"""
        return cfg.acme_tiles % 2 == 0


add_attention_backend_choices(["acme"])
add_moe_runner_backend_choices(["acme"])
set_default("moe_runner_backend", "acme")
