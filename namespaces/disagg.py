"""One model over several kinds of servers: prefill, decode, encoders, drafters.

How drafts are made is in `spec`; how the ranks of one server are arranged is in `parallel`.
"""

from dataclasses import field
from typing import Literal

from namespaces.choices import DISAGG_TRANSFER_BACKEND_CHOICES
from namespaces.parsers import parse_json_list
from registry import A, Arg, Namespace

__all__ = ["Disagg"]


class Disagg(Namespace):
    """Splitting work over servers: prefill and decode roles, encoders, decoupled drafting and PD
    multiplexing.
    """

    _NS_PATH = "disagg"

    # Prefill and decode roles
    disaggregation_mode: A[
        Literal["null", "prefill", "decode"],
        "PD disaggregation role: prefill, decode, or null to handle both in one server.",
    ] = "null"
    disaggregation_transfer_backend: A[
        str,
        Arg(
            help="Transport that carries KV cache from prefill to decode servers.",
            choices=DISAGG_TRANSFER_BACKEND_CHOICES,
        ),
    ] = "mooncake"
    disaggregation_bootstrap_port: A[
        int,
        Arg(help="Port of the bootstrap service run by the prefill server.", fingerprint=False),
    ] = 8998
    disaggregation_ib_device: A[
        str | None,
        "InfiniBand devices: one name, a comma list, or a per-GPU JSON map or file; None detects "
        "them for mooncake.",
    ] = None
    optimistic_prefill_attempts: A[
        int,
        "Prefill passes that may start before bootstrap finishes; 0 always waits.",
    ] = 0

    # Decode side
    disaggregation_decode_enable_radix_cache: A[
        bool,
        "Reuse cached KV prefixes on the decode server; excludes hisparse, speculation and the "
        "fake transport.",
    ] = False
    disaggregation_decode_enable_offload_kvcache: A[
        bool,
        "Offload KV cache asynchronously on the decode server.",
    ] = False
    disaggregation_decode_retraction_backup: A[
        str | None,
        Arg(
            help="Store for KV kept through decode retraction: cpu_tensor or host_pool; None "
            "infers it from the KV pool.",
            choices=["cpu_tensor", "host_pool"],
        ),
    ] = None
    disaggregation_decode_extra_slots: A[
        int | None,
        "Additional decode slots for requests still in transfer; None means 0, or twice the batch "
        "when it is small.",
    ] = None
    disaggregation_decode_polling_interval: A[
        int,
        "Iterations between request polls on the decode server; above 1 lowers polling overhead.",
    ] = 1
    num_reserved_decode_tokens: A[
        int,
        "Decode tokens whose memory is reserved when a request joins the running batch.",
    ] = 512

    # Encoder servers
    encoder_only: A[
        bool,
        "Serve only the encoder of a multimodal model; excludes language_only.",
    ] = False
    language_only: A[
        bool,
        "Load only the language model part of a VLM, with encoders running on other servers; "
        "excludes encoder_only.",
    ] = False
    language_model_only: A[
        bool,
        "Build no multimodal encoder and reject multimodal requests; standalone, in contrast to "
        "language_only.",
    ] = False
    encoder_transfer_backend: A[
        str,
        Arg(
            help="Transport for encoder outputs; auto decides from the model and TP width.",
            choices=["auto", "zmq_to_scheduler", "zmq_to_tokenizer", "mooncake"],
        ),
    ] = "auto"
    encoder_urls: A[
        list[str],
        "URLs of the encoder servers; empty means encoders register themselves.",
    ] = field(default_factory=list)
    encoder_bootstrap_port: A[
        int,
        Arg(
            help="Port at which a language-only server accepts encoder registrations.",
            fingerprint=False,
        ),
    ] = 8997
    encoder_register_urls: A[
        list[str],
        "Bootstrap URLs with which an encoder-only server registers itself at startup.",
    ] = field(default_factory=list)
    enable_adaptive_dispatch_to_encoder: A[
        bool,
        "Send multi-image requests to encoder servers but handle single-image ones locally; needs "
        "language_only.",
    ] = False

    # Decoupled speculation
    decoupled_spec_role: A[
        Literal["null", "verifier", "drafter"],
        "Part played in decoupled speculation: verifier, drafter, or null for off.",
    ] = "null"
    decoupled_spec_rank: A[
        int | None,
        "Rank of this engine among the verifiers or drafters in decoupled speculation.",
    ] = None
    decoupled_spec_bind_endpoint: A[
        str | None,
        "ZMQ address this engine binds to receive results (verifier) or control messages "
        "(drafter).",
    ] = None
    decoupled_spec_connect_endpoints: A[
        list[str] | None,
        Arg(
            help="JSON list of peer addresses to connect to in decoupled speculation, in peer "
            "rank order.",
            type_parser=parse_json_list,
        ),
    ] = None

    # PD multiplexing
    enable_pdmux: A[
        bool,
        "Multiplex prefill and decode on one GPU through green contexts; needs pp_size 1 and "
        "chunked prefill off.",
    ] = False
    pdmux_config_path: A[str | None, "Configuration file for prefill-decode multiplexing."] = None
    sm_group_num: A[int, "Number of groups into which SMs are partitioned for PD multiplexing."] = 8
