# SPDX-License-Identifier: Apache-2.0
"""Uses KServe's own clients: python kserve_client.py HTTP_ADDRESS GRPC_ADDRESS. Needs the model echo."""

from __future__ import annotations

import asyncio
import sys

import numpy as np
from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig

VALUES = np.array([1, 2.5, -3], dtype=np.float32)


def request(binary: bool) -> InferRequest:
    tensor = InferInput("INPUT0", list(VALUES.shape), "FP32")
    tensor.set_data_from_numpy(VALUES, binary_data=binary)
    return InferRequest("echo", [tensor])


async def use_rest(url: str) -> None:
    client = InferenceRESTClient(RESTConfig(protocol="v2", timeout=30))
    assert await client.is_server_live(url)
    assert await client.is_server_ready(url)
    assert await client.is_model_ready(url, "echo")
    for binary in (False, True):
        answer = await client.infer(url, request(binary), model_name="echo")
        assert answer.outputs[0].as_numpy().tolist() == VALUES.tolist(), binary
    await client.close()


async def use_grpc(address: str) -> None:
    client = InferenceGRPCClient(address)
    assert await client.is_server_live()
    assert await client.is_server_ready()
    assert await client.is_model_ready("echo")
    answer = await client.infer(request(binary=True))
    assert answer.outputs[0].as_numpy().tolist() == VALUES.tolist()
    await client.close()


async def main(http: str, grpc: str) -> None:
    await use_rest(f"http://{http}")
    await use_grpc(grpc)


asyncio.run(main(*sys.argv[1:]))
