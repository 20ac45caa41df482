# SPDX-License-Identifier: Apache-2.0
"""Evaluates the measurements of Python models: the verdict, and the page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from racetrack.contestants import NAMES
from racetrack.python_models import BOUND, INSTANCES, LOADS, aim_of, middle_ratio
from racetrack.statistics import CLIENT_LIMIT, race, ratio, summarise
from racetrack.table import markdown_table, number, percent, times

MOST_START, MOST_MEMORY = 0.7, 0.6  # relative to Triton's
HEAD = (
    "| row | conc. | throughput | Triton | ratio | aim | p50 µs | Triton | ratio | p99 µs | Triton "
    "| spread | client CPU |"
)
BOUND_HEAD = "| row, by a model in C++ | conc. | throughput | p50 µs | of Triton's Python | aim |"
START_HEAD = "| start of an instance | Nereid, s | Triton, s | ratio | aim |"
MEMORY_HEAD = "| proportional set size of all processes, MiB | Nereid | Triton | ratio | aim |"


def failures(result: Mapping[str, Any]) -> list[str]:
    """One sentence for each aim that Nereid misses."""
    found = []
    for row in result["rows"]:
        outcome = race(row)
        ratio = outcome.throughput_ratio
        if outcome.ours.errors or outcome.peer.errors:
            found.append(f"{row['key']}: requests failed")
        elif ratio is None or ratio < aim_of(row):
            found.append(
                f"{row['key']}: {times(ratio)} Triton's throughput, "
                f"{aim_of(row):g} are wanted"
            )
    for how, seconds in result["starts"].items():
        ratio = middle_ratio(*(seconds[name] for name in NAMES))
        if ratio > MOST_START:
            found.append(
                f"start of an instance {how}: {times(ratio)} Triton's time, "
                f"{MOST_START:g} are allowed"
            )
    if result["memory_mib"]:
        ours, theirs = (result["memory_mib"][name]["ten"] for name in NAMES)
        if ours / theirs > MOST_MEMORY:
            found.append(
                f"memory with {INSTANCES} instances: {times(ours / theirs)} Triton's, "
                f"{MOST_MEMORY:g} are allowed"
            )
    return found


def row_line(row: Mapping[str, Any]) -> list[str]:
    result = race(row)
    ours, peer = result.ours, result.peer
    limited = ours.client_is_the_limit or peer.client_is_the_limit
    return [
        f"{row['protocol'].upper()} {row['title']}{' (the client is the limit)' if limited else ''}",
        str(row["concurrency"]),
        number(ours.throughput),
        number(peer.throughput),
        times(result.throughput_ratio),
        f"≥ {aim_of(row):g}",
        number(ours.p50_us),
        number(peer.p50_us),
        times(result.p50_ratio),
        number(ours.p99_us),
        number(peer.p99_us),
        f"{percent(ours.throughput_spread)}, {percent(peer.throughput_spread)}",
        f"{percent(ours.client_cpu)}, {percent(peer.client_cpu)}",
    ]


def bound_line(row: Mapping[str, Any]) -> list[str]:
    bound = summarise(row["runs"][BOUND])
    return [
        f"{row['protocol'].upper()} {row['title']}",
        str(row["concurrency"]),
        number(bound.throughput),
        number(bound.p50_us),
        times(ratio(bound.throughput, race(row).peer.throughput)),
        f"≥ {aim_of(row):g}",
    ]


def start_line(how: str, seconds: Mapping[str, Any]) -> list[str]:
    ours, theirs = (statistics.median(seconds[name]) for name in NAMES)
    return [how, f"{ours:.3f}", f"{theirs:.3f}", times(ours / theirs), f"≤ {MOST_START:g}"]


def memory_lines(memory: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    ours, theirs = (memory[name] for name in NAMES)
    added = [one["ten"] - one["none"] for one in (ours, theirs)]

    def line(what: str, a: float, b: float, aim: str) -> list[str]:
        return [what, f"{a:.1f}", f"{b:.1f}", times(a / b), aim]

    return [
        line("no model", ours["none"], theirs["none"], "-"),
        line(f"{INSTANCES} idle instances", ours["ten"], theirs["ten"], f"≤ {MOST_MEMORY:g}"),
        line("one instance more", added[0] / INSTANCES, added[1] / INSTANCES, "-"),
    ]


def render(result: Mapping[str, Any]) -> str:
    """The whole Markdown page."""
    host = result["host"]
    wrong = failures(result)
    load = host["load_average_before"][0]
    parts = [
        f"# Python models: Nereid {result['commit']} against Triton 2.51, {result['when']}",
        f"{host['cores']} cores, {host['processor']}, {host['system']}; load average before {load:.2f}. "
        "Each server with its own Python backend, the same models, the same interpreter and numpy; one "
        "core for a server and its models' processes, another for the client. Medians of "
        f"{result['turns']} turns.",
    ]
    if load > 0.5:
        parts.append("**The machine was not quiet: other work ran beside this.**")
    parts.append("**All aims are met.**" if not wrong else "\n".join(f"- {one}" for one in wrong))
    if result["rows"]:
        parts.append(markdown_table(HEAD, [row_line(row) for row in result["rows"]]))
    bounded = [row for row in result["rows"] if BOUND in row["runs"]]
    if bounded:
        parts.append(markdown_table(BOUND_HEAD, [bound_line(row) for row in bounded]))
        parts.append(
            "The same bytes in and out, answered in the same turns by a model in C++ in Nereid, which copies its "
            "input once: no backend for Python behind the same frontend on the same cores answers more. Where this "
            "is below the aim, the aim cannot be met here."
        )
    if result["starts"]:
        lines = [start_line(how, seconds) for how, seconds in result["starts"].items()]
        parts.append(markdown_table(START_HEAD, lines))
        parts.append(
            f"From the request to load a model of one instance to its answer, {LOADS} times in turns."
        )
    if result["memory_mib"]:
        parts.append(markdown_table(MEMORY_HEAD, memory_lines(result["memory_mib"])))
    parts.append(
        f"Where the client used more than {CLIENT_LIMIT:.0%} of its core, the ratio may be larger than "
        "what was measured. Spread: largest minus smallest throughput as a part of the median. How to "
        "read this: bench/README.md."
    )
    return "\n\n".join(parts) + "\n"
