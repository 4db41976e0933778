"""The configuration of an LLM inference server: its namespaces, choices and record.

`ServerArgs` is composed when it is first asked for, after the installed plugins are loaded, so that
a plugin may import everything else from here, whichever of the two is imported first.
"""

import importlib
from typing import TYPE_CHECKING, Any

from namespaces.accessors import (
    Exec,
    get_device,
    get_disagg,
    get_exec,
    get_lora,
    get_memory,
    get_mm,
    get_model,
    get_observability,
    get_parallel,
    get_schedule,
    get_serving,
    get_spec,
)
from namespaces.choices import (
    ATTENTION_BACKEND_CHOICES,
    CHUNKED_PREFIX_CACHE_SUPPORTED_ATTENTION_BACKENDS,
    DETERMINISTIC_ATTENTION_BACKEND_CHOICES,
    DISAGG_TRANSFER_BACKEND_CHOICES,
    DRAFT_ATTENTION_BACKEND_CHOICES,
    FP4_GEMM_RUNNER_BACKEND_CHOICES,
    FP8_GEMM_RUNNER_BACKEND_CHOICES,
    GRAMMAR_BACKEND_CHOICES,
    LINEAR_ATTN_KERNEL_BACKEND_CHOICES,
    LOAD_FORMAT_CHOICES,
    MOE_RUNNER_BACKEND_CHOICES,
    MXFP8_MOE_RUNNER_BACKEND_CHOICES,
    QUANTIZATION_CHOICES,
    RADIX_EVICTION_POLICY_CHOICES,
    RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND,
    RL_ON_POLICY_TARGET_CHOICES,
    SAMPLING_BACKEND_CHOICES,
    add_attention_backend_choices,
    add_chunked_prefix_cache_attention_backend,
    add_deterministic_attention_backend_choices,
    add_disagg_transfer_backend_choices,
    add_draft_attention_backend_choices,
    add_fp4_gemm_runner_backend_choices,
    add_fp8_gemm_runner_backend_choices,
    add_grammar_backend_choices,
    add_linear_attn_kernel_backend_choices,
    add_load_format_choices,
    add_moe_runner_backend_choices,
    add_mxfp8_moe_runner_backend_choices,
    add_quantization_method_choices,
    add_radix_eviction_policy_choices,
    add_radix_supported_deterministic_attention_backend_choices,
    add_rl_on_policy_target_choices,
)
from namespaces.defaults import set_default
from namespaces.device import Device
from namespaces.disagg import Disagg
from namespaces.exec_ import (
    ExecComm,
    ExecDeterministic,
    ExecDllm,
    ExecFeatures,
    ExecGraph,
    ExecKernel,
    ExecMamba,
    ExecMoe,
    ExecOffload,
    ExecOverlap,
)
from namespaces.field_order import POSITIONAL_FIELD_ORDER
from namespaces.lora import Lora
from namespaces.memory import Memory
from namespaces.mm import Mm
from namespaces.model import Model
from namespaces.namespace_order import NAMESPACES
from namespaces.observability import Observability
from namespaces.parallel import Parallel
from namespaces.schedule import Schedule
from namespaces.serving import Serving
from namespaces.spec import Spec
from registry import ComposeError

if TYPE_CHECKING:
    from namespaces.record import ServerArgs

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
    "NAMESPACES",
    "POSITIONAL_FIELD_ORDER",
    "QUANTIZATION_CHOICES",
    "RADIX_EVICTION_POLICY_CHOICES",
    "RADIX_SUPPORTED_DETERMINISTIC_ATTENTION_BACKEND",
    "RL_ON_POLICY_TARGET_CHOICES",
    "SAMPLING_BACKEND_CHOICES",
    "Device",
    "Disagg",
    "Exec",
    "ExecComm",
    "ExecDeterministic",
    "ExecDllm",
    "ExecFeatures",
    "ExecGraph",
    "ExecKernel",
    "ExecMamba",
    "ExecMoe",
    "ExecOffload",
    "ExecOverlap",
    "Lora",
    "Memory",
    "Mm",
    "Model",
    "Observability",
    "Parallel",
    "Schedule",
    "ServerArgs",
    "Serving",
    "Spec",
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
    "get_device",
    "get_disagg",
    "get_exec",
    "get_lora",
    "get_memory",
    "get_mm",
    "get_model",
    "get_observability",
    "get_parallel",
    "get_schedule",
    "get_serving",
    "get_spec",
    "set_default",
]


def __getattr__(name: str) -> Any:
    if name != "ServerArgs":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    record = importlib.import_module("namespaces.record")
    # While that is being imported, a plugin asks for what it is a part of.
    if not hasattr(record, name):
        raise ComposeError(
            name,
            "is composed of all plugins, and they are being loaded; a plugin imports it in the "
            "function that uses it",
        )
    globals()[name] = record.ServerArgs
    return record.ServerArgs


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
