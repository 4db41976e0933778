"""The prefix and KV cache: eviction, layout, and the tiers below the GPU.

How much memory the pools get is in `schedule`, the precision of the cache in `model`.
"""

from typing import Any

from namespaces.choices import RADIX_EVICTION_POLICY_CHOICES
from namespaces.parsers import parse_json
from registry import A, Arg, Namespace

__all__ = ["Memory"]


class Memory(Namespace):
    """Prefix and KV cache policy: radix tree eviction, pool layout, host and storage tiers,
    external caches.
    """

    _NS_PATH = "memory"

    # Radix cache
    disable_radix_cache: A[
        bool,
        Arg(help="Turn off prefix caching in the radix tree.", resolvable=True),
    ] = False
    radix_cache_backend: A[
        str | None,
        "Name of a registered radix cache implementation; None keeps the built-in selection.",
    ] = None
    radix_eviction_policy: A[
        str,
        Arg(
            help="Radix tree eviction rule: lru, lfu, slru (segmented LRU), or priority (lowest "
            "first).",
            choices=RADIX_EVICTION_POLICY_CHOICES,
            resolvable=True,
        ),
    ] = "lru"
    radix_eviction_policy_config: A[
        dict[str, Any] | None,
        Arg(
            help="JSON object of options for the eviction policy; only slru has one, "
            "protected_threshold (default 2).",
            type_parser=parse_json,
        ),
    ] = None
    _radix_eviction_policy_explicitly_set: A[
        bool,
        Arg(
            help="Internal marker that the eviction policy was chosen by the operator; has no CLI "
            "flag.",
            no_cli=True,
        ),
    ] = False
    enable_session_radix_cache: A[
        bool,
        "Count session references on cached KV so that unreferenced entries go first; closing "
        "only drops references.",
    ] = False

    # Pool layout
    enable_page_major_kv_layout: A[
        bool,
        "Store KV and Mamba state page by page instead of layer by layer; needs the Triton "
        "backends.",
    ] = False
    enable_unified_memory: A[
        bool,
        "Share one buffer dynamically among hybrid-model KV and state pools; needs Triton "
        "backends, bars host-tiered KV.",
    ] = False

    # Hierarchical cache: host tier
    enable_hierarchical_cache: A[
        bool,
        "Extend the KV cache to host memory and optional storage tiers.",
    ] = False
    hicache_ratio: A[
        float | None,
        "Host KV pool size over device pool size; None means 2.0 (cache), 1.2 (buffer_only) or "
        "0.2 (retraction backup).",
    ] = None
    hicache_size: A[
        int,
        "Host KV pool size in GB, taking precedence over hicache_ratio; 0 leaves the ratio in "
        "charge.",
    ] = 0
    hicache_host_memory_mode: A[
        str,
        Arg(
            help="Role of host memory: cache is a lasting tier, buffer_only a staging area that "
            "needs hicache_storage_backend.",
            choices=["cache", "buffer_only"],
        ),
    ] = "cache"
    hicache_write_policy: A[
        str,
        Arg(
            help="When KV moves from device to host: write_back, write_through or "
            "write_through_selective.",
            choices=["write_back", "write_through", "write_through_selective"],
        ),
    ] = "write_through"
    hicache_io_backend: A[
        str,
        Arg(
            help="How KV data moves across CPU and GPU: direct, kernel or kernel_ascend.",
            choices=["direct", "kernel", "kernel_ascend"],
        ),
    ] = "kernel"
    hicache_mem_layout: A[
        str,
        Arg(
            help="Arrangement of the host KV pool in memory, e.g. layer_first or page_first.",
            choices=[
                "layer_first",
                "page_first",
                "page_first_direct",
                "page_first_kv_split",
                "page_head",
            ],
        ),
    ] = "page_first"

    # Hierarchical cache: storage tier
    hicache_storage_backend: A[
        str | None,
        Arg(
            help="Storage tier below host memory, e.g. file or mooncake; dynamic loads a class "
            "named in the extra config; None is off.",
            choices=[
                "file",
                "sim",
                "mooncake",
                "npu_memcache",
                "hf3fs",
                "nixl",
                "aibrix",
                "dynamic",
                "eic",
                "simm",
                "mori",
                "shm",
            ],
        ),
    ] = None
    hicache_storage_backend_extra_config: A[
        str | None,
        "Extra storage backend options as a JSON string, or @ followed by a JSON, YAML or TOML "
        "file name.",
    ] = None
    hicache_storage_prefetch_policy: A[
        str,
        Arg(
            help="Rule that ends a storage prefetch: best_effort, wait_complete or timeout.",
            choices=["best_effort", "wait_complete", "timeout"],
        ),
    ] = "timeout"
    hicache_storage_prefetch_retry_poll_interval: A[
        int,
        "Scheduling passes before a queued request that missed checks storage again; 0 disables "
        "such retries.",
    ] = 8
    hicache_storage_prefetch_retry_max_attempts: A[
        int,
        "Most storage re-checks for a queued request before it is admitted as is; 0 allows none.",
    ] = 8

    # External caches
    enable_unified_cache_external_linker: A[
        bool,
        "Back the unified radix cache with an external KV store and no host tier in between.",
    ] = False
    unified_cache_external_linker_backend: A[
        str,
        Arg(
            help="External store that the unified cache linker talks to: mooncake or mori.",
            choices=["mooncake", "mori"],
        ),
    ] = "mooncake"
    enable_lmcache: A[bool, "Replace the built-in hierarchical cache with LMCache."] = False
    lmcache_config_file: A[
        str | None,
        "YAML file with LMCache settings, read under enable_lmcache.",
    ] = None
    enable_flexkv: A[
        bool,
        "Offload KV cache to CPU, SSD or remote tiers with FlexKV; same as flexkv in "
        "radix_cache_backend, yet auto-selectable.",
    ] = False
    flexkv_config_file: A[
        str | None,
        "YAML or JSON file with FlexKV settings; same role as the FLEXKV_CONFIG_PATH variable.",
    ] = None

    # Sparse cache
    enable_hisparse: A[
        bool,
        "Turn on hierarchical sparse attention; settings come from hisparse_config.",
    ] = False
    hisparse_config: A[
        str | None,
        Arg(
            help="JSON object of hierarchical sparse attention settings such as top_k and "
            "device_buffer_size.",
            aliases=["--hierarchical-sparse-attention-extra-config"],
        ),
    ] = None
