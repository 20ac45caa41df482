# SPDX-License-Identifier: Apache-2.0
"""Statistics over several runs of one row: medians, spread, ratios."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# If the client uses more than this share of its core, the client may limit the result.
CLIENT_LIMIT = 0.9

Run = Mapping[str, Any]  # the output of nereid_loadgen


def spread(values: Sequence[float]) -> float:
    """Largest minus smallest, as a fraction of the median; 0 for a median of 0."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0.0


def ratio(value: float | None, base: float | None) -> float | None:
    """value / base; None if either is missing or the base is 0."""
    return value / base if value is not None and base else None


@dataclass(frozen=True)
class Summary:
    """Medians over the runs of one server on one row."""

    throughput: float
    throughput_spread: float
    p50_us: float
    p99_us: float
    cpu_us: float | None  # processor time of the server per request
    copy_us: float | None  # time in which the backend copies the tensors of a request
    client_cpu: float  # highest of the runs, as a fraction of one core
    errors: int

    @property
    def client_is_the_limit(self) -> bool:
        return self.client_cpu > CLIENT_LIMIT


def summarise(runs: Sequence[Run]) -> Summary:
    """The summary of the runs. REQUIRES: at least one run."""

    def middle(read: Any) -> float:
        return statistics.median(read(run) for run in runs)

    def where_known(key: str) -> float | None:
        return middle(lambda run: run[key]) if all(key in run for run in runs) else None

    return Summary(
        throughput=middle(lambda run: run["throughput"]),
        throughput_spread=spread([run["throughput"] for run in runs]),
        p50_us=middle(lambda run: run["latency_us"]["p50"]),
        p99_us=middle(lambda run: run["latency_us"]["p99"]),
        cpu_us=where_known("server_cpu_us"),
        copy_us=where_known("copy_us"),
        client_cpu=max(run["client_cpu"] for run in runs),
        errors=sum(run["errors"] for run in runs),
    )


@dataclass(frozen=True)
class Race:
    """One row: Nereid compared with Triton."""

    ours: Summary
    peer: Summary

    @property
    def counts(self) -> bool:
        """False if the client was the limit, or if answers were wrong."""
        limited = self.ours.client_is_the_limit or self.peer.client_is_the_limit
        return not limited and self.ours.errors == 0 and self.peer.errors == 0

    @property
    def throughput_ratio(self) -> float | None:
        return ratio(self.ours.throughput, self.peer.throughput)

    @property
    def p50_ratio(self) -> float | None:
        return ratio(self.ours.p50_us, self.peer.p50_us)

    @property
    def p99_ratio(self) -> float | None:
        return ratio(self.ours.p99_us, self.peer.p99_us)

    @property
    def cpu_ratio(self) -> float | None:
        return ratio(self.ours.cpu_us, self.peer.cpu_us)


def race(row: Mapping[str, Any]) -> Race:
    """The race of one row of a result file."""
    return Race(summarise(row["runs"]["nereid"]), summarise(row["runs"]["original"]))


@dataclass(frozen=True)
class Interval:
    """A median, and between which values the median of all possible measurements lies."""

    low: float
    middle: float
    high: float


def interval_of_median(values: Sequence[float], certainty: float = 0.95) -> Interval:
    """Of the values, by their ranks: nothing is assumed of their distribution. With fewer than six
    the interval has all of them, and less than 95 % certainty. REQUIRES: at least one value."""
    ordered = sorted(values)
    count = len(ordered)
    rank = 0  # how many values are left out at each end
    below = 0.5**count  # how probable it is that no more than these lie below the true median
    while 2 * (below + math.comb(count, rank + 1) * 0.5**count) <= 1 - certainty:
        rank += 1
        below += math.comb(count, rank) * 0.5**count
    return Interval(ordered[rank], statistics.median(ordered), ordered[count - 1 - rank])
