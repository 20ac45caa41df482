# SPDX-License-Identifier: Apache-2.0
"""The names of Triton's package: programs written for it run with another import."""

from __future__ import annotations

import asyncio
import gc
import json
import queue
import sys
from collections.abc import Iterator
from pathlib import Path

import nereid_server.tritonserver as tritonserver
import numpy as np
import pytest


@pytest.fixture(scope="module")
def server(models: Path) -> Iterator[tritonserver.Server]:
    options = tritonserver.Options(
        model_repository=str(models),
        model_control_mode=tritonserver.ModelControlMode.EXPLICIT,
        startup_models=["two", "identity_fp16", "identity_bytes", "decoupled", "fails_some", "sums"],
    )
    running = tritonserver.Server(options).start(wait_until_ready=True)
    yield running
    running.stop()


def test_infer_gives_an_iterator(server: tritonserver.Server) -> None:
    value = np.random.rand(100).astype(np.float16)
    (response,) = server.model("identity_fp16").infer(inputs={"INPUT0": value}, request_id="r")
    assert (response.model.name, response.model.version) == ("identity_fp16", 1)
    assert response.request_id == "r"
    assert response.final
    assert response.error is None
    output = response.outputs["OUTPUT0"]
    assert output.data_type == tritonserver.DataType.FP16
    assert list(output.shape) == [100]
    assert (output.memory_type, output.memory_type_id) == (tritonserver.MemoryType.CPU, 0)
    np.testing.assert_array_equal(np.from_dlpack(output), value)


def test_requests_can_be_made_first(server: tritonserver.Server) -> None:
    request = server.models()["two"].create_request(output_memory_type="cpu")
    assert isinstance(request, tritonserver.InferenceRequest)
    for i in range(2):
        request.inputs[f"INPUT{i}"] = tritonserver.Tensor.from_dlpack(np.full(2, i, np.float32))
    (response,) = server.model("two").infer(request)
    assert np.from_dlpack(response.outputs["OUTPUT1"]).tolist() == [1, 1]


def test_strings(server: tritonserver.Server) -> None:
    model = server.model("identity_bytes")
    for value in (["a", "\u00f6"], np.array(["a", "\u00f6"]), np.array(["a", "\u00f6"], object)):
        (response,) = model.infer(inputs={"INPUT0": value})
        assert response.outputs["OUTPUT0"].to_string_array().tolist() == ["a", "\u00f6"]
        assert response.outputs["OUTPUT0"].to_bytes_array().tolist() == [b"a", "\u00f6".encode()]
    tensor = tritonserver.Tensor.from_string_array([["hello"]])
    assert tensor.shape == (1, 1)
    assert tensor.to_string_array().tolist() == [["hello"]]
    with pytest.raises(tritonserver.InvalidArgumentError):
        tritonserver.Tensor.from_bytes_array(np.zeros(1))
    with pytest.raises(tritonserver.InvalidArgumentError):
        tritonserver.Tensor.from_dlpack(np.zeros(1)).to_bytes_array()


def test_decoupled_models_end_with_a_final_response(server: tritonserver.Server) -> None:
    responses = list(server.model("decoupled").infer(inputs={"INPUT0": np.array([2], np.int32)}))
    assert [response.final for response in responses] == [False, False, True]
    assert [bool(response.outputs) for response in responses] == [True, True, False]


def test_errors_are_raised_or_kept(server: tritonserver.Server) -> None:
    model = server.model("fails_some")
    inputs = {"INPUT0": np.array([-1], np.int32)}
    with pytest.raises(tritonserver.TritonError) as raised:
        list(model.infer(inputs=inputs))
    assert isinstance(raised.value, tritonserver.InvalidArgumentError)
    (response,) = model.infer(inputs=inputs, raise_on_error=False)
    assert isinstance(response.error, tritonserver.InvalidArgumentError)
    with pytest.raises(tritonserver.InvalidArgumentError):
        model.infer(inputs=inputs, parameters={"invalid": {"test": 1}})
    with pytest.raises(tritonserver.InvalidArgumentError):
        model.infer(inputs=inputs, parameters={"invalid": None})
    for memory in ("unsupported", "gpu", tritonserver.MemoryType.GPU):
        with pytest.raises(tritonserver.InvalidArgumentError):
            list(model.infer(inputs=inputs, output_memory_type=memory))
    with pytest.raises(TypeError):
        model.infer(input=inputs)


def test_queues_get_the_responses_too(server: tritonserver.Server) -> None:
    responses: queue.SimpleQueue = queue.SimpleQueue()
    inputs = {"INPUT0": np.array([1, 2], np.float16)}
    model = server.model("identity_fp16")
    iterators = [model.infer(inputs=inputs, response_queue=responses) for _ in range(2)]
    for _ in iterators:
        assert np.from_dlpack(responses.get(timeout=10).outputs["OUTPUT0"]).tolist() == [1, 2]
    for iterator in iterators:
        assert [np.from_dlpack(r.outputs["OUTPUT0"]).tolist() for r in iterator] == [[1, 2]]
    assert responses.empty()
    with pytest.raises(tritonserver.InvalidArgumentError, match="response_queue must be a"):
        model.infer(inputs=inputs, response_queue=asyncio.Queue())


@pytest.mark.asyncio
async def test_asyncio(server: tritonserver.Server) -> None:
    responses: asyncio.Queue = asyncio.Queue()
    inputs = {"INPUT0": np.array([3], np.int32)}
    model = server.model("decoupled")
    assert [r.final async for r in model.async_infer(inputs=inputs)] == [False] * 3 + [True]
    iterator = model.async_infer(inputs=inputs, response_queue=responses)
    assert [(await responses.get()).final for _ in range(4)] == [False] * 3 + [True]
    assert len([r async for r in iterator]) == 4
    with pytest.raises(tritonserver.InvalidArgumentError):
        async for _ in server.model("fails_some").async_infer(
            inputs={"INPUT0": np.array([-1], np.int32)}
        ):
            pass


def test_sequences(server: tritonserver.Server) -> None:
    def step(value: int, flags: int) -> int:
        (response,) = server.model("sums").infer(
            inputs={"INPUT0": np.array([[value]], np.int32)}, correlation_id=5, flags=flags
        )
        return int(np.from_dlpack(response.outputs["OUTPUT0"])[0, 0])

    assert [step(1, 1), step(2, 0), step(3, 2)] == [1, 3, 6]


def test_tensors_refer_to_the_memory_of_their_owner() -> None:
    owner = np.ones(16)
    before = sys.getrefcount(owner)
    tensor = tritonserver.Tensor.from_dlpack(owner)
    assert tensor.data_ptr == owner.ctypes.data
    assert tensor.size == owner.nbytes
    assert tensor.__dlpack_device__() == (tritonserver.DLDeviceType.kDLCPU, 0)
    assert tensor.to_host() is tensor.to_device((tritonserver.MemoryType.CPU, 0)) is tensor
    with pytest.raises(tritonserver.UnsupportedError):
        tensor.to_device("gpu:0")
    array = np.from_dlpack(tensor)
    tensor.shape = [2, 8]
    assert array.shape == (16,)
    other = np.from_dlpack(tensor)
    assert other.shape == (2, 8)
    assert other.ctypes.data == owner.ctypes.data
    buffer = tritonserver.MemoryBuffer.from_dlpack(owner)
    assert (buffer.data_ptr, buffer.size, buffer.owner) == (owner.ctypes.data, 128, owner)
    with pytest.raises(tritonserver.InvalidArgumentError):
        tritonserver.MemoryBuffer.from_dlpack(np.ones((4, 4))[:, 1])
    del tensor, array, other, buffer
    gc.collect()
    assert sys.getrefcount(owner) == before


def test_reports(server: tritonserver.Server) -> None:
    model = server.model("two")
    assert server.live()
    assert server.ready()
    assert server.metadata()["name"] == "triton"
    assert model.ready()
    assert model.metadata()["name"] == "two"
    assert model.config()["name"] == "two"
    assert model.statistics()["model_stats"][0]["name"] == "two"
    assert model.batch_properties() == tritonserver.ModelBatchFlag.UNKNOWN
    assert model.transaction_properties() == tritonserver.ModelTxnPropertyFlag.ONE_TO_ONE
    decoupled = server.model("decoupled").transaction_properties()
    assert decoupled == tritonserver.ModelTxnPropertyFlag.DECOUPLED
    assert "nv_inference_count" in server.metrics()
    ready = server.models(exclude_not_ready=True)
    assert ready["two", 1].state == "READY"
    assert str(ready["two"]) == "{'name': 'two', 'version': -1, 'state': None}"
    with pytest.raises(KeyError):
        ready["slow"]


def test_models_come_and_go(server: tritonserver.Server) -> None:
    model = server.load("identity_int8", {"config": json.dumps({"backend": "identity"})})
    assert model.ready()
    server.unload(model, wait_until_unloaded=True, polling_interval=0.01, timeout=30)
    with pytest.raises(tritonserver.NotFoundError):
        model.infer(inputs={"INPUT0": np.zeros(1, np.float32)})


def test_metrics_of_the_program(server: tritonserver.Server) -> None:
    family = tritonserver.MetricFamily(tritonserver.MetricKind.COUNTER, "my_count", "what I count")
    metric = tritonserver.Metric(family, {"kind": "good"})
    metric.increment(2)
    assert metric.value == 2
    assert metric.kind == tritonserver.MetricKind.COUNTER
    assert 'my_count{kind="good"} 2' in server.metrics()
    with pytest.raises(tritonserver.TritonError):
        metric.set_value(1)


def test_starts() -> None:
    server = tritonserver.Server()
    for use in (server.ready, server.metadata, lambda: server.model("m"), server.models):
        with pytest.raises(tritonserver.InvalidArgumentError):
            use()
    for wrong in ({"server_id": 1}, {"model_repository": 1}):
        with pytest.raises(TypeError):
            tritonserver.Server(**wrong).start()
    with pytest.raises(tritonserver.InvalidArgumentError):
        tritonserver.Server(model_repository=None).start()
    with pytest.raises(tritonserver.InvalidArgumentError):
        tritonserver.Server(model_repository="no such folder").start()
