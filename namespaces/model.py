"""What is loaded: weights, precision, quantization, and how loading proceeds.

Tokenizers and templates are in `serving`, adapters in `lora`, draft models in `spec`.
"""

from typing import Any, Literal

from namespaces.choices import LOAD_FORMAT_CHOICES, QUANTIZATION_CHOICES
from namespaces.parsers import parse_human_readable_int, parse_json_list, parse_nullable_str
from registry import A, Arg, Namespace, derived

__all__ = ["Model"]


class Model(Namespace):
    """Which weights, configuration, precision and quantization the server loads, and how loading
    proceeds.
    """

    _NS_PATH = "model"

    # Weights and their revision
    model_path: A[
        str,
        Arg(
            help="Local directory or Hugging Face repository name that holds the weights to serve.",
            aliases=["--model"],
        ),
    ]
    revision: A[
        str | None,
        "Branch, tag or commit of the model repository to fetch; None means its default revision.",
    ] = None
    trust_remote_code: A[
        bool,
        "Permit running custom modeling code that ships inside a Hub repository.",
    ] = False
    download_dir: A[
        str | None,
        "Directory in which models fetched from Hugging Face are stored; None uses the default "
        "cache.",
    ] = None

    # Architecture and precision
    model_impl: A[
        str,
        "Model code to run: auto prefers the native version, then Transformers; mindspore is for "
        "Ascend NPU.",
    ] = "auto"
    model_config_parser: A[
        str,
        "Parser for the model config; auto picks mistral by name match and hf otherwise; plugins "
        "may add more.",
    ] = "auto"
    json_model_override_args: A[
        str,
        "JSON object whose keys replace entries of the loaded model configuration.",
    ] = "{}"
    context_length: A[
        int | None,
        Arg(
            help="Upper bound on sequence length in tokens; None takes it from config.json; "
            "suffixes such as k or Ki work.",
            type_parser=parse_human_readable_int,
        ),
    ] = None
    is_embedding: A[
        bool,
        "Serve a causal language model for embeddings rather than text generation.",
    ] = False
    dtype: A[
        str,
        Arg(
            help="Precision of weights and activations; auto keeps BF16 models in BF16 and runs "
            "FP32 or FP16 ones in FP16.",
            choices=["auto", "half", "float16", "bfloat16", "float", "float32"],
            resolvable=True,
        ),
    ] = "auto"

    # Quantization
    quantization: A[
        str | None,
        Arg(
            help="Quantization scheme of the weights, e.g. fp8 or awq; None follows the "
            "checkpoint, unquant forces none.",
            choices=QUANTIZATION_CHOICES,
            resolvable=True,
        ),
    ] = None
    quantization_param_path: A[
        str | None,
        Arg(
            help="JSON file of KV cache scale factors, wanted for FP8 caches; without it every "
            "scale is 1.0 and accuracy may drop.",
            type_parser=parse_nullable_str,
        ),
    ] = None
    kv_cache_dtype: A[
        str,
        Arg(
            help="Element type of the KV cache; auto matches the model, while FP8, MXFP8 and FP4 "
            "types shrink the cache.",
            choices=[
                "auto",
                "fp8_e5m2",
                "fp8_e4m3",
                "mxfp8",
                "bf16",
                "bfloat16",
                "nvfp4",
                "fp4_mx_block16",
                "fp4_e2m1",
            ],
            resolvable=True,
        ),
    ] = "auto"
    quantize_and_serve: A[
        bool,
        "Quantize through ModelOpt at startup and serve at once with no export; meant for "
        "prototyping.",
    ] = False
    rl_quant_profile: A[
        str | None,
        "FlashRL quantization profile file; mandatory when load_format is flash_rl.",
    ] = None

    # NVIDIA Model Optimizer
    modelopt_quant: A[
        str | dict[Any, Any] | None,
        "Scheme for NVIDIA Model Optimizer quantization, e.g. fp8 or nvfp4; needs the "
        "nvidia-modelopt package.",
    ] = None
    modelopt_checkpoint_restore_path: A[
        str | None,
        "Location of an already quantized ModelOpt checkpoint to load, which bypasses quantizing "
        "again.",
    ] = None
    modelopt_checkpoint_save_path: A[
        str | None,
        "Destination for the checkpoint that ModelOpt produces, so later launches can restore it.",
    ] = None
    modelopt_export_path: A[
        str | None,
        "Destination for a Hugging Face export of the ModelOpt-quantized model; None exports "
        "nothing.",
    ] = None

    # Loading
    load_format: A[
        str,
        Arg(
            help="Checkpoint format to load; auto prefers safetensors, then PyTorch bin files; "
            "dummy makes random weights.",
            choices=LOAD_FORMAT_CHOICES,
        ),
    ] = "auto"
    model_loader_extra_config: A[
        str,
        "JSON object of extra options handed to whichever loader load_format selects; keys depend "
        "on that loader.",
    ] = "{}"
    custom_weight_loader: A[
        list[str] | None,
        Arg(
            help="Import paths, in dotted form, of user functions that apply weight updates.",
            nargs="*",
        ),
    ] = None
    startup_weight_load_mode: A[
        Literal["serial", "overlap"],
        "Order of weight loading and CUDA graph capture: serial runs them in turn, overlap stages "
        "files during capture.",
    ] = "serial"

    @derived
    def is_startup_weight_load_overlap(cfg) -> bool:
        """Whether weights load while the rest of start-up goes on."""
        return cfg.startup_weight_load_mode == "overlap"

    weight_loader_disable_mmap: A[
        bool,
        "Read safetensors files without memory mapping them.",
    ] = False
    weight_loader_prefetch_checkpoints: A[
        bool,
        "Warm the OS page cache with each rank's share of the checkpoint before loading; useful "
        "on network storage.",
    ] = False
    weight_loader_prefetch_num_threads: A[
        int,
        "Threads each rank uses for warming the page cache with checkpoint files.",
    ] = 4
    weight_loader_drop_cache_after_load: A[
        bool,
        "Evict every safetensors shard from the page cache with posix_fadvise once it has been "
        "read.",
    ] = False
    delete_ckpt_after_loading: A[
        bool,
        "Remove the checkpoint files from disk when the weights are in memory.",
    ] = False
    checkpoint_engine_wait_weights_before_ready: A[
        bool,
        "Hold back inference until the first weights arrive from checkpoint-engine or another "
        "update path.",
    ] = False

    # Weights from another instance
    remote_instance_weight_loader_backend: A[
        Literal["transfer_engine", "nccl", "modelexpress"],
        "Transport for pulling weights off another instance: nccl, transfer_engine or "
        "modelexpress.",
    ] = "nccl"
    remote_instance_weight_loader_seed_instance_ip: A[
        str | None,
        "IP address of the running seed server from which to pull weights.",
    ] = None
    remote_instance_weight_loader_seed_instance_service_port: A[
        int | None,
        "API port of the seed server from which to pull weights.",
    ] = None
    remote_instance_weight_loader_send_weights_group_ports: A[
        list[int] | None,
        Arg(
            help="JSON list of ports for the communication groups that carry weights from the "
            "seed server.",
            type_parser=parse_json_list,
        ),
    ] = None
    remote_instance_weight_loader_start_seed_via_transfer_engine: A[
        bool,
        "Act as a weight seed, offering this server's weights to others over the transfer engine.",
    ] = False
    engine_info_bootstrap_port: A[
        int,
        Arg(
            help="TCP port of the engine info bootstrap service; give each instance on a node "
            "its own "
            "value.",
            fingerprint=False,
        ),
    ] = 6789
    modelexpress_config: A[
        str | None,
        "JSON options for ModelExpress peer-to-peer loading: url overrides the gRPC address, "
        "transport picks the link.",
    ] = None

    # Weight cache shared by processes
    weight_cache_mode: A[
        str,
        Arg(
            help="Weight cache role: off reads disk, daemon spawns a GPU-resident cache with the "
            "engine, client attaches over IPC.",
            choices=["off", "daemon", "client"],
        ),
    ] = "off"
    weight_cache_socket: A[
        str | None,
        "Unix socket of the cache daemon for client mode; None derives one from the physical GPU "
        "UUID.",
    ] = None
    weight_cache_timeout: A[
        int,
        "Seconds to wait until the weight cache daemon reports ready.",
    ] = 1800

    # Integrity and encrypted configurations
    model_checksum: A[
        str | None,
        Arg(
            help="Verify model files against a checksum JSON or Hugging Face repository; no value "
            "means model_path, None skips.",
            nargs="?",
            const="",
        ),
    ] = None
    decrypted_config_file: A[
        str | None,
        "Location of the model config in decrypted form, for encrypted checkpoints.",
    ] = None
    decrypted_draft_config_file: A[
        str | None,
        "Location of the draft model config in decrypted form, for encrypted checkpoints.",
    ] = None
