import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Returns two of its three outputs, and one that the configuration does not list."""

    def initialize(self, args):
        self.last = None

    def execute(self, requests):
        responses = []
        for request in requests:
            x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            left = len(self.last.output_tensors()) if self.last else -1
            self.last = pb_utils.InferenceResponse(
                [
                    pb_utils.Tensor("FIRST", x + 1),
                    pb_utils.Tensor("SECOND", np.array([left], np.int32)),
                    pb_utils.Tensor("UNKNOWN", x),
                ]
            )
            responses.append(self.last)
        return responses
