"""The front end: listeners, keys, tokenizers, templates, parsers and streaming.

How requests queue is in `schedule`, what is logged of them in `observability`.
"""

from typing import Any

from namespaces.parsers import parse_json, parse_json_list
from registry import A, Arg, Namespace

__all__ = ["Serving"]


class Serving(Namespace):
    """The front end: listeners, TLS, keys, tokenizers, chat templates, output parsers and
    streaming.
    """

    _NS_PATH = "serving"

    # Model identity
    served_model_name: A[
        str | None,
        Arg(
            help="Model name reported by v1/models, normally without a colon; None uses "
            "model_path.",
            fingerprint=False,
        ),
    ] = None
    weight_version: A[
        str,
        "Free-form label identifying the revision of the weights being served.",
    ] = "default"

    # HTTP listener
    host: A[str, Arg(help="Address on which the HTTP server listens.", fingerprint=False)] = (
        "127.0.0.1"
    )
    port: A[int, Arg(help="TCP port on which the HTTP server listens.", fingerprint=False)] = 30000
    fastapi_root_path: A[
        str,
        Arg(
            help="URL path prefix under which a reverse proxy exposes the app; empty means none.",
            fingerprint=False,
        ),
    ] = ""
    enable_http2: A[
        bool,
        "Serve through Granian rather than Uvicorn, negotiating HTTP/1.1 or HTTP/2 (h2c included).",
    ] = False
    http2_max_concurrent_streams: A[
        int,
        "Concurrent streams allowed per HTTP/2 connection, within [1, 2^32 - 1]; ignored unless "
        "enable_http2 is set.",
    ] = 200
    http2_initial_connection_window_size: A[
        int,
        "Starting HTTP/2 receive window of a connection in bytes, within [1024, 2^31 - 1]; "
        "ignored unless enable_http2 is set.",
    ] = 1048576

    # TLS
    ssl_keyfile: A[
        str | None, Arg(help="Private key file for TLS connections.", fingerprint=False)
    ] = None
    ssl_certfile: A[
        str | None,
        Arg(
            help="Certificate file for TLS; setting it switches the server to HTTPS.",
            fingerprint=False,
        ),
    ] = None
    ssl_ca_certs: A[
        str | None, Arg(help="CA bundle file for TLS certificate verification.", fingerprint=False)
    ] = None
    ssl_keyfile_password: A[
        str | None,
        Arg(help="Passphrase that unlocks an encrypted ssl_keyfile.", secret=True),
    ] = None
    enable_ssl_refresh: A[
        bool,
        Arg(
            help="Reload TLS files in place as they change; needs a key file and a certificate "
            "file.",
            fingerprint=False,
        ),
    ] = False

    # Keys
    api_key: A[
        str | None,
        Arg(
            help="Key that clients must present, on the OpenAI-compatible API too; None asks for "
            "no key.",
            secret=True,
        ),
    ] = None
    admin_api_key: A[
        str | None,
        Arg(
            help="Separate key for management endpoints; once set, they reject the ordinary "
            "api_key.",
            secret=True,
        ),
    ] = None

    # gRPC and sidecar
    grpc_mode: A[bool, "Deprecated spelling of smg_grpc_mode."] = False
    smg_grpc_mode: A[
        bool,
        "Run the older SMG gRPC server in place of HTTP; needs smg-grpc-servicer.",
    ] = False
    grpc_port: A[
        int | None,
        Arg(
            help="Port of the native gRPC server beside HTTP; None leaves it off; smg_grpc_mode "
            "falls back "
            "to port + 10000.",
            fingerprint=False,
        ),
    ] = None
    grpc_worker_threads: A[
        int | None,
        Arg(
            help="Worker threads of the native gRPC server, at least 1; set by environment "
            "variable, not on the CLI.",
            no_cli=True,
        ),
    ] = None
    sidecar: A[
        str | None,
        "Module to run as a local sidecar beside native gRPC; it must offer main(argv); needs "
        "grpc_port.",
    ] = None
    sidecar_args: A[
        list[str] | None,
        Arg(
            help="JSON array of strings given to main(argv) of the sidecar; "
            "--sidecar-shutdown-timeout is taken out first.",
            type_parser=parse_json_list,
        ),
    ] = None

    # Start-up
    skip_server_warmup: A[bool, "Begin serving without running warmup requests."] = False
    warmups: A[
        str | None,
        "Comma-separated names of custom warmup functions to run before requests are accepted.",
    ] = None

    # Tokenizer
    tokenizer_path: A[
        str | None,
        "Directory or repository of the tokenizer; None reuses model_path.",
    ] = None
    tokenizer_mode: A[
        str,
        Arg(
            help="Tokenizer variant: auto takes the fast one where it exists, slow never does.",
            choices=["auto", "slow"],
        ),
    ] = "auto"
    tokenizer_backend: A[
        str,
        Arg(
            help="Tokenizer library: huggingface is standard, fastokens is quicker but must be "
            "installed separately.",
            choices=["huggingface", "fastokens"],
        ),
    ] = "huggingface"
    skip_tokenizer_init: A[
        bool,
        "Start without a tokenizer; clients then send input_ids instead of text.",
    ] = False
    tokenizer_worker_num: A[int, "Number of tokenizer manager worker processes, at least 1."] = 1
    detokenizer_worker_num: A[
        int,
        "Number of detokenizer manager worker processes, at least 1.",
    ] = 1

    # Batched tokenization
    enable_tokenizer_batch_encode: A[
        bool,
        "Tokenize several text inputs in one call; unsuitable for images, input_embeds or "
        "input_ids.",
    ] = False
    disable_tokenizer_batch_decode: A[
        bool,
        "Decode multiple completions one by one rather than as a batch.",
    ] = False
    enable_dynamic_batch_tokenizer: A[
        bool,
        "Tokenize concurrent requests asynchronously in dynamic batches; excludes "
        "enable_tokenizer_batch_encode.",
    ] = False
    dynamic_batch_tokenizer_batch_size: A[
        int,
        "Most requests tokenized in one dynamic batch; needs enable_dynamic_batch_tokenizer.",
    ] = 32
    dynamic_batch_tokenizer_batch_timeout: A[
        float,
        "Seconds to wait while filling a tokenization batch; needs enable_dynamic_batch_tokenizer.",
    ] = 0.002

    # Chat and completion templates
    chat_template: A[
        str | None,
        "Built-in template name or template file for chat requests on the OpenAI-compatible API.",
    ] = None
    hf_chat_template_name: A[
        str | None,
        "Which named template to take from a Hugging Face tokenizer that has several; None takes "
        "the first.",
    ] = None
    default_chat_template_kwargs: A[
        dict[str, Any] | None,
        Arg(
            help="JSON object of chat template arguments for all requests; values sent with a "
            "request win.",
            type_parser=parse_json,
        ),
    ] = None
    completion_template: A[
        str | None,
        "Built-in template name or template file for code completion on the OpenAI-compatible API.",
    ] = None

    # Output parsers and tools
    reasoning_parser: A[
        str | None,
        "Parser that separates reasoning text from answers; auto infers it from the chat "
        "template, None disables it.",
    ] = None
    enable_strict_thinking: A[
        bool,
        "Keep tokens such as tool-call markers out of reasoning; the grammar backend must be able "
        "to filter tokens.",
    ] = False
    strip_thinking_cache: A[
        bool,
        "Leave generated thinking and answer tokens out of the radix tree when a request ends; "
        "only its prompt is cached.",
    ] = False
    tool_call_parser: A[
        str | None,
        "Parser that extracts tool calls from output; auto infers it from the chat template, None "
        "disables it.",
    ] = None
    tool_server: A[
        str | None,
        "Tool servers the model may call: demo, or comma-separated URLs; None means no tools.",
    ] = None

    # Constrained output
    constrained_json_whitespace_pattern: A[
        str | None,
        "Regex for whitespace permitted in JSON-constrained output; honoured by outlines and "
        "llguidance only.",
    ] = None
    constrained_json_disable_any_whitespace: A[
        bool,
        "Force compact JSON without optional whitespace; honoured by xgrammar and llguidance only.",
    ] = False

    # Sampling defaults and input length
    sampling_defaults: A[
        str,
        Arg(
            help="Source of default sampling values: model reads generation_config.json, openai "
            "uses temperature 1.0 and the like.",
            choices=["openai", "model"],
        ),
    ] = "model"
    preferred_sampling_params: A[
        str | None,
        Arg(
            help="JSON object of recommended sampling values to publish through /get_model_info.",
            type_parser=parse_json,
        ),
    ] = None
    allow_auto_truncate: A[
        bool,
        "Shorten over-long inputs to the maximum length rather than rejecting them.",
    ] = False

    # Responses and streaming
    stream_interval: A[
        int,
        "Tokens to buffer between streamed chunks; small values feel smoother, large ones raise "
        "throughput.",
    ] = 1
    batch_notify_size: A[
        int,
        "Streaming notifications sent before control returns to the event loop; larger batches "
        "cut wakeup cost.",
    ] = 16
    incremental_streaming_output: A[
        bool,
        "Stream only the newly generated segments rather than the whole text so far.",
    ] = False
    stream_response_default_include_usage: A[
        bool,
        "Add usage figures to all streamed responses even if stream_options is absent.",
    ] = False
    enable_streaming_session: A[
        bool,
        "Turn on streaming sessions, backed by the StreamingSession wrapper.",
    ] = False
    enable_cache_report: A[
        bool,
        "Report cached token counts under usage.prompt_tokens_details of OpenAI responses.",
    ] = False
    return_input_ids: A[
        bool,
        "Attach prompt token ids to the response extension of every chat completion.",
    ] = False
    return_output_ids: A[
        bool,
        "Attach sampled token ids to the response extension of every chat completion.",
    ] = False

    # Stored files and responses
    file_storage_path: A[
        str,
        "Directory in which the backend keeps stored files.",
    ] = "sglang_storage"
    enable_response_store: A[
        bool,
        "Keep Responses API results in memory, without expiry or size limit; not allowed with PD "
        "disaggregation.",
    ] = False

    # Speech recognition
    asr_max_buffer_seconds: A[
        int,
        "Seconds of PCM audio a streaming ASR session may buffer before it is closed with "
        "buffer_overflow.",
    ] = 60
    asr_max_concurrent_sessions: A[
        int,
        "Cap on simultaneous /v1/realtime ASR sessions; extra clients get a too_many_sessions "
        "error and are closed.",
    ] = 32
