import json

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """SUM = INPUT0 + INPUT1, DIFFERENCE = INPUT0 - INPUT1."""

    def initialize(self, args):
        config = json.loads(args["model_config"])
        self.types = {
            name: pb_utils.triton_string_to_numpy(
                pb_utils.get_output_config_by_name(config, name)["data_type"]
            )
            for name in ("SUM", "DIFFERENCE")
        }

    def execute(self, requests):
        responses = []
        for request in requests:
            a = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            b = pb_utils.get_input_tensor_by_name(request, "INPUT1").as_numpy()
            outputs = [
                pb_utils.Tensor("SUM", (a + b).astype(self.types["SUM"])),
                pb_utils.Tensor("DIFFERENCE", (a - b).astype(self.types["DIFFERENCE"])),
            ]
            responses.append(pb_utils.InferenceResponse(output_tensors=outputs))
        return responses

    def finalize(self):
        print("add_sub is gone")
