# SPDX-License-Identifier: Apache-2.0
"""TorchScript models for the tests of the PyTorch backend, and the answers of PyTorch alone.

The program `torch_models`, which is built with the backend, creates both.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from support.repository import ModelRepository, parameters_text, tensor_text
from support.stage import PROJECT_ROOT

PROGRAM = Path(
    os.environ.get(
        "NEREID_TORCH_MODELS", PROJECT_ROOT / "build" / "release" / "frameworks" / "torch_models"
    )
)
_TYPES = {"FP32": np.float32, "FP64": np.float64, "INT64": np.int64, "INT32": np.int32}

Tensor = tuple[str, str, Sequence[int]]  # name, type, dims


@functools.cache
def model_files() -> Path:
    """A folder with NAME.pt for each model."""
    folder = Path(tempfile.mkdtemp(prefix="torch_models."))
    subprocess.run([PROGRAM, "write", folder], check=True, timeout=60)
    return folder


def remove_model_files() -> None:
    if model_files.cache_info().currsize:
        shutil.rmtree(model_files())
        model_files.cache_clear()


def reference(network: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The answers of PyTorch alone, with one thread."""
    names = {np.dtype(dtype): name for name, dtype in _TYPES.items()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for i, value in enumerate(inputs):
            shape = "x".join(map(str, value.shape))
            (folder / f"in-{i}.{names[value.dtype]}.{shape}").write_bytes(value.tobytes())
        subprocess.run(
            [PROGRAM, "run", model_files() / f"{network}.pt", folder], check=True, timeout=60
        )
        outputs = []
        for path in sorted(folder.glob("out-*")):
            _, type_name, shape = path.name.split(".")
            values = np.frombuffer(path.read_bytes(), _TYPES[type_name])
            outputs.append(values.reshape([int(dim) for dim in shape.split("x") if dim]))
        return outputs


def config_text(
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    max_batch_size: int = 0,
    extra: str = "",
    instances: int = 1,
    parameters: Mapping[str, str] | None = None,
    platform: str = "pytorch_libtorch",
) -> str:
    given = ", ".join(tensor_text(*tensor) for tensor in inputs)
    taken = ", ".join(tensor_text(*tensor) for tensor in outputs)
    return (
        f'backend: "pytorch" platform: "{platform}"\n'
        f"max_batch_size: {max_batch_size}\n"
        f"input [ {given} ]\noutput [ {taken} ]\n"
        f"instance_group [ {{ count: {instances} kind: KIND_CPU }} ]\n"
        f"{parameters_text(parameters or {})}{extra}\n"
    )


def add_model(
    models: ModelRepository, name: str, network: str, config: str | None, file: str = "model.pt"
) -> Path:
    """Adds a model `name` with the file of `network`."""
    folder = models.add(name, config)
    shutil.copy(model_files() / f"{network}.pt", folder / "1" / file)
    return folder


BATCHED = "dynamic_batching { max_queue_delay_microseconds: 2000 }"
# The networks of the race: name, (inputs, outputs), the largest batch.
NETWORKS: dict[str, tuple[list[Tensor], list[Tensor], int]] = {
    "mlp": ([("x", "FP32", (64,))], [("OUTPUT__0", "FP32", (10,))], 32),
    "resnet18": ([("x", "FP32", (3, 224, 224))], [("OUTPUT__0", "FP32", (1000,))], 8),
    "transformer": ([("x", "FP32", (-1, 64))], [("OUTPUT__0", "FP32", (-1, 64))], 8),
}


def add_networks(models: ModelRepository, instances: int = 1) -> None:
    """The five networks: those above, lstm (a sequence with implicit state) and strings."""
    for name, (inputs, outputs, most) in NETWORKS.items():
        add_model(
            models, name, name, config_text(inputs, outputs, most, BATCHED, instances=instances)
        )
    state = "".join(
        f'state {{ input_name: "{into}" output_name: "{out}" data_type: TYPE_FP32 dims: [ 32 ] '
        "initial_state { name: \"zero\" data_type: TYPE_FP32 dims: [ 32 ] zero_data: true } }\n"
        for into, out in (("H__1", "H_OUT__1"), ("C__2", "C_OUT__2"))
    )
    add_model(
        models,
        "lstm",
        "lstm",
        config_text(
            [("X__0", "FP32", (16,))],
            [("Y__0", "FP32", (8,))],
            8,
            "sequence_batching { oldest { max_candidate_sequences: 8 } " + state + "}",
            instances=instances,
        ),
    )
    add_model(
        models,
        "strings",
        "strings",
        config_text(
            [("texts", "STRING", (-1,))],
            [("OUTPUT__0", "STRING", (-1,)), ("OUTPUT__1", "INT64", (-1,))],
            instances=instances,
        ),
    )
