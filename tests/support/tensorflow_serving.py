# SPDX-License-Identifier: Apache-2.0
"""Models with signatures for clients of TensorFlow Serving's API."""

from __future__ import annotations

import numpy as np
from onnx import helper, numpy_helper

from support.onnx_models import FLOAT, save_model
from support.repository import ModelRepository

HALF = """
backend: "onnxruntime"
max_batch_size: {batch}
input [ {{ name: "x" data_type: TYPE_FP32 dims: [ 1 ] }} ]
output [ {{ name: "y" data_type: TYPE_FP32 dims: [ 1 ] reshape: {{ shape: [ ] }} }} ]
{extra}
"""
REGRESS = "tensorflow/serving/regress"


def parameter(name: str, value: str) -> str:
    return f'parameters {{ key: "{name}" value: {{ string_value: "{value}" }} }}'


def add_half_plus(models: ModelRepository, name: str, versions: dict[int, float]) -> None:
    """x / 2 + a number of each version, for rows of one element."""
    extra = parameter(f"tfs.signature.{REGRESS}", "regress x -> outputs=y")
    extra += parameter("tfs.version_labels", "stable=1, canary=2, lost=9")
    extra += "version_policy { all { } }"
    folder = models.add(name, HALF.format(batch=8, extra=extra), list(versions))
    for version, number in versions.items():
        save_model(
            folder,
            [
                helper.make_node("Mul", ["x", "half"], ["m"]),
                helper.make_node("Add", ["m", "number"], ["s"]),
                helper.make_node("Squeeze", ["s", "axis"], ["y"]),
            ],
            [("x", FLOAT, ["batch", 1])],
            [("y", FLOAT, ["batch"])],
            [
                numpy_helper.from_array(np.float32([0.5]), "half"),
                numpy_helper.from_array(np.float32([number]), "number"),
                numpy_helper.from_array(np.int64([1]), "axis"),
            ],
            version,
        )


def add_classifier(models: ModelRepository) -> None:
    """Two scores of each row of two numbers, the numbers themselves; labels from a file."""
    config = """
        backend: "identity"
        max_batch_size: 8
        input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 2 ] } ]
        output [ { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 2 ] label_filename: "labels.txt" } ]
    """
    config += parameter("tfs.signature.guess", "classify pair=INPUT0 -> scores=OUTPUT0")
    folder = models.add("classifier", config)
    (folder / "labels.txt").write_text("cat\ndog\n")
