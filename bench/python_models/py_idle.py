# SPDX-License-Identifier: Apache-2.0
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """OUTPUT0 = INPUT0 * scale. Imports numpy, as a small model of a user does."""

    def initialize(self, args):
        self.scale = np.float32(2)

    def execute(self, requests):
        responses = []
        for request in requests:
            array = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            outputs = [pb_utils.Tensor("OUTPUT0", array * self.scale)]
            responses.append(pb_utils.InferenceResponse(output_tensors=outputs))
        return responses
