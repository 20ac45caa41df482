# SPDX-License-Identifier: Apache-2.0
"""The model repository that both servers serve in the differential test."""

from __future__ import annotations

import shutil
from pathlib import Path

from support.repository import ModelRepository, tensor_text
from support.stage import EXAMPLE_MODELS
from support.streaming import add_repeat, add_testing

# The type TYPE_<name> of the protobuf text format; the model is identity_<name in lower case>.
DATA_TYPES = (
    "BOOL",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "FP16",
    "FP32",
    "FP64",
    "BF16",
    "STRING",
)


def write_repository(root: Path) -> Path:
    """Identity models of every type, the ONNX examples, and one model that cannot load."""
    models = ModelRepository(root)
    for data_type in DATA_TYPES:
        models.add_identity(f"identity_{data_type.lower()}", data_type)
    models.add_identity("matrix", "FP32", (-1, 3))
    models.add_identity("pair", "INT32", (2,), tensors=2)
    models.add_identity("cube", "INT32", (2, 2, 2))
    models.add_identity("free_shape", "FP32", (-1, -1))
    models.add_identity("versions", "INT32", (1,), versions=(1, 2, 3), extra=_ALL_VERSIONS)
    models.add_identity("reshaped", "FP32", (4,), tensor_extra="reshape { shape: [ 2, 2 ] }")
    models.add_identity("scalar", "FP32", (1,), 2, tensor_extra="reshape { shape: [ ] }")
    models.add_identity("batched", "FP32", (2,), max_batch_size=4, extra=_DYNAMIC)
    models.add_identity("quiet", "FP32", (1,))
    models.add_identity("counted", "FP32", (1,), max_batch_size=4)
    models.add_identity("raw_string", "STRING", (1,), max_batch_size=2)
    models.add("optional", _OPTIONAL)
    _add_labelled(models)
    for example in ("digits", "digits_batched"):
        shutil.copytree(EXAMPLE_MODELS / example, root / example, dirs_exist_ok=True)
    add_repeat(models)
    add_testing(models, "fails_some", "fails_some")
    models.add_identity("broken", "FP32", (1,), backend="nonesuch")
    return models.root


_ALL_VERSIONS = "version_policy { all { } }"
_DYNAMIC = "dynamic_batching { preferred_batch_size: [ 2, 4 ] max_queue_delay_microseconds: 100 }"
_OPTIONAL = f"""
backend: "identity"
input [ {tensor_text("INPUT0", "INT32", (1,))},
        {tensor_text("INPUT1", "INT32", (1,), "optional: true")} ]
output [ {tensor_text("OUTPUT0", "INT32", (1,))}, {tensor_text("OUTPUT1", "INT32", (1,))} ]
"""


def _add_labelled(models: ModelRepository) -> None:
    """A batching model with four scores, which have labels."""
    config = f"""
backend: "identity"
max_batch_size: 4
input [ {tensor_text("INPUT0", "FP32", (4,))} ]
output [ {tensor_text("OUTPUT0", "FP32", (4,), 'label_filename: "labels.txt"')} ]
"""
    folder = models.add("labelled", config)
    (folder / "labels.txt").write_text("zero\none\ntwo\nthree\n", encoding="utf-8")
