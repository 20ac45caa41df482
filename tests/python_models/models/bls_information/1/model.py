import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Shows which properties of a request reach the called model."""

    def execute(self, requests):
        responses = []
        for request in requests:
            call = pb_utils.InferenceRequest(
                request_id="inner",
                correlation_id="by name" if request.request_id() == "text" else 42,
                model_name="information",
                requested_output_names=["REPORT"],
                inputs=[pb_utils.Tensor("X", np.array([1], np.int32))],
                flags=pb_utils.TRITONSERVER_REQUEST_FLAG_SEQUENCE_START,
                timeout=5_000_000,
                preferred_memory=pb_utils.PreferredMemory(pb_utils.TRITONSERVER_MEMORY_CPU),
                trace=request.trace(),
                parameters={"text": "a", "number": 7, "yes": True},
            )
            answer = call.exec()
            if answer.has_error():
                responses.append(pb_utils.InferenceResponse(error=answer.error()))
            else:
                responses.append(pb_utils.InferenceResponse(answer.output_tensors()))
        return responses
