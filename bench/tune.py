#!/usr/bin/env python3
"""`nereid tune` beside an exhaustive search over the same candidates, in one run.

    bench/tune.py [--seconds S] [--model NAME]

The exhaustive search is `nereid tune` that measures every candidate. Says for each model how much
throughput the choice reached, as the exhaustive search measured it, and in what share of the time.
Needs build/stage; `make tune-check`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from support.repository import ModelRepository  # noqa: E402
from support.stage import server_binary  # noqa: E402

EVERYTHING = 1000  # more candidates than there are
BEST = 5
# By model: its load.
LOADS = {
    "batched": ("--concurrency=12", "--max-instances=8", "--p99-ms=60"),
    "digits_batched": ("--concurrency=16", "--max-instances=8"),
}


@dataclass(frozen=True)
class Search:
    seconds: float
    chosen: str  # as `nereid tune` names it
    rows: list[dict[str, Any]]  # what was measured


@dataclass(frozen=True)
class Verdict:
    share_of_best: float  # throughput of the choice
    share_of_time: float


def write_models(root: Path) -> Path:
    """One whose executions take a known time, and the bundled network."""
    models = ModelRepository(root)
    models.add_identity(
        "batched", "FP32", (16,), max_batch_size=8, parameters={"execute_delay_ms": "10"}
    )
    shutil.copytree(ROOT / "examples/models/digits_batched", root / "digits_batched")
    return root


def search(model: str, repository: Path, seconds: float, measure: int, state: Path) -> Search:
    command = [
        str(server_binary()),
        "tune",
        model,
        f"--model-repository={repository}",
        *LOADS[model],
        f"--seconds={seconds}",
        f"--measure={measure}",
        f"--state={state}",
    ]
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.monotonic() - begin
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    (line,) = [line for line in done.stdout.splitlines() if "best one: " in line]
    rows = json.loads(state.read_text())["measured"]
    return Search(took, line.split("best one: ")[1].rstrip("."), rows)


def name_of(row: dict[str, Any]) -> str:
    """As `nereid tune` names a configuration."""
    count = row["instances"]
    name = f"{count} instance{'' if count == 1 else 's'}"
    if row["max_batch_size"] == 0:
        return name
    if not row["batching"]:
        return name + ", no batching"
    name += f", batches of {row['max_batch_size']}"
    if row["preferred_batch_sizes"]:
        name += " ".join([", preferred", *(str(s["size"]) for s in row["preferred_batch_sizes"])])
    if row["max_queue_delay_us"]:
        name += f", delay {row['max_queue_delay_us']} µs"
    return name


def judge(tuned: Search, exhaustive: Search, p99_us: float) -> Verdict:
    """The choice among what the exhaustive search measured. `p99_us`: the limit."""
    keeps = [row for row in exhaustive.rows if row["p99_us"] <= p99_us] or exhaustive.rows
    best = max(row["throughput"] for row in keeps)
    (choice,) = [row for row in exhaustive.rows if name_of(row) == tuned.chosen]
    return Verdict(choice["throughput"] / best, tuned.seconds / exhaustive.seconds)


def limit_of(model: str) -> float:
    for option in LOADS[model]:
        if option.startswith("--p99-ms="):
            return float(option.removeprefix("--p99-ms=")) * 1000
    return float("inf")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1, help="of a measurement")
    parser.add_argument("--model", choices=list(LOADS), help="only this one")
    options = parser.parse_args()
    print("| model | chosen | its throughput by the best one's | time | share of the time |")
    print("|---|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        repository = write_models(work / "models")
        for model in [options.model] if options.model else LOADS:
            tuned = search(model, repository, options.seconds, BEST, work / f"{model}.tuned")
            # With the same execution times, the candidates are the same.
            whole_state = work / f"{model}.all"
            state = json.loads((work / f"{model}.tuned").read_text())
            whole_state.write_text(json.dumps({**state, "measured": []}))
            whole = search(model, repository, options.seconds, EVERYTHING, whole_state)
            verdict = judge(tuned, whole, limit_of(model))
            print(
                f"| {model} | {tuned.chosen} | {verdict.share_of_best:.3f} | "
                f"{tuned.seconds:.1f} s | {verdict.share_of_time:.2f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
