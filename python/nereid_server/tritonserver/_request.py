# SPDX-License-Identifier: Apache-2.0
"""Requests."""

from __future__ import annotations

import asyncio
import queue
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Optional, Union

from .. import _native
from .._errors import InvalidArgumentError
from ._enums import MemoryType
from ._tensor import DeviceOrMemoryType, Tensor, parse_memory_type, tensor_of

if TYPE_CHECKING:
    from ._model import Model


@dataclass
class InferenceRequest:
    """A request to a model."""

    model: Model
    request_id: Optional[str] = None
    flags: int = 0
    """1: the first of its sequence, 2: the last; their sum: both."""
    correlation_id: Union[None, int, str] = None
    """The sequence."""
    priority: int = 0
    timeout: int = 0
    """Microseconds in the queue."""
    inputs: Dict[str, Any] = field(default_factory=dict)
    """Tensors, or what can be made one, by name."""
    parameters: Dict[str, Union[str, int, bool, float]] = field(default_factory=dict)
    output_memory_type: Optional[DeviceOrMemoryType] = None
    """Only memory of the processor."""
    response_queue: Union[None, queue.SimpleQueue[Any], asyncio.Queue[Any]] = None
    """Gets all responses, which the iterator gets, too."""

    def submit(self) -> _native.Call:
        """Sends the request."""
        if self.output_memory_type is not None:
            kind, _ = parse_memory_type(self.output_memory_type)
            if kind == MemoryType.GPU:
                raise InvalidArgumentError("outputs cannot be in the memory of a GPU: there is none")
        tensors = {
            name: (value if isinstance(value, Tensor) else tensor_of(value)).native()
            for name, value in self.inputs.items()
        }
        extras = (
            self.request_id,
            dict(self.parameters),
            self.priority,
            self.timeout,
            self.correlation_id,
            int(self.flags),
        )
        model = self.model
        return model.running.submit(model.name, model.version, tensors, None, extras, None, False)
