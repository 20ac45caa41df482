import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Sequences whose ids are strings."""

    def execute(self, requests):
        responses = []
        for request in requests:
            control = pb_utils.get_input_tensor_by_name(request, "CORRID").as_numpy()
            report = [request.correlation_id(), request.flags(), repr(control.tolist())]
            text = np.array([[json.dumps(report)]], dtype=np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        return responses
