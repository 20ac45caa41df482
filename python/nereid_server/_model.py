# SPDX-License-Identifier: Apache-2.0
"""A model of a server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence

import numpy as np

from . import _event_loop, _native
from ._convert import convert_input
from ._errors import InvalidArgumentError
from ._request import RequestOptions, request_options
from ._response import Response, response_of
from ._stream import AsyncStream, Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._server import Server

Inputs = Mapping[str, Any]


class Model:
    """A model by its name and version; :meth:`Server.model` makes it. Thread-safe.

    All ways to send a request take the same arguments:

    ``inputs``
        Tensors by name. An array of numpy, a :class:`Tensor` of a response, and whatever has
        ``__dlpack__`` are read where they are, without a copy, so they must be contiguous in C order
        and must not change before the answer has come. Their shape includes the batch dimension, if
        the model has one. Lists and numbers are converted to the type of the model's input. Strings
        are arrays or lists of ``str`` or ``bytes``. BF16 is an array of ``ml_dtypes.bfloat16`` or a
        tensor of another framework.
    ``outputs``
        Names of the outputs wanted; None: all.
    ``parameters``
        For the model: ``str``, ``int``, ``float`` or ``bool`` by name.
    ``request_id``
        A text for logs and traces, which comes back in the response.
    ``priority``
        1 is the most urgent; 0: the model's default.
    ``queue_timeout``
        Seconds that the request may wait in the model's queue, if the queue's policy lets requests
        choose.
    ``sequence_id``, ``sequence_start``, ``sequence_end``
        For a stateful model: a number or a text for the requests that belong together, and whether
        this one is the first or the last.

    They raise :class:`InvalidArgumentError` for a request that does not fit the model,
    :class:`NotFoundError` and :class:`UnavailableError` for a model that is not there or not ready,
    and what the model itself answers.
    """

    __slots__ = ("_convert", "_server", "name", "version")

    def __init__(self, server: Server, name: str, version: int = -1) -> None:
        self._server = server
        self.name = name
        self.version = version
        self._convert = self._convert_input  # bound once: a call of infer() does not bind it again

    def infer(
        self,
        inputs: Inputs,
        outputs: Optional[Sequence[str]] = None,
        *,
        timeout: Optional[float] = None,
        **more: Unpack[RequestOptions],
    ) -> Response:
        """Sends a request and waits for the only response; the arguments are those of the class.

        Blocks without the GIL. A short model may be executed by the calling thread. When it returns,
        the inputs may be changed. After ``timeout`` seconds (:class:`TimeoutError`), and when a
        signal's handler raises, such as ``KeyboardInterrupt``, the request is cancelled; the inputs
        stay alive until the server has let go of them, and should not be changed.
        """
        return response_of(
            self._server.running.infer(
                self.name,
                self.version,
                inputs if type(inputs) is dict else _dict(inputs),
                outputs,
                request_options(**more) if more else None,
                self._convert,
                -1.0 if timeout is None else timeout,
            )
        )

    async def async_infer(
        self,
        inputs: Inputs,
        outputs: Optional[Sequence[str]] = None,
        **more: Unpack[RequestOptions],
    ) -> Response:
        """As :meth:`infer`, for asyncio: the event loop goes on meanwhile. Cancelling the task
        cancels the request; use ``asyncio.wait_for`` for a time-out."""
        call = self._submit(inputs, outputs, more, single=True)
        await _event_loop.news(call, False)
        answer = call.take()
        if call.answers != 1:
            raise InvalidArgumentError(
                f"model '{self.name}' answered with {call.answers} responses, and async_infer() is "
                "for exactly one: use async_stream()"
            )
        return response_of(answer)

    def stream(
        self,
        inputs: Inputs,
        outputs: Optional[Sequence[str]] = None,
        *,
        timeout: Optional[float] = None,
        **more: Unpack[RequestOptions],
    ) -> Stream:
        """Sends a request and returns its responses as they come: none, one or many. ``timeout``:
        seconds that each may take. The inputs may be changed when the iterator has ended."""
        return Stream(self._submit(inputs, outputs, more, single=False), timeout)

    def async_stream(
        self,
        inputs: Inputs,
        outputs: Optional[Sequence[str]] = None,
        **more: Unpack[RequestOptions],
    ) -> AsyncStream:
        """As :meth:`stream`, for ``async for``."""
        return AsyncStream(self._submit(inputs, outputs, more, single=False))

    def _submit(
        self, inputs: Inputs, outputs: Optional[Sequence[str]], more: RequestOptions, single: bool
    ) -> _native.Call:
        extras = request_options(**more) if more else None
        return self._server.running.submit(
            self.name, self.version, _dict(inputs), outputs, extras, self._convert, single
        )

    def _convert_input(self, name: str, value: Any) -> np.ndarray:
        types = {tensor["name"]: tensor["datatype"] for tensor in self.metadata()["inputs"]}
        return convert_input(name, value, types.get(name))

    # ---- Reports.

    def is_ready(self) -> bool:
        """Whether the model takes requests. Raises if it is unknown."""
        return self._server.running.model_ready(self.name, self.version)

    def metadata(self) -> Dict[str, Any]:
        """``name``, ``versions``, ``platform``, ``inputs`` and ``outputs``, each with ``name``,
        ``datatype`` and ``shape``; -1 is a dimension of any size."""
        return json.loads(self._server.running.model_metadata(self.name, self.version))

    def config(self) -> Dict[str, Any]:
        """The complete configuration, as JSON has it."""
        return json.loads(self._server.running.model_config(self.name, self.version, 1))

    def statistics(self) -> List[Dict[str, Any]]:
        """Counts and times in nanoseconds, one dict for each version."""
        return json.loads(self._server.running.model_statistics(self.name, self.version))["model_stats"]

    def __repr__(self) -> str:
        return f"Model({self.name!r}, version={self.version})"


def _dict(inputs: Any) -> Dict[str, Any]:
    if isinstance(inputs, Mapping):
        return dict(inputs)
    raise TypeError(f"inputs must be a dict of tensors by name, not {type(inputs).__name__}")
