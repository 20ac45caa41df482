#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Latency of requests inside the process: from C and from Python, waiting and asynchronous, against
Triton's library. `tools/dev bench-in-process`.

    bench/in_process.py [--count=N] [--rounds=N] [--tools=BUILD] [--out=DIR]

Needs build/stage (NEREID_STAGE names another), the target in_process_calls, and Triton's wheel
(tools/setup.sh). One model, one request at a time, 16 floats; both libraries run the same
program and the same backend. Writes in-process-DATE-HOST.md into build/bench-results. Exit code 1: an aim
was missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack.pages import Page  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.table import markdown_table  # noqa: E402

from differential import original_server  # noqa: E402
from support.repository import ModelRepository  # noqa: E402
from support.stage import PROJECT_ROOT, backend_directory, python_package, stage_root  # noqa: E402

MODEL = "identity"
VALUES = 16
C_BLOCKING = "C, blocking"
PYTHON_BLOCKING = "Python, `infer`"
AIMS = {C_BLOCKING: 5.0, PYTHON_BLOCKING: 15.0}  # the most microseconds that p50 may take


@dataclass(frozen=True)
class Way:
    """One way to send requests."""

    title: str
    command: Sequence[str]
    way: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Times:
    """Percentiles in microseconds, each the median of the rounds."""

    p50: float
    p99: float


def ways(tools: Path, folder: Path) -> list[Way]:
    program = str(tools / "bench" / "in_process_calls")
    script = str(PROJECT_ROOT / "bench" / "in_process" / "calls.py")
    original = original_server.prepare(folder)
    ours = {"LD_LIBRARY_PATH": str(stage_root() / "lib")}
    theirs = {"LD_LIBRARY_PATH": original.library_path}
    python = {"PYTHONPATH": str(python_package())}
    return [
        Way(C_BLOCKING, [program], "blocking", ours),
        Way("C, asynchronous", [program], "asynchronous", ours),
        Way("C, asynchronous, Triton's library", [program], "asynchronous", theirs),
        Way(PYTHON_BLOCKING, [sys.executable, script], "blocking", python),
        Way("Python, `await async_infer`", [sys.executable, script], "asynchronous", python),
    ]


def run(way: Way, models: Path, count: int) -> list[int]:
    """The times of `count` requests, in nanoseconds, sorted."""
    command = [*way.command, str(models), str(backend_directory()), MODEL, way.way, str(count)]
    done = subprocess.run(
        command,
        env={**os.environ, **way.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    if done.returncode != 0:
        raise SystemExit(f"{way.title}: {done.returncode}: {done.stderr[-2000:]}")
    times = sorted(int(line) for line in done.stdout.split())
    if len(times) != count:
        raise SystemExit(f"{way.title}: {len(times)} times instead of {count}")
    return times


def measure(all_ways: Sequence[Way], models: Path, count: int, rounds: int) -> dict[str, Times]:
    """The rounds alternate, so that a slow minute of the machine meets all ways."""
    found: dict[str, list[list[int]]] = {way.title: [] for way in all_ways}
    for number in range(rounds):
        for way in all_ways:
            found[way.title].append(run(way, models, count))
            print(f"round {number + 1}: {way.title}: p50 {percentile(found[way.title][-1], 50)} us")
    return {
        title: Times(*(statistics.median(percentile(one, p) for one in times) for p in (50, 99)))
        for title, times in found.items()
    }


def percentile(times: Sequence[int], percent: int) -> float:
    return times[len(times) * percent // 100] / 1000


def render(page: Page, results: Mapping[str, Times], count: int, rounds: int) -> str:
    lines = [[title, f"{times.p50:.1f}", f"{times.p99:.1f}"] for title, times in results.items()]
    table = markdown_table("| way | p50, µs | p99, µs |", lines)
    about = (
        f"The model `identity` with {VALUES} floats, one request at a time: a call and its answer. "
        f"{rounds} rounds of {count} requests, which take turns; medians of the rounds."
    )
    return page.text(about, table, misses=missed(results))


def missed(results: Mapping[str, Times]) -> list[str]:
    return [
        f"{title}: p50 {results[title].p50:.1f} µs, at most {most:g}"
        for title, most in AIMS.items()
        if results[title].p50 > most
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    page = Page("in-process", "Latency inside the process")
    with tempfile.TemporaryDirectory(prefix="nereid-in-process-") as temporary:
        folder = Path(temporary)
        models = ModelRepository(folder / "models")
        models.add_identity(MODEL, "FP32", (VALUES,))
        all_ways = ways(arguments.tools, folder / "original")
        results = measure(all_ways, models.root, arguments.count, arguments.rounds)
    page.write(render(page, results, arguments.count, arguments.rounds), arguments.out)
    return 1 if missed(results) else 0


if __name__ == "__main__":
    sys.exit(main())
