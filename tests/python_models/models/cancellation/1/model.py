import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Works for some seconds, or until the request is cancelled."""

    def execute(self, requests):
        return [self.one(request) for request in requests]

    def one(self, request):
        seconds = int(request.inputs()[0].as_numpy()[0])
        before = request.is_cancelled()
        pb_utils.Logger.log_info(f"probe: works, cancelled {before}")
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if request.is_cancelled():
                still = request.get_response_sender().is_cancelled()
                pb_utils.Logger.log_info(f"probe: cancelled, the sender says {still}")
                error = pb_utils.TritonError("nobody waits", pb_utils.TritonError.CANCELLED)
                return pb_utils.InferenceResponse(error=error)
            time.sleep(0.005)
        text = np.array(["worked to the end"], dtype=np.object_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)])
