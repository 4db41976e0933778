"""Second version: one inserted, one removed, one derived no more, a choice gone and one new."""

from typing import Literal

from registry import A, Arg, Namespace, Registry, compose, derived


class Model(Namespace, registry=Registry("schema 2")):
    _NS_PATH = "model"

    model_path: A[str, "Where the model is."]
    tokenizer_path: A[str | None, "Where the tokenizer is."] = None
    tokenizer_mode: A[str, "Which tokenizer."] = "auto"
    dtype: A[str, Arg(help="Of weights.", choices=["auto", "bfloat16", "float16"])] = "auto"
    skip_tokenizer_init: A[bool | None, "Start without a tokenizer."] = None
    api_key: A[str | None, Arg(help="Key of callers.", secret=True)] = None


class Parallel(Model):
    _NS_PATH = "parallel"

    tp_size: A[int, Arg(help="Ranks.")] = 1
    dp_size: A[int, "Replicas."] = 1
    enable_dp_attention: A[bool, "Run attention data-parallel."] = False
    load_balance_method: A[Literal["round_robin", "minimum_tokens"], "How to spread."] = (
        "round_robin"
    )
    ep_size: A[int, "Expert-parallel width in ranks."] = 1

    @derived
    def attn_tp_size(cfg) -> int:
        """Attention width in ranks."""
        return cfg.tp_size // cfg.dp_size if cfg.enable_dp_attention else cfg.tp_size


ServerArgs = compose("ServerArgs", [Parallel])
