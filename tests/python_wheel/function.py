# SPDX-License-Identifier: Apache-2.0
"""Serves a function, asks it, and prints the answer: [2.0, 4.0]."""

import json
import urllib.request

import nereid_server
import numpy as np

TWO = nereid_server.TensorSpec(np.float32, [2])


@nereid_server.function(inputs={"x": TWO}, outputs={"y": TWO})
def double(x):
    return {"y": 2 * x}


with nereid_server.serve(double, host="127.0.0.1", http_port=0, grpc_port=0, metrics_port=0, blocking=False) as server:
    body = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}]}
    url = f"http://127.0.0.1:{server.http_port}/v2/models/double/infer"
    with urllib.request.urlopen(url, json.dumps(body).encode()) as answer:
        print(json.load(answer)["outputs"][0]["data"])
