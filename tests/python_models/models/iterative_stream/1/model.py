import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Reschedules requests, and sends one response in each round."""

    def initialize(self, args):
        self.rounds = {}

    def execute(self, requests):
        for request in requests:
            wanted = int(pb_utils.get_input_tensor_by_name(request, "ROUNDS").as_numpy()[0])
            number = self.rounds.get(request.request_id(), 0) + 1
            self.rounds[request.request_id()] = number
            sender = request.get_response_sender()
            sender.send(
                pb_utils.InferenceResponse(
                    [pb_utils.Tensor("ROUND", np.array([number], np.int32))]
                )
            )
            if number < wanted:
                request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
            else:
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
                del self.rounds[request.request_id()]
        return None
