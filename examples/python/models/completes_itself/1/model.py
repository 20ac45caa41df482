# SPDX-License-Identifier: Apache-2.0
"""Has no config.pbtxt: the model says itself what goes in and out."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        # Called once before the model is loaded. What a config.pbtxt sets stays as it is.
        config.set_max_batch_size(4)
        config.set_dynamic_batching()
        config.add_input({"name": "TEXT", "data_type": "TYPE_STRING", "dims": [1]})
        config.add_output({"name": "LENGTH", "data_type": "TYPE_INT32", "dims": [1]})
        return config

    def execute(self, requests):
        responses = []
        for request in requests:
            texts = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy()
            # Elements of a string tensor are bytes.
            lengths = [[len(text.decode())] for text in texts.ravel()]
            output = pb_utils.Tensor("LENGTH", np.array(lengths, np.int32))
            responses.append(pb_utils.InferenceResponse([output]))
        return responses
