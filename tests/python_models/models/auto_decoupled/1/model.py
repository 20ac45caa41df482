import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Becomes decoupled by its own auto_complete_config."""

    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [1]})
        config.add_output({"name": "OUT", "data_type": "TYPE_STRING", "dims": [1]})
        config.set_max_batch_size(0)
        config.set_model_transaction_policy({"decoupled": True})
        return config

    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.decoupled = pb_utils.using_decoupled_model_transaction_policy(config)

    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            text = np.array([f"decoupled: {self.decoupled}"], dtype=np.object_)
            sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", text)]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
