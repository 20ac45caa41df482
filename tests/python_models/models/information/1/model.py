import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Returns the properties of a request."""

    def execute(self, requests):
        responses = []
        for request in requests:
            report = {
                "request_id": request.request_id(),
                "correlation_id": request.correlation_id(),
                "flags": request.flags(),
                "timeout": request.timeout(),
                "parameters": json.loads(request.parameters()),
                "requested_output_names": sorted(request.requested_output_names()),
                "kind of the names": type(request.requested_output_names()).__name__,
                "inputs": [tensor.name() for tensor in request.inputs()],
                "trace": request.trace().get_context(),
                "cancelled": request.is_cancelled(),
            }
            request.set_flags(3)
            report["flags set"] = request.flags()
            x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            responses.append(
                pb_utils.InferenceResponse(
                    [
                        pb_utils.Tensor("X_OUT", x),
                        pb_utils.Tensor(
                            "REPORT", np.array([json.dumps(report)], dtype=np.object_)
                        ),
                    ]
                )
            )
        return responses
