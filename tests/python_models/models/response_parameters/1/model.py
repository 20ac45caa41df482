import json

import numpy as np
import triton_python_backend_utils as pb_utils


def attempt(action):
    try:
        return action()
    except TypeError:
        return "TypeError"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class TritonPythonModel:
    """Parameters of responses (releases of 2025)."""

    def execute(self, requests):
        return [self.one(request) for request in requests]

    def one(self, request):
        given = {"text": "a", "number": 7, "yes": True}
        wrong = {
            "of a float": attempt(lambda: self.respond("", {"a": 1.5})),
            "keyed by a number": attempt(lambda: self.respond("", {1: "a"})),
        }
        made = self.respond("", given)
        report = {"parameters": json.loads(made.parameters()), **wrong}
        return self.respond(json.dumps(report), given)

    def respond(self, text, parameters):
        tensor = pb_utils.Tensor("REPORT", np.array([text], dtype=np.object_))
        return pb_utils.InferenceResponse(output_tensors=[tensor], parameters=parameters)
