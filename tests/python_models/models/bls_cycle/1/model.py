import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Calls itself, although it has only one instance, which could never answer."""

    def execute(self, requests):
        responses = []
        for request in requests:
            depth = pb_utils.get_input_tensor_by_name(request, "DEPTH").as_numpy()
            text = "the bottom"
            if depth[0] > 0:
                answer = pb_utils.InferenceRequest(
                    model_name="bls_cycle",
                    requested_output_names=["REPORT"],
                    inputs=[pb_utils.Tensor("DEPTH", depth - 1)],
                ).exec()
                text = answer.error().message() if answer.has_error() else "answered"
            responses.append(
                pb_utils.InferenceResponse(
                    [pb_utils.Tensor("REPORT", np.array([text], dtype=np.object_))]
                )
            )
        return responses
