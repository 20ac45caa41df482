import os

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """auto_complete_config fails in the way that a parameter names."""

    @staticmethod
    def auto_complete_config(config):
        how = config.as_dict()["parameters"]["how"]["string_value"]
        if how == "type":
            config.add_input({"name": "IN", "data_type": "TYPE_FP32", "dims": [3]})
        elif how == "batch":
            config.set_max_batch_size(2)
        elif how == "nothing":
            return None
        elif how == "dict":
            return config.as_dict()
        elif how == "raise":
            raise RuntimeError("no such model")
        elif how == "assert":
            assert False
        elif how == "bad type":
            config.add_input({"name": "MORE", "data_type": "TYPE_FP31", "dims": [3]})
        elif how == "die":
            os._exit(3)
        return config

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("OUT", r.inputs()[0].as_numpy())])
            for r in requests
        ]
