# SPDX-License-Identifier: Apache-2.0
"""The responses of a request to a decoupled model, as they come."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Optional, Type

from . import _event_loop, _native
from ._response import Response, response_of


class _Responses:
    """What both kinds of streams share."""

    def __init__(self, call: _native.Call) -> None:
        self._call: Optional[_native.Call] = call

    def cancel(self) -> None:
        """Asks the server to give the request up. What follows is its answer to that: often an
        error, :class:`CancelledError`."""
        if self._call is not None:
            self._call.cancel()

    def _drop(self) -> None:
        self._call = None  # cancels what has not ended

    def _take(self) -> Optional[Response]:
        """The next response; None: none has come yet, or the stream has ended."""
        while self._call is not None:
            answer: Any = self._call.take()
            if answer is None:
                if self._call.ended:
                    self._drop()
                return None
            tensors, *_rest = answer
            if tensors is not None:  # otherwise only the end has come
                return response_of(answer)
        return None


class Stream(_Responses):
    """An iterator over responses. ``next()`` blocks for ``timeout`` seconds at most, and raises the
    server's error if the response is one, or :class:`TimeoutError`; the stream goes on after both.
    Dropping or closing it cancels the request."""

    def __init__(self, call: _native.Call, timeout: Optional[float]) -> None:
        super().__init__(call)
        self._seconds = -1.0 if timeout is None else timeout

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Response:
        while True:
            response = self._take()
            if response is not None:
                return response
            call = self._call
            if call is None:
                raise StopIteration
            if not call.wait(True, self._seconds):
                raise TimeoutError(f"no response came within {self._seconds} seconds")

    def close(self) -> None:
        """Cancels the request if it has not ended. Nothing follows."""
        self._drop()

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


class AsyncStream(_Responses):
    """An asynchronous iterator over responses. A response that is an error is raised; the stream goes
    on after it. Dropping or closing the stream, or cancelling the task that waits for it, cancels
    the request."""

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> Response:
        while True:
            response = self._take()
            if response is not None:
                return response
            call = self._call
            if call is None:
                raise StopAsyncIteration
            await _event_loop.news(call, True)

    async def aclose(self) -> None:
        """Cancels the request if it has not ended. Nothing follows."""
        self._drop()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()
