import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Outputs that are views of the input or of each other, or that change after their creation."""

    def initialize(self, args):
        self.kept = []

    def execute(self, requests):
        responses = []
        for request in requests:
            tensor = pb_utils.get_input_tensor_by_name(request, "INPUT")
            array = tensor.as_numpy()
            constant = np.arange(3, dtype=np.int32)
            constant.flags.writeable = False
            changed = np.zeros(2, np.int32)
            outputs = [
                pb_utils.Tensor("SAME", array),
                pb_utils.Tensor("AGAIN", array),
                pb_utils.Tensor("PART", array[1:3]),
                pb_utils.Tensor("STRIDED", array[::2]),
                pb_utils.Tensor("READ_ONLY", constant),
                pb_utils.Tensor("CHANGED", changed),
            ]
            changed[:] = 7
            report = {
                "same shares": bool(np.shares_memory(outputs[0].as_numpy(), array)),
                "part shares": bool(np.shares_memory(outputs[2].as_numpy(), array)),
                "strided shares": bool(np.shares_memory(outputs[3].as_numpy(), array)),
                "kept": [one.tolist() for one in self.kept],
            }
            # The last two arrays are kept, because their memory exists as long as they do.
            self.kept = [*self.kept, array][-2:]
            outputs.append(
                pb_utils.Tensor("REPORT", np.array([json.dumps(report)], dtype=np.object_))
            )
            responses.append(pb_utils.InferenceResponse(outputs))
        return responses
