#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adaptive batching against fixed delays, on one server in one run. `tools/dev bench-adaptive`.

    bench/adaptive.py [--model=accelerator|mlp] [--rounds=5] [--seconds=3] [--attempts=3]
                      [--rate=3000] [--target-us=5000] [--tools=BUILD] [--out=DIR] [--nereid-option=OPTION ...]

Needs build/stage (NEREID_STAGE names another) and the target bench_tools. Writes
adaptive-MODEL-DATE-HOST.json and .md and adaptive-MODEL.svg into build/bench-results. Exit code 1:
adaptive batching fell short of a fixed delay.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import adaptive, machine, networks  # noqa: E402
from racetrack.contestants import Contestant, start  # noqa: E402
from racetrack.load import Tools, loadgen_command, run_json  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.workloads import MAX_BATCH, ONE_THREAD, Files, Model, Row, write_files  # noqa: E402
from support.metrics import read_metrics  # noqa: E402
from support.repository import ModelRepository, parameters_text, tensor_text  # noqa: E402
from support.stage import PROJECT_ROOT  # noqa: E402

CONNECTIONS = 256
WIDTH = 16  # floats per row of the model that waits
WARMUP_SECONDS = 1.0


def say(text: str) -> None:
    print(f"bench: {text}", flush=True)


def write_repository(root: Path, network: str, target_us: int) -> dict[str, Model]:
    """Writes a copy of the model for each batching variant; returns the models by variant."""
    models = ModelRepository(root)
    found = {}
    for variant in adaptive.VARIANTS:
        delay = adaptive.DELAYS_US.get(variant)
        parameters = {} if delay is not None else {"nereid.target_p99_us": str(target_us)}
        batching = f"max_queue_delay_microseconds: {delay}" if delay else ""
        if network == "mlp":
            found[variant] = _add_mlp(models, variant, batching, parameters)
        else:
            found[variant] = _add_accelerator(models, variant, batching, parameters)
    return found


def _add_accelerator(
    models: ModelRepository, name: str, batching: str, parameters: dict[str, str]
) -> Model:
    """A model that waits 0.1 ms per row, like one that waits for an accelerator."""
    models.add_identity(
        name,
        "FP32",
        (WIDTH,),
        max_batch_size=MAX_BATCH,
        extra=f"dynamic_batching {{ {batching} }} instance_group [ {{ count: 1 kind: KIND_CPU }} ]",
        parameters={**parameters, "execute_delay_row_us": "100"},
    )
    return Model(name, name, "INPUT0", "OUTPUT0", (1, WIDTH))


def _add_mlp(
    models: ModelRepository, name: str, batching: str, parameters: dict[str, str]
) -> Model:
    layers = networks.WIDE_MLP_LAYERS
    folder = models.add(
        name,
        f"""
backend: "onnxruntime"
max_batch_size: {MAX_BATCH}
input [ {tensor_text("x", "FP32", (layers[0],))} ]
output [ {tensor_text("y", "FP32", (layers[-1],))} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
dynamic_batching {{ {batching} }}
{parameters_text({**ONE_THREAD, **parameters})}""",
    )
    onnx.save(networks.mlp(layers), str(folder / "1" / "model.onnx"))
    return Model(name, name, "x", "y", (1, layers[0]), f"{name}/1/model.onnx", batched=True)


class Trial:
    """One server with all models."""

    def __init__(self, work: Path, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.tools = Tools(arguments.tools, arguments.seconds, WARMUP_SECONDS)
        self.repository = work / "models"
        models = write_repository(self.repository, arguments.model, arguments.target_us)
        self.placement = machine.placements()["pinned"]
        self.rows: dict[str, Row] = {}
        self.files: dict[str, Files] = {}
        for variant, model in models.items():
            row = Row(model, "http", "binary", CONNECTIONS, rate=arguments.rate)
            self.rows[variant] = row
            self.files[variant] = write_files(work / "requests", self.repository, row)
        self.server: Contestant = start(
            "nereid", self.repository, work, self.placement, arguments.nereid_option
        )

    def measure(self, variant: str, trace: str, seed: int) -> dict[str, Any]:
        """The first run that no other process disturbed or, if there is none, the last run."""
        for _ in range(self.arguments.attempts):
            others, begun = self._others_seconds(), time.monotonic()
            run = self._measure_once(variant, trace, seed)
            passed = time.monotonic() - begun
            run["other_cpu"] = max(0.0, (self._others_seconds() - others) / passed)
            if run["other_cpu"] <= adaptive.MOST_OTHER_CPU:
                break
            say(f"{trace}, {variant}: others used {run['other_cpu']:.0%} of a core")
        return run

    def _others_seconds(self) -> float:
        """Processor time of everything except this trial."""
        times = os.times()
        own = times.user + times.system + times.children_user + times.children_system
        return machine.busy_seconds() - own - machine.cpu_seconds(self.server.pid)

    def _measure_once(self, variant: str, trace: str, seed: int) -> dict[str, Any]:
        before = self._metrics(variant)
        command = loadgen_command(
            self.tools,
            self.rows[variant],
            self.files[variant],
            self.server.address("http"),
            f"--server-pid={self.server.pid}",
            f"--arrivals={trace}",
            f"--seed={seed}",
            f"--within-us={self.arguments.target_us}",
        )
        run = run_json(command, self.placement.client)
        after = self._metrics(variant)
        executions = after["nv_inference_exec_count"] - before["nv_inference_exec_count"]
        run["mean_batch"] = (after["nv_inference_count"] - before["nv_inference_count"]) / executions
        run["goodput"] = run["in_time"] / self.arguments.seconds
        for name in ("delay_us", "size"):
            run[f"chosen_{name}"] = after.get(f"nereid_adaptive_batch_{name}")
        return run

    def _metrics(self, variant: str) -> dict[str, float]:
        samples = read_metrics(self.server.process.metrics_url)
        return {name: value for (name, labels), value in samples.items() if ("model", variant) in labels}

    def run(self) -> dict[str, dict[str, list[dict[str, Any]]]]:
        """Returns the runs by trace and variant. Each round has its own arrivals, the same for all
        variants, and its own order of the variants."""
        found: dict[str, dict[str, list[dict[str, Any]]]] = {
            trace: {variant: [] for variant in adaptive.VARIANTS} for trace in adaptive.TRACES
        }
        for turn in range(self.arguments.rounds):
            shift = turn % len(adaptive.VARIANTS)
            order = adaptive.VARIANTS[shift:] + adaptive.VARIANTS[:shift]
            for trace in adaptive.TRACES:
                for variant in order:
                    run = self.measure(variant, trace, seed=turn + 1)
                    found[trace][variant].append(run)
                    say(
                        f"round {turn + 1}, {trace}, {variant}: {run['goodput']:,.0f}/s in time, "
                        f"p99 {run['latency_us']['p99']:,.0f} µs, batches of {run['mean_batch']:.1f}"
                    )
        return found


def write(result: dict[str, Any], folder: Path) -> None:
    from racetrack import adaptive_plot  # imported here, because only this needs matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"adaptive-{result['model']}-{result['when']}-{result['host']['kind']}"
    Path(f"{stem}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    page = adaptive.render(result)
    Path(f"{stem}.md").write_text(page, encoding="utf-8")
    plot = adaptive_plot.draw(result, folder)
    print(f"\n{page}")
    say(f"wrote {stem.name}.json, {stem.name}.md, {plot.name}")


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--model", choices=list(adaptive.MODELS), default="accelerator")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--attempts", type=int, default=3, help="at a run without disturbance")
    parser.add_argument("--rate", type=int, default=3000, help="mean, requests a second")
    parser.add_argument("--target-us", type=int, default=5000)
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--nereid-option", action="append", default=[], help="may be repeated")
    return parser.parse_args(words)


def main() -> int:
    arguments = parse_arguments()
    importlib.import_module("racetrack.adaptive_plot")  # fails now rather than after the run
    result: dict[str, Any] = {
        "format": 1,
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": machine.commit(PROJECT_ROOT),
        "host": machine.describe(),
        "settings": {
            name: getattr(arguments, name) for name in ("rounds", "seconds", "rate", "target_us")
        },
        "model": arguments.model,
    }
    with tempfile.TemporaryDirectory(prefix="nereid-adaptive-") as work:
        trial = Trial(Path(work), arguments)
        try:
            result["traces"] = trial.run()
        finally:
            trial.server.stop()
    write(result, arguments.out)
    wrong = adaptive.failures(result)
    for sentence in wrong:
        print(f"bench: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
