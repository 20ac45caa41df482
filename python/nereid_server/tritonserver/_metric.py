# SPDX-License-Identifier: Apache-2.0
"""Metrics of the program's own, which appear beside those of the server."""

from __future__ import annotations

from typing import Dict, Optional

from .. import _native
from ._enums import MetricKind


class MetricFamily:
    """Metrics of one name."""

    def __init__(self, kind: MetricKind, name: str, description: str) -> None:
        self.kind = MetricKind(kind)
        self.native = _native.MetricFamily(int(kind), name, description)


class Metric:
    """A counter or a gauge of a family, told apart by its labels."""

    def __init__(self, family: MetricFamily, labels: Optional[Dict[str, str]] = None) -> None:
        self.kind = family.kind
        self._native = _native.Metric(family.native, dict(labels or {}), None)

    @property
    def value(self) -> float:
        return self._native.value

    def increment(self, value: float) -> None:
        """Adds to a counter, or to a gauge, which also takes negative values."""
        self._native.increment(value)

    def set_value(self, value: float) -> None:
        """Sets a gauge."""
        self._native.set_value(value)
