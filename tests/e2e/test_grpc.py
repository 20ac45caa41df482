# SPDX-License-Identifier: Apache-2.0
"""gRPC with the official client: right answers, and bad requests, after which the server serves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from support.infer import assert_serving
from support.server_process import ServerProcess


@pytest.fixture
def client(identity_server: ServerProcess) -> Iterator[triton.InferenceServerClient]:
    with triton.InferenceServerClient(identity_server.grpc_url) as client:
        yield client
    assert identity_server.is_alive(), identity_server.log_text()[-2000:]
    assert_serving(identity_server.http_url)


def given(array: np.ndarray, name: str = "INPUT0") -> triton.InferInput:
    tensor = triton.InferInput(name, array.shape, np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def refused(client: triton.InferenceServerClient, code: str, words: str, **request: object) -> None:
    with pytest.raises(InferenceServerException) as caught:
        client.infer(**request)
    assert caught.value.status() == f"StatusCode.{code}"
    assert words in caught.value.message()


def test_server_and_model(client: triton.InferenceServerClient) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("echo")
    assert not client.is_model_ready("nobody")
    assert "binary_tensor_data" in client.get_server_metadata().extensions
    assert client.get_model_metadata("batched").inputs[0].shape == [-1, 2]
    assert client.get_model_config("batched").config.max_batch_size == 4
    assert {model.name for model in client.get_model_repository_index().models} >= {"echo", "text"}
    statistics = client.get_inference_statistics("pair").model_stats
    assert [(one.name, one.version) for one in statistics] == [("pair", "1")]


def test_floats(client: triton.InferenceServerClient) -> None:
    array = np.array([1.5, np.nan, -np.inf, 1e-45], dtype=np.float32)
    answer = client.infer("echo", [given(array)], request_id="mine")
    assert answer.get_response().id == "mine"
    assert answer.as_numpy("OUTPUT0").tobytes() == array.tobytes()


def test_strings(client: triton.InferenceServerClient) -> None:
    array = np.array([b"plain", b"", b"\x00\xff", "zwölf".encode()], dtype=np.object_)
    answer = client.infer("text", [given(array)])
    assert list(answer.as_numpy("OUTPUT0")) == list(array)


def test_outputs_asked_for(client: triton.InferenceServerClient) -> None:
    inputs = [given(np.array([1, 2], np.int32)), given(np.array([3, 4], np.int32), "INPUT1")]
    answer = client.infer("pair", inputs, outputs=[triton.InferRequestedOutput("OUTPUT1")])
    assert [output.name for output in answer.get_response().outputs] == ["OUTPUT1"]
    assert answer.as_numpy("OUTPUT1").tolist() == [3, 4]


def test_four_megabytes(client: triton.InferenceServerClient) -> None:
    array = np.arange(2**20, dtype=np.float32)
    answer = client.infer("echo", [given(array)]).as_numpy("OUTPUT0")
    assert answer.tobytes() == array.tobytes()


def test_unknown_model(client: triton.InferenceServerClient) -> None:
    refused(
        client,
        "NOT_FOUND",
        "Request for unknown model: 'nobody' is not found",
        model_name="nobody",
        inputs=[given(np.zeros(1, np.float32))],
    )


def test_unknown_version(client: triton.InferenceServerClient) -> None:
    inputs = [given(np.zeros(1, np.float32))]
    text = "Request for unknown model: 'echo' version 7 is not found"
    refused(client, "NOT_FOUND", text, model_name="echo", model_version="7", inputs=inputs)
    text = "failed to get model version from specified version string 'one'"
    refused(client, "INVALID_ARGUMENT", text, model_name="echo", model_version="one", inputs=inputs)


def test_missing_input(client: triton.InferenceServerClient) -> None:
    refused(
        client,
        "INVALID_ARGUMENT",
        "missing required input(s) ['INPUT1']",
        model_name="pair",
        inputs=[given(np.zeros(2, np.int32))],
    )


def test_wrong_type(client: triton.InferenceServerClient) -> None:
    refused(
        client,
        "INVALID_ARGUMENT",
        "data-type is 'INT32', but model 'echo' expects 'FP32'",
        model_name="echo",
        inputs=[given(np.zeros(2, np.int32))],
    )


def test_wrong_shape(client: triton.InferenceServerClient) -> None:
    refused(
        client,
        "INVALID_ARGUMENT",
        "Expected [-1], got [1,2]",
        model_name="echo",
        inputs=[given(np.zeros((1, 2), np.float32))],
    )


def test_unknown_output(client: triton.InferenceServerClient) -> None:
    refused(
        client,
        "INVALID_ARGUMENT",
        "unexpected inference output 'NOBODY' for model 'echo'",
        model_name="echo",
        inputs=[given(np.zeros(1, np.float32))],
        outputs=[triton.InferRequestedOutput("NOBODY")],
    )


def test_deadline(client: triton.InferenceServerClient) -> None:
    refused(
        client,
        "DEADLINE_EXCEEDED",
        "",
        model_name="slow",
        inputs=[given(np.zeros(1, np.float32))],
        client_timeout=0.2,
    )


def test_nonsense_on_the_port(identity_server: ServerProcess) -> None:
    with grpc.insecure_channel(identity_server.grpc_url) as channel:
        unknown = channel.unary_unary("/inference.GRPCInferenceService/Nonsense")
        with pytest.raises(grpc.RpcError) as caught:
            unknown(b"", timeout=10)
        assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED
        infer = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        with pytest.raises(grpc.RpcError) as caught:
            infer(b"\xff\xff\xff\xff", timeout=10)
        assert caught.value.code() in (
            grpc.StatusCode.INTERNAL,
            grpc.StatusCode.INVALID_ARGUMENT,
            grpc.StatusCode.UNIMPLEMENTED,
        )
    assert_serving(identity_server.http_url)


def test_health_service(identity_server: ServerProcess) -> None:
    with grpc.insecure_channel(identity_server.grpc_url) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check")
        assert check(b"", timeout=10) == b"\x08\x01"  # status: SERVING


def test_asyncio(identity_server: ServerProcess) -> None:
    async def ask() -> list[float]:
        async with triton_aio.InferenceServerClient(identity_server.grpc_url) as client:
            arrays = [np.array([number], np.float32) for number in range(50)]
            answers = await asyncio.gather(
                *(client.infer("echo", [given(array)]) for array in arrays)
            )
            return [float(answer.as_numpy("OUTPUT0")[0]) for answer in answers]

    assert asyncio.run(ask()) == list(range(50))
