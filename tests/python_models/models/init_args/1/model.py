import json
import os
import sys

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    """Returns the arguments of initialize, and the model's folders."""

    def initialize(self, args):
        self.args = dict(args)
        self.config = json.loads(args["model_config"])

    def execute(self, requests):
        here = pb_utils.get_model_dir()
        report = {
            "args": {key: value for key, value in self.args.items() if key != "model_config"},
            "all text": all(isinstance(value, str) for value in self.args.values()),
            "parameters": self.config["parameters"],
            "input": pb_utils.get_input_config_by_name(self.config, "HOW"),
            "no input": pb_utils.get_input_config_by_name(self.config, "NONE"),
            "output": pb_utils.get_output_config_by_name(self.config, "REPORT"),
            "instances": [group["count"] for group in self.config["instance_group"]],
            "model dir": here,
            "file": __file__,
            "name": __name__,
            "package": __package__,
            "on the path": [
                os.path.relpath(path, os.path.dirname(here))
                for path in sys.path
                if path.startswith(os.path.dirname(here))
            ],
        }
        text = np.array([json.dumps(report)], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]) for _ in requests
        ]
