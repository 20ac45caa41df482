# SPDX-License-Identifier: Apache-2.0
"""Answers each request as often as it says: 3, 3, 3. The answers come from a thread of the model's
own, so that the next requests need not wait."""

import threading

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.threads = []

    def execute(self, requests):
        for request in requests:
            value = int(pb_utils.get_input_tensor_by_name(request, "VALUE").as_numpy()[0])
            sender = request.get_response_sender()
            thread = threading.Thread(target=self.answer, args=(sender, value))
            self.threads = [one for one in self.threads if one.is_alive()] + [thread]
            thread.start()
        return None  # the responses come later

    def answer(self, sender, value):
        for _ in range(value):
            if sender.is_cancelled():
                break
            tensor = pb_utils.Tensor("VALUE", np.array([value], np.int32))
            sender.send(pb_utils.InferenceResponse([tensor]))
        # Whoever asked waits for this flag.
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def finalize(self):
        for thread in self.threads:
            thread.join()
