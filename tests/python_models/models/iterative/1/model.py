import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Reschedules a request as often as the request asks for, then answers it."""

    def initialize(self, args):
        self.rounds = {}

    def execute(self, requests):
        responses = []
        for request in requests:
            wanted = int(pb_utils.get_input_tensor_by_name(request, "ROUNDS").as_numpy()[0])
            seen = self.rounds.setdefault(request.request_id(), [])
            seen.append([request.flags(), len(requests) > 0])
            if wanted == -1:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                responses.append(self.respond(["both"]))
                self.rounds.pop(request.request_id())
            elif wanted == -2:
                raise RuntimeError("in an iteration")
            elif len(seen) < wanted:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                responses.append(None)
            else:
                responses.append(self.respond(self.rounds.pop(request.request_id())))
        return responses

    def respond(self, report):
        text = np.array([json.dumps(report)], dtype=np.object_)
        return pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)])
