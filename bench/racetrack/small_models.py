# SPDX-License-Identifier: Apache-2.0
"""Many small networks, each with its own weights, and a check of a server's answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from racetrack.probes import HttpConnection, http_request
from racetrack.workloads import ONE_THREAD
from support.repository import ModelRepository, parameters_text, tensor_text

WIDTH = 48  # makes files of about 10 KB
RESIDENT = "resident"  # the model that is loaded from the beginning


def name_of(number: int) -> str:
    return f"small_{number:03}"


def weights(number: int) -> np.ndarray:
    """Whole numbers, so that answers are exact."""
    return np.random.default_rng(number).integers(-4, 5, (WIDTH, WIDTH)).astype(np.float32)


def network(number: int) -> onnx.ModelProto:
    """y = x W."""

    def tensor(name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", WIDTH])

    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "small",
        [tensor("x")],
        [tensor("y")],
        [numpy_helper.from_array(weights(number), "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def write(root: Path, count: int) -> Path:
    models = ModelRepository(root)
    config = f"""
backend: "onnxruntime"
max_batch_size: 8
input [ {tensor_text("x", "FP32", (WIDTH,))} ]
output [ {tensor_text("y", "FP32", (WIDTH,))} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
{parameters_text(ONE_THREAD)}"""
    for number in range(count):
        folder = models.add(name_of(number), config)
        onnx.save(network(number), str(folder / "1" / "model.onnx"))
    return root


def write_resident(root: Path) -> Path:
    """Writes a repository with the model that serves while the others are loaded."""
    ModelRepository(root).add_identity(RESIDENT)
    return root


def check_answers(address: str, numbers: list[int]) -> None:
    """Raises RuntimeError if one of these models gives a wrong answer."""
    x = np.arange(WIDTH, dtype=np.float32)
    tensor = {"name": "x", "shape": [1, WIDTH], "datatype": "FP32", "data": x.tolist()}
    body = json.dumps({"inputs": [tensor]}).encode()
    connection = HttpConnection(address)
    try:
        for number in numbers:
            path = f"/v2/models/{name_of(number)}/infer"
            status, answer = connection.ask(http_request("POST", path, body))
            found = json.loads(answer)["outputs"][0]["data"] if status == 200 else None
            if found != (x @ weights(number)).tolist():
                raise RuntimeError(f"{name_of(number)} answers {status}: {answer[:200]!r}")
    finally:
        connection.close()
