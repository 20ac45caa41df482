import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Returns the error code of a failed call as the caller sees it, and passes the error on."""

    def execute(self, requests):
        responses = []
        for request in requests:
            code = pb_utils.get_input_tensor_by_name(request, "CODE").as_numpy()
            answer = pb_utils.InferenceRequest(
                model_name="error_codes",
                requested_output_names=["CODE_OUT"],
                inputs=[pb_utils.Tensor("CODE", code.reshape(1, 1))],
            ).exec()
            error = answer.error()
            text = f"{str(error.code()).split('.')[-1]}: {error.message()}"
            responses.append(
                pb_utils.InferenceResponse(error=error)
                if code[0].startswith(b"ALREADY")
                else pb_utils.InferenceResponse(
                    [pb_utils.Tensor("REPORT", np.array([text], dtype=np.object_))]
                )
            )
        return responses
