"""Multimodal inputs: fetching, preprocessing, caching and transport.

Servers that do nothing but encode are in `disagg`.
"""

from dataclasses import field
from typing import Any, Literal

from namespaces.parsers import parse_json
from registry import A, Arg, Namespace

__all__ = ["Mm"]


class Mm(Namespace):
    """Multimodal inputs: media fetching, preprocessing, caching, encoder execution and feature
    transport.
    """

    _NS_PATH = "mm"

    # Switch and limits
    enable_multimodal: A[
        bool | None,
        "Switch multimodal support on or off; None decides per model, and text-only models ignore "
        "it.",
    ] = None
    limit_mm_data_per_request: A[
        str | dict[str, int] | None,
        Arg(
            help="JSON object capping how many images, videos and audio clips a request may carry.",
            type_parser=parse_json,
        ),
    ] = None

    # Fetching media
    allowed_media_domains: A[
        list[str],
        "Exact hostnames from which clients may reference media, redirects included; empty allows "
        "any.",
    ] = field(default_factory=list)
    media_url_max_file_size_mb: A[
        int,
        "Largest remote media download in MiB, checked while streaming; 0 removes the limit.",
    ] = 64
    mm_io_worker_num: A[
        int,
        "Thread count for fetching and decoding media; 0 takes the model's default.",
    ] = 0

    # Preprocessing
    mm_process_config: A[
        dict[str, Any] | None,
        Arg(
            help="JSON object of preprocessing options under the keys image, video and audio.",
            type_parser=parse_json,
        ),
    ] = None
    mm_processor_worker_num: A[
        int,
        "Thread count of the multimodal processor; 0 takes the model's default; above 1 needs "
        "isolated-worker support.",
    ] = 0
    image_processor_backend: A[
        Literal["auto", "torchvision", "pil"],
        "Image processing library: torchvision, pil, or auto to leave it to Transformers.",
    ] = "auto"
    disable_fast_image_processor: A[
        bool,
        "Deprecated; set image_processor_backend to pil for the same effect.",
    ] = False
    enable_broadcast_mm_inputs_process: A[
        bool,
        "Process multimodal inputs on one rank and broadcast the result in the scheduler.",
    ] = False

    # Encoder execution
    mm_attention_backend: A[
        str | None,
        Arg(
            help="Attention kernels for the multimodal encoder; None selects them automatically.",
            choices=[
                "sdpa",
                "fa3",
                "fa4",
                "triton_attn",
                "ascend_attn",
                "aiter_attn",
                "flashinfer_cudnn",
                "amx_attn",
                "xpu_attn",
            ],
        ),
    ] = None
    mm_enable_dp_encoder: A[
        bool,
        "Run the multimodal encoder data-parallel; its width follows tp_size automatically.",
    ] = False

    # Caches
    mm_preprocess_cache_size_mb: A[
        int | None,
        Arg(
            help="CPU memory in MiB for cached preprocessing results, split over tokenizer "
            "workers; 0 disables, None asks the model.",
            resolvable=True,
        ),
    ] = None
    enable_prefix_mm_cache: A[
        bool,
        "Cache multimodal embeddings by prefix; needs encoder_only.",
    ] = False
    enable_mm_global_cache: A[
        bool,
        "Share multimodal embeddings through a global cache to avoid repeated ViT runs.",
    ] = False
    mm_global_cache_backend: A[
        str,
        Arg(
            help="Store that holds globally cached multimodal embeddings; needs "
            "enable_mm_global_cache.",
            choices=["mooncake"],
        ),
    ] = "mooncake"
    trust_mm_content_hashes: A[
        bool,
        "Accept SHA-256 media hashes from callers unverified, so cached media need not be read; "
        "only for trusted callers.",
    ] = False

    # Transport of features
    mm_feature_transport: A[
        Literal["cpu", "cuda_ipc", "cuda_vmm"] | None,
        Arg(
            help="Path for multimodal features: cpu, or a bounded cuda_ipc or cuda_vmm pool; None "
            "means cpu on most setups.",
            resolvable=True,
        ),
    ] = None
    keep_mm_feature_on_device: A[
        bool,
        "Deprecated; set mm_feature_transport to cuda_ipc to keep features in GPU memory.",
    ] = False
