import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """A model whose configuration contains only the backend."""

    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "IN", "data_type": "TYPE_FP32", "dims": [-1]})
        config.add_input({"name": "MORE", "data_type": "TYPE_FP32", "dims": [2], "optional": True})
        config.add_output({"name": "OUT", "data_type": "TYPE_FP32", "dims": [-1]})
        config.set_max_batch_size(16)
        config.set_dynamic_batching()
        return config

    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.size = config["max_batch_size"]

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUT", tensor.as_numpy() * np.float32(self.size))]
            )
            for tensor in (pb_utils.get_input_tensor_by_name(r, "IN") for r in requests)
        ]
