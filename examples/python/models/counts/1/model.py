# SPDX-License-Identifier: Apache-2.0
"""Has a metric of its own on the server's metrics page."""

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.family = pb_utils.MetricFamily(
            name="example_texts",
            description="Texts that the model has counted",
            kind=pb_utils.MetricFamily.COUNTER,
        )
        self.metric = self.family.Metric(labels={"model": args["model_name"]})

    def execute(self, requests):
        responses = []
        for request in requests:
            count = pb_utils.get_input_tensor_by_name(request, "TEXT").as_numpy().size
            self.metric.increment(count)
            output = pb_utils.Tensor("COUNT", np.array([count], np.int32))
            responses.append(pb_utils.InferenceResponse([output]))
        return responses
