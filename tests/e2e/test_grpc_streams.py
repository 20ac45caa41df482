# SPDX-License-Identifier: Apache-2.0
"""Inference streams over gRPC, with the official clients and with the bare stub."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator
from functools import partial
from typing import Any

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import (
    CANCELLED_LINE,
    DECOUPLED,
    add_repeat,
    add_testing,
    first_int,
    is_final,
    repeat_request,
    vector_request,
)

WAIT_SECONDS = 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("streams")
    models = ModelRepository(folder / "models")
    add_repeat(models)
    models.add_identity("echo")
    models.add_identity("slow", parameters={"execute_delay_ms": "200"})
    add_testing(models, "fails_some", "fails_some")
    add_testing(models, "never", "decoupled", responses="0")
    add_testing(models, "twice", "decoupled", responses="2")
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture(autouse=True)
def still_serving(server: ServerProcess) -> Iterator[None]:
    """Checks after each test that nothing is in flight and that the server answers."""
    yield
    assert server.is_alive(), server.log_text()[-2000:]
    assert_serving(server.http_url)
    poll_until("all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0)


@pytest.fixture
def stub(server: ServerProcess) -> Iterator[service_pb2_grpc.GRPCInferenceServiceStub]:
    with grpc.insecure_channel(server.grpc_url) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


def given(name: str, values: Any, dtype: type) -> triton.InferInput:
    array = np.array(values, dtype=dtype)
    tensor = triton.InferInput(name, array.shape, np_to_triton_dtype(dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def repeat_inputs(values: list[int], delays: list[int]) -> list[triton.InferInput]:
    return [
        given("IN", values, np.int32),
        given("DELAY", delays, np.uint32),
        given("WAIT", [0], np.uint32),
    ]


class OfficialStream:
    """A stream of the official client; `take` waits for the next (result, error)."""

    def __init__(self, server: ServerProcess) -> None:
        self._answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
        self.client = triton.InferenceServerClient(server.grpc_url)
        self.client.start_stream(
            callback=partial(lambda answers, result, error: answers.put((result, error)), self._answers)
        )

    def take(self) -> tuple[Any, Any]:
        return self._answers.get(timeout=WAIT_SECONDS)

    def empty(self) -> bool:
        return self._answers.empty()


@pytest.fixture
def stream(server: ServerProcess) -> Iterator[OfficialStream]:
    stream = OfficialStream(server)
    yield stream
    stream.client.stop_stream()
    stream.client.close()


def test_responses_come_in_order(stream: OfficialStream) -> None:
    values = list(range(100, 150))
    inputs = repeat_inputs(values, [0] * len(values))
    stream.client.async_stream_infer("repeat", inputs, request_id="mine")
    for index, value in enumerate(values):
        result, error = stream.take()
        assert error is None
        assert result.as_numpy("OUT").tolist() == [value]
        assert result.as_numpy("IDX").tolist() == [index]
        assert result.get_response().id == "mine"
        assert not result.get_response().parameters["triton_final_response"].bool_param


def test_long_streams_leave_a_bounded_trace_in_the_statistics(
    server: ServerProcess, stream: OfficialStream
) -> None:
    count = 1500
    stream.client.async_stream_infer("repeat", repeat_inputs([7] * count, [0] * count))
    for _ in range(count):
        assert stream.take()[1] is None

    def late_responses() -> int:
        answer = raw_http.get(server.http_url, "/v2/models/repeat/stats")
        (model,) = answer.json()["model_stats"]
        indexes = sorted(model["response_stats"], key=int)
        assert indexes == [str(index) for index in range(len(indexes))]
        assert len(indexes) <= 1024
        return model["response_stats"].get("1023", {}).get("success", {}).get("count", 0)

    poll_until("the last response is counted", lambda: late_responses() == count - 1023)


def test_empty_final_response(stream: OfficialStream) -> None:
    for values in ([7], []):
        stream.client.async_stream_infer(
            "repeat",
            repeat_inputs(values, [0] * len(values)),
            request_id="asks",
            enable_empty_final_response=True,
        )
        for value in values:
            assert stream.take()[0].as_numpy("OUT").tolist() == [value]
        result, error = stream.take()
        assert error is None
        response = result.get_response()
        assert response.parameters["triton_final_response"].bool_param
        assert response.id == "asks" and not response.outputs
    stream.client.async_stream_infer("repeat", repeat_inputs([], []))
    stream.client.async_stream_infer("repeat", repeat_inputs([1], [0]))
    assert stream.take()[0].as_numpy("OUT").tolist() == [1], "nothing came for the one before"


def test_errors_do_not_end_the_stream(stream: OfficialStream) -> None:
    stream.client.async_stream_infer("repeat", repeat_inputs([1], [0, 0]), request_id="bad")
    result, error = stream.take()
    assert result is None
    assert isinstance(error, InferenceServerException)
    assert error.message() == "expected IN and DELAY shape to match, got [1] and [2]"
    stream.client.async_stream_infer("nobody", repeat_inputs([1], [0]))
    assert "unknown model: 'nobody'" in stream.take()[1].message()
    stream.client.async_stream_infer("repeat", repeat_inputs([5], [0]))
    assert stream.take()[0].as_numpy("OUT").tolist() == [5]


def test_half_close_waits_for_what_is_under_way(stream: OfficialStream) -> None:
    stream.client.async_stream_infer("repeat", repeat_inputs([1, 2], [0, 300]))
    stream.client.stop_stream()
    assert [stream.take()[0].as_numpy("OUT").tolist() for _ in range(2)] == [[1], [2]]
    assert stream.empty()
    stream.client.start_stream(callback=lambda result, error: None)  # for the fixture


def test_leaving_cancels(server: ServerProcess, stream: OfficialStream) -> None:
    before = server.log_text().count(CANCELLED_LINE)
    for _ in range(2):
        stream.client.async_stream_infer("repeat", repeat_inputs([1, 2], [0, 60_000]))
    assert [stream.take()[0].as_numpy("OUT").tolist() for _ in range(2)] == [[1], [1]]
    stream.client.stop_stream(cancel_requests=True)
    poll_until(
        "both requests saw it",
        lambda: server.log_text().count(CANCELLED_LINE) == before + 2,
    )
    stream.client.start_stream(callback=lambda result, error: None)  # for the fixture


def test_asyncio_client(server: ServerProcess) -> None:
    async def requests() -> Any:
        for name, values in (("a", [1, 2, 3]), ("b", [4])):
            yield {
                "model_name": "repeat",
                "inputs": repeat_inputs(values, [0] * len(values)),
                "request_id": name,
            }

    async def run() -> dict[str, list[int]]:
        seen: dict[str, list[int]] = {}
        async with triton_aio.InferenceServerClient(server.grpc_url) as client:
            async for result, error in client.stream_infer(requests()):
                assert error is None
                name = result.get_response().id
                seen.setdefault(name, []).append(int(result.as_numpy("OUT")[0]))
        return seen

    assert asyncio.run(run()) == {"a": [1, 2, 3], "b": [4]}


def test_asyncio_cancellation(server: ServerProcess) -> None:
    before = server.log_text().count(CANCELLED_LINE)

    async def requests() -> Any:
        yield {"model_name": "repeat", "inputs": repeat_inputs([1, 2], [0, 60_000])}

    async def run() -> None:
        async with triton_aio.InferenceServerClient(server.grpc_url) as client:
            responses = client.stream_infer(requests())
            async for _ in responses:
                assert responses.cancel()
                break

    asyncio.run(run())
    poll_until(
        "the request saw it", lambda: server.log_text().count(CANCELLED_LINE) == before + 1
    )


def test_answers_of_other_models_keep_the_order_of_the_requests(
    stub: service_pb2_grpc.GRPCInferenceServiceStub,
) -> None:
    requests = [
        vector_request("slow", "FP32", [1], id="slow"),
        vector_request("echo", "FP32", [2], id="fast"),
        vector_request("nobody", "FP32", [3], id="unknown"),
        vector_request("fails_some", "INT32", [-1], id="fails"),
        vector_request("echo", "FP32", [4], id="last"),
    ]
    answers = list(stub.ModelStreamInfer(iter(requests), timeout=WAIT_SECONDS))
    assert [answer.infer_response.id for answer in answers] == [one.id for one in requests]
    assert [answer.error_message for answer in answers] == [
        "",
        "",
        "Request for unknown model: 'nobody' is not found",
        "testing backend: refused the value -1 on purpose",
        "",
    ]
    assert answers[3].infer_response.model_name == "fails_some"
    assert all(is_final(answer) for answer in answers if answer.infer_response.outputs)


def test_streams_of_many_clients(server: ServerProcess) -> None:
    async def one(client: int) -> None:
        async with grpc.aio.insecure_channel(server.grpc_url) as channel:
            call = service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(
                iter([repeat_request(range(client, client + 50), id=str(client))]),
                timeout=WAIT_SECONDS,
            )
            seen = [first_int(response) async for response in call]
            assert seen == list(range(client, client + 50))

    async def run() -> None:
        await asyncio.gather(*(one(client) for client in range(20)))

    asyncio.run(run())


def test_metadata_that_ends_the_call_with_the_first_error(
    stub: service_pb2_grpc.GRPCInferenceServiceStub,
) -> None:
    for request, code, details in (
        (
            repeat_request([1], [0, 0]),
            grpc.StatusCode.INVALID_ARGUMENT,
            "expected IN and DELAY shape to match, got [1] and [2]",
        ),
        (
            repeat_request([1], model="nobody"),
            grpc.StatusCode.NOT_FOUND,
            "Request for unknown model: 'nobody' is not found",
        ),
    ):
        call = stub.ModelStreamInfer(
            iter([request]), metadata=(("triton_grpc_error", "true"),), timeout=WAIT_SECONDS
        )
        with pytest.raises(grpc.RpcError) as caught:
            list(call)
        assert caught.value.code() == code
        assert caught.value.details() == details


def test_models_that_do_not_answer_once(
    stub: service_pb2_grpc.GRPCInferenceServiceStub,
) -> None:
    requests = [
        vector_request("never", "INT32", [1], id="a"),
        vector_request("twice", "INT32", [1], id="b"),
        repeat_request([5], id="c"),
    ]
    answers = list(stub.ModelStreamInfer(iter(requests), timeout=WAIT_SECONDS))
    assert {one.infer_response.id: one.error_message for one in answers} == {
        "a": "expected a single response, got 0",
        "b": "expected a single response, got 2",
        "c": "",
    }


def test_bytes_that_are_no_message(server: ServerProcess) -> None:
    with grpc.insecure_channel(server.grpc_url) as channel:
        call = channel.stream_stream(
            "/inference.GRPCInferenceService/ModelStreamInfer",
            response_deserializer=pb.ModelStreamInferResponse.FromString,
        )
        good = vector_request("echo", "FP32", [1], id="good").SerializeToString()
        answers = list(call(iter([b"\xff\xff\xff", good]), timeout=WAIT_SECONDS))
    assert [one.error_message for one in answers] == ["Unable to parse request", ""]
    assert answers[1].infer_response.id == "good"


def test_response_statistics(server: ServerProcess, stub: Any) -> None:
    path = "/v2/models/repeat/stats"
    before = raw_http.get(server.http_url, path).json()["model_stats"][0]
    list(stub.ModelStreamInfer(iter([repeat_request([1, 2, 3])]), timeout=WAIT_SECONDS))

    def counted() -> bool:
        now = raw_http.get(server.http_url, path).json()["model_stats"][0]
        third = now["response_stats"].get("2", {}).get("success", {}).get("count", 0)
        old = before["response_stats"].get("2", {}).get("success", {}).get("count", 0)
        return third == old + 1 and now["inference_count"] == before["inference_count"] + 1

    poll_until("three responses and one inference are counted", counted)


# -- tests with separate servers ---------------------------------------------------------------


def test_slow_reader(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    """A client requests 200 MB and does not read: the server buffers little and serves others."""
    add_testing(
        model_repository, "flood", "decoupled", DECOUPLED, data_type="FP32", responses="200"
    )
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--max-waiting-stream-bytes=4000000")
    request = vector_request("flood", "FP32", [1.0] * 250_000)
    with grpc.insecure_channel(
        server.grpc_url, options=[("grpc.max_receive_message_length", -1)]
    ) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([request]), timeout=60)
        waiting = partial(metric, server.metrics_url, "nereid_in_flight_bytes")
        poll_until("responses wait", lambda: waiting() > 3_000_000)
        for _ in range(50):
            assert_serving(server.http_url)
        assert waiting() < 16_000_000
        answers = [len(answer.infer_response.raw_output_contents[0]) for answer in call]
        assert answers == [1_000_000] * 200
    poll_until("all is given back", lambda: waiting() == 0)


def test_pool_of_one_response(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_repeat(model_repository)
    server = server_factory(model_repository, "--grpc-max-response-pool-size=1")
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        call = stub.ModelStreamInfer(iter([repeat_request(range(300))]), timeout=WAIT_SECONDS)
        assert [first_int(answer) for answer in call] == list(range(300))


def test_stop_lets_streams_finish(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """At its end, the server waits for a stream with a request, but not for one without
    requests."""
    add_repeat(model_repository)
    server = server_factory(model_repository)
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        requests: queue.Queue[pb.ModelInferRequest | None] = queue.Queue()
        call = stub.ModelStreamInfer(iter(requests.get, None), timeout=WAIT_SECONDS)
        requests.put(repeat_request([1, 2], [0, 1000]))
        assert first_int(next(call)) == 1
        server.process.terminate()
        assert first_int(next(call)) == 2
        server.wait_exit(20)
        requests.put(None)
        with pytest.raises(grpc.RpcError):
            next(call)
