"""InferenceRequest: a request passed to execute by the server, or created by the model for BLS."""

from __future__ import annotations

from typing import Any, Optional

from _nereid_native import Tensor

from . import bls, cancellation, life
from . import parameters as parameter_texts
from .errors import TritonModelException
from .memory import TRITONSERVER_MEMORY_CPU, PreferredMemory
from .senders import InferenceResponseSender
from .trace import InferenceTrace

RELEASE_ALL = 1
RELEASE_RESCHEDULE = 2

# The fields of a request as they come from the server.
HANDLE = 0
REQUEST_ID = 1
CORRELATION_ID = 2
FLAGS = 3
TIMEOUT = 4
PARAMETERS = 5
REQUESTED = 6
INPUTS = 7
TRACE = 8
TRACE_CONTEXT = 9
PRIORITY = 10
PLACES = 11  # tensors that describe where the client wants outputs


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
        inputs: Optional[list] = None,
        requested_output_names: Optional[list] = None,
        model_name: Optional[str] = None,
        model_version: int = -1,
        flags: int = 0,
        timeout: int = 0,
        preferred_memory: PreferredMemory = PreferredMemory(TRITONSERVER_MEMORY_CPU),
        trace: Optional[InferenceTrace] = InferenceTrace(),
        parameters: Optional[dict] = None,
    ) -> None:
        _expect("request_id", request_id, str)
        _expect("model_name", model_name, str)
        _expect("model_version", model_version, int)
        _expect_count("flags", flags)
        _expect_count("timeout", timeout)
        _expect("preferred_memory", preferred_memory, PreferredMemory)
        _expect("trace", trace, InferenceTrace)
        _expect("inputs", inputs, (list, tuple))
        _expect("requested_output_names", requested_output_names, (list, tuple, set, frozenset))
        if correlation_id is None:
            _expect("correlation_id", correlation_id, (int, str))
        if not isinstance(correlation_id, (int, str)):
            raise TritonModelException("Correlation ID must be integer or string")
        if isinstance(correlation_id, int):
            _expect_count("correlation_id", correlation_id)
        where = f"for request with id '{request_id}' and model name '{model_name}'"
        for tensor in inputs:
            if tensor is None:
                raise TritonModelException(f"Input tensor {where} should not be empty.")
            _expect("inputs", tensor, Tensor)
        for name in requested_output_names:
            _expect("requested_output_names", name, str)
            if not name:
                raise TritonModelException(f"Requested output name {where} should not be empty.")
        self._fields = (
            0,
            request_id,
            correlation_id,
            flags,
            timeout,
            parameter_texts.to_json(parameters),
            tuple(dict.fromkeys(requested_output_names)),
            tuple(inputs),
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
        request._fields = fields[:PLACES] if fields[PLACES] else fields
        request._flags = fields[FLAGS]
        request._sender = None
        request._cancelled = False
        request._release_flags = RELEASE_ALL
        return request

    def inputs(self) -> list:
        return list(self._fields[INPUTS])

    def request_id(self) -> str:
        return self._fields[REQUEST_ID]

    def correlation_id(self) -> Any:
        """The number or string that the client has given."""
        return self._fields[CORRELATION_ID]

    def flags(self) -> int:
        return self._flags

    def set_flags(self, flags: int) -> None:
        _expect_count("flags", flags)
        self._flags = flags

    def timeout(self) -> int:
        """In microseconds."""
        return self._fields[TIMEOUT]

    def parameters(self) -> str:
        """JSON text."""
        return self._fields[PARAMETERS] or "{}"

    def trace(self) -> InferenceTrace:
        return InferenceTrace.of(self._fields[TRACE], self._fields[TRACE_CONTEXT])

    def requested_output_names(self) -> set:
        return set(self._fields[REQUESTED])

    def exec(self, decoupled: bool = False) -> Any:
        """Sends the request and waits. Returns an InferenceResponse or, with `decoupled`, a
        ResponseIterator."""
        life.check_bls_allowed()
        return bls.infer(self._for_bls(decoupled, waits=True), decoupled)

    def async_exec(self, decoupled: bool = False) -> Any:
        """As exec(), but returns a future of the running event loop."""
        life.check_bls_allowed()
        return bls.infer_in_background(self._for_bls(decoupled, waits=False), decoupled)

    def get_response_sender(self) -> InferenceResponseSender:
        if self._sender is None:
            fields = self._fields
            self._sender = InferenceResponseSender.of(
                fields[HANDLE], fields[REQUESTED], life.decoupled
            )
        return self._sender

    def is_cancelled(self) -> bool:
        if not self._cancelled and self._fields[HANDLE] != 0:
            self._cancelled = cancellation.ask(self._fields[HANDLE])
        return self._cancelled

    def set_release_flags(self, flags: int) -> None:
        _expect_count("flags", flags)
        self._release_flags = flags

    def _for_bls(self, decoupled: bool, waits: bool) -> tuple:
        _expect("decoupled", decoupled, bool)
        fields = self._fields
        # A request that came from the server names no model; the server answers with an error.
        name, version = getattr(self, "_model", ("", -1))
        return (
            name,
            version,
            fields[REQUEST_ID],
            fields[CORRELATION_ID],
            self._flags,
            fields[TIMEOUT],
            fields[PRIORITY],
            fields[PARAMETERS],
            fields[REQUESTED],
            fields[INPUTS],
            fields[TRACE],
            decoupled,
            bls.blocks_execute(),
            waits,
        )


def _expect_count(what: str, value: Any) -> None:
    """Raises TypeError unless `value` is an unsigned number of 64 bits."""
    _expect(what, value, int)
    if not 0 <= value < 1 << 64:
        raise TypeError(
            f"InferenceRequest: incompatible function arguments. '{what}' cannot be {value!r}"
        )


def _expect(what: str, value: Any, types: Any) -> None:
    if not isinstance(value, types):
        raise TypeError(
            f"InferenceRequest: incompatible function arguments. '{what}' cannot be {value!r} of "
            f"{type(value)}"
        )
