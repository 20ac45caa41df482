import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """A decoupled model that wrongly returns responses from execute."""

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [
                    pb_utils.Tensor(
                        "VALUE_OUT",
                        pb_utils.get_input_tensor_by_name(request, "VALUE").as_numpy(),
                    )
                ]
            )
            for request in requests
        ]
