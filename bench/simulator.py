#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulation of the scheduler against a server: six models under four arrival patterns, and a seventh.

    bench/simulator.py [--seconds S] [--runs N] [--model NAME ...] [--out DIR]

For each, `nereid tune` measures how long executions of the model take. Then `nereid capacity` simulates, and
`nereid bench` measures on a server, N times with other random arrivals each time, which are the same for both.
What is measured while the host of a virtual machine gives processor time to others says little about this machine. If
that was more than 3 %, all of it is done once more, and the quieter of the two counts.
A perfect prediction of p99 lies outside the five runs once in 16 cases, when all five are on one side of the median.
The aim is therefore that at most four of 24 do: more would be expected in one of 70 runs of this program.
Requests of the seventh model, `digits`, take microseconds. How long threads need to wake up is most of that, and
depends on how long they slept and on the machine's other work. So its rows are shown, and not judged.
Needs build/stage and a quiet machine; `tools/dev simulator-check`. Writes simulator-DATE-HOST.md into
build/bench-results, and prints it. Exit code 1: an aim was missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from racetrack.machine import Interference  # noqa: E402
from racetrack.pages import Page  # noqa: E402
from racetrack.program import program, servers  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.tuned_models import add_network  # noqa: E402
from support.repository import ModelRepository  # noqa: E402
from support.server_process import ServerProcess  # noqa: E402
from support.stage import EXAMPLE_MODELS  # noqa: E402

PATTERNS = ("constant", "poisson", "bursty", "step")
AIM = 0.10  # of throughput and p50
NOT_JUDGED = ("digits",)
QUIET = 0.03  # a larger share of the processor time given to others: measured again
MOST_OUTSIDE = 1 / 6  # of the predictions of p99
RESOLUTION = 0.02  # runs whose p99 agree exactly have a spread of this


@dataclass(frozen=True)
class Figures:
    """Of a configuration under a load. Latencies are in microseconds."""

    throughput: float
    p50: float
    p99: float


@dataclass(frozen=True)
class Pair:
    """Predictions and measurements, one of each for every series of arrivals."""

    model: str
    pattern: str
    predicted: Sequence[Figures]
    measured: Sequence[Figures]
    stolen: float  # the share of the processor time that the host gave to others meanwhile

    def foretold(self, what: str) -> float:
        return statistics.median(getattr(run, what) for run in self.predicted)

    def real(self, what: str) -> float:
        return statistics.median(getattr(run, what) for run in self.measured)

    def error(self, what: str) -> float:
        return abs(self.foretold(what) - self.real(what)) / self.real(what)

    @property
    def judged(self) -> bool:
        return self.model not in NOT_JUDGED

    def p99_within_spread(self) -> bool:
        runs = [run.p99 for run in self.measured]
        least, most = min(runs) * (1 - RESOLUTION), max(runs) * (1 + RESOLUTION)
        return least <= self.foretold("p99") <= most


def write_models(root: Path) -> dict[str, float]:
    """Returns the rate, in requests per second, at which each model is to be asked: between a half
    and three quarters of what it can serve."""
    models = ModelRepository(root)
    batching = "dynamic_batching {{ max_queue_delay_microseconds: {} }}"
    two = "instance_group [ {{ count: 2 }} ]"

    def add(name: str, delay_ms: str, row_us: int, batch: int, extra: str) -> None:
        parameters = {"execute_delay_ms": delay_ms, "execute_delay_row_us": str(row_us)}
        models.add_identity(
            name, "FP32", (16,), max_batch_size=batch, parameters=parameters, extra=extra
        )

    add("single", "8", 0, 0, "")
    add("pair", "10", 0, 0, two.format())
    add("batched", "10", 0, 8, batching.format(2000))
    add("rows", "4", 1000, 8, batching.format(5000))
    add("batched_pair", "12", 500, 8, two.format() + "\n" + batching.format(3000))
    add_network(models, "wide", (1024, 2048, 2048, 10), 8)
    shutil.copytree(EXAMPLE_MODELS / "digits", root / "digits")
    return {
        "single": 70,
        "pair": 120,
        "batched": 400,
        "rows": 350,
        "batched_pair": 500,
        "wide": 200,
        "digits": 2000,
    }


def measure_times(model: str, repository: Path, rate: float, state: Path) -> None:
    """How long executions of the model take goes into the file `state`."""
    options = (f"--rate={rate}", "--seconds=3", "--max-instances=2", "--measure=0")
    program("tune", model, f"--model-repository={repository}", *options, f"--state={state}")


def figures_of(throughput: float, latency: Mapping[str, float], suffix: str = "") -> Figures:
    return Figures(throughput, latency["p50" + suffix], latency["p99" + suffix])


def predict(model: str, state: Path, load: Sequence[str]) -> Figures:
    answer = json.loads(program("capacity", model, f"--times={state}", "--nodes=1", *load, "--json"))
    (fleet,) = answer["fleets"]
    return figures_of(fleet["throughput"], fleet, "_us")


def measure(model: str, server: ServerProcess, load: Sequence[str]) -> Figures:
    options = ("--warm-up-seconds=0", "--stability=0", "--json")
    url = f"--url=http://{server.http_url}"
    (row,) = json.loads(program("bench", url, f"--model={model}", *load, *options))["rows"]
    return figures_of(row["throughput"], row["latency_us"])


def compare(
    model: str, pattern: str, work: Path, server: ServerProcess, rate: float, seconds: float, runs: int
) -> Pair:
    """`work`: a folder that has the folder `models`."""
    interference = Interference()
    state = work / f"{model}-{pattern}.times"
    state.unlink(missing_ok=True)
    measure_times(model, work / "models", rate, state)
    predicted, measured = [], []
    for seed in range(1, runs + 1):
        load = (f"--rate={rate}", f"--arrivals={pattern}", f"--seconds={seconds}", f"--seed={seed}")
        predicted.append(predict(model, state, load))
        measured.append(measure(model, server, load))
    return Pair(model, pattern, predicted, measured, interference.share())


def compare_quietly(*what: Any) -> Pair:
    """Compares again if the host was disturbing. `what`: as for `compare`."""
    pair = compare(*what)
    if pair.stolen > QUIET:
        pair = min(pair, compare(*what), key=lambda one: one.stolen)
    return pair


HEAD = (
    "| model | arrivals | predicted/s | measured/s | error | predicted p50 | measured p50 | error "
    "| predicted p99 | measured p99, least to most | within | others |",
    "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|",
)


def line(pair: Pair) -> str:
    p99 = [run.p99 / 1e3 for run in pair.measured]
    return (
        f"| {pair.model} | {pair.pattern} | {pair.foretold('throughput'):.0f} "
        f"| {pair.real('throughput'):.0f} | {pair.error('throughput'):.1%} "
        f"| {pair.foretold('p50') / 1e3:.2f} ms | {pair.real('p50') / 1e3:.2f} ms | {pair.error('p50'):.1%} "
        f"| {pair.foretold('p99') / 1e3:.2f} ms | {min(p99):.2f} to {max(p99):.2f} ms "
        f"| {'yes' if pair.p99_within_spread() else 'no'}{'' if pair.judged else ', not judged'} | {pair.stolen:.0%} |"
    )


def summary(pairs: Sequence[Pair]) -> str:
    lines = []
    for what, name in (("throughput", "Throughput"), ("p50", "p50")):
        errors = [pair.error(what) for pair in pairs]
        worst = max(pairs, key=lambda pair: pair.error(what))
        lines.append(
            f"{name}: median error {statistics.median(errors):.1%}, within {AIM:.0%} in "
            f"{sum(error <= AIM for error in errors)} of {len(errors)}; the worst is {worst.model} with "
            f"{worst.pattern} arrivals, {worst.error(what):.1%}."
        )
    within = sum(pair.p99_within_spread() for pair in pairs)
    lines.append(f"p99: within the spread of the runs in {within} of {len(pairs)}.")
    return "\n".join(lines)


def missed(pairs: Sequence[Pair]) -> list[str]:
    """Where a prediction is further from the median of the runs than it may be."""
    found = [
        f"{what} of {pair.model} with {pair.pattern} arrivals: {pair.error(what):.1%}, at most {AIM:.0%}"
        for pair in pairs
        for what in ("throughput", "p50")
        if pair.error(what) > AIM
    ]
    outside = [f"{pair.model} with {pair.pattern}" for pair in pairs if not pair.p99_within_spread()]
    if len(outside) > len(pairs) * MOST_OUTSIDE:
        found.append(f"p99 is outside the runs in {len(outside)} of {len(pairs)}: {', '.join(outside)} arrivals")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3, help="of a measurement")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--model", nargs="+", help="only these")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    page = Page("simulator", "The simulation against a server")
    pairs = []
    with tempfile.TemporaryDirectory(prefix="nereid-simulator-") as folder:
        work = Path(folder)
        rates = write_models(work / "models")
        for model in options.model or rates:
            with servers(1, work / "models", work / model) as (server,):
                program("bench", f"--url=http://{server.http_url}", f"--model={model}", "--seconds=1")
                for pattern in PATTERNS:
                    what = (model, pattern, work, server, rates[model], options.seconds, options.runs)
                    pair = compare_quietly(*what)
                    print(line(pair), flush=True)
                    pairs.append(pair)
    about = (
        f"{options.runs} runs of {options.seconds:g} s, each with other random arrivals, which prediction and "
        "measurement share; medians. The simulation knows how long executions take from one measurement before them. "
        "`others`: the share of the processor time that the host gave to others; rows with more than "
        f"{QUIET:.0%} were measured twice, and the quieter one counts. "
        "Requests of `digits` take microseconds, most of which is waking threads: shown, and not judged."
    )
    table = "\n".join([*HEAD, *map(line, pairs)])
    judged = [pair for pair in pairs if pair.judged]
    misses = missed(judged)
    page.write(page.text(about, table, summary(judged or pairs), misses=misses), options.out)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
