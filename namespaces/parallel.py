"""How ranks are arranged: nodes, groups and the width of every kind of parallelism.

How experts are dispatched, placed and balanced over these ranks is in `exec_`.
"""

from typing import Any

from registry import A, Arg, Namespace, ResolverView, check, derived, resolver

__all__ = ["Parallel"]


class Parallel(Namespace):
    """Distributed layout: nodes, process groups and the widths of every parallelism dimension."""

    _NS_PATH = "parallel"

    # Nodes and rendezvous
    nnodes: A[int, "Number of machines taking part in the deployment."] = 1
    node_rank: A[int, "Index of this machine among nnodes, counted from 0."] = 0
    dist_init_addr: A[
        str | None,
        Arg(
            help="Rendezvous address (host:port) that all nodes use for distributed startup.",
            aliases=["--nccl-init-addr"],
            fingerprint=False,
        ),
    ] = None
    dist_timeout: A[
        int | None,
        "Seconds that torch.distributed initialization may take; None keeps the library default.",
    ] = None
    nccl_port: A[
        int | None,
        Arg(
            help="Port for setting up the NCCL process group; None picks one at random.",
            fingerprint=False,
        ),
    ] = None
    gated_launch_port: A[
        int | None,
        Arg(
            help="Port of a gate that holds all ranks before large GPU allocations until POST "
            "/gate/activate; None disables it.",
            fingerprint=False,
        ),
    ] = None
    enable_p2p_check: A[
        bool,
        "Test GPU peer-to-peer access instead of assuming that it works.",
    ] = False

    # Tensor parallelism
    tp_size: A[
        int,
        Arg(
            help="Tensor parallel width in ranks; multiplied by pp_size it must divide evenly "
            "over nnodes.",
            aliases=["--tensor-parallel-size"],
        ),
    ] = 1
    enable_attn_tp_input_scattered: A[
        bool,
        "Let attention inputs stay scattered under pure tensor parallelism, trimming work such as "
        "the QKV latent.",
    ] = False
    enable_shared_experts_attn_tp: A[
        bool,
        "Split shared expert weights over attention TP ranks while an EP all-to-all backend is "
        "active.",
    ] = False
    enable_dense_mlp_attn_tp: A[
        bool,
        "Split dense MLP weights over attention TP ranks; meant for DP attention.",
    ] = False
    enable_layernorm_sp: A[
        bool,
        "Sequence-parallel LayerNorm for pure TP prefill of dense Qwen3; needs tp_size above 1 "
        "and NVLink.",
    ] = False
    disable_attn_tp_gather: A[
        bool,
        "Skip the scheduler's attention TP gather and padding, for models that do SP scatter and "
        "gather themselves.",
    ] = False

    # Data parallelism, replicated or inside attention
    dp_size: A[
        int,
        Arg(
            help="Number of data parallel replicas; spanning several nodes requires "
            "enable_dp_attention.",
            aliases=["--data-parallel-size"],
        ),
    ] = 1
    load_balance_method: A[
        str,
        Arg(
            help="How requests are spread over data parallel ranks, e.g. round_robin or "
            "total_tokens; auto lets the server decide.",
            choices=[
                "auto",
                "round_robin",
                "follow_bootstrap_room",
                "total_requests",
                "total_tokens",
            ],
        ),
    ] = "auto"
    enable_dp_attention: A[
        bool,
        Arg(
            help="Run attention data-parallel and FFN layers tensor-parallel; dp_size should "
            "match tp_size; selected models only.",
            resolvable=True,
        ),
    ] = False
    enable_dp_attention_local_control_broadcast: A[
        bool,
        "With DP attention, broadcast control messages per attention TP group, avoiding a global "
        "sync per step.",
    ] = False
    enable_dp_lm_head: A[
        bool,
        Arg(
            help="Shard the vocabulary over attention TP ranks so that DP groups skip an "
            "all-gather; for DP attention.",
            resolvable=True,
        ),
    ] = False
    enable_tp_lm_head_all_to_all: A[
        bool | None,
        Arg(
            help="Exchange LM head output by all-to-all with DP attention; None allows pure-DP "
            "decode nodes only; bars enable_dp_lm_head.",
            action="BooleanOptionalAction",
            resolvable=True,
        ),
    ] = None
    dwdp_size: A[
        int,
        "Distributed weight data parallel group size; above 1 it must equal tp_size and bars "
        "decode-only servers.",
    ] = 1

    # Context parallelism in prefill
    attn_cp_size: A[
        int,
        Arg(
            help="Context parallel width of attention in ranks; 1 turns it off.",
            aliases=["--attention-context-parallel-size"],
            resolvable=True,
        ),
    ] = 1
    enable_prefill_cp: A[
        bool,
        "Use context parallelism during prefill; cp_strategy sets the layout.",
    ] = False
    cp_strategy: A[
        str | None,
        Arg(
            help="Token split for prefill CP: zigzag pairs an early with a late block, interleave "
            "deals tokens out modulo the CP width.",
            choices=["zigzag", "interleave"],
        ),
    ] = None
    enable_dsa_cache_layer_split: A[
        bool,
        "Spread DSA KV and indexer cache layers over CP ranks to save memory per rank; mooncake "
        "transfer only.",
    ] = False
    enable_cp_decode_attn_tp: A[
        bool,
        "Slice attention weights across CP ranks in decode to avoid duplicated GEMMs; matters "
        "when the CP width exceeds 1.",
    ] = False

    # Attention widths that follow

    @derived
    def attn_dp_size(cfg) -> int:
        """Attention data-parallel width in ranks."""
        return cfg.dp_size if cfg.enable_dp_attention else 1

    @derived
    def attn_tp_size(cfg) -> int:
        """Attention tensor-parallel width in ranks."""
        return cfg.tp_size // cfg.attn_dp_size // cfg.attn_cp_size

    # Context parallelism in decode
    dcp_size: A[
        int,
        Arg(
            help="Decode context parallel width in ranks; 1 turns it off.",
            aliases=["--decode-context-parallel-size"],
        ),
    ] = 1
    dcp_comm_backend: A[
        str | None,
        Arg(
            help="Collective for decode context parallel attention: ag_rs, a2a or fi_a2a "
            "(Blackwell); None picks the best supported.",
            choices=["ag_rs", "a2a", "fi_a2a"],
            resolvable=True,
        ),
    ] = None
    dcp_replicate_q_proj: A[
        bool | None,
        Arg(
            help="Replicate the MLA query projection on all DCP ranks to drop one all-gather per "
            "layer; None follows the model.",
            action="BooleanOptionalAction",
            resolvable=True,
        ),
    ] = None

    @derived
    def dcp_enabled(cfg) -> bool:
        """Whether decode context parallelism is in play."""
        return cfg.dcp_size > 1

    @derived
    def attn_dcp_size(cfg) -> int:
        """Decode context-parallel width inside the attention tensor-parallel group."""
        return cfg.dcp_size if cfg.dcp_enabled else 1

    # Pipeline parallelism
    pp_size: A[
        int,
        Arg(
            help="Pipeline parallel width, i.e. the number of stages; 1 turns it off.",
            aliases=["--pipeline-parallel-size"],
        ),
    ] = 1
    pp_max_micro_batch_size: A[
        int | None,
        "Most requests in one pipeline micro batch; None computes it automatically.",
    ] = None
    pp_async_batch_depth: A[
        int,
        "Extra asynchronous batches kept in flight beyond pp_size; 0 adds none.",
    ] = 0

    # Expert parallelism and the MoE widths that follow
    ep_size: A[
        int,
        Arg(
            help="Expert parallel width in ranks; 1 turns it off.",
            aliases=["--expert-parallel-size", "--ep"],
            resolvable=True,
        ),
    ] = 1
    moe_dp_size: A[
        int,
        Arg(
            help="Data parallel width of MoE layers in ranks; 1 turns it off.",
            aliases=["--moe-data-parallel-size"],
        ),
    ] = 1
    moe_dense_tp_size: A[
        int | None,
        Arg(
            help="TP width of dense MLP layers in MoE models: None, 1 or tp_size; helps if shards "
            "get too small for GEMM.",
            resolvable=True,
        ),
    ] = None

    @derived
    def moe_ep_size(cfg) -> int:
        """Expert-parallel width of the MoE layers in ranks."""
        return cfg.ep_size

    @derived
    def moe_tp_size(cfg) -> int:
        """Tensor-parallel width left to each MoE expert group."""
        return cfg.tp_size // cfg.moe_ep_size // cfg.moe_dp_size

    # Elastic expert parallelism
    elastic_ep_initial_size: A[
        int | None,
        "Launch-time EP size of the primary, fixing the expert layout per rank; scale joiners "
        "must pass the same value.",
    ] = None
    max_ep_size: A[
        int | None,
        "Largest EP size reachable by runtime scaling, with buffers reserved for it; None means "
        "the launch world size.",
    ] = None
    ep_join_rank_offset: A[
        int,
        Arg(
            help="First global rank of a joining elastic EP group: the EP size in effect for "
            "scale joiners, otherwise 0.",
            cli_name="--elastic-ep-join-rank-offset",
        ),
    ] = 0

    @resolver
    def dp_attention_needs_replicas(cfg: ResolverView) -> dict[str, Any]:
        """With one data-parallel replica there is nothing for attention to be parallel over."""
        if cfg.dp_size == 1:
            return {"enable_dp_attention": False, "enable_dp_lm_head": False}
        return {}

    @resolver
    def experts_spread_over_all_ranks(cfg: ResolverView) -> dict[str, Any]:
        """An all-to-all backend dispatches over all ranks, unless the operator chose a width."""
        if cfg.moe_a2a_backend != "none" and not cfg.is_set("ep_size"):
            return {"ep_size": cfg.tp_size}
        return {}

    @check
    def sizes_are_positive(cfg) -> bool:
        """every parallel size is at least 1 rank"""
        sizes = (
            cfg.tp_size,
            cfg.pp_size,
            cfg.dp_size,
            cfg.attn_cp_size,
            cfg.dcp_size,
            cfg.ep_size,
            cfg.moe_dp_size,
        )
        return all(size >= 1 for size in sizes)

    @check
    def attention_widths_fill_tp(cfg) -> bool:
        """attn_tp_size * attn_dp_size * attn_cp_size is tp_size"""
        return cfg.attn_tp_size * cfg.attn_dp_size * cfg.attn_cp_size == cfg.tp_size

    @check
    def moe_widths_fill_tp(cfg) -> bool:
        """moe_tp_size * moe_ep_size * moe_dp_size is tp_size"""
        return cfg.moe_tp_size * cfg.moe_ep_size * cfg.moe_dp_size == cfg.tp_size

    @check
    def experts_cover_whole_replicas(cfg) -> bool:
        """with attention data parallelism, ep_size is 1 or a multiple of the ranks in a replica, \
        attn_tp_size * attn_cp_size
        """
        if not cfg.enable_dp_attention or cfg.ep_size == 1:
            return True
        return cfg.ep_size % (cfg.attn_tp_size * cfg.attn_cp_size) == 0
