#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nereid bench` beside perf_analyzer at the same rate, and beside wrk and h2load in a closed loop.

    bench/generators.py [--seconds S] [--rounds N] [--out DIR]

All load one server, which runs on one core, from another, in turns. Needs build/stage, and what
tools/setup.sh --bench installs. Writes generators-DATE-HOST.md into build/bench-results. Exit code 1:
a throughput differs by more than 5 %, or a percentile by more than 10 %. `tools/dev bench-generators`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np  # noqa: E402

from racetrack import machine  # noqa: E402
from racetrack.contestants import start  # noqa: E402
from racetrack.other_generators import (  # noqa: E402
    PERCENTILES,
    Failed,
    Load,
    Measured,
    Request,
    h2load,
    nereid,
    perf,
    wrk,
)
from racetrack.pages import Page  # noqa: E402
from racetrack.perf_analyzer import NotAvailable  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.workloads import Model, Row, grpc_body, write_http_body  # noqa: E402
from support.repository import ModelRepository  # noqa: E402

FLOATS = 16
CONCURRENCY = 16
RATES = {"quick": 2000, "slow": 300}  # per second
SLOW_MS = 1
COLUMNS = ("requests/s", *(f"p{p}" for p in PERCENTILES))
LIMITS = (0.05, *(0.10 for _ in PERCENTILES))  # how far `nereid bench` may be from the others
Generator = Callable[[], Measured]


def write_models(root: Path) -> Path:
    """`quick` answers at once; `slow` after a millisecond, so that latencies are no noise."""
    models = ModelRepository(root)
    models.add_identity("quick", "FP32", (FLOATS,))
    models.add_identity("slow", "FP32", (FLOATS,), parameters={"execute_delay_ms": str(SLOW_MS)})
    return root


def write_request(work: Path, protocol: str, model_name: str) -> Request:
    model = Model(model_name, model_name, "INPUT0", "OUTPUT0", (FLOATS,))
    values = np.linspace(0, 1, FLOATS, dtype=np.float32)
    path = work / f"{protocol}-{model_name}.body"
    if protocol == "http":
        length = write_http_body(path, Row(model, protocol, "binary", CONCURRENCY), values)
        assert length is not None
        return Request(path, length)
    message = grpc_body(model, values)
    path.write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)
    return Request(path, 0)


@dataclass
class Comparison:
    """What the generators measured under one load, beside `nereid bench`."""

    load: str
    ours: Measured
    lines: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def add(self, name: str, theirs: Measured) -> None:
        pairs = [
            (self.ours.throughput, theirs.throughput),
            *zip(self.ours.percentiles, theirs.percentiles, strict=True),
        ]
        itself = name == "nereid bench"
        cells = [f"{b:.0f}" if itself else f"{b:.0f} ({a / b:.2f})" for a, b in pairs]
        self.lines.append(f"| {' | '.join([self.load, name, *cells])} |")
        for what, most, (a, b) in zip(COLUMNS, LIMITS, pairs, strict=True):
            if abs(a / b - 1) > most:
                self.misses.append(
                    f"{self.load}, {what}: {a / b:.2f} times that of {name}, within {most:.0%} is wanted"
                )


def generators(
    load: Load, work: Path, placement: machine.Placement
) -> Mapping[str, Generator]:
    found: dict[str, Generator] = {"nereid bench": lambda: nereid(load, placement)}
    if load.rate:
        found["perf_analyzer"] = lambda: perf(load, work, placement)
        return found
    request = write_request(work, load.protocol, load.model)
    if load.protocol == "http":
        found["wrk"] = lambda: wrk(load, request, work, placement)
    found["h2load"] = lambda: h2load(load, request, work, placement)
    return found


def medians(found: list[Measured]) -> Measured:
    return Measured(
        statistics.median(each.throughput for each in found),
        tuple(
            statistics.median(each.percentiles[i] for each in found)
            for i in range(len(PERCENTILES))
        ),
    )


def compare(load: Load, work: Path, placement: machine.Placement, rounds: int) -> Comparison:
    """Each generator in turn; a line for each, and how far `nereid bench` is from it."""
    runs: dict[str, list[Measured]] = {}
    failures: dict[str, str] = {}
    for _ in range(rounds):
        for name, generator in generators(load, work, placement).items():
            try:
                runs.setdefault(name, []).append(generator())
            except (Failed, NotAvailable) as error:
                failures[name] = str(error)
    if not runs["nereid bench"]:
        raise SystemExit(failures["nereid bench"])
    size = f"{load.rate}/s" if load.rate else f"{load.concurrency} in flight"
    found = Comparison(f"{load.protocol}, {load.model}, {size}", medians(runs["nereid bench"]))
    for name, measured in runs.items():
        if measured:
            found.add(name, medians(measured))
        else:
            found.lines.append(f"| {found.load} | {name} | {failures[name]} | | | |")
    print("\n".join(found.lines), flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    placement = machine.placements()["pinned"]
    page = Page("generators", "`nereid bench` beside other load generators")
    found: list[Comparison] = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        server = start("nereid", write_models(work / "models"), work, placement)
        try:
            for load in loads(server.address, options.seconds):
                found.append(compare(load, work, placement, options.rounds))
        finally:
            server.stop()
    head = [f"| load | generator | {' | '.join(COLUMNS)} |", "|---|---|--:|--:|--:|--:|"]
    lines = [line for one in found for line in one.lines]
    about = (
        f"Medians of {options.rounds} turns of {options.seconds} s, latencies in µs; in parentheses "
        f"`nereid bench` by the other generator. `slow` computes for {SLOW_MS} ms."
    )
    misses = [miss for one in found for miss in one.misses]
    page.write(page.text(about, "\n".join([*head, *lines]), misses=misses), options.out)
    return 1 if misses else 0


def loads(address: Callable[[str], str], seconds: int) -> Iterator[Load]:
    for protocol in ("http", "grpc"):
        for model, rate in RATES.items():
            yield Load(protocol, model, address(protocol), rate=rate, seconds=seconds)
        for model in RATES:
            yield Load(
                protocol, model, address(protocol), concurrency=CONCURRENCY, seconds=seconds
            )


if __name__ == "__main__":
    sys.exit(main())
