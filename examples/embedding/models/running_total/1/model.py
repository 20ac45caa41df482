# SPDX-License-Identifier: Apache-2.0
"""Keeps one sum for each sequence."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.totals = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        sequence = request.correlation_id()
        value = float(pb_utils.get_input_tensor_by_name(request, "VALUE").as_numpy()[0])
        if int(pb_utils.get_input_tensor_by_name(request, "START").as_numpy().flat[0]):
            self.totals[sequence] = 0.0
        self.totals[sequence] += value
        total = pb_utils.Tensor("TOTAL", np.array([self.totals[sequence]], np.float32))
        return pb_utils.InferenceResponse([total])
