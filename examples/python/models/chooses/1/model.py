# SPDX-License-Identifier: Apache-2.0
"""Passes its request on to the model that the request names."""

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        name = pb_utils.get_input_tensor_by_name(request, "MODEL").as_numpy()[0]
        call = pb_utils.InferenceRequest(
            model_name=name,
            inputs=[pb_utils.get_input_tensor_by_name(request, tensor) for tensor in "AB"],
            requested_output_names=["SUM"],
            request_id=request.request_id(),
        )
        answer = call.exec()  # waits; other instances and models go on meanwhile
        if answer.has_error():
            # An exception here would fail the other requests of the batch as well.
            return pb_utils.InferenceResponse(error=answer.error())
        return pb_utils.InferenceResponse(
            [pb_utils.get_output_tensor_by_name(answer, "SUM")]
        )
