#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `nereid capacity` predicts, beside what `nereid bench` measures.

    bench/capacity.py [--model NAME] [--limit SHARE] [--out DIR]

`nereid tune` measures execution times with one configuration of a model. Two other configurations
are then predicted from these times, and measured on servers of their own, under closed loops; and
two servers, whose client takes turns between them, under random arrivals. Writes
capacity-DATE-HOST.md into build/bench-results. Exit code 1: a throughput or a median is further from
its prediction than --limit (0.15). Needs build/stage and a quiet machine; `tools/dev capacity-check`.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from pathlib import Path
from statistics import fmean
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests"))

from racetrack import networks  # noqa: E402
from racetrack.pages import Page  # noqa: E402
from racetrack.program import program, servers  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from support.repository import ModelRepository, parameters_text, tensor_text  # noqa: E402
from support.server_process import ServerProcess  # noqa: E402

CLIENTS = (2, 8, 16)
MAX_BATCH = 8
WAIT_US = "2000"  # for each row of the model that waits
SECONDS = {"waiting": 3, "resnet18": 8}  # of a measurement
TRACE_SECONDS = 10
HEAD = (
    "| model | configuration | load | predicted/s | measured/s | | predicted p50 | measured p50 | |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|",
)


@dataclass(frozen=True)
class Configuration:
    """How a model runs."""

    name: str
    instances: int
    batching: str  # content of dynamic_batching; none: no batching

    def text(self) -> str:
        batching = "" if self.batching == "none" else f"dynamic_batching {{ {self.batching} }}\n"
        return batching + f"instance_group [ {{ count: {self.instances} kind: KIND_CPU }} ]\n"


MEASURED = Configuration("measured", 1, "")
HELD_BACK = (
    Configuration("2 instances, no batching", 2, "none"),
    Configuration("1 instance, delay 3 ms", 1, "max_queue_delay_microseconds: 3000"),
)


def add_waiting(models: ModelRepository, configuration: Configuration) -> None:
    """Waits 2 ms for each row, like one that waits for an accelerator."""
    models.add_identity(
        "waiting",
        "FP32",
        (16,),
        max_batch_size=MAX_BATCH,
        extra=configuration.text(),
        parameters={"execute_delay_row_us": WAIT_US},
    )


def add_resnet18(models: ModelRepository, configuration: Configuration) -> None:
    """Computes on one thread per instance."""
    threads = {"intra_op_thread_count": "1", "inter_op_thread_count": "1"}
    config = (
        f'backend: "onnxruntime"\nmax_batch_size: {MAX_BATCH}\n'
        f"input [ {tensor_text('x', 'FP32', networks.RESNET_IMAGE)} ]\n"
        f"output [ {tensor_text('y', 'FP32', (networks.RESNET_CLASSES,))} ]\n"
        f"{parameters_text(threads)}{configuration.text()}"
    )
    onnx.save(networks.resnet18(), models.add("resnet18", config) / "1" / "model.onnx")


MODELS: dict[str, Callable[[ModelRepository, Configuration], None]] = {
    "waiting": add_waiting,
    "resnet18": add_resnet18,
}


@dataclass(frozen=True)
class Row:
    load: str
    throughput: float
    p50_us: float


@dataclass
class Table:
    """The lines of a model, which are also printed as they come, and the largest deviation."""

    model: str
    largest: float = 0.0
    lines: list[str] = field(default_factory=list)

    def line(self, configuration: str, predicted: Row, measured: Row) -> None:
        throughput = predicted.throughput / measured.throughput - 1
        p50 = predicted.p50_us / measured.p50_us - 1
        self.largest = max(self.largest, abs(throughput), abs(p50))
        self.lines.append(
            f"| {self.model} | {configuration} | {measured.load} | {predicted.throughput:.0f} | "
            f"{measured.throughput:.0f} | {throughput:+.1%} | {predicted.p50_us / 1000:.2f} ms | "
            f"{measured.p50_us / 1000:.2f} ms | {p50:+.1%} |"
        )
        print(self.lines[-1], flush=True)


def measure_times(model: str, work: Path, seconds: float) -> Path:
    """The file with the times of the model in the first configuration."""
    models = ModelRepository(work / "measured")
    MODELS[model](models, MEASURED)
    state = work / "times"
    program(
        "tune",
        model,
        f"--model-repository={models.root}",
        "--max-instances=2",
        "--measure=1",
        "--concurrency=4",
        f"--seconds={seconds}",
        f"--state={state}",
    )
    return state


def predict(model: str, times: Path, models: ModelRepository, *more: str) -> Any:
    config = models.root / model / "config.pbtxt"
    options = (f"--times={times}", f"--config={config}", *more, "--json")
    return json.loads(program("capacity", model, *options))


def bench(model: str, server: ServerProcess, *load: str) -> list[Row]:
    options = (f"--url=http://{server.http_url}", f"--model={model}", *load, "--stability=0")
    answer = json.loads(program("bench", *options, "--json"))
    return [
        Row(f"{row.get('concurrency')} clients", row["throughput"], row["latency_us"]["p50"])
        for row in answer["rows"]
    ]


def compare_closed(table: Table, times: Path, models: ModelRepository, work: Path) -> None:
    """One server under closed loops."""
    rows = {row["clients"]: row for row in predict(table.model, times, models)["alone"]}
    with servers(1, models.root, work) as (server,):
        load = "--concurrency=" + ",".join(map(str, CLIENTS))
        measured = bench(table.model, server, load, f"--seconds={SECONDS[table.model]}")
    for clients, row in zip(CLIENTS, measured):
        guess = rows[clients]
        table.line(work.name, Row("", guess["throughput"], guess["p50_us"]), row)


def compare_two(table: Table, times: Path, models: ModelRepository, work: Path) -> None:
    """Two servers that are seven tenths busy, in turn."""
    one = predict(table.model, times, models)["alone"][-1]["throughput"]
    rate = 0.7 * 2 * one
    chance = random.Random(1)
    due = list(accumulate(chance.expovariate(rate) for _ in range(int(rate * TRACE_SECONDS))))
    recording = work / "recording.jsonl"
    lines: list[dict[str, Any]] = [
        {"nereid_recording": 1},
        {"model": 1, "name": table.model, "version": 1, "config": {}, "instances": []},
    ]
    lines += [{"request": 1, "start": 1 + int(at * 1e9), "size": 1, "outcome": "ok"} for at in due]
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (guess,) = predict(table.model, times, models, f"--recording={recording}", "--nodes=2")["fleets"]
    traces = [work / "even", work / "odd"]
    for number, trace in enumerate(traces):
        trace.write_text("".join(f"{at:.6f}\n" for at in due[number::2]))
    with servers(2, models.root, work) as both, ThreadPoolExecutor() as pool:
        loads = [f"--trace-file={trace}" for trace in traces]
        rows = [row for (row,) in pool.map(partial(bench, table.model), both, loads)]
    measured = Row(
        f"{rate:.0f}/s in turn", sum(row.throughput for row in rows), fmean(r.p50_us for r in rows)
    )
    table.line(f"two servers: {work.name}", Row("", guess["throughput"], guess["p50_us"]), measured)


def compare(model: str, work: Path) -> Table:
    times = measure_times(model, work, SECONDS[model])
    table = Table(model)
    for configuration in HELD_BACK:
        folder = work / configuration.name
        models = ModelRepository(folder / "models")
        MODELS[model](models, configuration)
        compare_closed(table, times, models, folder)
        # Two servers that compute would share the processors.
        if model == "waiting":
            compare_two(table, times, models, folder)
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", choices=list(MODELS), help="only this one")
    parser.add_argument("--limit", type=float, default=0.15, help="largest deviation")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    page = Page("capacity", "What `nereid capacity` predicts, and what is measured")
    tables = []
    for model in [options.model] if options.model else MODELS:
        with tempfile.TemporaryDirectory() as folder:
            tables.append(compare(model, Path(folder)))
    lines = [*HEAD, *(line for table in tables for line in table.lines)]
    largest = max(table.largest for table in tables)
    summary = f"Largest deviation: {largest:.1%}; the limit is {options.limit:.0%}."
    misses = [summary] if largest > options.limit else []
    about = "Execution times of one configuration; two others are predicted from them."
    page.write(page.text(about, "\n".join(lines), summary, misses=misses), options.out)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
