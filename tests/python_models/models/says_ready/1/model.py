import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """A model with is_ready (releases of 2026)."""

    def initialize(self, args):
        self.answer = "ready"

    def is_ready(self):
        if self.answer == "raise":
            raise RuntimeError("not now")
        return {"ready": True, "not ready": False, "a number": 1}[self.answer]

    def execute(self, requests):
        responses = []
        for request in requests:
            self.answer = request.inputs()[0].as_numpy()[0].decode()
            text = np.array([self.answer], dtype=np.object_)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        return responses
