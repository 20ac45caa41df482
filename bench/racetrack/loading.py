# SPDX-License-Identifier: Apache-2.0
"""Evaluates measured loads of many models: times, latencies of checks meanwhile, and the page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from racetrack.contestants import NAMES
from racetrack.probes import CHECKS, Sample
from racetrack.statistics import ratio
from racetrack.table import markdown_table, number, times

# The aims, in seconds and in microseconds.
MOST_SECONDS, MOST_P99_US = 5.0, 5000.0

# The ways of loading, with their names on the page.
WAYS = {
    "start": "the server is started on them",
    "explicit": "load requests over HTTP",
    "poll": "they appear in a repository that is polled",
}
# The time in which nothing is loaded. The checks run then, and during two of the ways.
IDLE = "idle"
TIMES = {IDLE: "nothing is loaded", "explicit": WAYS["explicit"], "poll": WAYS["poll"]}

Times = Mapping[str, Mapping[str, Sequence[float]]]  # [way][server]


def group(samples: Iterable[Sample]) -> dict[str, list[tuple[float, bool]]]:
    """Pairs of microseconds and whether the answer was right, by "PROTOCOL/CHECK"."""
    found: dict[str, list[tuple[float, bool]]] = {
        f"{protocol}/{check}": [] for protocol, check in CHECKS
    }
    for sample in samples:
        found[f"{sample.protocol}/{sample.check}"].append((sample.seconds * 1e6, sample.good))
    return found


def latencies(samples: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Percentiles of (microseconds, good) pairs of all rounds. Pairs that are not good are
    included, and also counted separately."""
    if not samples:
        return {"count": 0, "failed": 0}
    values = sorted(us for us, _ in samples)
    return {
        "count": len(values),
        "failed": sum(not good for _, good in samples),
        "p50": nearest_rank(values, 0.5),
        "p99": nearest_rank(values, 0.99),
        "max": values[-1],
    }


def nearest_rank(ordered: Sequence[float], part: float) -> float:
    """REQUIRES: at least one value."""
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def failures(result: Mapping[str, Any]) -> list[str]:
    """One sentence for each aim that Nereid misses."""
    found = []
    for way, name in WAYS.items():
        seconds = statistics.median(result["seconds"][way]["nereid"])
        if seconds > MOST_SECONDS:
            found.append(f"{name}: {number(seconds)} s, {MOST_SECONDS:g} are allowed")
    for when, checks in result["latency_us"]["nereid"].items():
        for check, seen in checks.items():
            if when != IDLE and seen["count"] and seen["p99"] > MOST_P99_US:
                found.append(f"{TIMES[when]}, {check}: p99 of {number(seen['p99'])} µs")
            if seen["failed"]:
                found.append(f"{TIMES[when]}, {check}: {seen['failed']} wrong answers")
    return found


def time_line(result: Mapping[str, Any], way: str) -> list[str]:
    measured = result["seconds"][way]
    ours, peer = (statistics.median(measured[name]) for name in NAMES)
    reach = ["; ".join(number(value) for value in sorted(measured[name])) for name in NAMES]
    return [WAYS[way], number(ours), number(peer), times(ratio(ours, peer)), *reach]


def latency_line(result: Mapping[str, Any], when: str, protocol: str, check: str) -> list[str]:
    cells = [f"{protocol.upper()} {check}"]
    both = [result["latency_us"][name][when][f"{protocol}/{check}"] for name in NAMES]
    for figure in ("p50", "p99", "max"):
        values = [seen.get(figure) for seen in both]
        cells += [*(number(value) for value in values), times(ratio(*values))]
    cells.append(", ".join(str(seen["count"]) for seen in both))
    cells.append(", ".join(str(seen["failed"]) for seen in both))
    return cells


TIME_HEAD = "| how | Nereid, s | Triton, s | ratio | all of Nereid's | all of Triton's |"
LATENCY_HEAD = (
    "| check | p50 µs | Triton | ratio | p99 µs | Triton | ratio | max µs | Triton | ratio "
    "| checks | wrong answers |"
)


def render(result: Mapping[str, Any]) -> str:
    """The whole Markdown page."""
    host, memory = result["host"], result["memory_mib"]
    load = ", ".join(f"{value:.2f}" for value in host["load_average_before"])
    parts = [
        f"# {result['models']} models are loaded: Nereid {result['commit']} against Triton 2.51, "
        f"{result['when']}",
        f"{host['cores']} cores, {host['processor']}, {host['system']}; load average before the run "
        f"{load}. {result['rounds']} rounds; both servers have all cores, and share them with the "
        f"checks. Each model is an ONNX network of {result['file_bytes'] / 1000:.1f} KB with one "
        "instance.",
    ]
    if host["load_average_before"][0] > 0.5:
        parts.append("**The machine was not quiet: other work ran beside this.**")
    if not result["checks_first"]:
        parts.append("**The checks waited for processors as everything else does.**")
    wrong = failures(result)
    parts.append(
        f"Aims: {MOST_SECONDS:g} s, and a p99 of {MOST_P99_US / 1000:g} ms. "
        + ("\n\n".join(f"**Missed:** {one}." for one in wrong) or "Both are met.")
    )
    parts.append("## Time until all are ready")
    parts.append(markdown_table(TIME_HEAD, [time_line(result, way) for way in WAYS]))
    parts.append(
        f"Resident memory with all of them: {memory['nereid']:.0f} MiB, Triton "
        f"{memory['original']:.0f} MiB."
    )
    for when, name in TIMES.items():
        parts.append(f"## Checks while {name}")
        lines = [latency_line(result, when, *check) for check in CHECKS]
        parts.append(markdown_table(LATENCY_HEAD, lines))
    parts.append("How to read this: bench/README.md.")
    return "\n\n".join(parts) + "\n"
