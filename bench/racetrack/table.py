# SPDX-License-Identifier: Apache-2.0
"""Result files as Markdown."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from racetrack.statistics import CLIENT_LIMIT, Race, race, ratio

Result = Mapping[str, Any]  # a result file

HEAD = (
    "| row | conc. | throughput | Triton | ratio | p50 µs | Triton | ratio "
    "| p99 µs | Triton | CPU µs | Triton | ratio | of the limit | spread | client CPU |"
)


def number(value: float | None) -> str:
    """Three significant digits, with thousands separators; `-` for None."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def times(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}×"


def percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"


def markdown_table(head: str, lines: Sequence[Sequence[str]]) -> str:
    columns = head.count("|") - 1
    rule = "|---|" + "--:|" * (columns - 1)
    return "\n".join([head, rule, *(f"| {' | '.join(line)} |" for line in lines)])


def limit_throughput(limit: Mapping[str, Any] | None) -> float | None:
    """Requests per second at a limit; None if none was measured."""
    if not limit:
        return None
    if "runs" in limit:
        return statistics.median(run["throughput"] for run in limit["runs"])
    return limit["throughput"]


def limit_cpu_us(limit: Mapping[str, Any] | None) -> float | None:
    if not limit:
        return None
    if "runs" in limit:
        return statistics.median(run["server_cpu_us"] for run in limit["runs"])
    return limit["cpu_us"]


def row_line(row: Mapping[str, Any]) -> list[str]:
    result: Race = race(row)
    ours, peer = result.ours, result.peer
    mark = "" if result.counts else " **(does not count)**"
    return [
        f"{row['protocol'].upper()} {row['title']}{mark}",
        str(row["concurrency"]),
        number(ours.throughput),
        number(peer.throughput),
        times(result.throughput_ratio),
        number(ours.p50_us),
        number(peer.p50_us),
        times(result.p50_ratio),
        number(ours.p99_us),
        number(peer.p99_us),
        number(ours.cpu_us),
        number(peer.cpu_us),
        times(result.cpu_ratio),
        percent(ratio(ours.throughput, limit_throughput(row.get("limit")))),
        f"{percent(ours.throughput_spread)}, {percent(peer.throughput_spread)}",
        f"{percent(ours.client_cpu)}, {percent(peer.client_cpu)}",
    ]


def limits_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The CPU time of each row, compared with the least possible, and with the row's other
    limits."""
    lines = []
    for row in rows:
        # Rows of older files have no other limits.
        limits = [row["limit"], *row.get("other_limits", [])] if row.get("limit") else []
        for limit in limits:
            ours = race(row).ours
            least = limit_cpu_us(limit)
            bound = any(run["client_cpu"] > CLIENT_LIMIT for run in limit.get("runs", []))
            lines.append(
                [
                    f"{row['protocol'].upper()} {row['title']}, {row['concurrency']}",
                    limit["what"] + (" (bound by the client)" if bound else ""),
                    number(limit_throughput(limit)),
                    number(least),
                    number(ours.cpu_us),
                    times(ratio(ours.cpu_us, least)),
                ]
            )
    head = "| row | limit | throughput | CPU µs | Nereid's CPU µs | ratio |"
    return markdown_table(head, lines)


SHARED_HEAD = (
    "| row | copy µs, Nereid | Triton | CPU µs beyond the copy, Nereid | Triton | ratio |"
)


def shared_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """What a server spends on requests with tensors in shared memory, without the backend's own copy;
    empty if there are no such rows."""
    lines = []
    for row in rows:
        result = race(row)
        ours, peer = result.ours, result.peer
        if None in (ours.copy_us, ours.cpu_us, peer.copy_us, peer.cpu_us):
            continue
        beyond = [side.cpu_us - side.copy_us for side in (ours, peer)]
        lines.append(
            [
                f"{row['protocol'].upper()} {row['title']}, {row['concurrency']}",
                number(ours.copy_us),
                number(peer.copy_us),
                number(beyond[0]),
                number(beyond[1]),
                times(ratio(*beyond)),
            ]
        )
    return markdown_table(SHARED_HEAD, lines) if lines else ""


def server_table(servers: Mapping[str, Mapping[str, Any]]) -> str:
    """Start-up and memory."""
    ours, peer = servers["nereid"], servers["original"]

    def line(what: str, a: float, b: float, form: str) -> list[str]:
        return [what, format(a, form), format(b, form), times(ratio(a, b))]

    def medians(what: str, find: Callable[[Mapping[str, Any]], list[float]], form: str) -> list[str]:
        return line(what, statistics.median(find(ours)), statistics.median(find(peer)), form)

    lines = [
        medians("start to ready, identity models only, s", lambda s: s["bare"]["seconds_to_ready"], ".3f"),
        medians("start to ready, s", lambda s: s["seconds_to_ready"], ".3f"),
        medians("resident memory, identity models only, idle, MiB", lambda s: s["bare"]["idle_mib"], ".1f"),
    ]
    for key, what in (
        ("idle", "resident memory, idle, MiB"),
        ("peak", "resident memory, highest under load, MiB"),
        ("after", "resident memory, after, MiB"),
    ):
        lines.append(line(what, ours["memory_mib"][key], peer["memory_mib"][key], ".1f"))
    return markdown_table("| what | Nereid | Triton | ratio |", lines)


def cross_check_table(checks: Sequence[Mapping[str, Any]]) -> str:
    lines = [
        [
            check["server"],
            f"{check['protocol'].upper()} {check['title']}, {check['concurrency']}",
            number(check["perf_analyzer"]),
            number(check["loadgen"]),
            times(ratio(check["loadgen"], check["perf_analyzer"])),
        ]
        for check in checks
    ]
    return markdown_table(
        "| server | row | perf_analyzer /s | nereid_loadgen /s | ratio |", lines
    )


COMPUTE_HEAD = (
    "| model | rows | ONNX Runtime in a loop, µs | with pauses "
    "| in Nereid | ratio | in Triton | ratio |"
)


def compute_line(row: Mapping[str, Any]) -> list[str]:
    """A row of compute times. The ratios are relative to the runtime with pauses, which finds cold
    caches like a server."""
    loop, paused, ours, peer = (
        statistics.median(row["us_per_batch"][who])
        for who in ("loop", "paused", "nereid", "original")
    )
    return [
        row["title"],
        str(row["batch"]),
        number(loop),
        number(paused),
        number(ours),
        f"{ours / paused:.3f}×",
        number(peer),
        f"{peer / paused:.3f}×",
    ]


def without_folder(option: str) -> str:
    """`--key=/folder/file` as `--key=file`: where a file lay is of no interest."""
    return re.sub(r"=/.*/", "=", option)


def render(result: Result) -> str:
    """The whole Markdown page of a result file."""
    host, settings = result["host"], result["settings"]
    load = ", ".join(f"{value:.2f}" for value in host["load_average_before"])
    parts = [
        f"# Nereid {result['commit']} against Triton 2.51, {result['when']}",
        f"{host['cores']} cores, {host['processor']}, {host['system']}; load average before the "
        f"run {load}. Medians of {settings['alternations']} alternations of "
        f"{settings['seconds']} s each; Triton with "
        f"{' '.join(map(without_folder, settings['original_options'])) or 'its default options'}.",
    ]
    if host["load_average_before"][0] > 0.5:
        parts.append("**The machine was not quiet: other work ran beside this.**")
    for placement in settings["placements"]:
        rows = [row for row in result["rows"] if row["placement"] == placement]
        parts.append(f"## {placement.capitalize()}")
        parts.append(markdown_table(HEAD, [row_line(row) for row in rows]))
        if any(row.get("limit") for row in rows):
            parts.append("### How far from the limit\n\n" + limits_table(rows))
        shared = shared_table(rows)
        if shared:
            parts.append("### Shared memory, beyond the copy\n\n" + shared)
    if result.get("compute"):
        lines = [compute_line(row) for row in result["compute"]]
        parts.append("## Compute time of a batch\n\n" + markdown_table(COMPUTE_HEAD, lines))
    parts.append("## Start and memory\n\n" + server_table(result["servers"]))
    if result.get("cross_check"):
        parts.append("## The load generator, cross-checked\n\n")
        parts[-1] += cross_check_table(result["cross_check"])
    if result.get("notes"):
        parts.append("## Notes\n\n" + "\n".join(f"- {note}" for note in result["notes"]))
    parts.append(
        f"A row does not count where the client used more than {CLIENT_LIMIT:.0%} of its core, or "
        "where a request failed. Spread: largest minus smallest throughput as a part of the "
        "median. How to read this: bench/README.md."
    )
    return "\n\n".join(parts) + "\n"
