"""LoRA adapters: which to load, how many to hold, and their kernels.

The weights that adapters change are in `model`.
"""

from namespaces.parsers import parse_lora_path
from registry import A, Arg, Namespace

__all__ = ["Lora"]


class Lora(Namespace):
    """LoRA adapters: which to load, how many to hold, their kernels and eviction."""

    _NS_PATH = "lora"

    # Adapters to load
    enable_lora: A[
        bool | None,
        "Turn on LoRA adapters; None means on exactly when lora_paths is given.",
    ] = None
    lora_paths: A[
        dict[str, str] | list[dict[str, str]] | list[str] | None,
        Arg(
            help="Adapters to load at startup, each a path, name=path, or JSON with lora_name, "
            "lora_path and pinned.",
            type_parser=parse_lora_path,
            nargs="*",
        ),
    ] = None
    lora_strict_loading: A[
        bool,
        Arg(
            help="Fail on missing or mismatched keys in adapter weights rather than tolerate them.",
            action="BooleanOptionalAction",
        ),
    ] = False
    enable_lora_overlap_loading: A[
        bool | None,
        "Load adapters asynchronously to overlap copies with compute; max_loaded_loras may be at "
        "most 2x max_loras_per_batch.",
    ] = None

    # What adapters may change
    max_lora_rank: A[
        int | None,
        "Highest adapter rank supported; None infers it from lora_paths.",
    ] = None
    lora_target_modules: A[
        set[str] | list[str] | None,
        Arg(
            help="Modules to which LoRA may apply; all covers every supported one, None infers "
            "them from lora_paths.",
            choices=[
                "q_proj",
                "k_proj",
                "v_proj",
                "o_proj",
                "q_a_proj",
                "kv_a_proj_with_mqa",
                "q_b_proj",
                "kv_b_proj",
                "wq_b",
                "wk",
                "weights_proj",
                "gate_proj",
                "up_proj",
                "down_proj",
                "qkv_proj",
                "gate_up_proj",
                "embed_tokens",
                "lm_head",
                "qkvr",
                "wo_ud",
                "all",
            ],
            nargs="*",
        ),
    ] = None
    experts_shared_outer_loras: A[
        bool | None,
        Arg(
            help="Share outer LoRA matrices across MoE experts: True or False forces it, None "
            "detects it from the adapters.",
            action="BooleanOptionalAction",
        ),
    ] = None
    lora_use_virtual_experts: A[bool, "Compute LoRA on MoE layers through virtual experts."] = False

    # How many are held, and which leave first
    max_loras_per_batch: A[
        int,
        "Most adapters in one running batch, where base-model requests count as one.",
    ] = 8
    max_loaded_loras: A[
        int | None,
        "Most adapters held in CPU memory at once; not below max_loras_per_batch; None sets no "
        "cap.",
    ] = None
    lora_eviction_policy: A[
        str,
        Arg(
            help="Which adapter leaves a full memory pool first: lru (least recently used) or "
            "fifo (oldest).",
            choices=["lru", "fifo"],
        ),
    ] = "lru"
    lora_drain_wait_threshold: A[
        float,
        "Seconds a LoRA request may wait before one running adapter is drained to make room; 0 "
        "disables this.",
    ] = 0.0

    # Kernels
    lora_backend: A[
        str,
        Arg(
            help="Kernels for serving several LoRA adapters: csgmv, triton, ascend or "
            "torch_native.",
            choices=["triton", "csgmv", "ascend", "torch_native"],
        ),
    ] = "csgmv"
    max_lora_chunk_size: A[
        int | None,
        Arg(
            help="Largest chunk of the csgmv LoRA kernels: 16, 32, 64 or 128; other backends "
            "ignore it.",
            choices=[16, 32, 64, 128],
        ),
    ] = 16
