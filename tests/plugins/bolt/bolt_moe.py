"""More settings of the experts, declared when the entry point is called."""

from namespaces import ExecMoe
from registry import A, Arg, resolver


def declare() -> None:
    class BoltMoe(ExecMoe):
        bolt_fused_gate: A[bool, "Run the gate inside the expert kernel."] = False
        bolt_streams: A[int | None, Arg(help="Streams of the experts.", resolvable=True)] = None

        @resolver
        def choose_streams(cfg):
            return {} if cfg.bolt_streams is not None else {"bolt_streams": 2 * cfg.ep_size}
