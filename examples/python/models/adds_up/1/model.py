# SPDX-License-Identifier: Apache-2.0
"""Adds up the responses of a model that sends several."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        value = pb_utils.get_input_tensor_by_name(request, "VALUE")
        call = pb_utils.InferenceRequest(
            model_name="repeats", inputs=[value], requested_output_names=["VALUE"]
        )
        total = 0
        for response in call.exec(decoupled=True):  # each as soon as it comes
            if response.has_error():
                return pb_utils.InferenceResponse(error=response.error())
            for tensor in response.output_tensors():  # none in one that only ends the stream
                total += int(tensor.as_numpy()[0])
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("TOTAL", np.array([total], np.int32))]
        )
