# SPDX-License-Identifier: Apache-2.0
"""Models."""

from __future__ import annotations

import asyncio
import copy
import json
import queue
from typing import TYPE_CHECKING, Any, Dict, Optional, Type, TypeVar

from .. import _native
from .._errors import InvalidArgumentError
from ._enums import ModelBatchFlag, ModelTxnPropertyFlag
from ._request import InferenceRequest
from ._response import AsyncResponseIterator, ResponseIterator

if TYPE_CHECKING:
    from ._server import Server

Queue = TypeVar("Queue")


class Model:
    """A model of a server; :meth:`Server.model` makes it."""

    def __init__(
        self,
        server: Server,
        name: str,
        version: int = -1,
        state: Optional[str] = None,
        reason: Optional[str] = None,
    ) -> None:
        server.check_started()
        self._server = server
        self.name = name
        self.version = version
        self.state = state
        self.reason = reason

    @property
    def running(self) -> _native.Server:
        """The native server."""
        return self._server.running

    def of_version(self, name: str, version: int) -> Model:
        """The model that answered."""
        model = copy.copy(self)
        model.name, model.version, model.state, model.reason = name, version, None, None
        return model

    def create_request(self, **kwargs: Any) -> InferenceRequest:
        """A request to this model, with these fields."""
        kwargs.pop("model", None)
        return InferenceRequest(model=self, **kwargs)

    def infer(
        self,
        inference_request: Optional[InferenceRequest] = None,
        raise_on_error: bool = True,
        **kwargs: Any,
    ) -> ResponseIterator:
        """Sends a request, or one with these fields. The iterator raises errors of responses, unless
        `raise_on_error` is false."""
        request = inference_request or self.create_request(**kwargs)
        copies = _checked(request.response_queue, queue.SimpleQueue)
        call = request.submit()
        return ResponseIterator(
            call, self, request.request_id, raise_on_error, response_queue=copies
        )

    def async_infer(
        self,
        inference_request: Optional[InferenceRequest] = None,
        raise_on_error: bool = True,
        **kwargs: Any,
    ) -> AsyncResponseIterator:
        """As :meth:`infer`, for ``async for``."""
        request = inference_request or self.create_request(**kwargs)
        copies = _checked(request.response_queue, asyncio.Queue)
        call = request.submit()
        return AsyncResponseIterator(
            call, self, request.request_id, raise_on_error, response_queue=copies
        )

    def metadata(self) -> Dict[str, Any]:
        return json.loads(self.running.model_metadata(self.name, self.version))

    def ready(self) -> bool:
        return self.running.model_ready(self.name, self.version)

    def batch_properties(self) -> ModelBatchFlag:
        return ModelBatchFlag(self.running.batch_properties(self.name, self.version))

    def transaction_properties(self) -> ModelTxnPropertyFlag:
        return ModelTxnPropertyFlag(self.running.transaction_properties(self.name, self.version))

    def statistics(self) -> Dict[str, Any]:
        return json.loads(self.running.model_statistics(self.name, self.version))

    def config(self, config_version: int = 1) -> Dict[str, Any]:
        return json.loads(self.running.model_config(self.name, self.version, config_version))

    def __repr__(self) -> str:
        return str({"name": self.name, "version": self.version, "state": self.state})


def _checked(queue_of_request: Any, kind: Type[Queue]) -> Optional[Queue]:
    """The queue, if it is of this kind."""
    if queue_of_request is None or isinstance(queue_of_request, kind):
        return queue_of_request
    raise InvalidArgumentError(
        f"response_queue must be a {kind.__module__}.{kind.__qualname__}, "
        f"not {type(queue_of_request).__name__}"
    )
