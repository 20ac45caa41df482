# SPDX-License-Identifier: Apache-2.0
"""InferenceResponseSender: how a model answers a request, once or many times, from any thread."""

from __future__ import annotations

import threading
from typing import Any, Optional

import _nereid_native as native

from . import calls, cancellation, conversions, credit
from .errors import TritonModelException
from .responses import InferenceResponse

FINAL = 1
INTERNAL = 1
MOST_UNREAD = 256 << 10  # bytes of one request's responses that the server may not have seen yet


class InferenceResponseSender:
    __slots__ = (
        "__weakref__",
        "_cancelled",
        "_closed",
        "_decoupled",
        "_entries",
        "_handle",
        "_lock",
        "_requested",
        "_sent",
        "_unread",
    )

    def __init__(self) -> None:
        raise TypeError("InferenceResponseSender: No constructor defined!")

    @classmethod
    def of(cls, handle: int, requested: tuple, decoupled: bool) -> InferenceResponseSender:
        """`handle` is 0 for a request that the model created itself, which has no client."""
        sender = cls.__new__(cls)
        sender._handle = handle
        sender._requested = requested
        sender._decoupled = decoupled
        sender._sent = 0
        sender._closed = handle == 0
        sender._cancelled = False
        sender._entries = 0
        sender._unread = 0
        # Two threads may send; the lock ensures that a check still holds when the response is sent.
        sender._lock = threading.Lock()
        return sender

    def send(self, response: Optional[InferenceResponse] = None, flags: int = 0) -> None:
        flags = _checked(response, flags)
        if self._waits(response, flags):
            # On the thread of an event loop, waiting would stop all of its coroutines.
            if not self._has_credit() and not credit.in_event_loop():
                credit.wait(self._handle)
        self._post(response, flags)

    async def async_send(
        self, response: Optional[InferenceResponse] = None, flags: int = 0
    ) -> None:
        """As send(), for a coroutine: while the client reads too slowly, the coroutine waits and
        its event loop goes on."""
        flags = _checked(response, flags)
        if self._waits(response, flags) and not self._has_credit():
            await credit.wait_in_coroutine(self._handle)
        self.send(response, flags)

    def _waits(self, response: Optional[InferenceResponse], flags: int) -> bool:
        """Whether it is one of several responses. The last one never waits: it ends the request."""
        return self._decoupled and response is not None and flags == 0 and not self._closed

    def _has_credit(self) -> bool:
        # What the server has not seen may cost the credit.
        if self._unread > MOST_UNREAD:
            native.await_read(self._entries)
            self._unread = 0
        return native.has_credit(self._handle)

    def _post(self, response: Optional[InferenceResponse], flags: int) -> None:
        with self._lock:
            self._check(response, flags)
            message = None if response is None else response.for_server(self._requested)
            if self._decoupled and response is not None:
                self._entries, size = native.post_response(
                    (native.CALL_SEND, self._handle, message, flags)
                )
                self._unread += size
            else:
                native.post((native.CALL_SEND, self._handle, message, flags))
            if response is not None:
                self._sent += 1
            if flags == FINAL:
                self._closed = True

    def is_cancelled(self) -> bool:
        if not self._cancelled and self._handle != 0:
            self._cancelled = cancellation.ask(self._handle)
        return self._cancelled

    def _check(self, response: Optional[InferenceResponse], flags: int) -> None:
        if flags not in (0, FINAL):
            raise TritonModelException("Unable to send response. Unsupported flag provided.")
        if response is None and flags == 0:
            raise TritonModelException(
                "Inference Response object must be provided when the response flags is set to zero."
            )
        if self._handle == 0:
            raise TritonModelException(
                "Unable to send response. Response sender has no reference to the decoupled state "
                "of the model."
            )
        if not self._decoupled:
            if response is not None and self._sent > 0:
                raise TritonModelException(
                    "Unable to send response. Non-decoupled model cannot send more than one "
                    "response."
                )
            if response is None and self._sent == 0:
                raise TritonModelException(
                    "Unable to send response. Non-decoupled model cannot send complete final "
                    "before sending a response."
                )
        if self._closed:
            raise TritonModelException("Unable to send response. Response sender has been closed.")

    # --- For this package only.

    def check_returned(self) -> None:
        """Raises if execute returns a response that this sender has sent already."""
        with self._lock:
            self._check(_RETURNED, FINAL)

    def note_returned(self) -> None:
        """Notes that the request is answered by what execute returns."""
        with self._lock:
            self._sent += 1
            self._closed = True

    def close(self) -> None:
        """Refuses further responses, because the request is answered in another way."""
        with self._lock:
            self._closed = True

    def abandon(self) -> None:
        """Tells the server that this sender will send nothing more."""
        with self._lock:
            if not self._closed:
                self._closed = True
                native.post((native.CALL_CLOSED, self._handle))

    def fail(self, text: str) -> None:
        """Answers with an error if the request is not answered yet."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            native.post((native.CALL_SEND, self._handle, ((INTERNAL, text), (), ""), FINAL))

    def __del__(self) -> None:
        # The constructor may not have finished.
        if not getattr(self, "_closed", True):
            calls.post_at_end(native.CALL_CLOSED, self._handle)


def _checked(response: Any, flags: Any) -> int:
    """The flags of a response that is to be sent. Raises TypeError."""
    if response is not None:
        conversions.instance(
            "send", "response", response, InferenceResponse, "an InferenceResponse"
        )
    return conversions.number("send", "flags", flags, conversions.UINT32)


_RETURNED: Any = InferenceResponse.from_server((None, (), ""))
