"""`ServerArgs`: all settings of the server as one flat record."""

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
from namespaces.field_order import POSITIONAL_FIELD_ORDER, RETIRED_FIELDS
from namespaces.lora import Lora
from namespaces.memory import Memory
from namespaces.mm import Mm
from namespaces.model import Model
from namespaces.observability import Observability
from namespaces.parallel import Parallel
from namespaces.schedule import Schedule
from namespaces.serving import Serving
from namespaces.spec import Spec
from registry import compose

__all__ = ["NAMESPACES", "ServerArgs"]

NAMESPACES = (
    Model,
    ExecFeatures,
    ExecKernel,
    ExecMamba,
    ExecGraph,
    ExecComm,
    ExecMoe,
    ExecOverlap,
    ExecOffload,
    ExecDllm,
    ExecDeterministic,
    Lora,
    Disagg,
    Spec,
    Observability,
    Device,
    Parallel,
    Memory,
    Schedule,
    Mm,
    Serving,
)
"""The namespaces of the server, in the order of the record's declaration."""

ServerArgs = compose(
    "ServerArgs",
    NAMESPACES,
    order=POSITIONAL_FIELD_ORDER,
    retired=RETIRED_FIELDS,
    doc="What an operator may set about the inference server: all settings, flat, nothing derived.",
)
