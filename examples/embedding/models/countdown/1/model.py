# SPDX-License-Identifier: Apache-2.0
"""Counts down, one response for each number."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            first = int(pb_utils.get_input_tensor_by_name(request, "FROM").as_numpy()[0])
            for number in range(first, 0, -1):
                if sender.is_cancelled():  # nobody reads the rest
                    break
                tensor = pb_utils.Tensor("NUMBER", np.array([number], np.int32))
                sender.send(pb_utils.InferenceResponse([tensor]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
