"""How the model runs: kernels, graphs, communication, experts, overlap and offload.

Each class is one namespace below `exec`; the module has an underscore as `exec` is a builtin.
"""

from typing import Any, Literal

from namespaces.choices import (
    ATTENTION_BACKEND_CHOICES,
    FP4_GEMM_RUNNER_BACKEND_CHOICES,
    FP8_GEMM_RUNNER_BACKEND_CHOICES,
    GRAMMAR_BACKEND_CHOICES,
    LINEAR_ATTN_KERNEL_BACKEND_CHOICES,
    MOE_RUNNER_BACKEND_CHOICES,
    RL_ON_POLICY_TARGET_CHOICES,
    SAMPLING_BACKEND_CHOICES,
)
from namespaces.parsers import parse_cuda_graph_config
from registry import A, Arg, Namespace, ResolverView, View, derived, resolver

__all__ = [
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
]


class ExecFeatures(Namespace):
    """Optional model-execution behaviour such as output precision, memory release and extra
    returned data.
    """

    _NS_PATH = "exec.features"

    # Output precision
    enable_fp32_lm_head: A[bool, "Produce LM head logits in FP32 precision."] = False
    enable_tf32_matmul: A[
        bool,
        Arg(
            help="Let float32 matrix multiplications use TF32 for speed; CUDA only.",
            resolvable=True,
        ),
    ] = False

    # Releasing memory between phases
    enable_memory_saver: A[
        bool,
        "Allow GPU memory to be released and later resumed through the memory occupation calls.",
    ] = False
    enable_weights_cpu_backup: A[
        bool,
        "Back up target and draft weights in CPU memory across a weight release and resume.",
    ] = False
    enable_draft_weights_cpu_backup: A[
        bool,
        "Back up only the draft weights in CPU memory across a weight release and resume.",
    ] = False

    # Sampling
    enable_custom_logit_processor: A[
        bool,
        "Accept logit processors supplied by clients; off by default as a security measure.",
    ] = False
    sampling_mask_max_tokens: A[
        int,
        "Largest sampling mask to return, in token ids; wider supports abort the request; match "
        "it on prefill and decode.",
    ] = 4096
    disable_outlines_disk_cache: A[
        bool,
        "Keep outlines from caching on disk, which can crash under load or on some file systems.",
    ] = False
    enable_mis: A[
        bool,
        "Score several items in one sequence; needs flashinfer attention; radix cache, CUDA "
        "graph, chunked prefill go off.",
    ] = False

    # Extra returned data
    enable_return_hidden_states: A[
        bool,
        "Permit responses with full hidden states; same as choosing full in "
        "return_hidden_states_mode.",
    ] = False
    return_hidden_states_mode: A[
        str | None,
        Arg(
            help="Widest hidden-state return a request may ask for: last or full; None defers to "
            "enable_return_hidden_states.",
            choices=["last", "full"],
        ),
    ] = None
    enable_return_routed_experts: A[
        bool,
        "Permit responses that list the experts each layer routed to.",
    ] = False
    enable_return_indexer_topk: A[
        bool,
        "Permit responses that carry top-k indices from layers with an indexer.",
    ] = False


class ExecKernel(Namespace):
    """Kernel backends for attention, sampling, grammars and matrix multiplication, with their
    tuning.
    """

    _NS_PATH = "exec.kernel"

    # Attention
    attention_backend: A[
        str | None,
        Arg(
            help="Attention kernels for both prefill and decode; None selects by model and "
            "hardware.",
            choices=ATTENTION_BACKEND_CHOICES,
            resolvable=True,
        ),
    ] = None
    prefill_attention_backend: A[
        str | None,
        Arg(
            help="Attention kernels for prefill only, overriding attention_backend; None inherits "
            "it.",
            choices=ATTENTION_BACKEND_CHOICES,
            resolvable=True,
        ),
    ] = None
    decode_attention_backend: A[
        str | None,
        Arg(
            help="Attention kernels for decode only, overriding attention_backend; None inherits "
            "it.",
            choices=ATTENTION_BACKEND_CHOICES,
            resolvable=True,
        ),
    ] = None
    enable_lean_attention: A[
        bool | None,
        "Lean attention kernel for long-context decode: None chooses by length, True forces it, "
        "False bans it.",
    ] = None

    # Sampling and grammars
    sampling_backend: A[
        str | None,
        Arg(
            help="Sampling kernels: flashinfer, pytorch or ascend; None selects automatically.",
            choices=SAMPLING_BACKEND_CHOICES,
            resolvable=True,
        ),
    ] = None
    grammar_backend: A[
        str | None,
        Arg(
            help="Engine for grammar-constrained decoding: xgrammar, outlines, llguidance or "
            "none; None means xgrammar.",
            choices=GRAMMAR_BACKEND_CHOICES,
        ),
    ] = None

    # Matrix multiplication
    fp8_gemm_runner_backend: A[
        str,
        Arg(
            help="Kernel set for blockwise FP8 matrix multiplication; auto selects by hardware.",
            choices=FP8_GEMM_RUNNER_BACKEND_CHOICES,
            cli_name="--fp8-gemm-backend",
            resolvable=True,
        ),
    ] = "auto"
    fp4_gemm_runner_backend: A[
        str,
        Arg(
            help="Kernel set for NVFP4 matrix multiplication; auto selects by GPU generation.",
            choices=FP4_GEMM_RUNNER_BACKEND_CHOICES,
            cli_name="--fp4-gemm-backend",
            resolvable=True,
        ),
    ] = "auto"
    bf16_gemm_backend: A[
        str,
        Arg(
            help="Kernel set for unquantized BF16 matrix multiplication; auto uses cutedsl on "
            "SM10x and cuBLAS elsewhere.",
            choices=["auto", "cutedsl", "gemv", "torch"],
            cli_name="--bf16-gemm-backend",
        ),
    ] = "auto"

    # DeepSeek sparse attention
    dsa_prefill_backend: A[
        str | None,
        Arg(
            help="DeepSeek Sparse Attention kernel for prefill; None selects from kv_cache_dtype "
            "and the hardware.",
            choices=[
                "flashmla_sparse",
                "flashmla_sparse_q8",
                "flashmla_kv",
                "flashmla_auto",
                "flashinfer_sparse_mla",
                "fa3",
                "tilelang",
                "triton",
                "aiter",
                "trtllm",
            ],
            resolvable=True,
        ),
    ] = None
    dsa_decode_backend: A[
        str | None,
        Arg(
            help="DeepSeek Sparse Attention kernel for decode; None selects from kv_cache_dtype "
            "and the hardware.",
            choices=[
                "flashmla_sparse",
                "flashmla_sparse_q8",
                "flashmla_kv",
                "flashmla_auto",
                "flashinfer_sparse_mla",
                "fa3",
                "tilelang",
                "triton",
                "aiter",
                "trtllm",
            ],
            resolvable=True,
        ),
    ] = None
    dsa_paged_mqa_logits_backend: A[
        str,
        Arg(
            help="Kernel for paged MQA logits in the DSA indexer; auto takes DeepGEMM on CUDA and "
            "aiter on ROCm.",
            choices=["auto", "deepgemm", "cutedsl", "aiter"],
        ),
    ] = "auto"
    dsa_topk_backend: A[
        str,
        Arg(
            help="Top-k routine of the DSA indexer on the target model: a built-in kernel, torch "
            "or flashinfer.",
            choices=["sgl-kernel", "torch", "flashinfer"],
            resolvable=True,
        ),
    ] = "sgl-kernel"

    # DeepSeek V4 attention
    dsv4_attn_backend: A[
        str,
        Arg(
            help="DeepSeek V4 attention kernels for prefill and decode: auto means flashmla, "
            "trtllm needs SM100/SM103 and FP8 KV.",
            choices=["auto", "flashmla", "trtllm"],
            resolvable=True,
        ),
    ] = "auto"
    dsv4_prefill_backend: A[
        str,
        Arg(
            help="Sparse prefill variant for DeepSeek-V4: flashmla_sparse_q8 runs Q8KV8; auto and "
            "flashmla_sparse run BF16.",
            choices=["auto", "flashmla_sparse", "flashmla_sparse_q8"],
        ),
    ] = "auto"
    enable_deepseek_v4_fp4_indexer: A[
        bool,
        "Run DeepSeek V4 with an FP4 C4 indexer, which is experimental.",
    ] = False

    # Triton attention tuning
    triton_attention_reduce_in_fp32: A[
        bool,
        "Keep intermediate results of Triton attention in FP32, avoiding FP16 crashes.",
    ] = False
    triton_attention_num_kv_splits: A[
        int,
        "KV splits in the Triton flash decoding kernel; more helps long contexts.",
    ] = 8
    triton_attention_split_tile_size: A[
        int | None,
        "Size of a KV tile per split in the Triton decoding kernel; serves deterministic "
        "inference.",
    ] = None

    # FlashInfer tuning
    disable_flashinfer_autotune: A[bool, "Skip the FlashInfer autotuning step at startup."] = False
    flashinfer_autotune_skip_ops: A[
        list[str] | None,
        Arg(
            help="FlashInfer op names left out of autotuning, which then use its heuristic "
            "defaults.",
            nargs="+",
        ),
    ] = None
    flashinfer_mla_disable_ragged: A[
        bool,
        "Do without the ragged prefill wrapper in FlashInfer MLA.",
    ] = False

    # Other fused or exact kernels
    enable_fused_qk_norm_rope: A[
        bool,
        "Fuse QK normalization with rotary embedding into one kernel.",
    ] = False
    enable_precise_embedding_interpolation: A[
        bool,
        "Align corners when resizing embedding grids, giving slower but more exact interpolation.",
    ] = False

    @resolver
    def attention_on_cpu_uses_amx(cfg: ResolverView) -> dict[str, Any]:
        """On a CPU the attention kernels are those for AMX, unless the operator chose others."""
        if cfg.device == "cpu" and not cfg.is_set("attention_backend"):
            return {"attention_backend": "intel_amx"}
        return {}


class ExecMamba(Namespace):
    """Mamba and linear attention: kernels, state precision, state caching and ReplaySSM."""

    _NS_PATH = "exec.mamba"

    # Mamba kernels and state precision
    mamba_backend: A[
        str,
        Arg(
            help="Kernels for Mamba SSM operations: triton, or flashinfer where it supports Mamba.",
            choices=["triton", "flashinfer"],
        ),
    ] = "triton"
    mamba_ssm_dtype: A[
        str | None,
        Arg(
            help="Precision of SSM states in the Mamba cache; None reads mamba_ssm_dtype from the "
            "model config.",
            choices=["float32", "bfloat16", "float16"],
        ),
    ] = None
    enable_mamba_cache_stochastic_rounding: A[
        bool,
        "Round FP16 SSM states stochastically on cache writes; needs CUDA and mamba_ssm_dtype "
        "float16.",
    ] = False
    mamba_cache_philox_rounds: A[
        int,
        "Philox rounds behind stochastic rounding of SSM writes; 0 gives the Triton default, or "
        "10 in FlashInfer.",
    ] = 0

    # State caching in the radix tree
    mamba_radix_cache_strategy: A[
        str,
        Arg(
            help="State buffering in the Mamba radix cache: no_buffer, extra_buffer, "
            "extra_buffer_lazy, or auto.",
            choices=["auto", "no_buffer", "extra_buffer", "extra_buffer_lazy"],
            resolvable=True,
        ),
    ] = "auto"
    uses_mamba_radix_cache: A[
        bool,
        Arg(
            help="Internal result telling whether the model needs Mamba radix cache handling; not "
            "settable from the CLI.",
            no_cli=True,
            resolvable=True,
        ),
    ] = False

    @derived
    def enable_mamba_extra_buffer(cfg: View) -> bool:
        """Whether the mamba radix cache keeps an extra buffer."""
        return cfg.disable_radix_cache is False and cfg.mamba_radix_cache_strategy in (
            "extra_buffer",
            "extra_buffer_lazy",
        )

    @derived
    def enable_mamba_extra_buffer_lazy(cfg: View) -> bool:
        """Whether that extra buffer is allocated lazily."""
        return (
            cfg.disable_radix_cache is False
            and cfg.mamba_radix_cache_strategy == "extra_buffer_lazy"
        )

    mamba_max_states_per_path: A[
        int,
        "Most cached Mamba states kept on one root-to-tail path of the tree; -1 is unlimited, 0 "
        "is invalid.",
    ] = -1
    mamba_track_interval: A[
        int,
        "Decode steps between tracked Mamba states; with extra_buffer it must be a multiple of "
        "page_size.",
    ] = 256

    # INT8 state checkpoints
    enable_int8_mamba_checkpoint: A[
        bool,
        "Keep radix-cached linear attention states as INT8, roughly doubling how many prefixes "
        "fit.",
    ] = False
    int8_mamba_ckpt_size: A[
        int | None,
        "Slots in the INT8 Mamba checkpoint pool; None means twice the active Mamba pool.",
    ] = None

    # Linear attention
    linear_attn_backend: A[
        str,
        Arg(
            help="Default kernels for GDN and KDA linear attention; decode and prefill can "
            "override it; Helion serves KDA only.",
            choices=LINEAR_ATTN_KERNEL_BACKEND_CHOICES,
        ),
    ] = "triton"
    linear_attn_prefill_backend: A[
        str | None,
        Arg(
            help="Linear attention kernels for prefill; None follows linear_attn_backend, or "
            "FlashInfer for some SM100 GDN models.",
            choices=LINEAR_ATTN_KERNEL_BACKEND_CHOICES,
        ),
    ] = None
    linear_attn_decode_backend: A[
        str | None,
        Arg(
            help="Linear attention kernels for decode; None follows linear_attn_backend.",
            choices=LINEAR_ATTN_KERNEL_BACKEND_CHOICES,
        ),
    ] = None
    linear_attn_verify_backend: A[
        str | None,
        Arg(
            help="Linear attention kernels for speculative verification; None uses flashinfer if "
            "decode does, else triton.",
            choices=[
                "triton",
                "cutedsl",
                "flashinfer",
                "flashkda",
                "nvidia_kda",
                "ptx_kda",
                "helion",
                "intel_xpu",
                "nv_cutedsl",
            ],
        ),
    ] = None

    # ReplaySSM
    enable_linear_replayssm: A[
        bool,
        "Buffered ReplaySSM decode kernel for linear attention; needs Triton (or Helion on KDA) "
        "and the no_buffer strategy.",
    ] = False
    linear_replayssm_cache_len: A[
        int,
        "ReplaySSM ring length in decode steps; the full state goes to HBM once per ring.",
    ] = 16
    enable_linear_replayssm_spec: A[
        bool,
        "Verify drafts with ReplaySSM input windows, not state snapshots; hybrids with GDN or "
        "KDA, linear chains only.",
    ] = False


class ExecGraph(Namespace):
    """CUDA graph capture per phase and torch.compile."""

    _NS_PATH = "exec.graph"

    # CUDA graph method per phase
    cuda_graph_config: A[
        dict[str, dict[str, Any]] | None,
        Arg(
            help="CUDA graph settings per phase as JSON; they override the other CUDA graph "
            "fields.",
            type_parser=parse_cuda_graph_config,
        ),
    ] = None
    cuda_graph_backend_prefill: A[
        Literal["full", "breakable", "tc_piecewise", "disabled"] | None,
        "CUDA graph method in prefill: full, breakable, tc_piecewise or disabled; None keeps the "
        "default.",
    ] = None
    cuda_graph_backend_decode: A[
        Literal["full", "breakable", "tc_piecewise", "disabled"] | None,
        "CUDA graph method in decode: full, breakable, tc_piecewise or disabled; None keeps the "
        "default.",
    ] = None
    cuda_graph_tc_compiler: A[
        Literal["eager", "inductor"] | None,
        "Compiler behind the tc_piecewise method: eager or inductor; so far only prefill uses it.",
    ] = None

    # Batch sizes to capture
    cuda_graph_max_bs_prefill: A[
        int | None,
        "Largest batch size, in total tokens, captured in prefill CUDA graphs; None sets it "
        "automatically.",
    ] = None
    cuda_graph_bs_prefill: A[
        list[int] | None,
        "Batch sizes, in total tokens, to capture in prefill CUDA graphs; None generates the list.",
    ] = None
    cuda_graph_max_bs_decode: A[
        int | None,
        "Largest batch size, in requests, captured in decode CUDA graphs; None sets it "
        "automatically.",
    ] = None
    cuda_graph_bs_decode: A[
        list[int] | None,
        "Batch sizes, in requests, to capture in decode CUDA graphs; None generates the list.",
    ] = None
    disable_cuda_graph_padding: A[
        bool,
        "Use CUDA graphs only when the batch fits a captured size without padding.",
    ] = False

    # Turning graphs off
    disable_cuda_graph: A[
        bool,
        Arg(
            help="Deprecated switch that turns CUDA graphs off in both phases; use the per-phase "
            "backends.",
            deprecated="--cuda-graph-backend-decode=disabled and "
            "--cuda-graph-backend-prefill=disabled",
        ),
    ] = False
    disable_prefill_cuda_graph: A[
        bool,
        "Run prefill without CUDA graphs; shorthand for setting cuda_graph_backend_prefill to "
        "disabled.",
    ] = False
    disable_decode_cuda_graph: A[
        bool,
        "Run decode without CUDA graphs; shorthand for setting cuda_graph_backend_decode to "
        "disabled.",
    ] = False

    # Capture and debugging
    enable_cudagraph_gc: A[
        bool,
        "Leave the garbage collector running during graph capture; off freezes it for speed.",
    ] = False
    enable_profile_cuda_graph: A[bool, "Profile the capture of CUDA graphs."] = False
    debug_cuda_graph: A[
        bool,
        "Run every op eagerly inside the capture and replay path by inserting graph breaks, for "
        "debugging.",
    ] = False

    # torch.compile
    enable_torch_compile: A[
        bool,
        "Apply torch.compile to the model; an experimental option that bars "
        "disable_cuda_graph_padding.",
    ] = False
    torch_compile_max_bs: A[int, "Largest batch size, in requests, handled by torch.compile."] = 32
    enable_torch_compile_debug_mode: A[bool, "Switch torch.compile to its debugging mode."] = False


class ExecComm(Namespace):
    """Collective communication: all-reduce variants, symmetric memory, fusion and warmup."""

    _NS_PATH = "exec.comm"

    # All-reduce implementations
    disable_custom_all_reduce: A[
        bool,
        Arg(help="Do all-reduce through NCCL instead of the custom kernel.", resolvable=True),
    ] = False
    enable_mscclpp: A[
        bool,
        "Use mscclpp for small all-reduce messages; larger ones go to NCCL.",
    ] = False
    enable_quant_communications: A[
        bool | None,
        "Quantize TP communication to INT8; NPU only, with tp_size above 1.",
    ] = False

    # All-reduce fusion
    flashinfer_allreduce_fusion_backend: A[
        Literal["auto", "trtllm", "mnnvl"] | None,
        Arg(
            help="FlashInfer fusion of all-reduce, residual and RMSNorm on SM90/SM10X: auto, "
            "mnnvl or trtllm (one node only).",
            resolvable=True,
        ),
    ] = None
    enable_flashinfer_allreduce_fusion: A[
        bool,
        Arg(
            help="Deprecated switch; set flashinfer_allreduce_fusion_backend to auto instead.",
            deprecated="--flashinfer-allreduce-fusion-backend=auto",
        ),
    ] = False
    enforce_disable_flashinfer_allreduce_fusion: A[
        bool,
        "Keep FlashInfer all-reduce fusion off in every case.",
    ] = False
    enable_aiter_allreduce_fusion: A[
        bool,
        Arg(help="Fuse all-reduce with neighbouring operations through Aiter.", resolvable=True),
    ] = False

    # Symmetric memory and NVLink SHARP
    enable_symm_mem: A[
        bool,
        Arg(help="Use NCCL symmetric memory to speed up collectives.", resolvable=True),
    ] = False
    enable_torch_symm_mem: A[
        bool,
        "All-reduce over torch symmetric memory: SM90 with 4, 6 or 8 ranks, SM100 with 6 or 8; "
        "NCCL otherwise.",
    ] = False
    enable_nccl_nvls: A[
        bool,
        "Turn on NVLink SHARP (NVLS) in NCCL where available, aimed at heavy prefill loads.",
    ] = False

    # Warm-up, layout and profiling
    pre_warm_nccl: A[
        bool,
        "Warm up NCCL or RCCL communicators at startup to cut first-request latency; AMD turns it "
        "on by default.",
    ] = False
    enable_scattered_sconv: A[
        bool,
        "Inkling models: reduce-scatter attention and MLP outputs so the short convolution and "
        "its cache are TP-sharded.",
    ] = False
    enable_layerwise_nvtx_marker: A[
        bool,
        "Annotate each model layer with NVTX ranges for profiling.",
    ] = False


class ExecMoe(Namespace):
    """Mixture-of-experts execution: dispatch, expert kernels, load balancing, elastic EP and
    KTransformers.
    """

    _NS_PATH = "exec.moe"

    # Expert kernels
    moe_runner_backend: A[
        str,
        Arg(
            help="Kernel set that computes MoE experts; auto selects by model and hardware.",
            choices=MOE_RUNNER_BACKEND_CHOICES,
            resolvable=True,
        ),
    ] = "auto"
    flashinfer_mxfp4_moe_precision: A[
        Literal["default", "bf16", "fp8"],
        "Compute precision of MXFP4 MoE in FlashInfer: default, bf16 or fp8; fp8 on SM90 needs "
        "FlashInfer 0.6.18 or newer.",
    ] = "default"
    disable_flashinfer_cutlass_moe_fp4_allgather: A[
        bool,
        "All-gather unquantized activations in FlashInfer CUTLASS MoE rather than FP4 ones.",
    ] = False
    enable_fused_moe_sum_all_reduce: A[
        bool,
        "Fuse the expert-output sum of Triton MoE with the all-reduce.",
    ] = False
    disable_shared_experts_fusion: A[
        bool,
        Arg(
            help="Keep shared experts separate from routed ones in DeepSeek V3/R1; Waterfill "
            "still merges them.",
            resolvable=True,
        ),
    ] = False
    enforce_shared_experts_fusion: A[
        bool,
        "Fuse shared experts even where that is normally off, e.g. DeepEP; excludes "
        "disable_shared_experts_fusion.",
    ] = False

    # All-to-all dispatch
    moe_a2a_backend: A[
        Literal[
            "none",
            "deepep",
            "mooncake",
            "nixl",
            "mori",
            "ascend_fuseep",
            "flashinfer",
            "megamoe",
            "deepep_v2",
            "ascend_tp",
            "pplx",
            "flashinfer_megamoe",
        ],
        Arg(
            help="All-to-all backend that dispatches tokens to MoE experts, e.g. deepep or "
            "mooncake; none uses no all-to-all.",
            choices=[
                "none",
                "deepep",
                "mooncake",
                "nixl",
                "mori",
                "ascend_fuseep",
                "flashinfer",
                "megamoe",
                "deepep_v2",
                "pplx",
                "ascend_tp",
                "flashinfer_megamoe",
            ],
            resolvable=True,
        ),
    ] = "none"
    flashinfer_a2a_dispatch_type: A[
        Literal["auto", "bf16", "nvfp4", "mxfp8"] | None,
        "Activation type in FlashInfer all-to-all dispatch: bf16, nvfp4 or mxfp8; auto and None "
        "follow the quantization.",
    ] = None
    enable_w4a4_mxfp4_megamoe: A[
        bool,
        "Use the DeepGEMM W4A4 MXFP4 path of MegaMoE; moe_a2a_backend should be megamoe.",
    ] = False
    fuseep_mode: A[
        Literal[1, 2],
        "Ascend FuseEP kernel: 1 runs dispatch_gmm_combine_decode, 2 runs dispatch_ffn_combine "
        "and allows hybrid deployment.",
    ] = 2

    # DeepEP
    deepep_mode: A[
        Literal["auto", "normal", "low_latency"],
        "Mode of DeepEP or MoriEP: low_latency, normal, or auto to use the former in decode and "
        "the latter in prefill.",
    ] = "auto"
    deepep_v2_mode: A[
        Literal["direct", "hybrid"],
        "DeepEP v2 topology, fixed at startup: direct for one NVLink node, hybrid for several "
        "nodes.",
    ] = "direct"
    deepep_config: A[
        str | None,
        "DeepEP tuning for a given cluster, as JSON text or the name of a file.",
    ] = None
    deepep_dispatcher_output_dtype: A[
        Literal["auto", "bf16", "fp8", "int8", "nvfp4"],
        "Data type of activations sent by the DeepEP dispatcher; auto lets it choose.",
    ] = "auto"

    # Placement of experts
    init_expert_location: A[
        str,
        "Starting placement of experts over EP ranks; trivial keeps their natural order.",
    ] = "trivial"
    ep_num_redundant_experts: A[
        int,
        "Extra expert replicas to allocate under expert parallelism.",
    ] = 0
    ep_dispatch_algorithm: A[
        Literal["static", "dynamic", "fake", "lp"] | None,
        "How tokens choose among redundant expert replicas: static, dynamic, fake or lp; None "
        "decides automatically.",
    ] = None
    enable_waterfill: A[
        bool,
        "Place the fused shared expert on whichever EP rank has least load; DeepSeek-V3/R1 with 2 "
        "or more EP ranks.",
    ] = False

    # Expert load balancing (EPLB)
    enable_eplb: A[
        bool,
        "Turn on expert parallel load balancing (EPLB); needs ep_size above 1.",
    ] = False
    eplb_algorithm: A[
        str,
        "Load balancing algorithm for EPLB; auto selects a suitable one.",
    ] = "auto"
    eplb_rebalance_num_iterations: A[
        int,
        "Iterations between automatic EPLB rebalancing runs.",
    ] = 1000
    eplb_rebalance_layers_per_chunk: A[
        int | None,
        "Layers rebalanced in one forward pass; None handles all of them together.",
    ] = None
    eplb_min_rebalancing_utilization_threshold: A[
        float,
        "Average GPU utilization, from 0.0 to 1.0, above which EPLB leaves experts as they are.",
    ] = 1.0

    # Recording the expert distribution
    expert_distribution_recorder_mode: A[
        Literal["stat", "stat_approx", "per_pass", "per_token"] | None,
        "What the expert distribution recorder keeps: stat, stat_approx, per_pass or per_token; "
        "None leaves it unset.",
    ] = None
    expert_distribution_recorder_buffer_size: A[
        int | None,
        "Ring buffer entries of the expert distribution recorder; -1 is unbounded, None is "
        "automatic.",
    ] = None
    expert_balancedness_report_mode: A[
        Literal["off", "server_log", "prometheus", "both"],
        "Where expert balance is reported: off, server_log, prometheus or both.",
    ] = "off"

    # Elastic expert parallelism
    elastic_ep_backend: A[
        Literal[None, "mooncake", "nixl"],
        Arg(
            help="Collective backend for elastic EP: mooncake or nixl; none disables it.",
            choices=["none", "mooncake", "nixl"],
        ),
    ] = None
    ep_join_mode: A[
        Literal["scale", "recover"] | None,
        Arg(
            help="How this process joins elastic EP: recover refills a failed slot, scale adds a "
            "rank and needs node_rank 1.",
            cli_name="--elastic-ep-join-mode",
        ),
    ] = None

    @derived
    def is_ep_joiner(cfg) -> bool:
        """Whether this process joins a running elastic expert-parallel deployment."""
        return cfg.ep_join_mode in ("scale", "recover")

    @derived
    def is_ep_scale_joiner(cfg) -> bool:
        """Whether it joins to enlarge the deployment."""
        return cfg.ep_join_mode == "scale"

    elastic_ep_rejoin: A[bool, "Deprecated spelling of ep_join_mode set to recover."] = False
    elastic_ep_scale_timeout: A[
        float,
        "Seconds before a pending elastic EP scaling operation times out.",
    ] = 600
    enable_elastic_expert_backup: A[
        bool,
        "Keep backup copies of experts for elastic EP; not usable with runtime scale-up.",
    ] = False
    mooncake_ib_device: A[
        str | None,
        "Comma-separated InfiniBand devices for the Mooncake backend; None detects them.",
    ] = None

    # KTransformers
    kt_method: A[
        str,
        "Quantization format that KTransformers uses on the CPU, e.g. AMXINT4.",
    ] = "AMXINT4"
    kt_weight_path: A[
        str | None,
        "Local folder of quantized expert weights for the KTransformers AMX kernel.",
    ] = None
    kt_cpuinfer: A[int | None, "Number of KTransformers threads for CPU inference."] = None
    kt_threadpool_count: A[int, "KTransformers thread pools, one for each NUMA node."] = 2
    kt_num_gpu_experts: A[
        int | None,
        "Number of experts that KTransformers keeps on the GPU.",
    ] = None
    kt_max_deferred_experts_per_token: A[
        int | None,
        "Most experts KTransformers may defer to the CPU for a token; the last MoE layer always "
        "uses 0.",
    ] = None


class ExecOverlap(Namespace):
    """Overlap of computation with communication across or within micro batches."""

    _NS_PATH = "exec.overlap"

    # Micro-batch overlap
    enable_two_batch_overlap: A[
        bool,
        "Run two micro batches so that one computes while the other communicates.",
    ] = False
    tbo_token_distribution_threshold: A[
        float,
        "Token share that decides between two-batch and two-chunk overlap; 0 disables two-chunk "
        "overlap.",
    ] = 0.48
    enable_single_batch_overlap: A[
        bool,
        "Hide communication behind computation inside a single micro batch.",
    ] = False


class ExecOffload(Namespace):
    """Moving weights and embedding tables off the GPU and prefetching them back."""

    _NS_PATH = "exec.offload"

    # Weights in CPU memory
    cpu_offload_gb: A[int, "Host RAM in GB set aside for CPU offloading; 0 offloads nothing."] = 0
    offload_mode: A[
        str,
        "Offloading strategy, i.e. where offloaded weights live; cpu by default.",
    ] = "cpu"
    offload_group_size: A[int, "Layers per offloading group; -1 turns grouped offloading off."] = -1
    offload_num_in_group: A[int, "Layers of each group that are offloaded."] = 1
    offload_prefetch_step: A[int, "How many steps ahead offloaded layers are prefetched."] = 1

    # Per-layer embeddings
    ple_offload_embedding: A[
        bool | None,
        Arg(
            help="Keep Qwen4 PLE n-gram embeddings in pinned CPU memory; None turns it on for "
            "BF16 Qwen4-Exp under CUDA.",
            action="BooleanOptionalAction",
            resolvable=True,
        ),
    ] = None
    ple_offload_backend: A[
        str,
        Arg(
            help="Host storage of the PLE table: pinned memory, or file for a mapped sparse file "
            "on unified-memory devices.",
            choices=["pinned", "file"],
        ),
    ] = "pinned"
    ple_offload_dir: A[
        str | None,
        "Directory where ple_offload_backend file keeps its table; None picks one per checkpoint; "
        "use fast local disk.",
    ] = None


class ExecDllm(Namespace):
    """Diffusion language model decoding and its block scheduling."""

    _NS_PATH = "exec.dllm"

    # Block diffusion
    dllm_algorithm: A[
        str | None,
        "Diffusion LLM decoding algorithm, e.g. LowConfidence; None turns diffusion decoding off.",
    ] = None
    dllm_algorithm_config: A[str | None, "YAML file with settings for dllm_algorithm."] = None
    dllm_fdfo: A[
        bool,
        Arg(
            help="First-done-first-out scheduling of diffusion blocks; off falls back to "
            "synchronous blocks.",
            action="BooleanOptionalAction",
        ),
    ] = True


class ExecDeterministic(Namespace):
    """Reproducible inference and numerical agreement with a training system."""

    _NS_PATH = "exec.deterministic"

    # Reproducibility
    enable_deterministic_inference: A[
        bool,
        "Make results reproducible by using batch-invariant operators.",
    ] = False
    rl_on_policy_target: A[
        str | None,
        Arg(
            help="Trainer whose numerics inference must reproduce so that RL stays on-policy, "
            "e.g. fsdp; None asks for nothing.",
            choices=RL_ON_POLICY_TARGET_CHOICES,
        ),
    ] = None
