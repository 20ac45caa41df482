# SPDX-License-Identifier: Apache-2.0
"""The trace that a request belongs to. A BLS request that gets it is traced as a part of it."""

from __future__ import annotations

from typing import Optional


class InferenceTrace:
    __slots__ = ("_context", "_handle")

    def __init__(self) -> None:
        self._handle = 0
        self._context: Optional[str] = None

    @classmethod
    def of(cls, handle: int, context: Optional[str]) -> InferenceTrace:
        trace = cls()
        trace._handle = handle
        trace._context = context
        return trace

    def get_context(self) -> Optional[str]:
        """The context of OpenTelemetry as JSON, or None."""
        return self._context
