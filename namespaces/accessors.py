"""One function per top-level namespace that returns its bag of the current configuration.

`get_parallel().attn_tp_size` reads what is true now: a call, two attribute loads and nothing
else. For type checkers a bag has the names and types of the class that declares it; `exec` has no
class of its own, so `Exec` lists its parts.
"""

from __future__ import annotations

from typing import Protocol

from namespaces.device import Device
from namespaces.disagg import Disagg
from namespaces.exec_ import (
    ExecComm,
    ExecDeterministic,
    ExecDllm,
    ExecFeatures,
    ExecGraph,
    ExecKernel,
    ExecMamba,
    ExecMoe,
    ExecOffload,
    ExecOverlap,
)
from namespaces.lora import Lora
from namespaces.memory import Memory
from namespaces.mm import Mm
from namespaces.model import Model
from namespaces.observability import Observability
from namespaces.parallel import Parallel
from namespaces.schedule import Schedule
from namespaces.serving import Serving
from namespaces.spec import Spec
from registry import live

__all__ = [
    "Exec",
    "get_device",
    "get_disagg",
    "get_exec",
    "get_lora",
    "get_memory",
    "get_mm",
    "get_model",
    "get_observability",
    "get_parallel",
    "get_schedule",
    "get_serving",
    "get_spec",
]


class Exec(Protocol):
    """The bag of `exec`, which holds the namespaces below it."""

    comm: ExecComm
    deterministic: ExecDeterministic
    dllm: ExecDllm
    features: ExecFeatures
    graph: ExecGraph
    kernel: ExecKernel
    mamba: ExecMamba
    moe: ExecMoe
    offload: ExecOffload
    overlap: ExecOverlap


def get_device() -> Device:
    """Return the bag of `device`."""
    bag: Device = live.device
    return bag


def get_disagg() -> Disagg:
    """Return the bag of `disagg`."""
    bag: Disagg = live.disagg
    return bag


def get_exec() -> Exec:
    """Return the bag of `exec`: `get_exec().moe.moe_runner_backend`."""
    bag: Exec = live.exec
    return bag


def get_lora() -> Lora:
    """Return the bag of `lora`."""
    bag: Lora = live.lora
    return bag


def get_memory() -> Memory:
    """Return the bag of `memory`."""
    bag: Memory = live.memory
    return bag


def get_mm() -> Mm:
    """Return the bag of `mm`."""
    bag: Mm = live.mm
    return bag


def get_model() -> Model:
    """Return the bag of `model`."""
    bag: Model = live.model
    return bag


def get_observability() -> Observability:
    """Return the bag of `observability`."""
    bag: Observability = live.observability
    return bag


def get_parallel() -> Parallel:
    """Return how ranks are arranged in this process now.

    Raises:
        NotPublishedError: this process has published no configuration.

    Example:
        >>> from namespaces import ServerArgs
        >>> from registry import publish, reset
        >>> context = publish(ServerArgs("m", tp_size=8, dp_size=2, enable_dp_attention=True))
        >>> get_parallel().attn_tp_size
        4
        >>> reset()
    """
    bag: Parallel = live.parallel
    return bag


def get_schedule() -> Schedule:
    """Return the bag of `schedule`."""
    bag: Schedule = live.schedule
    return bag


def get_serving() -> Serving:
    """Return the bag of `serving`."""
    bag: Serving = live.serving
    return bag


def get_spec() -> Spec:
    """Return the bag of `spec`."""
    bag: Spec = live.spec
    return bag
