import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Adds up the inputs of a sequence; returns its controls from tensors and from the request."""

    def initialize(self, args):
        self.totals = {}

    def execute(self, requests):
        return [self.one(request) for request in requests]

    def one(self, request):
        tensors = {tensor.name(): tensor.as_numpy() for tensor in request.inputs()}
        if not tensors["READY"].ravel()[0]:  # an empty place in the batch
            return self.respond(0, {})
        key = request.correlation_id()
        if tensors["START"].ravel()[0]:
            self.totals[key] = 0
        self.totals[key] += int(tensors["VALUE"].ravel()[0])
        total = self.totals[key]
        if tensors["END"].ravel()[0]:
            del self.totals[key]
        controls = {
            name: [str(tensors[name].dtype), tensors[name].tolist()]
            for name in ("START", "END", "READY", "CORRID")
        }
        controls |= {"correlation_id": key, "flags": request.flags()}
        return self.respond(total, controls)

    def respond(self, total, controls):
        return pb_utils.InferenceResponse(
            [
                pb_utils.Tensor("TOTAL", np.array([[total]], np.int32)),
                pb_utils.Tensor("CONTROLS", np.array([[json.dumps(controls)]], dtype=np.object_)),
            ]
        )
