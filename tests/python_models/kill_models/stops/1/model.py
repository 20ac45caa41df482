# SPDX-License-Identifier: Apache-2.0
import triton_python_backend_utils as pb_utils

from .stopping import here, stop

stop("import")


class TritonPythonModel:
    """Y = X + 1, with a stop at every point."""

    def initialize(self, args):
        here()
        stop("initialize")

    def execute(self, requests):
        responses = [
            pb_utils.InferenceResponse([pb_utils.Tensor("Y", r.inputs()[0].as_numpy() + 1)])
            for r in requests
        ]
        stop("execute")
        return responses

    def finalize(self):
        stop("finalize")
