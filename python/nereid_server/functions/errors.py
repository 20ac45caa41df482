# SPDX-License-Identifier: Apache-2.0
"""The exceptions of served functions."""

from __future__ import annotations

CODES = ("INVALID_ARG", "NOT_FOUND", "UNAVAILABLE", "UNSUPPORTED", "ALREADY_EXISTS", "CANCELLED", "INTERNAL")


class RequestError(Exception):
    """Raised by a served function to refuse a request: the client gets this text, and a status that follows
    from the code. Any other exception is an internal error of the function (HTTP 500).

    code: INVALID_ARG, ALREADY_EXISTS or CANCELLED (HTTP 400), NOT_FOUND (404), UNAVAILABLE (503), UNSUPPORTED (501)
        or INTERNAL (500).
    """

    def __init__(self, message: str, code: str = "INVALID_ARG") -> None:
        if code not in CODES:
            raise ValueError(f"a RequestError has one of the codes {', '.join(CODES)}, not {code!r}")
        super().__init__(message)
        self.code = code


class ServingError(RuntimeError):
    """The server could not be started, or has ended by itself."""
