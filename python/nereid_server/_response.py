# SPDX-License-Identifier: Apache-2.0
"""Responses."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional

import numpy as np

from ._native import Tensor


class Response(Mapping[str, np.ndarray]):
    """The outputs of a model by name, as arrays.

    ``response["OUT"]`` is an array on the memory that the model wrote to: nothing is copied, and the
    memory is freed with the last array or tensor on it. Strings are the exception: arrays of
    ``bytes`` objects, made when they are first asked for. BF16 is an array of
    ``ml_dtypes.bfloat16``, or, if that package cannot be imported, of ``uint16`` with the same bits.
    """

    __slots__ = ("_arrays", "model_name", "model_version", "parameters", "request_id", "tensors")

    tensors: Dict[str, Tensor]
    """The outputs for DLPack and the buffer protocol: ``torch.from_dlpack(response.tensors["OUT"])``."""
    model_name: str
    model_version: int
    request_id: str
    parameters: Dict[str, Any]

    def __init__(
        self,
        tensors: Dict[str, Tensor],
        model_name: str,
        model_version: int,
        request_id: str,
        parameters: Optional[Dict[str, Any]],
    ) -> None:
        self.tensors = tensors
        self.model_name = model_name
        self.model_version = model_version
        self.request_id = request_id
        self.parameters = {} if parameters is None else parameters
        self._arrays: Dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        array = self._arrays.get(name)
        if array is None:
            array = self._arrays[name] = self.tensors[name].numpy()
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def __repr__(self) -> str:
        outputs = ", ".join(f"{name!r}: {tensor!r}" for name, tensor in self.tensors.items())
        return f"Response({self.model_name!r}, version {self.model_version}, {{{outputs}}})"


def response_of(answer: Any) -> Response:
    """The response in the tuple of the native module; raises the error that is in it."""
    tensors, name, version, request_id, parameters, error, _final = answer
    if error is not None:
        raise error
    return Response(tensors, name, version, request_id, parameters)
