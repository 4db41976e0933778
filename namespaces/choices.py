"""The values that growing settings may take, and how a plugin adds to them.

The lists are live: a declaration refers to the list itself, so the next parser that is built offers
what was added since.
"""

from collections.abc import Iterable

from registry import note_addition

__all__ = [
    "ATTENTION_BACKEND_CHOICES",
    "CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS",
    "DETERMINISTIC_ATTENTION_BACKEND_CHOICES",
    "DISAGG_TRANSFER_BACKEND_CHOICES",
    "DRAFT_ATTENTION_BACKEND_CHOICES",
    "FP4_GEMM_RUNNER_BACKEND_CHOICES",
    "FP8_GEMM_RUNNER_BACKEND_CHOICES",
    "GRAMMAR_BACKEND_CHOICES",
    "LINEAR_ATTN_KERNEL_BACKEND_CHOICES",
    "LOAD_FORMAT_CHOICES",
    "MOE_RUNNER_BACKEND_CHOICES",
    "MXFP8_MOE_RUNNER_BACKEND_CHOICES",
    "QUANTIZATION_CHOICES",
    "RADIX_EVICTION_POLICY_CHOICES",
    "RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND",
    "RL_ON_POLICY_TARGET_CHOICES",
    "SAMPLING_BACKEND_CHOICES",
    "add_attention_backend_choices",
    "add_chunked_prefix_cache_attention_backend",
    "add_deterministic_attention_backend_choices",
    "add_disagg_transfer_backend_choices",
    "add_draft_attention_backend_choices",
    "add_fp4_gemm_runner_backend_choices",
    "add_fp8_gemm_runner_backend_choices",
    "add_grammar_backend_choices",
    "add_linear_attn_kernel_backend_choices",
    "add_load_format_choices",
    "add_moe_runner_backend_choices",
    "add_mxfp8_moe_runner_backend_choices",
    "add_quantization_method_choices",
    "add_radix_eviction_policy_choices",
    "add_radix_supported_deterministic_attention_backend_choices",
    "add_rl_on_policy_target_choices",
]

LOAD_FORMAT_CHOICES: list[str] = [
    "auto",
    "pt",
    "safetensors",
    "npcache",
    "dummy",
    "sharded_state",
    "presharded",
    "gguf",
    "expert_pack",
    "bitsandbytes",
    "mistral",
    "layered",
    "flash_rl",
    "remote",
    "remote_instance",
    "fastsafetensors",
    "private",
    "runai_streamer",
]
QUANTIZATION_CHOICES: list[str] = [
    "awq",
    "fp8",
    "mxfp8",
    "gptq",
    "gptq_marlin",
    "awq_marlin",
    "bitsandbytes",
    "gguf",
    "modelopt",
    "modelopt_fp8",
    "modelopt_fp4",
    "nvfp4_online",
    "modelopt_mixed",
    "petit_nvfp4",
    "w8a8_int8",
    "w8a8_fp8",
    "moe_wna16",
    "w4afp8",
    "mxfp4",
    "auto-round",
    "auto-round-int8",
    "compressed-tensors",
    "modelslim",
    "mxfp_w4a8",
    "quark",
    "quark_int4fp8_moe",
    "quark_mxfp4",
    "mlx_q4",
    "mlx_q8",
    "unquant",
    "humming",
]
ATTENTION_BACKEND_CHOICES: list[str] = [
    "triton",
    "torch_native",
    "flex_attention",
    "dsa",
    "nsa",
    "qsa",
    "dsv4",
    "compressed",
    "fa3",
    "fa4",
    "flashinfer",
    "flashmla",
    "trtllm_mla",
    "cutedsl_mla",
    "tokenspeed_mla",
    "trtllm_mha",
    "hpc_ops",
    "minicpm_flashattn",
    "minicpm_flashinfer",
    "aiter",
    "wave",
    "intel_amx",
    "ascend",
    "intel_xpu",
]
DRAFT_ATTENTION_BACKEND_CHOICES: list[str] = [
    "flashinfer",
    "fa3",
    "fa4",
    "triton",
    "ascend",
    "trtllm_mha",
    "intel_xpu",
]
DETERMINISTIC_ATTENTION_BACKEND_CHOICES: list[str] = [
    "ascend",
    "fa3",
    "fa4",
    "flashinfer",
    "intel_xpu",
    "triton",
]
DISAGG_TRANSFER_BACKEND_CHOICES: list[str] = [
    "mooncake",
    "nixl",
    "ascend",
    "fake",
    "mori",
    "mooncake_tcp",
]
GRAMMAR_BACKEND_CHOICES: list[str] = ["xgrammar", "outlines", "llguidance", "none"]
SAMPLING_BACKEND_CHOICES: list[str] = ["ascend", "flashinfer", "pytorch"]
MOE_RUNNER_BACKEND_CHOICES: list[str] = [
    "auto",
    "deep_gemm",
    "triton",
    "triton_kernel",
    "flashinfer_trtllm",
    "experimental_sgl_trtllm",
    "flashinfer_trtllm_routed",
    "flashinfer_cutlass",
    "flashinfer_mxfp4",
    "flashinfer_cutedsl",
    "flashinfer_megamoe",
    "cutlass",
    "aiter",
    "marlin",
    "humming",
    "experimental_sgl_marlin",
    "hpc_ops",
    "megamoe",
    "intel_xpu",
]
MXFP8_MOE_RUNNER_BACKEND_CHOICES: list[str] = [
    "cutlass",
    "deep_gemm",
    "flashinfer_megamoe",
    "flashinfer_trtllm",
    "flashinfer_trtllm_routed",
]
FP8_GEMM_RUNNER_BACKEND_CHOICES: list[str] = [
    "auto",
    "deep_gemm",
    "flashinfer_trtllm",
    "flashinfer_cutlass",
    "flashinfer_deepgemm",
    "flashinfer_cutedsl",
    "cutlass",
    "triton",
    "aiter",
]
FP4_GEMM_RUNNER_BACKEND_CHOICES: list[str] = [
    "auto",
    "flashinfer_cudnn",
    "flashinfer_cutedsl",
    "flashinfer_cutlass",
    "flashinfer_trtllm",
    "marlin",
]
RADIX_EVICTION_POLICY_CHOICES: list[str] = ["lru", "lfu", "slru", "priority"]
RL_ON_POLICY_TARGET_CHOICES: list[str] = ["fsdp"]
LINEAR_ATTN_KERNEL_BACKEND_CHOICES: list[str] = [
    "triton",
    "cutedsl",
    "flashinfer",
    "flashkda",
    "nvidia_kda",
    "ptx_kda",
    "helion",
    "intel_xpu",
]
CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS: list[str] = [
    "flashinfer",
    "fa3",
    "fa4",
    "flashmla",
    "cutedsl_mla",
    "trtllm_mla",
    "tokenspeed_mla",
]
RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND: list[str] = ["ascend", "fa3", "fa4", "triton"]

_PACKAGE = __name__.partition(".")[0]


def _add(known: list[str], choices: Iterable[str]) -> None:
    """Append what a list does not have yet, all of it or nothing."""
    if isinstance(choices, str):
        raise TypeError(f"expected a list of choices, not one string; write [{choices!r}]")
    added = list(choices)
    for choice in added:
        if not isinstance(choice, str):
            raise TypeError(f"a choice is a string, not {choice!r} ({type(choice).__name__})")
    new = [choice for choice in dict.fromkeys(added) if choice not in known]
    known.extend(new)
    if new:
        name = next(each for each, value in globals().items() if value is known)
        note_addition(
            "choices", name, ", ".join(new), lambda: _remove(known, new), package=_PACKAGE
        )


def _remove(known: list[str], added: Iterable[str]) -> None:
    for choice in added:
        known.remove(choice)


def add_load_format_choices(choices: Iterable[str]) -> None:
    """Add to `LOAD_FORMAT_CHOICES`; what it has already is passed over.

    Args:
        choices: the names to add.

    Raises:
        TypeError: it is one string, or has an entry that is none; nothing is added then.

    Example:
        >>> add_load_format_choices(["auto", "acme"])
        >>> LOAD_FORMAT_CHOICES.pop(), LOAD_FORMAT_CHOICES.count("auto")
        ('acme', 1)
    """
    _add(LOAD_FORMAT_CHOICES, choices)


def add_quantization_method_choices(choices: Iterable[str]) -> None:
    """Add what is new to `QUANTIZATION_CHOICES`."""
    _add(QUANTIZATION_CHOICES, choices)


def add_attention_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `ATTENTION_BACKEND_CHOICES`."""
    _add(ATTENTION_BACKEND_CHOICES, choices)


def add_draft_attention_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `DRAFT_ATTENTION_BACKEND_CHOICES`."""
    _add(DRAFT_ATTENTION_BACKEND_CHOICES, choices)


def add_chunked_prefix_cache_attention_backend(backend: str) -> None:
    """Add a name to `CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS`, if new."""
    _add(CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS, [backend])


def add_deterministic_attention_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `DETERMINISTIC_ATTENTION_BACKEND_CHOICES`."""
    _add(DETERMINISTIC_ATTENTION_BACKEND_CHOICES, choices)


def add_radix_supported_deterministic_attention_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND`."""
    _add(RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND, choices)


def add_disagg_transfer_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `DISAGG_TRANSFER_BACKEND_CHOICES`."""
    _add(DISAGG_TRANSFER_BACKEND_CHOICES, choices)


def add_grammar_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `GRAMMAR_BACKEND_CHOICES`."""
    _add(GRAMMAR_BACKEND_CHOICES, choices)


def add_moe_runner_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `MOE_RUNNER_BACKEND_CHOICES`."""
    _add(MOE_RUNNER_BACKEND_CHOICES, choices)


def add_mxfp8_moe_runner_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `MXFP8_MOE_RUNNER_BACKEND_CHOICES`."""
    _add(MXFP8_MOE_RUNNER_BACKEND_CHOICES, choices)


def add_fp8_gemm_runner_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `FP8_GEMM_RUNNER_BACKEND_CHOICES`."""
    _add(FP8_GEMM_RUNNER_BACKEND_CHOICES, choices)


def add_fp4_gemm_runner_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `FP4_GEMM_RUNNER_BACKEND_CHOICES`."""
    _add(FP4_GEMM_RUNNER_BACKEND_CHOICES, choices)


def add_radix_eviction_policy_choices(choices: Iterable[str]) -> None:
    """Add what is new to `RADIX_EVICTION_POLICY_CHOICES`."""
    _add(RADIX_EVICTION_POLICY_CHOICES, choices)


def add_rl_on_policy_target_choices(choices: Iterable[str]) -> None:
    """Add what is new to `RL_ON_POLICY_TARGET_CHOICES`."""
    _add(RL_ON_POLICY_TARGET_CHOICES, choices)


def add_linear_attn_kernel_backend_choices(choices: Iterable[str]) -> None:
    """Add what is new to `LINEAR_ATTN_KERNEL_BACKEND_CHOICES`."""
    _add(LINEAR_ATTN_KERNEL_BACKEND_CHOICES, choices)
