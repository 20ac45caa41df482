import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Streams from a separate thread until the request is cancelled."""

    def execute(self, requests):
        for request in requests:
            seconds = int(request.inputs()[0].as_numpy()[0])
            sender = request.get_response_sender()
            threading.Thread(target=self.work, args=(sender, seconds)).start()

    def work(self, sender, seconds):
        text = np.array(["begun"], dtype=np.object_)
        sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]))
        end = time.monotonic() + seconds
        while time.monotonic() < end and not sender.is_cancelled():
            time.sleep(0.005)
        pb_utils.Logger.log_info(f"probe: stream cancelled {sender.is_cancelled()}")
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
