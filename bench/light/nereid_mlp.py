# SPDX-License-Identifier: Apache-2.0
"""The MLP as a function of Python that Nereid serves: light/nereid_mlp.py MODEL.onnx PORT."""

import sys
from typing import Annotated

import nereid_server
import numpy as np
import onnxruntime


@nereid_server.function(name="mlp")
class Mlp:
    def __init__(self) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])

    def __call__(
        self, x: Annotated[np.ndarray, nereid_server.TensorSpec(np.float32, [64])]
    ) -> Annotated[np.ndarray, nereid_server.TensorSpec(np.float32, [10])]:
        return self.session.run(None, {"x": x})[0]


if __name__ == "__main__":
    MODEL = sys.argv[1]
    nereid_server.serve(Mlp, host="127.0.0.1", http_port=int(sys.argv[2]), grpc_port=None, metrics_port=None)
