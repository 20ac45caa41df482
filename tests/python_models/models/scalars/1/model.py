import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Tensors without dimensions."""

    def execute(self, requests):
        responses = []
        for request in requests:
            tensor = pb_utils.get_input_tensor_by_name(request, "INPUT")
            value = tensor.as_numpy()
            text = pb_utils.Tensor("TEXT", np.array(b"alone", dtype=np.object_))
            report = {
                "shape": tensor.shape(),
                "numpy": list(value.shape),
                "text shape": text.shape(),
                "text": repr(text.as_numpy().tolist()),
            }
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("OUTPUT", np.array(value * 2)),
                        pb_utils.Tensor(
                            "REPORT", np.array([json.dumps(report)], dtype=np.object_)
                        ),
                    ]
                )
            )
        return responses
