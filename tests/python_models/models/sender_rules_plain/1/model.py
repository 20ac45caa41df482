import json

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def attempt(action):
    try:
        return repr(action())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def response(document):
    text = np.array([json.dumps(document)], dtype=np.object_)
    return pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)])


class TritonPythonModel:
    """Tests what the sender of a model that is not decoupled refuses."""

    def initialize(self, args):
        self.after_the_end = None

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            report = {
                "final first": attempt(lambda: sender.send(flags=FINAL)),
                "nothing": attempt(lambda: sender.send()),
                "after the last end": self.after_the_end,
            }
            sender.send(response(report))
            self.after_the_end = [attempt(lambda: sender.send(response(1)))]
            self.after_the_end.append(attempt(lambda: sender.send(response(1), flags=FINAL)))
            self.after_the_end.append(attempt(lambda: sender.send(flags=FINAL)))
            self.after_the_end.append(attempt(lambda: sender.send(flags=FINAL)))
            self.after_the_end.append(attempt(lambda: sender.send(response(1))))
        return None
