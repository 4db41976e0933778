"""Speculative decoding: algorithm, draft model, draft sizes and acceptance.

Servers that draft for other servers are in `disagg`.
"""

from typing import Literal

from namespaces.choices import LOAD_FORMAT_CHOICES, MOE_RUNNER_BACKEND_CHOICES, QUANTIZATION_CHOICES
from registry import A, Arg, Namespace

__all__ = ["Spec"]


class Spec(Namespace):
    """Speculative decoding: algorithm, draft model, draft sizes, acceptance rules and n-gram
    drafts.
    """

    _NS_PATH = "spec"

    # Algorithm
    speculative_algorithm: A[
        str | None,
        "Speculative decoding method, e.g. EAGLE, NGRAM or DFLASH, or a registered plugin name; "
        "None is off.",
    ] = None
    speculative_attention_mode: A[
        str,
        Arg(
            help="Which attention kernels draft extend and target verify use: those of prefill or "
            "of decode.",
            choices=["prefill", "decode"],
            resolvable=True,
        ),
    ] = "prefill"
    speculative_skip_dp_mlp_sync: A[
        bool,
        "Omit the additional MLP sync before batches merge when speculation and DP attention are "
        "combined.",
    ] = False
    enable_multi_layer_eagle: A[
        bool,
        Arg(help="Use EAGLE speculation with several draft layers.", resolvable=True),
    ] = False

    # Draft model
    speculative_draft_model_path: A[
        str | None,
        Arg(
            help="Local directory or Hugging Face repository name that holds the draft weights.",
            aliases=["--speculative-draft-model"],
        ),
    ] = None
    speculative_draft_model_revision: A[
        str | None,
        "Branch, tag or commit of the draft model repository; None means its default revision.",
    ] = None
    speculative_draft_load_format: A[
        str | None,
        Arg(
            help="Checkpoint format of the draft; None copies load_format, dummy fills it with "
            "random values.",
            choices=LOAD_FORMAT_CHOICES,
        ),
    ] = None
    speculative_draft_model_quantization: A[
        str | None,
        Arg(
            help="Quantization of the draft weights; None follows the target model, unquant "
            "forces none.",
            choices=QUANTIZATION_CHOICES,
        ),
    ] = None
    _speculative_draft_quantization_explicitly_set: A[
        bool | None,
        Arg(
            help="Internal marker that draft quantization was chosen by the operator; has no CLI "
            "flag.",
            no_cli=True,
        ),
    ] = None
    uno_lora_path: A[
        str | None,
        "LoRA checkpoint that serves as the UNO draft; mandatory for UNO.",
    ] = None
    speculative_token_map: A[
        str | None,
        "File with the reduced vocabulary of the draft model.",
    ] = None

    # Draft sizes
    speculative_num_steps: A[
        int | None,
        "Number of draft model steps in one speculative round; None picks it automatically.",
    ] = None
    speculative_eagle_topk: A[
        int | None,
        "Candidate tokens kept from the draft at each EAGLE step.",
    ] = None
    speculative_num_draft_tokens: A[
        int | None,
        "Draft tokens submitted for verification in one speculative round.",
    ] = None
    speculative_draft_window_size: A[
        int | None,
        "Sliding window of the draft in tokens, for Llama EAGLE-3 and DFLASH only; None attends "
        "to the full context.",
    ] = None

    # Acceptance
    speculative_accept_threshold_single: A[
        float,
        "Target-model probability above which a draft token is accepted outright.",
    ] = 1.0
    speculative_accept_threshold_acc: A[
        float,
        "Value that divides a draft token's target probability to give its acceptance chance, "
        "capped at 1.",
    ] = 1.0
    speculative_use_rejection_sampling: A[
        bool,
        "Verify drafts by rejection sampling; needs speculative_eagle_topk of 1.",
    ] = False

    # Kernels and cache of the draft model
    speculative_draft_attention_backend: A[
        str | None,
        Arg(
            help="Attention kernels for the draft model; None selects them automatically.",
            resolvable=True,
        ),
    ] = None
    speculative_dsa_topk_backend: A[
        str,
        Arg(
            help="Top-k routine of the DSA indexer on draft workers: a built-in kernel, torch or "
            "flashinfer.",
            choices=["sgl-kernel", "torch", "flashinfer"],
        ),
    ] = "sgl-kernel"
    speculative_draft_kv_cache_dtype: A[
        str | None,
        Arg(
            help="KV cache element type of the draft model; None follows kv_cache_dtype; FP8 "
            "halves its pool.",
            choices=["auto", "fp8_e5m2", "fp8_e4m3", "bf16", "bfloat16"],
        ),
    ] = None
    speculative_moe_runner_backend: A[
        str | None,
        Arg(
            help="MoE kernel set for the draft model; None follows moe_runner_backend.",
            choices=MOE_RUNNER_BACKEND_CHOICES,
            resolvable=True,
        ),
    ] = None
    speculative_moe_a2a_backend: A[
        str | None,
        Arg(
            help="MoE all-to-all backend for the draft model; None follows moe_a2a_backend.",
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
            ],
            resolvable=True,
        ),
    ] = None

    # Adaptive speculation
    speculative_adaptive: A[
        bool,
        "Adjust speculative_num_steps at run time from the observed acceptance rate.",
    ] = False
    speculative_adaptive_config: A[
        str | None,
        "JSON file with tuning values for speculative_adaptive.",
    ] = None

    # DFlash, DSpark and Domino
    speculative_dflash_block_size: A[
        int | None,
        "DFLASH block size, i.e. its verify window in tokens; same as "
        "speculative_num_draft_tokens there.",
    ] = None
    speculative_dspark_block_size: A[
        int | None,
        "DSPARK draft length gamma in tokens; speculative_num_draft_tokens becomes gamma + 1; "
        "None reads the checkpoint.",
    ] = None
    speculative_dspark_sps_table_path: A[
        str | None,
        "JSON cost table for the DSPARK verify scheduler; None verifies every draft, with no gain.",
    ] = None
    speculative_dspark_confidence_sts_path: A[
        str | None,
        "JSON calibration of DSPARK draft confidence by position; None applies no calibration.",
    ] = None
    speculative_dspark_align_verify_tokens_to_graph_tier: A[
        bool,
        "Fill DSPARK verify lengths up to the captured CUDA graph size, so that padding does real "
        "verification.",
    ] = False
    speculative_domino_candidate_pool_size: A[
        int,
        "Candidate tokens shared by a Domino block when scoring base logits; 0 scores the whole "
        "vocabulary.",
    ] = 2048

    # N-gram drafts
    speculative_ngram_match_type: A[
        Literal["BFS", "PROB"],
        "How the n-gram cache tree is matched: BFS or PROB.",
    ] = "BFS"
    speculative_ngram_min_bfs_breadth: A[
        int,
        "Smallest breadth of the breadth-first search for n-gram drafts.",
    ] = 1
    speculative_ngram_max_bfs_breadth: A[
        int,
        "Largest breadth of the breadth-first search for n-gram drafts.",
    ] = 10
    speculative_ngram_max_trie_depth: A[
        int,
        "Depth limit of the trie behind n-gram drafts, in tokens.",
    ] = 18
    speculative_ngram_capacity: A[int, "Most entries the n-gram cache may hold."] = 10000000
    speculative_ngram_external_corpus_path: A[
        str | None,
        "JSONL corpus loaded at startup as an additional source of n-gram drafts.",
    ] = None
    speculative_ngram_external_corpus_max_tokens: A[
        int,
        "Token limit for the external n-gram corpus; exceeding it aborts startup.",
    ] = 10000000
    speculative_ngram_external_sam_budget: A[
        int,
        "Draft nodes set aside for matches from the external n-gram corpus; 0 reserves none.",
    ] = 0

    # Tracing
    spec_trace_dir: A[
        str | None,
        "Directory for trace files of decoupled speculative decoding.",
    ] = None
