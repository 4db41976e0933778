"""The hardware a process runs on, and settings of the process itself.

How processes are spread over machines is in `parallel`, their memory in `schedule`.
"""

from collections.abc import Callable
from typing import Any

from registry import A, Arg, Namespace

__all__ = ["Device"]


class Device(Namespace):
    """Hardware selection, seeds, watchdogs, NUMA binding and other process-level runtime
    settings.
    """

    _NS_PATH = "device"

    # Hardware
    device: A[
        str | None,
        "Hardware type to run on, such as cuda, xpu, npu or cpu; None detects it.",
    ] = None
    base_gpu_id: A[
        int,
        "Lowest GPU index to use; raise it to place several instances on one machine.",
    ] = 0
    gpu_id_step: A[int, "Stride between GPU indices in use; 2 takes GPUs 0, 2, 4 and so on."] = 1
    numa_node: A[
        list[int] | None,
        "NUMA nodes for the subprocesses, one entry each in order; None detects them on NUMA "
        "systems.",
    ] = None

    # Randomness
    random_seed: A[
        int | None,
        "Seed for random number generation; None draws one at random.",
    ] = None
    mlx_enable_sampling: A[
        bool,
        "Sample tokens on the MLX backend rather than decode greedily; penalties are not "
        "supported.",
    ] = False

    # Watchdogs and signals
    watchdog_timeout: A[
        float,
        Arg(
            help="Seconds a forward batch may take before the server aborts itself to avoid "
            "hanging.",
            fingerprint=False,
        ),
    ] = 300
    soft_watchdog_timeout: A[
        float | None,
        Arg(
            help="Seconds a forward batch may take before debug information is dumped; None "
            "turns this off.",
            fingerprint=False,
        ),
    ] = None
    custom_sigquit_handler: A[
        Callable[..., Any] | None,
        Arg(
            help="Callable that replaces the default SIGQUIT handler; Python only, None keeps the "
            "default.",
            no_cli=True,
        ),
    ] = None

    # Process
    use_ray: A[bool, "Manage scheduler processes as Ray actors."] = False
    sleep_on_idle: A[bool, "Lower CPU usage by sleeping while there is no work."] = False
    gc_threshold: A[
        list[int] | None,
        "One to three integers for the Python garbage collection thresholds; None keeps the "
        "Python defaults.",
    ] = None
