#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nereid, as a server and as a function of Python, against LitServe and MLServer on the same MLP over HTTP, in
one run, with Triton beside them. `tools/dev bench-light`.

    bench/light_frameworks.py [--tools BUILD] [--rounds N] [--seconds S] [--out DIR]

Needs build/stage, the target bench_tools, tools/setup.sh --bench --light and, for the sizes, `make package KIND=wheel`. Each
server has one core, the load generator another; all answers are compared with ONNX Runtime's. Writes
light-DATE-HOST.json and .md into build/bench-results. Exit code 1: Nereid missed the aim of ten times the
throughput of the others.
"""

from __future__ import annotations

import argparse
import datetime
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np  # noqa: E402
import onnxruntime  # noqa: E402

from racetrack import machine, networks, workloads  # noqa: E402
from racetrack.light import ENTRANTS, Light, installed_mib  # noqa: E402
from racetrack.load import Tools, run_json  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from support.repository import ModelRepository  # noqa: E402
from support.stage import PROJECT_ROOT  # noqa: E402

CONCURRENCIES = (1, 16, 64)
AIM = 10.0
AIMED = CONCURRENCIES[1:]  # with one connection most of the time is the client's
OTHERS = ("litserve", "litserve-batching", "mlserver", "mlserver-batching")


def write_model(folder: Path) -> Path:
    """A repository of the MLP below `folder`; returns the model's file."""
    workloads.add_mlp(ModelRepository(folder))
    return folder / "mlp" / "1" / "model.onnx"


def load(server: Light, expect: Path, concurrency: int, tools: Tools, placement: machine.Placement) -> dict[str, Any]:
    command = [
        tools.program("nereid_loadgen"),
        "--protocol=http",
        f"--address={server.address}",
        f"--path={server.path}",
        f"--body={server.body}",
        f"--expect={expect}",
        "--expect-form=json",
        f"--concurrency={concurrency}",
        f"--seconds={tools.seconds}",
        f"--warmup={tools.warmup}",
    ]
    return run_json(command, placement.client)


def race(work: Path, tools: Tools, rounds: int) -> dict[str, Any]:
    """For each entrant its runs by concurrency, its start and its memory."""
    placement = machine.placements()["pinned"]
    network = write_model(work / "models")
    values = np.random.default_rng(7).standard_normal(networks.MLP_LAYERS[0]).astype(np.float32).round(3)
    session = onnxruntime.InferenceSession(str(network), providers=["CPUExecutionProvider"])
    expect = work / "expect"
    expect.write_bytes(session.run(None, {"x": values[None]})[0].astype("<f4").tobytes())
    found: dict[str, Any] = {}
    for entrant in ENTRANTS:
        server = entrant.start(network, work / entrant.name, placement, values)
        try:
            runs = {
                str(concurrency): [load(server, expect, concurrency, tools, placement) for _ in range(rounds)]
                for concurrency in CONCURRENCIES
            }
            memory = server.memory_mib()
        finally:
            server.kill()
        found[entrant.name] = {
            "title": entrant.title,
            "runs": runs,
            "start_seconds": server.seconds_to_answer,
            "memory_mib": memory,
        }
        print(f"bench: {entrant.title}: {throughputs(found[entrant.name])}", flush=True)
    return found


def throughput(entrant: dict[str, Any], concurrency: int) -> float:
    """The median of the runs, in requests per second."""
    return statistics.median(run["throughput"] for run in entrant["runs"][str(concurrency)])


def p50_ms(entrant: dict[str, Any], concurrency: int) -> float:
    return statistics.median(run["latency_us"]["p50"] for run in entrant["runs"][str(concurrency)]) / 1000


def throughputs(entrant: dict[str, Any]) -> str:
    return ", ".join(f"{throughput(entrant, many):,.0f}/s with {many}" for many in CONCURRENCIES)


def page(result: dict[str, Any]) -> str:
    """The result for people, in Markdown."""
    entrants = result["entrants"]
    others = {many: max(throughput(entrants[name], many) for name in OTHERS) for many in CONCURRENCIES}
    heads = [f"{many} connection{'s'[: many > 1]} | p50 | times the best other" for many in CONCURRENCIES]
    lines = [
        "# Nereid and light frameworks",
        "",
        f"{result['date']}, {result['machine']['processor']}, commit {result['commit']}. The MLP 64-256-256-10 in ONNX "
        "Runtime, JSON over HTTP; one core for a server with all its processes, one for the load. Load average before: "
        f"{result['machine']['load_average_before'][0]:.2f}. Medians of {result['rounds']} runs; p50 in milliseconds.",
        "",
        f"| | {' | '.join(heads)} |",
        "|---|" + "--:|--:|--:|" * len(CONCURRENCIES),
    ]
    for entrant in entrants.values():
        cells = []
        for many in CONCURRENCIES:
            speed = throughput(entrant, many)
            cells += [f"{speed:,.0f}/s", f"{p50_ms(entrant, many):.2f}", f"{speed / others[many]:.1f} ×"]
        lines.append(f"| {entrant['title']} | {' | '.join(cells)} |")
    lines += ["", "| | from start to first answer | memory |", "|---|--:|--:|"]
    for entrant in entrants.values():
        lines.append(f"| {entrant['title']} | {entrant['start_seconds']:.2f} s | {entrant['memory_mib']:.0f} MiB |")
    lines += ["", "| installed | the package | with ONNX Runtime, numpy and the rest |", "|---|--:|--:|"]
    for name, (own, whole) in result["installed_mib"].items():
        lines.append(f"| {name} | {own:.0f} MiB | {whole:.0f} MiB |")
    return "\n".join(lines) + "\n"


def missed(entrants: dict[str, Any]) -> Sequence[str]:
    """Where the server is less than ten times as fast as one of the others."""
    return [
        f"{name} with {many} connections: {ratio:.1f} times"
        for name in OTHERS
        for many in AIMED
        if (ratio := throughput(entrants["nereid"], many) / throughput(entrants[name], many)) < AIM
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    described = machine.describe()
    with tempfile.TemporaryDirectory() as folder:
        entrants = race(Path(folder), Tools(options.tools, options.seconds, 0.5), options.rounds)
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": described,
        "commit": machine.commit(PROJECT_ROOT),
        "rounds": options.rounds,
        "entrants": entrants,
        "installed_mib": installed_mib(),
    }
    name = f"light-{result['date']}-{described['kind']}"
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"{name}.json").write_text(json.dumps(result, indent=1))
    (options.out / f"{name}.md").write_text(page(result), encoding="utf-8")
    print(page(result))
    for miss in missed(entrants):
        print(f"bench: missed: {miss}")
    return 1 if missed(entrants) else 0


if __name__ == "__main__":
    sys.exit(main())
