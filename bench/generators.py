#!/usr/bin/env python3
"""`nereid bench` beside perf_analyzer at the same rate, and beside wrk and h2load in a closed loop.

    bench/generators.py [--seconds S] [--rounds N]

All load one server, which runs on one core, from another, in turns. Needs build/stage, and what
tools/setup.sh --bench installs. Prints a table of medians; `make bench-generators`.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping
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
from racetrack.perf_analyzer import NotAvailable  # noqa: E402
from racetrack.workloads import Model, Row, grpc_body, write_http_body  # noqa: E402
from support.repository import ModelRepository  # noqa: E402

FLOATS = 16
CONCURRENCY = 16
RATES = {"quick": 2000, "slow": 300}  # per second
SLOW_MS = 1
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


def compare(load: Load, work: Path, placement: machine.Placement, rounds: int) -> None:
    """Prints a line for each generator, and how far `nereid bench` is from it."""
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
    ours = medians(runs["nereid bench"])
    size = f"{load.rate}/s" if load.rate else f"{load.concurrency} in flight"
    for name in runs:
        if not runs[name]:
            print(f"| {load.protocol}, {load.model}, {size} | {name} | {failures[name]} |")
            continue
        theirs = medians(runs[name])
        cells = [
            (ours.throughput, theirs.throughput),
            *zip(ours.percentiles, theirs.percentiles, strict=True),
        ]
        texts = [
            f"{b:.0f}" if name == "nereid bench" else f"{b:.0f} ({a / b:.2f})" for a, b in cells
        ]
        line = [f"{load.protocol}, {load.model}, {size}", name, *texts]
        print(f"| {' | '.join(line)} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    placement = machine.placements()["pinned"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        server = start("nereid", write_models(work / "models"), work, placement)
        try:
            print("In parentheses: `nereid bench` by the other generator. Latencies in µs.\n")
            names = " | ".join(f"p{p}" for p in PERCENTILES)
            print(f"| load | generator | requests/s | {names} |\n|---|---|--:|--:|--:|--:|")
            for protocol in ("http", "grpc"):
                address = server.address(protocol)
                for model, rate in RATES.items():
                    load = Load(protocol, model, address, rate=rate, seconds=options.seconds)
                    compare(load, work, placement, options.rounds)
                for model in RATES:
                    load = Load(
                        protocol, model, address, concurrency=CONCURRENCY, seconds=options.seconds
                    )
                    compare(load, work, placement, options.rounds)
        finally:
            server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
