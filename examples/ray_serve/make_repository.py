#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models of this example: three perceptrons of the same shape with different weights.

    make_repository.py FOLDER

Each has an input `x` of 64 floats and an output `y` of 10, takes batches of up to 64, and is big enough
(4 million weights) that a batch of many costs hardly more than one request.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NAMES = ("small_talk", "spam", "urgency")
SIZES = (64, 2048, 2048, 10)

CONFIGURATION = """\
backend: "onnxruntime"
max_batch_size: 64
input [{ name: "x" data_type: TYPE_FP32 dims: [ 64 ] }]
output [{ name: "y" data_type: TYPE_FP32 dims: [ 10 ] }]
instance_group [{ count: 1 kind: KIND_CPU }]
parameters { key: "intra_op_thread_count" value: { string_value: "1" } }
dynamic_batching {}
"""


def perceptron(seed: int) -> onnx.ModelProto:
    random = np.random.default_rng(seed)
    nodes, weights, value = [], [], "x"
    for layer, (rows, columns) in enumerate(zip(SIZES, SIZES[1:])):
        weight = random.standard_normal((rows, columns), dtype=np.float32) / np.float32(rows) ** 0.5
        weights.append(numpy_helper.from_array(weight, f"w{layer}"))
        last = layer == len(SIZES) - 2
        product = "y" if last else f"p{layer}"
        nodes.append(helper.make_node("MatMul", [value, f"w{layer}"], [product]))
        if not last:
            value = f"h{layer}"
            nodes.append(helper.make_node("Relu", [product], [value]))
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", size])
        for name, size in (("x", SIZES[0]), ("y", SIZES[-1]))
    ]
    graph = helper.make_graph(nodes, "perceptron", ends[:1], ends[1:], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: make_repository.py FOLDER", file=sys.stderr)
        return 2
    for seed, name in enumerate(NAMES):
        folder = Path(sys.argv[1]) / name
        (folder / "1").mkdir(parents=True, exist_ok=True)
        (folder / "config.pbtxt").write_text(CONFIGURATION)
        onnx.save(perceptron(seed), str(folder / "1" / "model.onnx"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
