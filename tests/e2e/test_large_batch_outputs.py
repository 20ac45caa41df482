# SPDX-License-Identifier: Apache-2.0
"""Large outputs of batches, which the server sends from the memory of the batch: each client gets
its own rows, over each protocol and in shared memory, also while other clients read slowly."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
import tritonclient.utils.shared_memory as shm
from onnx import helper

from conftest import ServerFactory
from support.metrics import metric
from support.onnx_models import FLOAT, save_model
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess

# An output of 512 KiB per row, and one that is too small to be sent from there. Eight rows are more
# than the kernel buffers for a client that does not read.
COLUMNS = 128 * 1024
CLIENTS = 8
ROUNDS = 12
CONFIG = f"""backend: "onnxruntime"
max_batch_size: 8
input [ {tensor_text("X", "FP32", (COLUMNS,))} ]
output [ {tensor_text("Y", "FP32", (COLUMNS,))}, {tensor_text("LEAST", "FP32", (1,))} ]
dynamic_batching {{ max_queue_delay_microseconds: 5000 }}
"""


@pytest.fixture
def server(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> Iterator[ServerProcess]:
    folder = model_repository.add("twice", CONFIG)
    save_model(
        folder,
        [
            helper.make_node("Add", ["X", "X"], ["Y"]),
            helper.make_node("ReduceMin", ["X"], ["LEAST"], axes=[1], keepdims=1),
        ],
        [("X", FLOAT, ["n", COLUMNS])],
        [("Y", FLOAT, ["n", COLUMNS]), ("LEAST", FLOAT, ["n", 1])],
    )
    yield server_factory(model_repository, "--allow-client-shm=true")


def rows_of(number: int, count: int) -> np.ndarray:
    """Values that no other request has."""
    first = 1000 * number
    return (np.arange(count * COLUMNS) % 1000 + first).astype(np.float32).reshape(count, COLUMNS)


def request(module, values: np.ndarray):
    tensor = module.InferInput("X", list(values.shape), "FP32")
    tensor.set_data_from_numpy(values)
    return [tensor]


def ask(server: ServerProcess, number: int) -> None:
    module = (tritonclient.http, tritonclient.grpc)[number % 2]
    address = (server.http_url.removeprefix("http://"), server.grpc_url)[number % 2]
    with module.InferenceServerClient(address) as client:
        for turn in range(ROUNDS):
            values = rows_of(number * ROUNDS + turn, 1 + number % 3)
            result = client.infer("twice", request(module, values))
            np.testing.assert_array_equal(result.as_numpy("Y"), 2 * values)
            np.testing.assert_array_equal(result.as_numpy("LEAST"), values.min(axis=1, keepdims=True))


def ask_in_shared_memory(server: ServerProcess, number: int) -> None:
    values = rows_of(1000 + number, 2)
    name = f"large_outputs_{server.process.pid}_{number}"
    with tritonclient.http.InferenceServerClient(
        server.http_url.removeprefix("http://")
    ) as client, ExitStack() as stack:
        region = shm.create_shared_memory_region(name, f"/{name}", values.nbytes)
        stack.callback(shm.destroy_shared_memory_region, region)
        client.register_system_shared_memory(name, f"/{name}", values.nbytes)
        output = tritonclient.http.InferRequestedOutput("Y")
        output.set_shared_memory(name, values.nbytes)
        for _ in range(ROUNDS):
            client.infer("twice", request(tritonclient.http, values), outputs=[output])
            found = shm.get_contents_as_numpy(region, np.float32, list(values.shape))
            np.testing.assert_array_equal(found, 2 * values)
        client.unregister_system_shared_memory(name)


def ask_all(server: ServerProcess) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        asked = [pool.submit(ask, server, number) for number in range(CLIENTS - 2)]
        asked += [pool.submit(ask_in_shared_memory, server, number) for number in range(2)]
        for each in asked:
            each.result()


def test_each_client_gets_its_own_rows(server: ServerProcess) -> None:
    ask_all(server)
    requests = CLIENTS * ROUNDS
    assert metric(server.metrics_url, "nv_inference_request_success", model="twice") == requests
    assert metric(server.metrics_url, "nv_inference_exec_count", model="twice") < requests


def test_clients_that_do_not_read_hold_up_nobody(server: ServerProcess) -> None:
    host, port = server.http_url.removeprefix("http://").split(":")
    body, json_size = tritonclient.http.InferenceServerClient.generate_request_body(
        request(tritonclient.http, rows_of(7, 8))
    )
    head = (
        f"POST /v2/models/twice/infer HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
        f"Inference-Header-Content-Length: {json_size}\r\n\r\n"
    )
    with ExitStack() as stack:
        for _ in range(12):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect((host, int(port)))
            client.sendall(head.encode() + body)
        ask_all(server)
    ask_all(server)
