# SPDX-License-Identifier: Apache-2.0
"""Metrics of a model, served with those of the server."""

from __future__ import annotations

import enum
from typing import Any, Optional

import _nereid_native as native

from . import calls, conversions
from .errors import TritonModelException

FAMILY_DELETED = (
    "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The "
    "'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have been "
    "deleted."
)


class MetricKind(enum.Enum):
    """TRITONSERVER_MetricKind."""

    COUNTER = 0
    GAUGE = 1
    HISTOGRAM = 2

    def __int__(self) -> int:
        return self.value


class _Metrics:
    """The numbers of a family's metrics that exist; None once the family is deleted."""

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive: Optional[set] = set()


class MetricFamily:
    COUNTER = MetricKind.COUNTER
    GAUGE = MetricKind.GAUGE
    HISTOGRAM = MetricKind.HISTOGRAM

    def __init__(self, name: str, description: str, kind: MetricKind) -> None:
        name = conversions.text("MetricFamily", "name", name)
        description = conversions.text("MetricFamily", "description", description)
        self._kind = conversions.instance(
            "MetricFamily", "kind", kind, MetricKind, "COUNTER, GAUGE or HISTOGRAM of MetricFamily"
        )
        self._metrics = _Metrics()
        self._number = calls.ask_or_raise(
            "Error when creating MetricFamily",
            native.CALL_METRIC_FAMILY_NEW,
            kind.value,
            name,
            description,
        )

    def Metric(self, labels: Any = None, buckets: Any = None) -> Metric:  # noqa: N802
        return Metric._create(self, labels, buckets)

    def __del__(self) -> None:
        number = getattr(self, "_number", None)
        if number is None:
            return
        alive, self._metrics.alive = self._metrics.alive, None
        for metric in alive or ():
            calls.post_at_end(native.CALL_METRIC_DELETE, metric)
        calls.post_at_end(native.CALL_METRIC_FAMILY_DELETE, number)


class Metric:
    """A metric; created by MetricFamily.Metric()."""

    def __init__(self) -> None:
        raise TypeError("Metric: No constructor defined!")

    @classmethod
    def _create(cls, family: MetricFamily, labels: Any, buckets: Any) -> Metric:
        if labels is not None and not isinstance(labels, dict):
            raise TritonModelException("Failed to create metric. Labels must be a dictionary.")
        if buckets is not None and not isinstance(buckets, list):
            raise TritonModelException("Failed to create metric. Buckets must be a list.")
        histogram = family._kind is MetricKind.HISTOGRAM
        if histogram and buckets is None:
            raise TritonModelException("Failed to create metric. Missing required buckets.")
        if not histogram and buckets:
            raise TritonModelException("Failed to create metric. Unexpected buckets found.")
        for name, value in (labels or {}).items():
            if not isinstance(name, str) or not isinstance(value, str):
                raise TritonModelException(
                    "Failed to create metric. Names and values of labels must be strings, found "
                    f"{type(name)} and {type(value)}."
                )
        metric = cls.__new__(cls)
        metric._metrics = family._metrics
        metric._number = calls.ask_or_raise(
            "Error when creating Metric",
            native.CALL_METRIC_NEW,
            family._number,
            dict(labels or {}),
            [conversions.real("Metric", "buckets", bound) for bound in buckets]
            if histogram
            else None,
        )
        metric._metrics.alive.add(metric._number)
        return metric

    def increment(self, value: float) -> None:
        self._do("Failed to increment metric value", native.CALL_METRIC_INCREMENT, _real("increment", value))

    def set(self, value: float) -> None:
        self._do("Failed to set metric value", native.CALL_METRIC_SET, _real("set", value))

    def observe(self, value: float) -> None:
        self._do("Failed to observe metric value", native.CALL_METRIC_OBSERVE, _real("observe", value))

    def value(self) -> float:
        return self._do("Failed to get metric value", native.CALL_METRIC_VALUE)

    def _do(self, what: str, call: int, *arguments: Any) -> Any:
        if self._metrics.alive is None:
            raise TritonModelException(f"{what}: {FAMILY_DELETED}")
        return calls.ask_or_raise(what, call, self._number, *arguments)

    def __del__(self) -> None:
        number = getattr(self, "_number", None)
        if number is None or self._metrics.alive is None:
            return
        self._metrics.alive.discard(number)
        calls.post_at_end(native.CALL_METRIC_DELETE, number)


def _real(function: str, value: Any) -> float:
    return conversions.real(function, "value", value)
