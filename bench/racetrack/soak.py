# SPDX-License-Identifier: Apache-2.0
"""Evaluates a soak: whether latency has risen or memory was kept, and the page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from racetrack.statistics import CLIENT_LIMIT, ratio
from racetrack.table import markdown_table, number, percent

# How much each percentile may grow. The medians over thirds of the windows are compared, so that a
# single disturbed window has no effect. The tail varies more than the middle.
MAX_GROWTH = {"p50": 0.10, "p99": 0.50}
MAX_MEMORY_GROWTH = 0.10
MIN_WINDOWS = 3

Window = Mapping[str, Any]  # the output of nereid_loadgen


@dataclass(frozen=True)
class Trend:
    """One percentile of one stream of requests, from the first third to the last."""

    first: float  # median of the first third's windows, µs
    last: float
    slope: float  # Theil-Sen slope times the length of the run: growth in µs over the run
    limit: float

    @property
    def growth(self) -> float:
        return ratio(self.last - self.first, self.first) or 0.0

    @property
    def slope_growth(self) -> float:
        return ratio(self.slope, self.first) or 0.0

    @property
    def rises(self) -> bool:
        """True if both estimates exceed the limit. A temporary step is not a trend."""
        return self.growth > self.limit and self.slope_growth > self.limit


def theil_sen(values: Sequence[float]) -> float:
    """The median slope per step over all pairs, which is robust to outliers. 0 for fewer than two
    values."""
    slopes = [
        (values[later] - values[earlier]) / (later - earlier)
        for later in range(len(values))
        for earlier in range(later)
    ]
    return statistics.median(slopes) if slopes else 0.0


def trend(windows: Sequence[Window], percentile: str) -> Trend:
    """The trend of a percentile. REQUIRES: at least MIN_WINDOWS windows."""
    values = [window["latency_us"][percentile] for window in windows]
    third = len(values) // 3
    return Trend(
        first=statistics.median(values[:third]),
        last=statistics.median(values[-third:]),
        slope=theil_sen(values) * (len(values) - 1),
        limit=MAX_GROWTH[percentile],
    )


def memory_growth(memory: Mapping[str, float]) -> float:
    return memory["end"] / memory["base"] - 1


def failures(result: Mapping[str, Any]) -> list[str]:
    """One sentence for each failure; empty if the soak passed."""
    found = []
    for stream in result["streams"]:
        errors = sum(window["errors"] for window in stream["windows"])
        if errors:
            found.append(f"{stream['title']}: {errors} requests failed")
        for percentile in MAX_GROWTH:
            seen = trend(stream["windows"], percentile)
            if seen.rises:
                found.append(
                    f"{stream['title']}: {percentile} rose from {number(seen.first)} to "
                    f"{number(seen.last)} µs ({seen.growth:+.0%}, {seen.limit:.0%} are allowed)"
                )
    growth = memory_growth(result["memory_mib"])
    if growth > MAX_MEMORY_GROWTH:
        found.append(
            f"resident memory grew from {result['memory_mib']['base']:.1f} to "
            f"{result['memory_mib']['end']:.1f} MiB ({growth:+.0%}, {MAX_MEMORY_GROWTH:.0%} are "
            "allowed)"
        )
    return found


def stream_line(stream: Mapping[str, Any]) -> list[str]:
    windows = stream["windows"]
    cells = [stream["title"], str(stream["rate"])]
    cells.append(number(statistics.mean(window["throughput"] for window in windows)))
    for percentile in MAX_GROWTH:
        seen = trend(windows, percentile)
        mark = " **rises**" if seen.rises else ""
        cells += [number(seen.first), number(seen.last), f"{seen.growth:+.0%}{mark}"]
        cells.append(f"{seen.slope_growth:+.0%}")
    cells.append(str(sum(window["errors"] for window in windows)))
    return cells


def render(result: Mapping[str, Any]) -> str:
    """The whole Markdown page of a soak."""
    host, memory = result["host"], result["memory_mib"]
    wrong = failures(result)
    head = "| requests | due /s | answered /s "
    for percentile in MAX_GROWTH:
        head += f"| {percentile} first third µs | last third | growth | slope "
    verdict = "**Passed.**" if not wrong else "**FAILED:**\n\n" + "\n".join(f"- {w}" for w in wrong)
    parts = [
        f"# Soak of Nereid {result['commit']}, {result['when']}",
        f"{result['minutes']:g} minutes of mixed load; {host['cores']} cores, {host['processor']}, "
        f"{host['system']}; load average before {host['load_average_before'][0]:.2f}; "
        f"windows of {result['window_seconds']:g} s.",
        verdict,
        "## Latency\n\n"
        + markdown_table(head + "| errors |", [stream_line(s) for s in result["streams"]]),
        "## Resident memory, MiB\n\n"
        + markdown_table(
            "| idle | base | highest | end | end against base |",
            [
                [f"{memory[key]:.1f}" for key in ("idle", "base", "peak", "end")]
                + [f"{memory_growth(memory):+.1%}"]
            ],
        ),
    ]
    busy = max(window["client_cpu"] for s in result["streams"] for window in s["windows"])
    parts.append(
        f"The busiest client used {percent(busy)} of its core"
        + (": **the latencies may be its own**." if busy > CLIENT_LIMIT else ".")
        + " How to read this: bench/README.md."
    )
    return "\n\n".join(parts) + "\n"
