import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Tensors without elements, in and out."""

    def execute(self, requests):
        responses = []
        for request in requests:
            numbers, text = (
                pb_utils.get_input_tensor_by_name(request, name).as_numpy()
                for name in ("NUMBERS", "TEXT")
            )
            report = [[list(a.shape), str(a.dtype), a.size] for a in (numbers, text)]
            responses.append(
                pb_utils.InferenceResponse(
                    output_tensors=[
                        pb_utils.Tensor("NUMBERS_OUT", numbers),
                        pb_utils.Tensor("TEXT_OUT", text),
                        pb_utils.Tensor("EMPTY", np.zeros((2, 0, 3), np.int64)),
                        pb_utils.Tensor(
                            "REPORT", np.array([json.dumps(report)], dtype=np.object_)
                        ),
                    ]
                )
            )
        return responses
