# SPDX-License-Identifier: Apache-2.0
"""What a feature costs, from runs with it between runs without it, and the page about it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from racetrack.statistics import Interval, interval_of_median

LIMIT_PERCENT = 3.0


def _cpu(run: Mapping[str, Any]) -> float:
    return float(run["server_cpu_us"])


def _p99(run: Mapping[str, Any]) -> float:
    return float(run["latency_us"]["p99"])


def _percent(on: float, before: float, after: float) -> float:
    return 100 * (2 * on / (before + after) - 1)


@dataclass
class Cost:
    """One feature over one protocol."""

    feature: str
    protocol: str
    limit_percent: float | None  # None: it has none
    _cpu_us: list[float] = field(default_factory=list)
    _p99_us: list[float] = field(default_factory=list)
    _cpu_more: list[float] = field(default_factory=list)
    _p99_more: list[float] = field(default_factory=list)

    def add(self, on: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]) -> None:
        """A run with the feature, and those without it before and after."""
        if on["errors"] or before["errors"] or after["errors"]:
            raise RuntimeError(f"{self.feature} over {self.protocol}: answers were wrong")
        self._cpu_us.append(_cpu(on))
        self._p99_us.append(_p99(on))
        self._cpu_more.append(_percent(_cpu(on), _cpu(before), _cpu(after)))
        self._p99_more.append(_percent(_p99(on), _p99(before), _p99(after)))

    @property
    def cpu(self) -> Interval:
        """Processor time more than without it, in percent."""
        return interval_of_median(self._cpu_more)

    @property
    def p99(self) -> Interval:
        return interval_of_median(self._p99_more)

    @property
    def missed(self) -> bool:
        return self.limit_percent is not None and self.cpu.middle > self.limit_percent

    def line(self) -> str:
        limit = "" if self.limit_percent is None else f"{self.limit_percent:g} %"
        verdict = "" if self.limit_percent is None else ("**missed**" if self.missed else "held")
        cells = [
            self.feature,
            self.protocol,
            f"{statistics.median(self._cpu_us):.2f}",
            _shown(self.cpu),
            limit,
            verdict,
            f"{statistics.median(self._p99_us):,.0f}",
            _shown(self.p99),
        ]
        return f"| {' | '.join(cells)} |"


def _shown(more: Interval) -> str:
    return f"{more.middle:+.1f} % ({more.low:+.1f} to {more.high:+.1f})"


def render(
    costs: Sequence[Cost], when: str, host: Mapping[str, Any], commit: str, rounds: int
) -> str:
    """The page, in Markdown."""
    lines = [
        "# What features cost that watch requests",
        "",
        f"{when}, {host['processor']}, commit {commit}. 64 requests of 16 floats in flight, identity; the server on one "
        f"core, the load on another. Load average before: {host['load_average_before'][0]:.2f}. Each feature {rounds} "
        "times, between two runs without any; medians of these differences, in brackets the interval that has the "
        "median with a certainty of 95 %.",
        "",
        "| feature | protocol | CPU µs per request | more | limit | | p99 µs | more |",
        "|---|---|--:|--:|--:|---|--:|--:|",
        *(cost.line() for cost in costs),
    ]
    return "\n".join(lines) + "\n"
