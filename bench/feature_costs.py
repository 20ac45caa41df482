#!/usr/bin/env python3
"""What features that watch requests cost: processor time per request with and without them.

    bench/feature_costs.py [--tools BUILD] [--rounds N]

Starts a server for each feature on one core and loads them in turns from another, with 64 requests of 16
floats in flight. Needs build/stage and the target bench_tools (tools/build.sh bench bench_tools). Prints
a table; `make bench-features`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import machine  # noqa: E402
from racetrack.contestants import Contestant, start  # noqa: E402
from racetrack.load import Tools, load  # noqa: E402
from racetrack.workloads import (  # noqa: E402
    IDENTITY_SMALL,
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


def features(work: Path) -> Mapping[str, Sequence[str]]:
    """The options of each server."""
    traces = [
        f"--trace-config={setting}"
        for setting in ("level=TIMESTAMPS", "rate=1000", f"triton,file={work / 'traces'}")
    ]
    without = [NO_HISTOGRAMS, NO_RECORDER]
    return {
        NOTHING: without,
        "histograms": [NO_RECORDER],
        "recorder": [NO_HISTOGRAMS],
        "histograms and recorder (the default)": [],
        "traces, 1 of 1,000": [*without, *traces],
        "access log": [*without, f"--access-log={work / 'access.log'}"],
    }


def measure(
    servers: Mapping[str, Contestant], row: Row, work: Path, tools: Tools, rounds: int
) -> Mapping[str, float]:
    """Microseconds of the server's processor time per request: the median of the rounds."""
    files = write_files(work / "requests", work / "models", row)
    placement = machine.placements()["pinned"]
    found: dict[str, list[float]] = {name: [] for name in servers}
    for _ in range(rounds):
        for name, server in servers.items():
            address = server.address(row.protocol)
            run = load(tools, row, files, address, server.pid, placement)
            found[name].append(run["server_cpu_us"])
    return {name: statistics.median(runs) for name, runs in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    tools = Tools(options.tools, 1.2, 0.2)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        repository = write_bare_repository(work / "models")
        placement = machine.placements()["pinned"]
        servers: dict[str, Contestant] = {}
        try:
            for name, flags in features(work).items():
                servers[name] = start("nereid", repository, work / name, placement, flags)
            print("| feature | protocol | CPU µs per request | more |\n|---|---|--:|--:|")
            for protocol in ("http", "grpc"):
                row = Row(IDENTITY_SMALL, protocol, "binary", CONCURRENCY)
                costs = measure(servers, row, work, tools, options.rounds)
                for name, cost in costs.items():
                    more = 100 * (cost / costs[NOTHING] - 1)
                    print(f"| {name} | {protocol} | {cost:.2f} | {more:+.1f} % |", flush=True)
        finally:
            for server in servers.values():
                server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
