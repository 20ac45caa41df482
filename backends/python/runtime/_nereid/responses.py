# SPDX-License-Identifier: Apache-2.0
"""InferenceResponse: outputs, or an error, and parameters."""

from __future__ import annotations

from typing import Any, Optional

from _nereid_native import Tensor

from . import conversions, life, logger
from . import parameters as parameter_texts
from .errors import TritonError, TritonModelException

MOST_NAMED = 64
_named: set = set()  # outputs that the log has named


class InferenceResponse:
    __slots__ = ("_error", "_outputs", "_parameters")

    def __init__(
        self,
        output_tensors: Any = (),
        error: Optional[TritonError] = None,
        parameters: Optional[dict] = None,
    ) -> None:
        tensors = conversions.items("InferenceResponse", "output_tensors", output_tensors)
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                _refuse_output(tensor)
        if error is not None:
            conversions.instance("InferenceResponse", "error", error, TritonError, "a TritonError")
        self._outputs = list(tensors)
        self._error = error
        self._parameters = "" if parameters is None else parameter_texts.to_json(parameters)

    @classmethod
    def from_server(cls, fields: tuple) -> InferenceResponse:
        error, outputs, parameters = fields
        response = cls.__new__(cls)
        response._outputs = list(outputs)
        response._error = None if error is None else TritonError.from_number(*error)
        response._parameters = parameters
        return response

    @classmethod
    def failed(cls, code: int, message: str) -> InferenceResponse:
        return cls.from_server(((code, message), (), ""))

    def output_tensors(self) -> list:
        return self._outputs

    def has_error(self) -> bool:
        return self._error is not None

    def error(self) -> Optional[TritonError]:
        return self._error

    def parameters(self) -> str:
        """JSON text."""
        return self._parameters or "{}"

    def for_server(self, requested: Any) -> tuple:
        """The content to send. Outputs that were not requested are removed from the response."""
        if self._error is not None:
            return ((self._error._code.value, self._error._message), (), "")
        outputs = self._outputs
        if requested:
            for tensor in outputs:
                if tensor.name() not in requested:
                    self._outputs = outputs = _requested(outputs, requested)
                    break
        return (None, tuple(outputs), self._parameters)


def _refuse_output(tensor: Any) -> None:
    if tensor is None:
        raise TritonModelException("Output tensor for inference response should not be empty.")
    raise conversions.wrong_type(
        "InferenceResponse", "output_tensors", tensor, "a list of Tensor objects"
    )


def _requested(outputs: list, requested: Any) -> list:
    for tensor in outputs:
        name = tensor.name()
        if name not in life.outputs and name not in _named and len(_named) < MOST_NAMED:
            _named.add(name)
            logger.log_from_runtime(
                logger.LogLevel.WARNING,
                f"output '{name}' of Python model instance '{life.name}' is left out, because its "
                "configuration has none of that name. This is said once for each output",
            )
    return [tensor for tensor in outputs if tensor.name() in requested]
