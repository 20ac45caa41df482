# SPDX-License-Identifier: Apache-2.0
"""The MLP in LitServe: light/litserve_mlp.py MODEL.onnx PORT MAX_BATCH_SIZE. `{"data": [...]}` both ways."""

import sys

import litserve
import numpy as np
import onnxruntime


class Mlp(litserve.LitAPI):
    def setup(self, device):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])

    def decode_request(self, request):
        return np.asarray(request["data"], np.float32)

    def predict(self, x):
        return self.session.run(None, {"x": x.reshape(-1, x.shape[-1])})[0]

    def encode_response(self, y):
        return {"data": y.reshape(-1).tolist()}


if __name__ == "__main__":
    batch = int(sys.argv[3])
    api = Mlp(max_batch_size=batch, batch_timeout=0.001 if batch > 1 else 0.0)
    server = litserve.LitServer(api, accelerator="cpu", workers_per_device=1)
    server.run(
        host="127.0.0.1", port=int(sys.argv[2]), num_api_servers=1, log_level="warning", generate_client_file=False
    )
