"""The settings of a small server, first version."""

from typing import Literal

from registry import A, Arg, Namespace, Registry, compose, derived


class Model(Namespace, registry=Registry("schema 1")):
    _NS_PATH = "model"

    model_path: A[str, "Where the model is."]
    tokenizer_path: A[str | None, "Where the tokenizer is."] = None
    dtype: A[str, Arg(help="Of weights.", choices=["auto", "float16", "float32"])] = "auto"
    skip_tokenizer_init: A[bool, "Start without a tokenizer."] = False
    api_key: A[str | None, Arg(help="Key of callers.", secret=True)] = None


class Parallel(Model):
    _NS_PATH = "parallel"

    tp_size: A[int, Arg(help="Ranks.", aliases=["--tensor-parallel-size"])] = 1
    dp_size: A[int, "Replicas."] = 1
    enable_dp_attention: A[bool, "Run attention data-parallel."] = False
    enable_ep_moe: A[bool, "Run experts in parallel."] = False
    load_balance_method: A[Literal["round_robin", "shortest"], "How to spread."] = "round_robin"

    @derived
    def ep_size(cfg) -> int:
        """Expert-parallel width in ranks."""
        return cfg.tp_size if cfg.enable_ep_moe else 1

    @derived
    def attn_tp_size(cfg) -> int:
        """Attention width in ranks."""
        return cfg.tp_size // cfg.dp_size if cfg.enable_dp_attention else cfg.tp_size


ServerArgs = compose("ServerArgs", [Parallel])
