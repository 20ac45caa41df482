# SPDX-License-Identifier: Apache-2.0
"""Responses, and the iterators over them."""

from __future__ import annotations

import asyncio
import queue
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Optional, Union

from .. import _event_loop, _native
from .._errors import Error
from ._tensor import Tensor, tensor_on

if TYPE_CHECKING:
    from ._model import Model


@dataclass
class InferenceResponse:
    """A response of a model, or the end of the responses."""

    model: Model
    request_id: Optional[str] = None
    parameters: Dict[str, Union[str, int, bool, float]] = field(default_factory=dict)
    outputs: Dict[str, Tensor] = field(default_factory=dict)
    error: Optional[Error] = None
    classification_label: Optional[str] = None
    final: bool = False


def _response_of(model: Model, request_id: Optional[str], answer: Any) -> InferenceResponse:
    tensors, name, version, answered_id, parameters, error, final = answer
    if tensors is None:
        return InferenceResponse(model, request_id, final=final)
    outputs = {output: tensor_on(tensor, tensor) for output, tensor in tensors.items()}
    response = InferenceResponse(
        model.of_version(name, version), answered_id, parameters or {}, outputs, error, final=final
    )
    if error is not None:
        error.args += (response,)
    return response


class _Responses:
    def __init__(
        self, call: _native.Call, model: Model, request_id: Optional[str], raise_on_error: bool
    ) -> None:
        self._call = call
        self._model = model
        self._request_id = request_id
        self._raise_on_error = raise_on_error
        self._complete = False

    def cancel(self) -> None:
        """Asks the server to give the request up."""
        self._call.cancel()

    def _take(self) -> Optional[InferenceResponse]:
        """The next response; None: none has come yet."""
        answer = self._call.take()
        return None if answer is None else _response_of(self._model, self._request_id, answer)

    def _give(self, response: InferenceResponse) -> InferenceResponse:
        self._complete = response.final
        if self._raise_on_error and response.error is not None:
            raise response.error
        return response


class ResponseIterator(_Responses):
    """The responses of a request as they come."""

    def __init__(self, *args: Any, response_queue: Optional[queue.SimpleQueue[Any]] = None) -> None:
        super().__init__(*args)
        self._mine: Optional[queue.SimpleQueue[Any]] = None
        if response_queue is not None:
            self._mine = queue.SimpleQueue()
            threading.Thread(
                target=self._fill, args=(self._mine, response_queue), daemon=True
            ).start()

    def _fill(self, *queues: queue.SimpleQueue[Any]) -> None:
        """Puts all responses into the queues as they come."""
        final = False
        while not final:
            response = self._wait()
            final = response.final
            for each in queues:
                each.put(response)

    def _wait(self) -> InferenceResponse:
        while True:
            response = self._take()
            if response is not None:
                return response
            self._call.wait(True, -1.0)

    def __iter__(self) -> ResponseIterator:
        return self

    def __next__(self) -> InferenceResponse:
        if self._complete:
            raise StopIteration
        return self._give(self._wait() if self._mine is None else self._mine.get())


class AsyncResponseIterator(_Responses):
    """The responses of a request as they come, for ``async for``."""

    def __init__(self, *args: Any, response_queue: Optional[asyncio.Queue[Any]] = None) -> None:
        super().__init__(*args)
        self._mine: Optional[asyncio.Queue[Any]] = None
        if response_queue is not None:
            self._mine = asyncio.Queue()
            # The loop itself keeps tasks by weak references only.
            self._filler = asyncio.get_running_loop().create_task(
                self._fill(self._mine, response_queue)
            )

    async def _fill(self, *queues: asyncio.Queue[Any]) -> None:
        final = False
        while not final:
            response = await self._wait()
            final = response.final
            for each in queues:
                await each.put(response)

    async def _wait(self) -> InferenceResponse:
        while True:
            response = self._take()
            if response is not None:
                return response
            await _event_loop.news(self._call, True)

    def __aiter__(self) -> AsyncResponseIterator:
        return self

    async def __anext__(self) -> InferenceResponse:
        if self._complete:
            raise StopAsyncIteration
        return self._give(await (self._wait() if self._mine is None else self._mine.get()))
