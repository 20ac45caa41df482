#!/usr/bin/env python3
"""What `nereid capacity` predicts, beside what `nereid bench` measures.

    bench/capacity.py [--seconds S] [--model NAME] [--limit SHARE]

`nereid tune` measures execution times with one configuration of a model. Two other configurations
are then predicted from these times, and measured on servers of their own, under closed loops.
Exit code 1: a throughput or a median is further from its prediction than --limit (0.15). Needs
build/stage and a quiet machine; `make capacity-check`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests"))

from racetrack import networks  # noqa: E402
from support.nereid import start_nereid  # noqa: E402
from support.repository import ModelRepository, parameters_text, tensor_text  # noqa: E402
from support.stage import server_binary  # noqa: E402

CLIENTS = (2, 8, 16)
MAX_BATCH = 8
WAIT_US = "2000"  # for each row of the model that waits


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
    clients: int
    throughput: float
    p50_us: float


def program(*arguments: object) -> str:
    command = [str(server_binary()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done.stdout


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


def predict(model: str, times: Path, models: ModelRepository) -> dict[int, Row]:
    config = models.root / model / "config.pbtxt"
    answer: Any = json.loads(
        program("capacity", model, f"--times={times}", f"--config={config}", "--json")
    )
    return {
        row["clients"]: Row(row["clients"], row["throughput"], row["p50_us"])
        for row in answer["alone"]
    }


def measure(model: str, models: ModelRepository, work: Path, seconds: float) -> list[Row]:
    server = start_nereid(models.root, work)
    try:
        server.wait_for("/v2/health/ready")
        answer: Any = json.loads(
            program(
                "bench",
                f"--url=http://{server.http_url}",
                f"--model={model}",
                "--concurrency=" + ",".join(map(str, CLIENTS)),
                f"--seconds={seconds}",
                "--stability=0",
                "--json",
            )
        )
    finally:
        server.stop()
    return [
        Row(row["concurrency"], row["throughput"], row["latency_us"]["p50"])
        for row in answer["rows"]
    ]


def compare(model: str, work: Path, seconds: float) -> float:
    """Prints the rows of a model, and returns the largest deviation."""
    times = measure_times(model, work, seconds)
    largest = 0.0
    for number, configuration in enumerate(HELD_BACK):
        models = ModelRepository(work / f"held_back_{number}")
        MODELS[model](models, configuration)
        predicted = predict(model, times, models)
        for row in measure(model, models, work / f"log_{number}", seconds):
            guess = predicted[row.clients]
            throughput = guess.throughput / row.throughput - 1
            p50 = guess.p50_us / row.p50_us - 1
            largest = max(largest, abs(throughput), abs(p50))
            print(
                f"| {model} | {configuration.name} | {row.clients} | {guess.throughput:.0f} | "
                f"{row.throughput:.0f} | {throughput:+.1%} | {guess.p50_us / 1000:.2f} ms | "
                f"{row.p50_us / 1000:.2f} ms | {p50:+.1%} |",
                flush=True,
            )
    return largest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4, help="of a measurement")
    parser.add_argument("--model", choices=list(MODELS), help="only this one")
    parser.add_argument("--limit", type=float, default=0.15, help="largest deviation")
    options = parser.parse_args()
    print(
        "| model | configuration | clients | predicted/s | measured/s | | predicted p50 | "
        "measured p50 | |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    largest = 0.0
    for model in [options.model] if options.model else MODELS:
        with tempfile.TemporaryDirectory() as folder:
            largest = max(largest, compare(model, Path(folder), options.seconds))
    print(f"largest deviation: {largest:.1%}; the limit is {options.limit:.0%}")
    return 0 if largest <= options.limit else 1


if __name__ == "__main__":
    sys.exit(main())
