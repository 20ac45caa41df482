"""Names under which models import the original's classes."""

from __future__ import annotations

from typing import Any

import _nereid_native
from triton_python_backend_utils import (
    TRITONSERVER_MEMORY_CPU,
    TRITONSERVER_MEMORY_GPU,
    InferenceRequest,
    InferenceResponse,
    InferenceResponseSender,
    InferenceTrace,
    Logger,
    MemoryType,
    Metric,
    MetricFamily,
    MetricKind,
    PreferredMemory,
    ResponseIterator,
    Tensor,
    TritonError,
    TritonModelException,
    is_model_ready,
    load_model,
    unload_model,
)

__all__ = [
    "InferenceRequest",
    "InferenceResponse",
    "InferenceResponseSender",
    "InferenceTrace",
    "Logger",
    "MemoryType",
    "Metric",
    "MetricFamily",
    "MetricKind",
    "PreferredMemory",
    "ResponseIterator",
    "SharedMemory",
    "TRITONSERVER_MEMORY_CPU",
    "TRITONSERVER_MEMORY_GPU",
    "Tensor",
    "TritonError",
    "TritonModelException",
    "async_event_future_done_callback",
    "is_model_ready",
    "load_model",
    "shared_memory",
    "unload_model",
]


class SharedMemory:
    """The memory that the process and the server share. It grows and shrinks automatically."""

    def free_memory(self) -> int:
        """The number of bytes that can still be allocated if the system has that much memory."""
        return _nereid_native.free_memory()


shared_memory = SharedMemory()


def async_event_future_done_callback(py_future: Any) -> None:
    """A callback for a finished task of the event loop: logs its error."""
    if not py_future.cancelled() and py_future.exception() is not None:
        from _nereid.exception_text import traceback_text

        Logger.log_error(traceback_text(py_future.exception()))
