# SPDX-License-Identifier: Apache-2.0
"""Well-behaved clients while others misbehave: measures one attack, and writes the page.

Each attack has its own server. Quiet measurements and measurements under attack take turns. The
result is the median p99 under attack divided by the median p99 without one.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from racetrack import machine
from racetrack.attacks import ATTACKS, SLOW_MODEL
from racetrack.contestants import start
from racetrack.load import Tools, load
from racetrack.machine import Placement, on_cores
from racetrack.statistics import ratio
from racetrack.table import markdown_table, number, times
from racetrack.workloads import IDENTITY_SMALL, LARGE, SMALL, Row, write_files
from support.repository import ModelRepository

# An open loop far below the capacity of a core, so that requests wait only for those of others.
GOOD = Row(IDENTITY_SMALL, "http", "binary", 16, rate=1000)
MOST_RATIO = 2.0
SETTLE_SECONDS = 1.0  # between the start of an attack and the measurement


def write_repository(root: Path) -> Path:
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    models.add_identity("identity_large", "FP32", (LARGE,))
    slow = {"execute_delay_ms": "20", "nereid.inline_execution": "false"}
    models.add_identity(SLOW_MODEL, "FP32", (SMALL,), parameters=slow)
    return root


@contextmanager
def attack(name: str, address: str, placement: Placement) -> Iterator[dict[str, Any]]:
    """Runs an attack during the block; the dictionary contains the outcome afterwards."""
    outcome: dict[str, Any] = {}
    command = [sys.executable, "-m", "racetrack.attacks", name, address]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with on_cores(placement.client):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    begun = time.monotonic()
    try:
        time.sleep(SETTLE_SECONDS)
        if process.poll() is not None:
            raise RuntimeError(f"the attack {name} ended with {process.returncode}")
        yield outcome
    finally:
        process.terminate()
        said, _ = process.communicate(timeout=30)
    outcome |= json.loads(said) | {"seconds": time.monotonic() - begun}


class Measurement:
    """The settings that all attacks of a run share."""

    def __init__(self, work: Path, tools: Tools, options: Sequence[str]) -> None:
        self._work = work
        self._tools = tools
        self._options = options
        self._repository = write_repository(work / "models")
        self._files = write_files(work / "requests", self._repository, GOOD)
        self._placement = machine.placements()["pinned"]

    def one(self, name: str, alternations: int) -> dict[str, Any]:
        """Measures one attack against a separate server."""
        server = start("nereid", self._repository, self._work, self._placement, self._options)
        quiet, attacked, outcomes = [], [], []
        try:

            def measure() -> dict[str, Any]:
                return load(
                    self._tools, GOOD, self._files, server.http, server.pid, self._placement
                )

            idle = machine.memory_mib(server.pid)["rss"]
            for _ in range(alternations):
                quiet.append(measure())
                with attack(name, server.http, self._placement) as outcome:
                    attacked.append(measure())
                outcomes.append(outcome)
            peak = machine.memory_mib(server.pid)["peak"]
        finally:
            server.stop()
        return {
            "attack": name,
            "title": ATTACKS[name].title,
            "connections": ATTACKS[name].connections,
            "quiet": quiet,
            "attacked": attacked,
            "outcomes": outcomes,
            "memory_mib": {"idle": idle, "peak": peak},
        }


def middle(runs: Sequence[Mapping[str, Any]], percentile: str) -> float:
    return statistics.median(run["latency_us"][percentile] for run in runs)


def growth(row: Mapping[str, Any]) -> float | None:
    """The factor by which the p99 of well-behaved clients grows; None if it is unknown."""
    return ratio(middle(row["attacked"], "p99"), middle(row["quiet"], "p99"))


def errors(row: Mapping[str, Any]) -> int:
    return sum(run["errors"] for run in [*row["quiet"], *row["attacked"]])


def failures(result: Mapping[str, Any]) -> list[str]:
    """One sentence for each aim that the server misses."""
    found = []
    for row in result["rows"]:
        grown = growth(row)
        if grown is not None and grown > MOST_RATIO:
            found.append(
                f"{row['attack']}: the p99 is {times(grown)} the quiet one, "
                f"{MOST_RATIO:g} are allowed"
            )
        if errors(row):
            found.append(f"{row['attack']}: {errors(row)} good requests failed")
    return found


def outcome_text(outcomes: Sequence[Mapping[str, Any]]) -> str:
    """The answers that the attackers got: "400: 12, closed: 3"."""
    total: dict[str, int] = {}
    for outcome in outcomes:
        for what, count in outcome["outcomes"].items():
            total[what] = total.get(what, 0) + count
    return ", ".join(f"{what}: {count:,}" for what, count in sorted(total.items())) or "nothing"


def row_line(row: Mapping[str, Any]) -> list[str]:
    seconds = sum(outcome["seconds"] for outcome in row["outcomes"])
    sent = sum(outcome["sent"] for outcome in row["outcomes"]) / seconds
    grown = growth(row)
    mark = "" if grown is None or grown <= MOST_RATIO else " **over**"
    return [
        f"{row['attack']}: {row['title']}",
        f"{row['connections']:,}",
        number(sent),
        outcome_text(row["outcomes"]),
        number(middle(row["quiet"], "p50")),
        number(middle(row["attacked"], "p50")),
        number(middle(row["quiet"], "p99")),
        number(middle(row["attacked"], "p99")),
        f"{times(grown)}{mark}",
        str(errors(row)),
        f"{row['memory_mib']['idle']:.0f} / {row['memory_mib']['peak']:.0f}",
    ]


HEAD = (
    "| attack | connections | sent /s | told | p50 quiet µs | attacked | p99 quiet µs | attacked "
    "| p99 ratio | errors | MiB idle / peak |"
)


def render(result: Mapping[str, Any]) -> str:
    """The whole Markdown page."""
    host = result["host"]
    wrong = failures(result)
    verdict = "**All within.**" if not wrong else "\n".join(f"- {sentence}" for sentence in wrong)
    parts = [
        f"# Good clients under attack, Nereid {result['commit']}, {result['when']}",
        f"{host['cores']} cores, {host['processor']}, {host['system']}; load average before "
        f"{host['load_average_before'][0]:.2f}. {GOOD.rate:,} requests a second of 16 floats over "
        f"{GOOD.concurrency} connections; {result['alternations']} turns of "
        f"{result['seconds']:g} s quiet and attacked; one core for the server, one for all clients.",
        f"Aim: a p99 at most {MOST_RATIO:g} times the quiet one.",
        verdict,
        markdown_table(HEAD, [row_line(row) for row in result["rows"]]),
    ]
    return "\n\n".join(parts) + "\n"
