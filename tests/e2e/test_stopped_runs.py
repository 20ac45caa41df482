# SPDX-License-Identifier: Apache-2.0
"""A run of ONNX Runtime is stopped if no client waits for its result; otherwise it would last
hours."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import onnx
import pytest
import tritonclient.grpc
from onnx import TensorProto, helper

from support.metrics import metric
from support.nereid import start_nereid
from support.onnx_models import INT64, save_model
from support.poll import poll_until
from support.raw_http import RawConnection
from support.repository import ModelRepository, parameters_text
from support.server_process import ServerProcess

ENDLESS = 2**62
CONFIG = "instance_group { count: 1 kind: KIND_CPU }\n"


def save_counter(models: ModelRepository, name: str, config: str = CONFIG) -> None:
    """A model that adds 1 TIMES times, with the result COUNT."""
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go_on"], ["still_on"]),
            helper.make_node("Add", ["sum", "one"], ["next_sum"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("turn", TensorProto.INT64, []),
            helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("sum", TensorProto.INT64, [1]),
        ],
        [
            helper.make_tensor_value_info("still_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next_sum", TensorProto.INT64, [1]),
        ],
        [onnx.numpy_helper.from_array(np.array([1], np.int64), "one")],
    )
    save_model(
        models.add(name, config),
        [helper.make_node("Loop", ["TIMES", "yes", "zero"], ["COUNT"], body=body)],
        [("TIMES", INT64, [1])],
        [("COUNT", INT64, [1])],
        [
            onnx.numpy_helper.from_array(np.array(True), "yes"),
            onnx.numpy_helper.from_array(np.array([0], np.int64), "zero"),
        ],
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("stopped_runs")
    models = ModelRepository(folder / "models")
    save_counter(models, "counter")
    save_counter(models, "strict", CONFIG + parameters_text({"terminate_late_runs": "1"}))
    running = start_nereid(models.root, folder / "log")
    try:
        running.wait_for()
        yield running
    finally:
        running.stop()


def times(count: int) -> list[tritonclient.grpc.InferInput]:
    tensor = tritonclient.grpc.InferInput("TIMES", [1], "INT64")
    tensor.set_data_from_numpy(np.array([count], np.int64))
    return [tensor]


def queued_behind(
    pool: ThreadPoolExecutor, client: tritonclient.grpc.InferenceServerClient, server: ServerProcess
) -> Future[tritonclient.grpc.InferResult]:
    """Sends a short request that waits behind the endless one, which may not have arrived yet."""
    while True:
        request = pool.submit(client.infer, "counter", times(3))
        poll_until("it is answered or waits", lambda: request.done() or waiting(server) == 1)
        if not request.done():
            return request


def waiting(server: ServerProcess) -> float:
    return metric(server.metrics_url, "nv_inference_pending_request_count", model="counter")


def test_a_cancelled_run_makes_room(server: ServerProcess) -> None:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        answers: list[object] = []
        call = client.async_infer(
            "counter", times(ENDLESS), lambda result, error: answers.append(error)
        )
        with ThreadPoolExecutor(1) as pool:
            second = queued_behind(pool, client, server)
            call.cancel()
            assert second.result(60).as_numpy("COUNT") == [3]
        poll_until("the first has ended", lambda: len(answers) == 1)
        assert "Locally cancelled by application!" in str(answers[0])


def test_a_run_whose_http_client_went_makes_room(server: ServerProcess) -> None:
    body = (
        '{"inputs":[{"name":"TIMES","shape":[1],"datatype":"INT64","data":[%d]}]}' % ENDLESS
    ).encode()
    head = f"POST /v2/models/counter/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        with RawConnection(server.http_url) as connection, ThreadPoolExecutor(1) as pool:
            connection.send(head.encode() + body)
            second = queued_behind(pool, client, server)
            connection.close()
            assert second.result(60).as_numpy("COUNT") == [3]


def test_one_that_is_waited_for_is_not_stopped(server: ServerProcess) -> None:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        assert client.infer("counter", times(30_000), timeout=1).as_numpy("COUNT") == [30_000]


def test_a_late_run_ends_where_the_model_wants_that(server: ServerProcess) -> None:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        with pytest.raises(Exception, match="nobody waits for the result any more"):
            client.infer("strict", times(ENDLESS), timeout=1_000)
        assert client.infer("strict", times(5), timeout=60_000_000).as_numpy("COUNT") == [5]
