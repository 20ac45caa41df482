# SPDX-License-Identifier: Apache-2.0
"""The errors for models: TritonError for responses, and the exception TritonModelException."""

from __future__ import annotations

import enum

from _nereid_native import TritonModelException

from . import conversions

__all__ = ["ErrorCode", "TritonError", "TritonModelException"]


class ErrorCode(enum.Enum):
    """TRITONSERVER_Error_Code."""

    UNKNOWN = 0
    INTERNAL = 1
    NOT_FOUND = 2
    INVALID_ARG = 3
    UNAVAILABLE = 4
    UNSUPPORTED = 5
    ALREADY_EXISTS = 6
    CANCELLED = 7

    def __int__(self) -> int:
        return self.value


class TritonError:
    """The error in an InferenceResponse, in place of outputs."""

    __slots__ = ("_code", "_message")

    UNKNOWN = ErrorCode.UNKNOWN
    INTERNAL = ErrorCode.INTERNAL
    NOT_FOUND = ErrorCode.NOT_FOUND
    INVALID_ARG = ErrorCode.INVALID_ARG
    UNAVAILABLE = ErrorCode.UNAVAILABLE
    UNSUPPORTED = ErrorCode.UNSUPPORTED
    ALREADY_EXISTS = ErrorCode.ALREADY_EXISTS
    CANCELLED = ErrorCode.CANCELLED

    def __init__(self, message: str, code: ErrorCode = ErrorCode.INTERNAL) -> None:
        self._message = conversions.message("TritonError", "message", message)
        self._code = conversions.instance(
            "TritonError",
            "code",
            code,
            ErrorCode,
            "one of TritonError's codes, for instance TritonError.INTERNAL",
        )

    @classmethod
    def from_number(cls, number: int, message: str) -> TritonError:
        return cls(message, ErrorCode(number) if 0 <= number <= 7 else ErrorCode.UNKNOWN)

    def code(self) -> ErrorCode:
        return self._code

    def message(self) -> str:
        return self._message
