# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models, built where a test needs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
from onnx import TensorProto, helper

# (name, element type, dims): a dim given by a name is variable.
Tensor = tuple[str, int, Sequence[int | str]]

FLOAT = TensorProto.FLOAT
INT32 = TensorProto.INT32
INT64 = TensorProto.INT64


def save_model(
    folder: Path,
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    initializers: Sequence[onnx.TensorProto] = (),
    version: int = 1,
) -> None:
    """Writes a version of the model. REQUIRES: `folder` contains a folder for the version."""
    graph = helper.make_graph(
        nodes,
        folder.name,
        [helper.make_tensor_value_info(*tensor) for tensor in inputs],
        [helper.make_tensor_value_info(*tensor) for tensor in outputs],
        initializers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(folder / str(version) / "model.onnx"))
