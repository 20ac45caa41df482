import json

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Y = X + the parameter "add"; another model loads it."""

    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.add = int(config["parameters"]["add"]["string_value"])

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [pb_utils.Tensor("Y", request.inputs()[0].as_numpy() + self.add)]
            )
            for request in requests
        ]
