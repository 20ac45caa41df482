#!/usr/bin/env python3
"""The simulation of the scheduler against a server: six models under four arrival patterns.

    bench/simulator.py [--seconds S] [--runs N] [--model NAME ...] [--out DIR]

For each pair `nereid tune` measures how long executions take, predicts the throughput and the latency
of the configuration as it stands, and measures a private server N times. Needs build/stage;
`make simulator-check`. Writes simulator-DATE-HOST.md into build/bench-results, and prints it. Exit
code 1: an aim was missed.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from racetrack.pages import Page  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from support.repository import ModelRepository  # noqa: E402
from support.stage import EXAMPLE_MODELS, server_binary  # noqa: E402

PATTERNS = ("constant", "poisson", "bursty", "step")
AIM = 0.10  # of throughput and p50
MICROSECONDS = {"ns": 1e-3, "µs": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Figures:
    """Of a configuration under a load. Latencies are in microseconds."""

    throughput: float
    p50: float
    p99: float


@dataclass(frozen=True)
class Pair:
    """A prediction, and as many measurements as there were runs."""

    model: str
    pattern: str
    predicted: Figures
    measured: Sequence[Figures]

    def error(self, what: str) -> float:
        """Of the prediction, relative to the median of the runs."""
        real = statistics.median(getattr(run, what) for run in self.measured)
        return abs(getattr(self.predicted, what) - real) / real

    def p99_within_spread(self) -> bool:
        runs = [run.p99 for run in self.measured]
        return min(runs) <= self.predicted.p99 <= max(runs)


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
    shutil.copytree(EXAMPLE_MODELS / "digits", root / "digits")
    return {
        "single": 70,
        "pair": 120,
        "batched": 400,
        "rows": 350,
        "batched_pair": 500,
        "digits": 2000,
    }


def microseconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * MICROSECONDS[unit]


def today_of(text: str) -> tuple[Figures, Figures]:
    """The prediction and the measurement of today's configuration, in the table of `nereid tune`."""
    (line,) = [line for line in text.splitlines() if re.match(r"\s*(today|>)", line)][:1]
    cells = re.split(r"\s{2,}", line.strip())
    numbers = cells[-10:-4]
    predicted, measured = (
        Figures(float(row[0]), microseconds(row[1]), microseconds(row[2]))
        for row in (numbers[:3], numbers[3:])
    )
    return predicted, measured


def tune(model: str, repository: Path, options: Sequence[str]) -> str:
    command = [str(server_binary()), "tune", model, f"--model-repository={repository}", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"nereid tune {model} failed: {done.stderr}")
    return done.stdout


def compare(
    model: str, repository: Path, rate: float, pattern: str, seconds: float, runs: int
) -> Pair:
    state = repository.parent / f"{model}-{pattern}.tuned"
    options = [
        f"--rate={rate}",
        f"--arrivals={pattern}",
        f"--seconds={seconds}",
        "--max-instances=2",
        "--measure=1",
        f"--state={state}",
    ]
    predicted, first = today_of(tune(model, repository, options))
    measured = [first]
    for _ in range(runs - 1):
        # The same execution times, and a new measurement.
        state.write_text(json.dumps({**json.loads(state.read_text()), "measured": []}))
        measured.append(today_of(tune(model, repository, options))[1])
    return Pair(model, pattern, predicted, measured)


def table(pairs: Sequence[Pair]) -> str:
    lines = [
        "| model | arrivals | predicted/s | measured/s | error | predicted p50 | measured p50 | error "
        "| predicted p99 | measured p99, least to most | within |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for pair in pairs:
        runs = pair.measured
        p99 = [run.p99 / 1e3 for run in runs]
        lines.append(
            f"| {pair.model} | {pair.pattern} | {pair.predicted.throughput:.0f} "
            f"| {statistics.median(run.throughput for run in runs):.0f} "
            f"| {pair.error('throughput'):.1%} | {pair.predicted.p50 / 1e3:.2f} ms "
            f"| {statistics.median(run.p50 for run in runs) / 1e3:.2f} ms | {pair.error('p50'):.1%} "
            f"| {pair.predicted.p99 / 1e3:.2f} ms | {min(p99):.2f} to {max(p99):.2f} ms "
            f"| {'yes' if pair.p99_within_spread() else 'no'} |"
        )
    return "\n".join(lines)


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
    return found + [f"p99 of {name} arrivals is outside the runs" for name in outside]


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
        repository = Path(folder) / "models"
        for model, rate in write_models(repository).items():
            if options.model and model not in options.model:
                continue
            for pattern in PATTERNS:
                print(f"simulator: {model}, {pattern}", flush=True)
                pairs.append(
                    compare(model, repository, rate, pattern, options.seconds, options.runs)
                )
    about = f"{options.runs} runs of {options.seconds:g} s, medians."
    misses = missed(pairs)
    page.write(page.text(about, table(pairs), summary(pairs), misses=misses), options.out)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
