# SPDX-License-Identifier: Apache-2.0
"""Requests of a model to other models (business logic scripting): calls, and their responses."""

from __future__ import annotations

import contextvars
import os
import threading
from typing import Any, Callable, Optional

import _nereid_native as native

from . import calls, life, relay
from .responses import InferenceResponse

MOST_BACKGROUND_CALLS = 256  # as many as there are slots for answers


class AwaitedExecute:
    """An asynchronous execute whose end the instance awaits before it takes other requests."""

    __slots__ = ("running",)

    def __init__(self) -> None:
        self.running = True


# The execute to which the running coroutine or task belongs; tasks inherit it from their creator.
awaited_execute: contextvars.ContextVar[Optional[AwaitedExecute]] = contextvars.ContextVar(
    "awaited_execute", default=None
)


def blocks_execute() -> bool:
    """Whether this instance's execute has to wait for the answer to a call made by the caller."""
    if life.executing and threading.get_ident() == life.MAIN_THREAD:
        return True
    awaited = awaited_execute.get()
    return awaited is not None and awaited.running


def infer(message: tuple, decoupled: bool) -> Any:
    """Waits for the server's answer. Returns an InferenceResponse or, with `decoupled`, a
    ResponseIterator. An error is returned as a response that contains it."""
    try:
        answer = calls.ask(native.CALL_INFER, *message)
    except calls.CallError as error:
        failed = InferenceResponse.failed(
            error.code, error.text or "An error occurred while performing BLS request."
        )
        return ResponseIterator(None, [failed]) if decoupled else failed
    if decoupled:
        return ResponseIterator(answer, [])
    return InferenceResponse.from_server(answer)


class _Pool:
    """Threads that wait for answers; created when first needed."""

    _executor = None
    _lock = threading.Lock()

    @classmethod
    def get(cls) -> Any:
        with cls._lock:
            if cls._executor is None:
                from concurrent.futures import ThreadPoolExecutor

                cls._executor = ThreadPoolExecutor(MOST_BACKGROUND_CALLS, "bls")
            return cls._executor


def _in_background(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls the function in another thread; returns a future of the running event loop."""
    import asyncio

    return asyncio.get_running_loop().run_in_executor(_Pool.get(), function, *arguments)


def infer_in_background(message: tuple, decoupled: bool) -> Any:
    """Does what infer() does in another thread; returns a future of the running event loop. With
    `decoupled` it is done when the first response has arrived, so that asking the iterator for that
    one does not stop the event loop."""
    return _in_background(_infer_until_first if decoupled else infer, message, decoupled)


def _infer_until_first(message: tuple, decoupled: bool) -> Any:
    responses = infer(message, decoupled)
    responses.fetch_first()
    return responses


class ResponseIterator:
    """The responses of a decoupled model, in order. They are kept: once all have arrived, a new
    iteration starts again at the first one. `for` waits in the calling thread; in a coroutine,
    `async for` lets the event loop go on."""

    def __init__(self, stream: Optional[int], responses: list) -> None:
        self._stream = stream
        self._responses = responses
        self._next = 0
        self._process = os.getpid()  # a process that is forked later has copies of streams only

    def __iter__(self) -> ResponseIterator:
        if self._stream is None and self._next >= len(self._responses):
            self._next = 0
        return self

    def __next__(self) -> InferenceResponse:
        if self._next >= len(self._responses):
            if self._stream is None:
                raise StopIteration("Iteration is done for the responses.")
            self._fetch()
        response = self._responses[self._next]
        self._next += 1
        return response

    def __aiter__(self) -> ResponseIterator:
        return self.__iter__()

    async def __anext__(self) -> InferenceResponse:
        if self._next >= len(self._responses) and self._stream is not None:
            await _in_background(self._fetch)
        try:
            return self.__next__()
        except StopIteration as end:
            raise StopAsyncIteration(*end.args) from None

    def cancel(self) -> None:
        """Cancels the request, unless all responses have arrived."""
        if self._stream is not None:
            calls.post(native.CALL_STREAM_CANCEL, self._stream)

    def fetch_first(self) -> None:
        """Waits for the first response, unless it is there."""
        if self._stream is not None and not self._responses:
            self._fetch()

    def _fetch(self) -> None:
        try:
            fields, final = calls.ask(native.CALL_STREAM_NEXT, self._stream)
        except calls.CallError as error:
            self._responses.append(InferenceResponse.failed(error.code, error.text))
            self._stream = None
            return
        # A final flag that arrives without a response becomes a response without outputs.
        self._responses.append(InferenceResponse.from_server(fields or (None, (), "")))
        if final:
            # The server keeps what it has of the stream until then.
            calls.post(native.CALL_STREAM_CLOSE, self._stream)
            self._stream = None

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is None:
            return
        if self._process == os.getpid() and native.in_forked_child():
            relay.close_later(self._stream)
        else:
            calls.post_at_end(native.CALL_STREAM_CLOSE, self._stream)
