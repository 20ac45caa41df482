import json

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def attempt(action):
    try:
        return repr(action())
    except TypeError:
        return "TypeError"  # the rest names C++ types
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def response(document):
    text = np.array([json.dumps(document)], dtype=np.object_)
    return pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)])


class TritonPythonModel:
    """Tests what a sender refuses. Results after the end are returned by the next request."""

    def initialize(self, args):
        self.after_the_end = None

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            constructed = pb_utils.InferenceRequest(
                model_name="add_sub", inputs=[], requested_output_names=[]
            )
            report = {
                "same sender": request.get_response_sender() is sender,
                "flags of 2": attempt(lambda: sender.send(flags=2)),
                "flags of -1": attempt(lambda: sender.send(response(0), flags=-1)),
                "flags of 3": attempt(lambda: sender.send(response(0), flags=3)),
                "nothing": attempt(lambda: sender.send()),
                "none": attempt(lambda: sender.send(None)),
                "a list": attempt(lambda: sender.send([response(0)])),
                "of a constructed request": attempt(
                    lambda: constructed.get_response_sender().send(response(0))
                ),
                "cancelled": attempt(lambda: sender.is_cancelled()),
                "after the last end": self.after_the_end,
            }
            sender.send(response(report))
            sender.send(flags=FINAL)
            self.after_the_end = [
                attempt(lambda: sender.send(response(1))),
                attempt(lambda: sender.send(flags=FINAL)),
                attempt(lambda: sender.send(response(1), flags=FINAL)),
                attempt(lambda: sender.send()),
                attempt(lambda: sender.send(flags=5)),
            ]
