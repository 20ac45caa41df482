#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What features that watch requests cost: processor time per request with and without them.

    bench/feature_costs.py [--tools BUILD] [--rounds N] [--seconds S] [--write]

Starts a server for each feature on one core and loads it from another, with 64 requests of 16 floats in flight.
The server without features is loaded before and after each of the others, and what a feature costs is the
difference to the mean of these two, so that a machine which becomes slower or faster meanwhile changes little.
Needs build/stage and the target bench_tools (tools/build.sh bench bench_tools). Prints a table, and with --write
puts it into bench/results. `tools/dev bench-features`, about six minutes. Exit code 1: a feature costs more than its
limit.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import machine  # noqa: E402
from racetrack.contestants import Contestant, start  # noqa: E402
from racetrack.feature_page import LIMIT_PERCENT, Cost, render  # noqa: E402
from racetrack.load import Tools, load  # noqa: E402
from racetrack.workloads import (  # noqa: E402
    IDENTITY_SMALL,
    Files,
    Row,
    write_bare_repository,
    write_files,
)
from support.stage import PROJECT_ROOT  # noqa: E402

CONCURRENCY = 64
NOTHING = "nothing"
# Without these, histograms and recorder are on.
NO_HISTOGRAMS = "--metrics-config=latency_histograms=false"
NO_RECORDER = "--recorder-events=0"
# Features that have no limit: those that one switches on knowing what they cost.
WITHOUT_LIMIT = ("access log",)


def features(work: Path) -> Mapping[str, Sequence[str]]:
    """The options of each server."""
    traces = [
        f"--trace-config={setting}"
        for setting in ("level=TIMESTAMPS", "rate=1000", f"triton,file={work / 'traces'}")
    ]
    without = [NO_HISTOGRAMS, NO_RECORDER]
    return {
        NOTHING: without,
        "traces, 1 of 1,000": [*without, *traces],
        "histograms": [NO_RECORDER],
        "histograms and recorder (the default)": [],
        "access log": [*without, f"--access-log={work / 'access.log'}"],
    }


class Lap:
    """The runs of one protocol."""

    def __init__(
        self, servers: Mapping[str, Contestant], row: Row, files: Files, tools: Tools
    ) -> None:
        self._servers, self._row, self._files, self._tools = servers, row, files, tools
        self._placement = machine.placements()["pinned"]
        self.costs = [
            Cost(name, row.protocol, None if name in WITHOUT_LIMIT else LIMIT_PERCENT)
            for name in servers
            if name != NOTHING
        ]

    def run(self, name: str) -> dict[str, Any]:
        server = self._servers[name]
        address = server.address(self._row.protocol)
        return load(self._tools, self._row, self._files, address, server.pid, self._placement)

    def alternate(self) -> None:
        """Each feature once, between two runs without any."""
        before = self.run(NOTHING)
        for cost in self.costs:
            on = self.run(cost.feature)
            after = self.run(NOTHING)
            cost.add(on, before, after)
            before = after


def measure(work: Path, tools: Tools, rounds: int) -> list[Cost]:
    repository = write_bare_repository(work / "models")
    placement = machine.placements()["pinned"]
    servers: dict[str, Contestant] = {}
    try:
        for name, flags in features(work).items():
            servers[name] = start("nereid", repository, work / name, placement, flags)
        laps = []
        for protocol in ("http", "grpc"):
            row = Row(IDENTITY_SMALL, protocol, "binary", CONCURRENCY)
            laps.append(Lap(servers, row, write_files(work / "requests", repository, row), tools))
        for _ in range(rounds):
            for lap in laps:
                lap.alternate()
    finally:
        for server in servers.values():
            server.stop()
    return [cost for lap in laps for cost in lap.costs]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--rounds", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=0.35, help="of each run")
    parser.add_argument("--write", action="store_true", help="put the page into bench/results")
    options = parser.parse_args()
    if options.rounds < 6:
        parser.error("--rounds: fewer than 6 give no interval with a certainty of 95 %")
    machine.exit_at_sigterm()
    host = machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(Path(folder), Tools(options.tools, options.seconds, 0.1), options.rounds)
    when = datetime.date.today().isoformat()
    page = render(costs, when, host, machine.commit(PROJECT_ROOT), options.rounds)
    print(page)
    if options.write:
        file = PROJECT_ROOT / "bench" / "results" / f"features-{when}-{host['kind']}.md"
        file.write_text(page, encoding="utf-8")
        print(f"bench: wrote {file.relative_to(PROJECT_ROOT)}")
    for cost in costs:
        if cost.missed:
            print(f"bench: missed: {cost.feature} over {cost.protocol}: {cost.cpu.middle:+.1f} %")
    return 1 if any(cost.missed for cost in costs) else 0


if __name__ == "__main__":
    sys.exit(main())
