# SPDX-License-Identifier: Apache-2.0
import triton_python_backend_utils as pb_utils

from .stopping import here, stop


class TritonPythonModel:
    """One response per element of X, plus 1; the stop is between the responses."""

    def initialize(self, args):
        here()

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            x = request.inputs()[0].as_numpy()
            for index in range(len(x)):
                if index == len(x) // 2:
                    stop("stream")
                sender.send(
                    pb_utils.InferenceResponse([pb_utils.Tensor("Y", x[index : index + 1] + 1)])
                )
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
