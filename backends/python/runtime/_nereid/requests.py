# SPDX-License-Identifier: Apache-2.0
"""InferenceRequest: a request passed to execute by the server, or created by the model for BLS."""

from __future__ import annotations

from typing import Any, Optional

from _nereid_native import (
    FIELD_CORRELATION_ID,
    FIELD_FLAGS,
    FIELD_HANDLE,
    FIELD_INPUTS,
    FIELD_PARAMETERS,
    FIELD_PLACES,
    FIELD_PRIORITY,
    FIELD_REQUESTED,
    FIELD_REQUEST_ID,
    FIELD_TIMEOUT,
    FIELD_TRACE,
    FIELD_TRACE_CONTEXT,
    Tensor,
)

from . import bls, cancellation, conversions, life
from . import parameters as parameter_texts
from .errors import TritonModelException
from .memory import TRITONSERVER_MEMORY_CPU, PreferredMemory
from .senders import InferenceResponseSender
from .trace import InferenceTrace

_NAME = "InferenceRequest"  # in texts of errors

RELEASE_ALL = 1
RELEASE_RESCHEDULE = 2


class InferenceRequest:
    __slots__ = (
        "__weakref__",
        "_cancelled",
        "_fields",
        "_flags",
        "_model",
        "_release_flags",
        "_sender",
    )

    def __init__(
        self,
        request_id: str = "",
        correlation_id: Any = 0,
        inputs: Any = None,
        requested_output_names: Any = None,
        model_name: Optional[str] = None,
        model_version: int = -1,
        flags: int = 0,
        timeout: int = 0,
        preferred_memory: PreferredMemory = PreferredMemory(TRITONSERVER_MEMORY_CPU),
        trace: Optional[InferenceTrace] = InferenceTrace(),
        parameters: Optional[dict] = None,
    ) -> None:
        request_id = conversions.text(_NAME, "request_id", request_id)
        model_name = conversions.text(_NAME, "model_name", model_name)
        model_version = conversions.number(
            _NAME, "model_version", model_version, conversions.INT64
        )
        flags = conversions.number(_NAME, "flags", flags, conversions.UINT32)
        timeout = conversions.number(_NAME, "timeout", timeout, conversions.UINT64)
        conversions.instance(
            _NAME, "preferred_memory", preferred_memory, PreferredMemory, "a PreferredMemory"
        )
        conversions.instance(_NAME, "trace", trace, InferenceTrace, "an InferenceTrace")
        correlation_id = _correlation(correlation_id)
        where = f"for request with id '{request_id}' and model name '{model_name}'"
        inputs = _inputs(inputs, where)
        requested_output_names = _output_names(requested_output_names, where)
        self._fields = (
            0,
            request_id,
            correlation_id,
            flags,
            timeout,
            parameter_texts.to_json(parameters),
            requested_output_names,
            inputs,
            trace._handle,
            trace._context,
            0,
        )
        self._flags = flags
        self._model = (model_name, model_version)
        self._sender = None
        self._cancelled = False
        self._release_flags = RELEASE_ALL

    @classmethod
    def from_server(cls, fields: tuple) -> InferenceRequest:
        request = cls.__new__(cls)
        # A model that keeps a request does not keep the memory of its client.
        request._fields = fields[:FIELD_PLACES] if fields[FIELD_PLACES] else fields
        request._flags = fields[FIELD_FLAGS]
        request._sender = None
        request._cancelled = False
        request._release_flags = RELEASE_ALL
        return request

    def inputs(self) -> list:
        return list(self._fields[FIELD_INPUTS])

    def request_id(self) -> str:
        return self._fields[FIELD_REQUEST_ID]

    def correlation_id(self) -> Any:
        """The number or string that the client has given."""
        return self._fields[FIELD_CORRELATION_ID]

    def flags(self) -> int:
        return self._flags

    def set_flags(self, flags: int) -> None:
        self._flags = conversions.number("set_flags", "flags", flags, conversions.UINT32)

    def timeout(self) -> int:
        """In microseconds."""
        return self._fields[FIELD_TIMEOUT]

    def parameters(self) -> str:
        """JSON text."""
        return self._fields[FIELD_PARAMETERS] or "{}"

    def trace(self) -> InferenceTrace:
        return InferenceTrace.of(self._fields[FIELD_TRACE], self._fields[FIELD_TRACE_CONTEXT])

    def requested_output_names(self) -> set:
        return set(self._fields[FIELD_REQUESTED])

    def exec(self, decoupled: bool = False) -> Any:
        """Sends the request and waits. Returns an InferenceResponse or, with `decoupled`, a
        ResponseIterator."""
        life.check_bls_allowed()
        decoupled = conversions.truth("exec", "decoupled", decoupled)
        return bls.infer(self._for_bls(decoupled, waits=True), decoupled)

    def async_exec(self, decoupled: bool = False) -> Any:
        """As exec(), but returns a future of the running event loop. With `decoupled` it is done when
        the first response has arrived."""
        life.check_bls_allowed()
        decoupled = conversions.truth("async_exec", "decoupled", decoupled)
        return bls.infer_in_background(self._for_bls(decoupled, waits=False), decoupled)

    def get_response_sender(self) -> InferenceResponseSender:
        if self._sender is None:
            fields = self._fields
            self._sender = InferenceResponseSender.of(
                fields[FIELD_HANDLE], fields[FIELD_REQUESTED], life.decoupled
            )
        return self._sender

    def is_cancelled(self) -> bool:
        if not self._cancelled and self._fields[FIELD_HANDLE] != 0:
            self._cancelled = cancellation.ask(self._fields[FIELD_HANDLE])
        return self._cancelled

    def set_release_flags(self, flags: int) -> None:
        self._release_flags = conversions.number(
            "set_release_flags", "flags", flags, conversions.UINT32
        )

    def _for_bls(self, decoupled: bool, waits: bool) -> tuple:
        fields = self._fields
        # A request that came from the server names no model; the server answers with an error.
        name, version = getattr(self, "_model", ("", -1))
        return (
            name,
            version,
            fields[FIELD_REQUEST_ID],
            fields[FIELD_CORRELATION_ID],
            self._flags,
            fields[FIELD_TIMEOUT],
            fields[FIELD_PRIORITY],
            fields[FIELD_PARAMETERS],
            fields[FIELD_REQUESTED],
            fields[FIELD_INPUTS],
            fields[FIELD_TRACE],
            decoupled,
            bls.blocks_execute(),
            waits,
        )


def _correlation(correlation_id: Any) -> Any:
    """Triton decides by the type and refuses, unlike elsewhere, numbers of numpy and bytes."""
    if correlation_id is None:
        raise conversions.wrong_type(
            _NAME, "correlation_id", correlation_id, "an integer or a str"
        )
    if isinstance(correlation_id, int):
        return conversions.number(_NAME, "correlation_id", correlation_id, conversions.UINT64)
    if isinstance(correlation_id, str):
        return conversions.text(_NAME, "correlation_id", correlation_id)
    raise TritonModelException("Correlation ID must be integer or string")


def _inputs(inputs: Any, where: str) -> tuple:
    tensors = tuple(conversions.items(_NAME, "inputs", inputs))
    for tensor in tensors:
        if tensor is None:
            raise TritonModelException(f"Input tensor {where} should not be empty.")
        conversions.instance(_NAME, "inputs", tensor, Tensor, "a list of Tensor objects")
    return tensors


def _output_names(names: Any, where: str) -> tuple:
    """Each name once."""
    kept = {}
    for given in conversions.items(_NAME, "requested_output_names", names):
        name = conversions.text(_NAME, "requested_output_names", given)
        if not name:
            raise TritonModelException(f"Requested output name {where} should not be empty.")
        kept[name] = None
    return tuple(kept)
