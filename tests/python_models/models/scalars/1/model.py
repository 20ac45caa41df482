import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Batches of scalars, and tensors without any dimensions."""

    def execute(self, requests):
        return [self.one(request) for request in requests]

    def one(self, request):
        tensor = pb_utils.get_input_tensor_by_name(request, "INPUT")
        values = tensor.as_numpy()
        number = pb_utils.Tensor("NUMBER", np.array(2.5, np.float32))
        text = pb_utils.Tensor("TEXT", np.array(b"alone", dtype=np.object_))
        report = {
            "shape": tensor.shape(),
            "numpy": list(values.shape),
            "number": [number.shape(), number.as_numpy().tolist()],
            "text shape": text.shape(),
            "text": repr(text.as_numpy().tolist()),
        }
        lines = np.array([[json.dumps(report)]] * len(values), dtype=np.object_)
        return pb_utils.InferenceResponse(
            [pb_utils.Tensor("OUTPUT", values * 2), pb_utils.Tensor("REPORT", lines)]
        )
