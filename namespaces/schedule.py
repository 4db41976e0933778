"""How batches form: limits, queue order, priorities and prefill.

How requests are spread over replicas is in `parallel`; what is kept of them, in `memory`.
"""

from namespaces.parsers import parse_human_readable_int
from registry import A, Arg, Namespace

__all__ = ["Schedule"]


class Schedule(Namespace):
    """Batch formation: request and token limits, queue order, priorities, chunked prefill and
    prefill delays.
    """

    _NS_PATH = "schedule"

    # Memory and token budget
    mem_fraction_static: A[
        float | None,
        "Share of GPU memory for weights plus the KV cache pool; lower it on out-of-memory "
        "errors; None picks a value.",
    ] = None
    max_total_tokens: A[
        int | None,
        Arg(
            help="Token capacity of the memory pool, mainly a debugging aid; None computes it "
            "from mem_fraction_static.",
            type_parser=parse_human_readable_int,
        ),
    ] = None
    page_size: A[
        int | None,
        Arg(help="Tokens held by one KV cache page; None lets the server choose.", resolvable=True),
    ] = None
    c128_page_size: A[
        int,
        "Page size of C128 KV storage for DSV4 on NPU; only multiples of 16 above zero are valid.",
    ] = 16
    swa_full_tokens_ratio: A[
        float | None,
        Arg(
            help="SWA-layer KV tokens per full-layer KV token, in (0, 1]; None falls back to 0.8 "
            "unless the model sets one.",
            resolvable=True,
            fallback=0.8,
        ),
    ] = None
    disable_hybrid_swa_memory: A[
        bool,
        Arg(help="Do without the separate memory pool for sliding-window layers.", resolvable=True),
    ] = False
    max_mamba_cache_size: A[
        int | None,
        "Most entries the Mamba state cache may hold; None sizes it automatically.",
    ] = None
    mamba_full_memory_ratio: A[
        float | None,
        Arg(
            help="Mamba state memory divided by full KV cache memory; None falls back to 0.9 "
            "unless the model sets one.",
            resolvable=True,
            fallback=0.9,
        ),
    ] = None

    # Requests at a time
    max_running_requests: A[
        int | None,
        "Most requests that may run at once; None lets the server decide.",
    ] = None
    max_queued_requests: A[
        int | None,
        "Most requests that may wait in the queue; ignored under PD disaggregation; None means no "
        "bound.",
    ] = None
    min_free_slots_delay: A[
        int | None,
        "Free request slots to gather before admitting new prefills together; 1 disables, None is "
        "automatic for DFlash only.",
    ] = None

    # Queue order
    schedule_policy: A[
        str,
        Arg(
            help="Ordering rule for waiting requests, e.g. fcfs or lpm; priority scheduling "
            "accepts only fcfs and lof.",
            choices=[
                "lpm",
                "random",
                "fcfs",
                "dfs-weight",
                "lof",
                "priority",
                "routing-key",
                "hrrn",
            ],
        ),
    ] = "fcfs"
    schedule_conservativeness: A[
        float,
        "Non-negative caution factor of the scheduler; raise it when requests are often retracted.",
    ] = 1.0
    retraction_policy: A[
        str,
        Arg(
            help="Which requests to retract once the KV cache fills up: length takes short-output "
            "ones first, priority the lowest.",
            choices=["length", "priority"],
        ),
    ] = "length"

    # Priorities
    enable_priority_scheduling: A[
        bool,
        "Schedule by request priority; larger integers go first unless "
        "schedule_low_priority_values_first is set.",
    ] = False
    default_priority_value: A[
        int | None,
        "Priority given to requests that state none; used only with enable_priority_scheduling.",
    ] = None
    schedule_low_priority_values_first: A[
        bool,
        "Reverse the priority order so that smaller integers go first; needs "
        "enable_priority_scheduling.",
    ] = False
    disable_priority_preemption: A[
        bool,
        "Keep higher-priority arrivals from preempting running requests.",
    ] = False
    priority_scheduling_preemption_threshold: A[
        int,
        "Priority gap an arriving request needs before it may preempt running ones.",
    ] = 10
    abort_on_priority_when_disabled: A[
        bool,
        "Abort requests that carry a priority while priority scheduling is off.",
    ] = False

    # Prefill batches
    chunked_prefill_size: A[
        int | None,
        "Most tokens in one prefill chunk, a multiple of page_size; -1 turns chunking off, None "
        "picks by GPU memory.",
    ] = None
    enable_dynamic_chunking: A[
        bool,
        "Adapt chunk sizes under pipeline parallelism so that every chunk takes about the same "
        "time.",
    ] = False
    max_prefill_tokens: A[
        int,
        Arg(
            help="Token budget of a prefill batch; the model context length applies instead if it "
            "is larger.",
            type_parser=parse_human_readable_int,
        ),
    ] = 16384
    prefill_max_requests: A[
        int | None,
        "Most requests in one prefill batch; None sets no cap.",
    ] = None
    prefill_decode_interval: A[
        int | None,
        Arg(
            help="Decode rounds between prefill batches, kept equal across DP ranks; 0 disables, "
            "None is off for most models.",
            resolvable=True,
        ),
    ] = None
    enable_mixed_chunk: A[
        bool,
        "Let prefill chunks and decode steps share a batch under chunked prefill.",
    ] = False
    disable_chunked_prefix_cache: A[
        bool,
        "Turn off the chunked prefix cache of DeepSeek models, sparing overhead on short "
        "sequences.",
    ] = False
    prefill_only_disable_kv_cache: A[
        bool,
        "Allocate no real KV cache when serving embeddings; needs is_embedding, FA prefill, no "
        "radix cache, no chunking.",
    ] = False

    # Decode loop
    disable_overlap_schedule: A[
        bool,
        Arg(
            help="Run CPU scheduling and GPU work one after the other instead of overlapping them.",
            resolvable=True,
        ),
    ] = False
    num_continuous_decode_steps: A[
        int,
        "Decode steps run back to back per scheduling round; more raises throughput but can delay "
        "first tokens.",
    ] = 1
    scheduler_recv_interval: A[
        int,
        "Scheduler iterations between polls for new requests; above 1 lowers polling overhead.",
    ] = 1

    # Delaying prefill for data-parallel balance
    enable_prefill_delayer: A[
        bool,
        "Delay prefill under DP attention so that ranks idle less.",
    ] = False
    prefill_delayer_max_delay_passes: A[
        int,
        "Most forward passes for which the prefill delayer may hold prefill back.",
    ] = 30
    prefill_delayer_max_delay_ms: A[
        float | None,
        "Longest queue-triggered delay in milliseconds; None means 5000; unused unless a queue "
        "ratio is set.",
    ] = None
    prefill_delayer_token_usage_low_watermark: A[
        float | None,
        "Token usage fraction below which the prefill delayer stops delaying; None sets no "
        "watermark.",
    ] = None
    prefill_delayer_queue_min_ratio: A[
        float | None,
        "Delay prefill until the queue reaches this ratio of running requests; None keeps the "
        "slot rule; try 0.1 to 0.5.",
    ] = None
    prefill_delayer_forward_passes_buckets: A[
        list[float] | None,
        "Histogram bounds for delayed forward passes; zero and the last allowed pass are always "
        "included.",
    ] = None
    prefill_delayer_wait_seconds_buckets: A[
        list[float] | None,
        "Histogram bounds in seconds for prefill delayer waits; zero is always included.",
    ] = None
