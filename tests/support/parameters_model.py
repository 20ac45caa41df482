# SPDX-License-Identifier: Apache-2.0
"""A Python model that answers with the parameters of its request, as JSON."""

from __future__ import annotations

from support.repository import ModelRepository

MODEL = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [pb_utils.Tensor("PARAMETERS", np.array([request.parameters()], dtype=object))]
            )
            for request in requests
        ]
"""
CONFIG = """
backend: "python"
input [ { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] } ]
output [ { name: "PARAMETERS" data_type: TYPE_STRING dims: [ 1 ] } ]
"""


def add_parameters_model(repository: ModelRepository) -> None:
    """Adds it as `parameters`."""
    folder = repository.add("parameters", CONFIG)
    (folder / "1" / "model.py").write_text(MODEL, encoding="utf-8")
