# SPDX-License-Identifier: Apache-2.0
"""The model that a served function is: the backend python imports it from the model.py that
nereid_server.serve writes, in the function's own process."""

from __future__ import annotations

import asyncio
import inspect
import os
import pickle
import threading
import traceback
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from .errors import RequestError
from .repository import PICKLE
from .serving import importing
from .tensors import ResultError, argument, kind_of, results

_FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    """Calls the function. `execute` runs on one thread; coroutines run on the thread of `_loop`."""

    def initialize(self, args: dict[str, str]) -> None:
        with open(os.path.join(pb_utils.get_model_dir(), PICKLE), "rb") as file, importing():
            self._model = pickle.load(file)
        target = self._model.target() if self._model.makes_instance else self._model.target
        self._target = target
        if hasattr(target, "setup"):
            target.setup()
        if self._model.asynchronous:
            self._loop = asyncio.new_event_loop()
            threading.Thread(target=self._loop.run_forever, name="nereid-async", daemon=True).start()

    def finalize(self) -> None:
        if hasattr(self._target, "teardown"):
            self._target.teardown()

    def execute(self, requests: list[Any]) -> Any:
        """Streams and coroutines answer through the requests' senders, so that the process is free for
        the next requests meanwhile."""
        if self._model.streams:
            for request in requests:
                if self._model.asynchronous:
                    self._start(self._stream_async(request))
                else:
                    self._stream(request)
            return None
        # Without batching the server sends one request at a time.
        if self._model.asynchronous:
            self._start(self._answer_async(requests))
            return None
        return self._answer(requests)

    def _start(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    # --- One answer for each request.

    def _answer(self, requests: list[Any]) -> list[Any]:
        try:
            arrays, rows = self._joined(requests)
            return self._split(self._call(arrays), rows)
        except BaseException as error:  # sys.exit() in a function only fails its requests
            return [self._failure(error)] * len(requests)

    async def _answer_async(self, requests: list[Any]) -> None:
        try:
            arrays, rows = self._joined(requests)
            responses = self._split(await self._call(arrays), rows)
        except BaseException as error:
            responses = [self._failure(error)] * len(requests)
        for request, response in zip(requests, responses):
            request.get_response_sender().send(response, _FINAL)

    def _joined(self, requests: list[Any]) -> tuple[dict[str, Any], list[int]]:
        """The inputs of all requests one behind the other, and how many items each request has; all have the
        same inputs, as the server sees to. Without batching: those of the only request."""
        arrays = [_arrays(request) for request in requests]
        if self._model.max_batch_size == 0:
            return arrays[0], []
        rows = [len(next(iter(each.values()))) for each in arrays]
        if len(arrays) == 1:
            return arrays[0], rows
        return {name: np.concatenate([each[name] for each in arrays]) for name in arrays[0]}, rows

    def _split(self, returned: Any, rows: list[int]) -> list[Any]:
        outputs = results(self._model, returned, sum(rows))
        if len(rows) <= 1:
            return [_response(outputs)]
        return [
            _response({name: array[end - count : end] for name, array in outputs.items()})
            for end, count in zip(np.cumsum(rows), rows)
        ]

    # --- A stream of answers.

    def _stream(self, request: Any) -> None:
        sender = request.get_response_sender()
        try:
            produced = _iterator(self._call(_arrays(request)))
            try:
                for value in produced:
                    sender.send(_response(results(self._model, value, 0)))
                    if sender.is_cancelled():
                        break
            finally:
                if hasattr(produced, "close"):  # of a generator
                    produced.close()
        except BaseException as error:
            sender.send(self._failure(error), _FINAL)
        else:
            sender.send(flags=_FINAL)

    async def _stream_async(self, request: Any) -> None:
        sender = request.get_response_sender()
        try:
            produced = self._call(_arrays(request))
            if inspect.isawaitable(produced):  # of a function that returns an iterator
                produced = await produced
            produced = _async_iterator(produced)
            try:
                async for value in produced:
                    sender.send(_response(results(self._model, value, 0)))
                    if sender.is_cancelled():
                        break
            finally:
                if hasattr(produced, "aclose"):
                    await produced.aclose()
        except BaseException as error:
            sender.send(self._failure(error), _FINAL)
        else:
            sender.send(flags=_FINAL)

    # --- Both.

    def _call(self, arrays: dict[str, Any]) -> Any:
        inputs = self._model.inputs
        return self._target(**{name: argument(name, inputs[name], array) for name, array in arrays.items()})

    def _failure(self, error: BaseException) -> pb_utils.InferenceResponse:
        """The answer to a request that has failed. Faults of the function are logged with their traceback."""
        if isinstance(error, RequestError):
            return _error(str(error), error.code)
        name = self._model.name
        if isinstance(error, ResultError):
            text = f"the function '{name}' {error}"
            pb_utils.Logger.log_error(text)
            return _error(text, "INTERNAL")
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        pb_utils.Logger.log_error(f"the function '{name}' failed:\n{''.join(lines)}")
        return _error(f"the function '{name}' failed: {type(error).__name__}: {error}", "INTERNAL")


def _iterator(returned: Any) -> Iterator[Any]:
    try:
        return iter(returned)
    except TypeError:
        raise ResultError(f"returned {kind_of(returned)} in place of an iterator") from None


def _async_iterator(returned: Any) -> AsyncIterator[Any]:
    return returned.__aiter__() if hasattr(returned, "__aiter__") else _stepping(_iterator(returned))


async def _stepping(iterator: Iterator[Any]) -> AsyncIterator[Any]:
    for value in iterator:
        yield value


def _arrays(request: Any) -> dict[str, Any]:
    return {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}


def _response(outputs: dict[str, Any]) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, array) for name, array in outputs.items()])


def _error(text: str, code: str) -> pb_utils.InferenceResponse:
    return pb_utils.InferenceResponse(error=pb_utils.TritonError(text, getattr(pb_utils.TritonError, code)))
