# SPDX-License-Identifier: Apache-2.0
import triton_python_backend_utils as pb_utils

from .stopping import here, stop


class TritonPythonModel:
    """Is called by another model, and may let it wait."""

    def initialize(self, args):
        here()

    def execute(self, requests):
        stop("callee")
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("Y", r.inputs()[0].as_numpy() + 1)])
            for r in requests
        ]
