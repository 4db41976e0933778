"""Third version: another default, a moved field, a renamed one, types and flags that changed."""

from typing import Literal, Optional

from registry import A, Arg, Namespace, Registry, compose, derived


class Model(Namespace, registry=Registry("schema 3")):
    _NS_PATH = "model"

    model_path: A[str, "Where the model or its hub name is."]
    tokenizer_path: A[Optional[str], "Where the tokenizer is."] = None  # noqa: UP045
    tokenizer_mode: A[str, Arg(help="Which tokenizer.", resolvable=True)] = "slow"
    dtype: A[str, Arg(help="Of weights.", choices=["auto", "bfloat16", "float16"])] = "auto"
    skip_tokenizer_init: A[bool | None, "Start without a tokenizer."] = None
    admin_api_key: A[str | None, Arg(help="Key of callers.", secret=True)] = None


class Parallel(Model):
    _NS_PATH = "parallel"

    tp_size: A[int | str, Arg(help="Ranks.", aliases=["--tp"])] = 1
    dp_size: A[int, "Replicas."] = 1
    enable_dp_attention: A[bool, "Run attention data-parallel."] = False
    load_balance_method: A[Literal["round_robin", "minimum_tokens"], "How to spread."] = (
        "round_robin"
    )


class Moe(Parallel):
    _NS_PATH = "exec.moe"

    ep_size: A[int, "Expert-parallel width in ranks."] = 1
    ep_ports: A[list[int] | None, "One for each rank."] = None

    @derived
    def moe_tp_size(cfg) -> int:
        """Expert width in ranks."""
        return cfg.tp_size // cfg.ep_size


ServerArgs = compose("ServerArgs", [Moe])
