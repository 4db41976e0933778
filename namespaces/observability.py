"""What the server tells about itself: logs, metrics, traces, events and dumps.

What watches over the process and ends it is in `device`.
"""

from dataclasses import field
from typing import Any

from namespaces.parsers import parse_json, parse_json_list
from registry import A, Arg, Namespace

__all__ = ["Observability"]


class Observability(Namespace):
    """Logs, metrics, traces, event publishing, KV canary checks and debugging dumps."""

    _NS_PATH = "observability"

    # Server logs
    log_level: A[
        str, Arg(help="Verbosity of every logger, e.g. debug, info or warning.", fingerprint=False)
    ] = "info"
    log_level_http: A[
        str | None,
        Arg(help="Verbosity of the HTTP server logs; None follows log_level.", fingerprint=False),
    ] = None
    uvicorn_access_log_exclude_prefixes: A[
        list[str],
        Arg(
            help="Path prefixes left out of the access log; an empty list logs everything.",
            nargs="*",
            fingerprint=False,
        ),
    ] = field(default_factory=list)
    decode_log_interval: A[
        int,
        Arg(
            help="Decode iterations between log lines and metric updates for decode batches.",
            fingerprint=False,
        ),
    ] = 40
    show_time_cost: A[
        bool, Arg(help="Print timings of custom marks in the code.", fingerprint=False)
    ] = False
    gc_warning_threshold_secs: A[
        float,
        Arg(
            help="Seconds a garbage collection may take before a warning is logged; 0 disables "
            "this.",
            fingerprint=False,
        ),
    ] = 0.0

    # Request logs
    log_requests: A[
        bool,
        Arg(
            help="Log each request's metadata, inputs and outputs; log_requests_level sets how "
            "much.",
            fingerprint=False,
        ),
    ] = False
    log_requests_level: A[
        int,
        Arg(
            help="Request log detail: 0 metadata, 1 adds sampling parameters, 2 adds partial "
            "text, 3 logs inputs and outputs fully.",
            choices=[0, 1, 2, 3],
            fingerprint=False,
        ),
    ] = 2
    log_requests_format: A[
        str,
        Arg(
            help="Request log style: text for people or json for machines.",
            choices=["text", "json"],
            fingerprint=False,
        ),
    ] = "text"
    log_requests_target: A[
        list[str] | None,
        Arg(
            help="Where request logs go: stdout, one or more directories, or both.",
            fingerprint=False,
        ),
    ] = None
    enable_request_time_stats_logging: A[
        bool, Arg(help="Log timing statistics for every request.", fingerprint=False)
    ] = False

    # Metrics
    enable_metrics: A[
        bool, Arg(help="Expose Prometheus metrics for this server.", fingerprint=False)
    ] = False
    enable_metrics_for_all_schedulers: A[
        bool,
        Arg(
            help="Record request metrics on every TP rank, not just rank 0; worthwhile with DP "
            "attention.",
            fingerprint=False,
        ),
    ] = False
    enable_mfu_metrics: A[
        bool,
        "Add Prometheus metrics that estimate model FLOPs utilization (MFU).",
    ] = False
    extra_metric_labels: A[
        dict[str, str] | None,
        Arg(
            help="JSON object of label names and values added to metrics.",
            type_parser=parse_json,
            fingerprint=False,
        ),
    ] = None
    stat_loggers: A[
        dict[str, type[Any]] | None,
        Arg(
            help="Mapping from collector role to a replacement metrics collector class; Python "
            "only, None keeps built-in ones.",
            no_cli=True,
        ),
    ] = None
    smg_http_sidecar_port: A[
        int | None,
        Arg(
            help="Port of the HTTP sidecar for metrics and profiling in smg_grpc_mode; None means "
            "port + 1.",
            aliases=["--grpc-http-sidecar-port"],
            fingerprint=False,
        ),
    ] = None

    # Tokenizer metrics
    tokenizer_metrics_custom_labels_header: A[
        str,
        Arg(
            help="HTTP header whose value supplies custom labels to tokenizer metrics.",
            fingerprint=False,
        ),
    ] = "x-custom-labels"
    tokenizer_metrics_allowed_custom_labels: A[
        list[str] | None,
        Arg(
            help="Custom label names that requests may set on tokenizer metrics through the "
            "label header.",
            fingerprint=False,
        ),
    ] = None

    # Histogram buckets
    bucket_time_to_first_token: A[
        list[float] | None,
        "Histogram bounds for time to first token, in seconds; None uses built-in ones.",
    ] = None
    bucket_inter_token_latency: A[
        list[float] | None,
        "Histogram bounds for latency between tokens, in seconds; None uses built-in ones.",
    ] = None
    bucket_e2e_request_latency: A[
        list[float] | None,
        "Histogram bounds for whole-request latency, in seconds; None uses built-in ones.",
    ] = None
    prompt_tokens_buckets: A[
        list[str] | None,
        "Histogram rule for prompt lengths: default, tse middle base count, or custom followed by "
        "values.",
    ] = None
    generation_tokens_buckets: A[
        list[str] | None,
        "Histogram rule for generated lengths: default, tse middle base count, or custom followed "
        "by values.",
    ] = None

    # Metrics per request and per forward pass
    export_metrics_to_file: A[
        bool,
        Arg(
            help="Write performance metrics of every request to local files; needs "
            "export_metrics_to_file_dir.",
            fingerprint=False,
        ),
    ] = False
    export_metrics_to_file_dir: A[
        str | None,
        Arg(
            help="Directory for per-request metric files; mandatory with export_metrics_to_file.",
            fingerprint=False,
        ),
    ] = None
    enable_forward_pass_metrics: A[
        bool,
        "Publish metrics of each forward pass over ZMQ IPC for outside consumers.",
    ] = False
    forward_pass_metrics_worker_id: A[
        str,
        "Worker id attached to forward pass metrics; internal, hidden from the CLI help.",
    ] = ""
    forward_pass_metrics_ipc_name: A[
        str | None,
        Arg(
            help="IPC endpoint name of the forward pass metrics; internal, hidden from the CLI "
            "help.",
            fingerprint=False,
        ),
    ] = None

    # Traces
    enable_trace: A[
        bool,
        Arg(
            help="Collect OpenTelemetry traces and send them to otlp_traces_endpoint.",
            fingerprint=False,
        ),
    ] = False
    trace_modules: A[str, "Comma-separated parts to trace: request, mooncake or both."] = "request"
    otlp_traces_endpoint: A[
        str,
        Arg(
            help="OpenTelemetry collector address as host:port, used with enable_trace.",
            fingerprint=False,
        ),
    ] = "localhost:4317"

    # Published events
    kv_events_config: A[
        str | None,
        "JSON settings for publishing KV cache events to NVIDIA Dynamo; setting it starts "
        "publishing.",
    ] = None
    load_publish_endpoint: A[
        str | None,
        "Socket for publishing load to routers: auto or a wildcard TCP address; None or off "
        "disables; needs kv_events_config.",
    ] = None
    load_snapshot_publish_interval: A[
        int,
        "Decode iterations between load snapshots written to shared memory; prefill and idle "
        "publish at once.",
    ] = 15

    # KV canary checks
    kv_canary: A[
        str,
        Arg(
            help="KV cache corruption check: none is off, log reports mismatches, raise stops the "
            "server at the first one.",
            choices=["none", "log", "raise"],
        ),
    ] = "none"
    kv_canary_real_data: A[
        str,
        Arg(
            help="How much KV data the canary checks: none, partial (first 16 bytes of a slot) or "
            "all.",
            choices=["none", "partial", "all"],
        ),
    ] = "none"
    kv_canary_sweep_interval: A[
        int,
        "Forward steps between full-pool canary sweeps; 0 means no sweeps; needs kv_canary set to "
        "log or raise.",
    ] = 0

    # Dumps and debugging
    crash_dump_folder: A[
        str | None,
        Arg(
            help="Folder that receives requests of the 5 minutes before a crash; None disables "
            "the dump.",
            fingerprint=False,
        ),
    ] = None
    debug_tensor_dump_output_folder: A[
        str | None,
        "Folder for dumped tensors; EAGLE runs use draft and target subfolders; turns off CUDA "
        "graph and warmup.",
    ] = None
    debug_tensor_dump_layers: A[
        list[int] | None,
        "Layer indices to dump tensors from; None covers all layers.",
    ] = None
    debug_tensor_dump_input_file: A[str | None, "Input file that drives a tensor dump."] = None
    forward_hooks: A[
        list[dict[str, Any]] | None,
        Arg(
            help="JSON list describing forward hooks to install on the model.",
            type_parser=parse_json_list,
        ),
    ] = None
    msprobe_dump_config: A[
        str | None,
        "JSON configuration for msProbe; setting it turns msProbe dumping on.",
    ] = None
