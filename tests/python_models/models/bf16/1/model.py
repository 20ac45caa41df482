import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """bfloat16 goes through DLPack only: numpy has no such type."""

    def execute(self, requests):
        responses = []
        for request in requests:
            tensor = pb_utils.get_input_tensor_by_name(request, "INPUT")
            try:
                numpy = str(tensor.as_numpy().dtype)
            except Exception as error:
                numpy = f"{type(error).__name__}: {error}"
            output = pb_utils.Tensor.from_dlpack("OUTPUT", tensor)
            report = {
                "numpy": numpy,
                "shape": output.shape(),
                "device": list(tensor.__dlpack_device__()),
            }
            report = pb_utils.Tensor("REPORT", np.array([json.dumps(report)], dtype=np.object_))
            responses.append(pb_utils.InferenceResponse([output, report]))
        return responses
