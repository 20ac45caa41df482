import sys

import numpy as np
import triton_python_backend_utils as pb_utils

print("probe: printed at import", flush=True)


class TritonPythonModel:
    """Prints text, as many models do."""

    def initialize(self, args):
        print("probe: printed in initialize", flush=True)

    def execute(self, requests):
        print("probe: to stdout", flush=True)
        print("probe: to stderr", file=sys.stderr)
        sys.stdout.write("probe: half a ")
        print("line")
        sys.stdout.flush()
        text = np.array(["printed"], dtype=np.object_)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("REPORT", text)]) for _ in requests
        ]
