# SPDX-License-Identifier: Apache-2.0
"""Evaluates the comparison of Nereid with frameworks: the verdict, and the page."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from racetrack.alternate import SLICE_SECONDS
from racetrack.frameworks import (
    ALTERNATING_SECONDS,
    CLIENTS,
    ROWS,
    SMALL,
    SMALL_SECONDS,
    SMALL_TURNS,
)
from racetrack.table import markdown_table, number

# The compute time of small networks, relative to the framework's with the same pauses.
MOST_COMPUTE = 1.05
LEAST_THROUGHPUT = 0.97  # of the other networks, relative to the framework in a loop
MOST_MEMORY = 1.3  # with four instances, relative to one
LEAST_BF16 = 5.0  # speed relative to ONNX Runtime in FP32, if the processor has AMX
# With AMX it computes for 4 ms for each image of 600 KB. The two copies of the image, out of the
# socket and into the batch, take 4 % of that. So it is judged by the speed-up, and its share of the
# loop is only shown.
IN_BF16 = "openvino/resnet18_bf16"
HEAD = (
    "| network | 1 row µs | alone | ratio | 8 rows µs | alone | ratio | rows/s | batch formed "
    "| alone/s | ratio |"
)
SMALL_HEAD = (
    "| small network | rows | µs | alone, idle pauses | ratio | alone behind a bare server | ratio |"
)
MEMORY_HEAD = "| framework | 1 instance MiB | 4 instances MiB | ratio |"


def compute_ratio(compute: Mapping[str, Any], other: str = "theirs") -> float:
    """The server's compute time relative to the framework's with idle pauses, or behind a `bare`
    server. Compared turn by turn, because the machine's speed changes."""
    return statistics.median(a / b for a, b in zip(compute["ours"], compute[other]))


def throughput_ratio(row: Mapping[str, Any]) -> float:
    return statistics.median(turn["ours"] / turn["theirs"] for turn in row["throughput"]["turns"])


def bf16_speed_up(rows: Sequence[Mapping[str, Any]], which: int) -> float | None:
    """The compute time of ResNet-18 in ONNX Runtime in FP32, divided by that in OpenVINO in
    bf16."""
    times = {
        row["key"]: statistics.median(row["compute"][which]["ours"])
        for row in rows
    }
    first, second = times.get("onnxruntime/resnet18"), times.get(IN_BF16)
    return None if first is None or second is None else first / second


def failures(result: Mapping[str, Any]) -> list[str]:
    """One sentence for each aim that the server misses."""
    found = []
    amx = result["host"]["amx"]
    for row in result["rows"]:
        if any(turn["errors"] for turn in row["throughput"]["turns"]):
            found.append(f"{row['key']}: requests failed")
        if row["network"] in SMALL:
            for compute in row["compute"]:
                if compute_ratio(compute) > MOST_COMPUTE:
                    found.append(
                        f"{row['key']}, {compute['rows']} rows: {compute_ratio(compute):.2f} times the "
                        f"framework's compute time, {MOST_COMPUTE:g} are allowed"
                    )
        elif throughput_ratio(row) < LEAST_THROUGHPUT and not (amx and row["key"] == IN_BF16):
            found.append(
                f"{row['key']}: {throughput_ratio(row):.1%} of the framework in a loop, "
                f"{LEAST_THROUGHPUT:.0%} are wanted"
            )
    for name, memory in result["memory_mib"].items():
        grown = memory["4"] / memory["1"]
        if grown > MOST_MEMORY:
            found.append(f"{name}: four instances take {grown:.2f} times the memory of one, "
                         f"{MOST_MEMORY:g} are allowed")
    speed_up = bf16_speed_up(result["rows"], 0)
    if amx and speed_up is not None and speed_up < LEAST_BF16:
        found.append(f"bf16: {speed_up:.1f} times ONNX Runtime, {LEAST_BF16:g} are wanted")
    return found


def row_line(row: Mapping[str, Any]) -> list[str]:
    cells = [f"{row['key']}: {row['title']}"]
    for compute in row["compute"]:
        cells += [
            number(statistics.median(compute["ours"])),
            number(statistics.median(compute["theirs"])),
            f"{compute_ratio(compute):.3f}",
        ]
    turns = row["throughput"]["turns"]
    cells += [
        number(statistics.median(turn["ours"] for turn in turns)),
        f"{statistics.median(turn['formed'] for turn in turns):.1f}",
        number(statistics.median(turn["theirs"] for turn in turns)),
        f"{throughput_ratio(row):.3f}",
    ]
    return cells


def small_line(key: str, compute: Mapping[str, Any]) -> list[str]:
    cells = [key, str(compute["rows"]), number(statistics.median(compute["ours"]))]
    for other in ("theirs", "bare"):
        cells += [
            number(statistics.median(compute[other])),
            f"{compute_ratio(compute, other):.3f}",
        ]
    return cells


def render(result: Mapping[str, Any]) -> str:
    """The whole Markdown page."""
    host = result["host"]
    wrong = failures(result)
    speed_ups = [bf16_speed_up(result["rows"], which) for which in range(len(ROWS))]
    memory = [
        [name, f"{found['1']:,.0f}", f"{found['4']:,.0f}", f"{found['4'] / found['1']:.2f}"]
        for name, found in result["memory_mib"].items()
    ]
    bf16_aim = f", but for bf16 {LEAST_BF16:g} times the speed of ONNX Runtime" if host["amx"] else ""
    parts = [
        f"# Frameworks, Nereid {result['commit']}, {result['when']}",
        f"{host['cores']} cores, {host['processor']} ({'with' if host['amx'] else 'without'} AMX), "
        f"{host['system']}; load average before {host['load_average_before'][0]:.2f}. One core and one "
        f"thread for the server and for the framework alone, which take turns; {result['turns']} turns, "
        f"{SMALL_TURNS * result['turns']} of {SMALL_SECONDS:g} s where the MLP and the small transformer are timed, "
        f"by {result['turns']} pairs of processes; "
        f"medians. Rows/s: {CLIENTS} clients with one row each; server and framework alternate every "
        f"{SLICE_SECONDS * 1000:g} ms, {result['turns']} times for {ALTERNATING_SECONDS:g} s."
        + (f" Only rows that hold {result['wanted']}." if result["wanted"] else ""),
        f"Aims: compute time of the MLP and of the small transformer at most {MOST_COMPUTE:g} times the "
        f"framework's with the same pauses; of the others at least {LEAST_THROUGHPUT:.0%} of the framework in a loop at the batch "
        f"sizes formed{bf16_aim}; four instances at most {MOST_MEMORY:g} times the memory of one.",
        "**All within.**" if not wrong else "\n".join(f"- {sentence}" for sentence in wrong),
        markdown_table(HEAD, [row_line(row) for row in result["rows"]]),
    ]
    small = [
        small_line(row["key"], compute)
        for row in result["rows"]
        if row["network"] in SMALL
        for compute in row["compute"]
    ]
    if small:
        parts.append(markdown_table(SMALL_HEAD, small))
    if memory:
        parts.append(markdown_table(MEMORY_HEAD, memory))
    if None not in speed_ups:
        parts.append(
            "ResNet-18 in bf16 through OpenVINO, beside ONNX Runtime in FP32: "
            + ", ".join(f"{ratio:.2f} times with {rows} rows" for ratio, rows in zip(speed_ups, ROWS))
            + "."
        )
    return "\n\n".join(parts) + "\n"
