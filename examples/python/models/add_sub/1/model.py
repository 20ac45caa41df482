# SPDX-License-Identifier: Apache-2.0
"""Adds and subtracts two tensors: the smallest model that computes something."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        # One response per request, in the order of the requests.
        return [self.answer(request) for request in requests]

    def answer(self, request):
        a = pb_utils.get_input_tensor_by_name(request, "A").as_numpy()
        b = pb_utils.get_input_tensor_by_name(request, "B").as_numpy()
        return pb_utils.InferenceResponse(
            [
                pb_utils.Tensor("SUM", (a + b).astype(np.float32)),
                pb_utils.Tensor("DIFFERENCE", (a - b).astype(np.float32)),
            ]
        )
