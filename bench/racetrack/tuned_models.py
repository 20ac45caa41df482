# SPDX-License-Identifier: Apache-2.0
"""What `bench/tune.py` lets `nereid tune` tune: five models and an ensemble, with their loads."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from racetrack import networks
from support.ensembles import add_ensemble, step_text
from support.repository import ModelRepository, tensor_text

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "models"
WIDTH = (16,)
ENSEMBLE_BATCH = 4
# The defaults that Triton documents.
DEFAULTS = "instance_group [ { count: 1 kind: KIND_CPU } ]\ndynamic_batching { }\n"


@dataclass(frozen=True)
class Subject:
    name: str
    about: str
    options: tuple[str, ...]  # of `nereid tune`
    members: tuple[str, ...] = ()  # of an ensemble, in the order of its steps

    @property
    def p99_us(self) -> float:
        """The limit; infinite without one."""
        for option in self.options:
            if option.startswith("--p99-ms="):
                return float(option.removeprefix("--p99-ms=")) * 1000
        return float("inf")


SUBJECTS = (
    Subject(
        "steady",
        "10 ms for any batch up to 16",
        ("--concurrency=12", "--max-instances=8", "--p99-ms=60"),
    ),
    Subject(
        "rows",
        "2 ms and 1 ms for each row, up to 16",
        ("--concurrency=16", "--max-instances=8"),
    ),
    Subject(
        "digits_batched",
        "the bundled network in ONNX Runtime, up to 64",
        ("--concurrency=16", "--max-instances=8"),
    ),
    Subject(
        "mlp",
        "64-256-256-10 in ONNX Runtime, up to 64",
        ("--concurrency=16", "--max-instances=8"),
    ),
    Subject(
        "wide",
        "1024-2048-2048-10 in ONNX Runtime, up to 8",
        ("--concurrency=8", "--max-instances=4"),
    ),
    Subject(
        "pipeline",
        "an ensemble: 4 ms for any batch, then 1 ms and 2 ms for each row, both up to 4",
        ("--concurrency=12", "--max-instances=2"),
        ("front", "back"),
    ),
)


def add_waiting(models: ModelRepository, name: str, ms: int, row_us: int, max_batch: int) -> None:
    """An identity whose executions wait, as for an accelerator."""
    models.add_identity(
        name,
        "FP32",
        WIDTH,
        max_batch_size=max_batch,
        parameters={"execute_delay_ms": str(ms), "execute_delay_row_us": str(row_us)},
        extra=DEFAULTS,
    )


def add_network(models: ModelRepository, name: str, layers: Sequence[int], max_batch: int) -> None:
    folder = models.add(
        name,
        f'backend: "onnxruntime"\nmax_batch_size: {max_batch}\n'
        f"input [ {tensor_text('x', 'FP32', (layers[0],))} ]\n"
        f"output [ {tensor_text('y', 'FP32', (layers[-1],))} ]\n{DEFAULTS}",
    )
    onnx.save(networks.mlp(layers), str(folder / "1" / "model.onnx"))


def write_models(root: Path) -> Path:
    models = ModelRepository(root)
    add_waiting(models, "steady", 10, 0, 16)
    add_waiting(models, "rows", 2, 1000, 16)
    shutil.copytree(EXAMPLES / "digits_batched", root / "digits_batched")
    config = root / "digits_batched" / "config.pbtxt"
    described, *_ = config.read_text(encoding="utf-8").partition("# Two copies of the network")
    config.write_text(described + DEFAULTS, encoding="utf-8")
    add_network(models, "mlp", networks.MLP_LAYERS, 64)
    add_network(models, "wide", (1024, 2048, 2048, 10), 8)
    add_waiting(models, "front", 4, 0, ENSEMBLE_BATCH)
    add_waiting(models, "back", 1, 2000, ENSEMBLE_BATCH)
    add_ensemble(
        models,
        "pipeline",
        [tensor_text("in", "FP32", WIDTH)],
        [tensor_text("out", "FP32", WIDTH)],
        [
            step_text("front", {"INPUT0": "in"}, {"OUTPUT0": "between"}),
            step_text("back", {"INPUT0": "between"}, {"OUTPUT0": "out"}),
        ],
        max_batch_size=ENSEMBLE_BATCH,
    )
    return root
