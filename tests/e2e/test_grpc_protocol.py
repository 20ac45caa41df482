# SPDX-License-Identifier: Apache-2.0
"""The gRPC protocol as clients see it: statuses and texts, sizes, cancellation, TLS, shutdown."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from support.certificates import make_certificate
from support.poll import poll_until
from support.repository import ModelRepository
from support.raw_http2 import Http2Connection, message
from support.server_process import ServerProcess

LARGE_BYTES = 100_000_000
UNLIMITED = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]


@pytest.fixture
def channel(identity_server: ServerProcess) -> Iterator[grpc.Channel]:
    with grpc.insecure_channel(identity_server.grpc_url, options=UNLIMITED) as channel:
        yield channel


@pytest.fixture
def stub(channel: grpc.Channel) -> service_pb2_grpc.GRPCInferenceServiceStub:
    return service_pb2_grpc.GRPCInferenceServiceStub(channel)


def echo_request(values: list[float], model: str = "echo") -> service_pb2.ModelInferRequest:
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="INPUT0", datatype="FP32", shape=[len(values)])
    request.raw_input_contents.append(np.array(values, np.float32).tobytes())
    return request


def given(array: np.ndarray, name: str = "INPUT0") -> triton.InferInput:
    tensor = triton.InferInput(name, array.shape, np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def refusal(call: Any, request: Any) -> tuple[str, str]:
    """Name of the status and its text."""
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=20)
    return caught.value.code().name, caught.value.details()


# -- statuses and texts ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "code", "text"),
    [
        ("7", "NOT_FOUND", "Request for unknown model: 'echo' version 7 is not found"),
        (
            "one",
            "INVALID_ARGUMENT",
            "failed to get model version from specified version string 'one' (details: stol), "
            "version should be an integral value > 0",
        ),
        (
            "-2",
            "INVALID_ARGUMENT",
            "invalid model version specified '-2' , version should be an integral value > 0",
        ),
    ],
)
def test_model_version(
    stub: service_pb2_grpc.GRPCInferenceServiceStub, version: str, code: str, text: str
) -> None:
    request = echo_request([1.0])
    request.model_version = version
    assert refusal(stub.ModelInfer, request) == (code, text)
    metadata = service_pb2.ModelMetadataRequest(name="echo", version=version)
    assert refusal(stub.ModelMetadata, metadata) == (code, text)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        (
            "sequence_id",
            {"bool_param": True},
            "invalid value type for 'sequence_id' parameter, expected int64_param or string_param.",
        ),
        ("priority", {"int64_param": -1}, "invalid value for 'priority', expected value >= 0."),
        (
            "timeout",
            {"string_param": "1"},
            "invalid value type for 'timeout' parameter, expected int64_param.",
        ),
        (
            "triton_mine",
            {"int64_param": 1},
            "parameter keys starting with 'triton_' are reserved for Triton usage. Only the "
            "following keys starting with 'triton_' are allowed: "
            "triton_enable_empty_final_response",
        ),
    ],
)
def test_request_parameters(
    stub: service_pb2_grpc.GRPCInferenceServiceStub, key: str, value: dict[str, Any], text: str
) -> None:
    request = echo_request([1.0])
    request.parameters[key].CopyFrom(service_pb2.InferParameter(**value))
    assert refusal(stub.ModelInfer, request) == ("INVALID_ARGUMENT", text)


def test_typed_contents_of_another_type(stub: service_pb2_grpc.GRPCInferenceServiceStub) -> None:
    request = echo_request([1.0])
    del request.raw_input_contents[:]
    request.inputs[0].contents.int_contents.append(1)
    assert refusal(stub.ModelInfer, request) == (
        "INVALID_ARGUMENT",
        "unexpected explicit tensor data for input tensor 'INPUT0' for model 'echo' of type "
        "'INT32', expected datatype 'FP32'",
    )


def test_typed_contents(stub: service_pb2_grpc.GRPCInferenceServiceStub) -> None:
    request = echo_request([0.0, 0.0])
    del request.raw_input_contents[:]
    request.inputs[0].contents.fp32_contents.extend([1.5, -2.0])
    answer = stub.ModelInfer(request)
    assert np.frombuffer(answer.raw_output_contents[0], np.float32).tolist() == [1.5, -2.0]


def test_shared_memory_region_that_nobody_registered(
    stub: service_pb2_grpc.GRPCInferenceServiceStub,
) -> None:
    request = echo_request([1.0])
    del request.raw_input_contents[:]
    request.inputs[0].parameters["shared_memory_region"].string_param = "mine"
    request.inputs[0].parameters["shared_memory_byte_size"].int64_param = 4
    assert refusal(stub.ModelInfer, request) == (
        "NOT_FOUND",
        "Unable to find shared memory region: 'mine'",
    )


def test_repository_name(stub: service_pb2_grpc.GRPCInferenceServiceStub) -> None:
    request = service_pb2.RepositoryIndexRequest(repository_name="mine")
    assert refusal(stub.RepositoryIndex, request) == (
        "UNIMPLEMENTED",
        "'repository_name' specification is not supported",
    )


# -- sizes and encodings ---------------------------------------------------------------------------


def test_hundred_megabytes(stub: service_pb2_grpc.GRPCInferenceServiceStub) -> None:
    sent = np.arange(LARGE_BYTES, dtype=np.uint8)
    request = service_pb2.ModelInferRequest(model_name="bytes")
    request.inputs.add(name="INPUT0", datatype="UINT8", shape=sent.shape)
    request.raw_input_contents.append(sent.tobytes())
    answer = stub.ModelInfer(request, timeout=120)
    assert answer.raw_output_contents[0] == request.raw_input_contents[0]


def test_large_and_small_outputs_in_any_order(
    server_factory: Any, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("many", "FP32", tensors=4)
    server = server_factory(model_repository)
    arrays = [np.arange(count, dtype=np.float32) for count in (3, 200_000, 0, 5_000)]
    with triton.InferenceServerClient(server.grpc_url) as client:
        inputs = [given(array, f"INPUT{index}") for index, array in enumerate(arrays)]
        answer = client.infer("many", inputs)
        for index, array in enumerate(arrays):
            assert np.array_equal(answer.as_numpy(f"OUTPUT{index}"), array)
        wanted = [triton.InferRequestedOutput(f"OUTPUT{index}") for index in (3, 0)]
        answer = client.infer("many", inputs, outputs=wanted)
        assert np.array_equal(answer.as_numpy("OUTPUT3"), arrays[3])
        assert np.array_equal(answer.as_numpy("OUTPUT0"), arrays[0])


def test_empty_tensor(stub: service_pb2_grpc.GRPCInferenceServiceStub) -> None:
    answer = stub.ModelInfer(echo_request([]))
    assert list(answer.outputs[0].shape) == [0]
    assert list(answer.raw_output_contents) == [b""]


@pytest.mark.parametrize("algorithm", ["gzip", "deflate"])
def test_compressed_request(identity_server: ServerProcess, algorithm: str) -> None:
    array = np.tile(np.array([1, 2, 3], np.float32), 10_000)
    with triton.InferenceServerClient(identity_server.grpc_url) as client:
        answer = client.infer("echo", [given(array)], compression_algorithm=algorithm)
    assert np.array_equal(answer.as_numpy("OUTPUT0"), array)


def test_compressed_response(server_factory: Any, model_repository: ModelRepository) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--grpc-infer-response-compression-level=high")
    array = np.zeros(100_000, np.float32)
    with triton.InferenceServerClient(server.grpc_url) as client:
        answer = client.infer("echo", [given(array)])
    assert np.array_equal(answer.as_numpy("OUTPUT0"), array)


def test_messages_beyond_the_limit_are_not_collected(
    server_factory: Any, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("bytes", "UINT8")
    server = server_factory(model_repository, "--max-in-flight-bytes=1000000")
    with grpc.insecure_channel(server.grpc_url, options=UNLIMITED) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        request = service_pb2.ModelInferRequest(model_name="bytes")
        request.inputs.add(name="INPUT0", datatype="UINT8", shape=[4 * LARGE_BYTES])
        request.raw_input_contents.append(bytes(4 * LARGE_BYTES))
        code, _ = refusal(stub.ModelInfer, request)
        assert code in ("RESOURCE_EXHAUSTED", "UNAVAILABLE")
        assert peak_memory(server) < 3 * LARGE_BYTES
        request.inputs[0].shape[0] = 3
        request.raw_input_contents[0] = b"abc"
        answer = stub.ModelInfer(request, timeout=20, wait_for_ready=True)
        assert list(answer.raw_output_contents) == [b"abc"]


def peak_memory(server: ServerProcess) -> int:
    """The server's peak memory in bytes."""
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


# -- metadata of a call ----------------------------------------------------------------------------


def test_unknown_metadata_is_ignored(channel: grpc.Channel) -> None:
    stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
    metadata = (("x-request-id", "1"), ("sequence_id", "9"), ("data-bin", b"\x00\xff"))
    answer = stub.ModelInfer(echo_request([2.0]), metadata=metadata)
    assert np.frombuffer(answer.raw_output_contents[0], np.float32).tolist() == [2.0]


def test_many_calls_on_one_connection(stub: service_pb2_grpc.GRPCInferenceServiceStub) -> None:
    calls = [stub.ModelInfer.future(echo_request([float(number)])) for number in range(500)]
    for number, call in enumerate(calls):
        answer = call.result(timeout=30)
        assert np.frombuffer(answer.raw_output_contents[0], np.float32).tolist() == [number]


def test_statistics_count_calls(server_factory: Any, model_repository: ModelRepository) -> None:
    model_repository.add_identity("batched", dims=(2,), max_batch_size=4)
    server = server_factory(model_repository)
    with triton.InferenceServerClient(server.grpc_url) as client:
        for size in (1, 4, 4):
            client.infer("batched", [given(np.zeros((size, 2), np.float32))])

        def counted() -> Any:
            (model,) = client.get_inference_statistics("batched").model_stats
            return model if model.inference_count == 9 else None

        model = poll_until("statistics of three requests", counted)
    assert model.execution_count == 3
    assert model.inference_stats.success.count == 3
    assert {batch.batch_size: batch.compute_infer.count for batch in model.batch_stats} == {
        1: 1,
        4: 2,
    }


# -- the client ends the call ----------------------------------------------------------------------


@pytest.fixture
def patient_server(server_factory: Any, model_repository: ModelRepository) -> ServerProcess:
    """A server with the model `patient`, which answers after a minute or when it is cancelled."""
    parameters = {"behaviour": "wait_for_cancel", "delay_ms": "60000"}
    model_repository.add_identity("patient", backend="testing", parameters=parameters)
    model_repository.add_identity("echo")
    return server_factory(model_repository)


def assert_no_request_left(server: ServerProcess) -> None:
    """Checks that nothing is in flight: only then the server ends at once."""
    start = time.monotonic()
    server.stop()
    assert time.monotonic() - start < 20


def test_cancelled_call_ends_the_request(patient_server: ServerProcess) -> None:
    results: queue.Queue[Any] = queue.Queue()
    with triton.InferenceServerClient(patient_server.grpc_url) as client:
        call = client.async_infer(
            "patient",
            [given(np.zeros(1, np.float32))],
            callback=lambda result, error: results.put(error),
        )
        client.infer("echo", [given(np.zeros(1, np.float32))])  # the other request is there by now
        call.cancel()
        error = results.get(timeout=20)
        assert error.status() == "StatusCode.CANCELLED"
        assert "Locally cancelled by application!" in error.message()
    assert_no_request_left(patient_server)


def test_deadline_ends_the_request(patient_server: ServerProcess) -> None:
    with triton.InferenceServerClient(patient_server.grpc_url) as client:
        with pytest.raises(InferenceServerException) as caught:
            client.infer("patient", [given(np.zeros(1, np.float32))], client_timeout=0.3)
        assert caught.value.status() == "StatusCode.DEADLINE_EXCEEDED"
    assert_no_request_left(patient_server)


def test_the_server_ends_a_call_at_its_deadline(patient_server: ServerProcess) -> None:
    """The client does not look at the clock itself."""
    request = message(echo_request([1.0], "patient").SerializeToString())
    with Http2Connection(patient_server.grpc_url) as client:
        stream = client.call(data=request, end=True, headers=[("grpc-timeout", "20m")])
        head = client.read_head(stream)
    assert (head["grpc-status"], head["grpc-message"]) == ("4", "Deadline Exceeded")
    assert_no_request_left(patient_server)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("content-type", ("application/grpc+json",)),  # beside the one of every call
        ("grpc-encoding", ("identity", "gzip")),
        ("grpc-timeout", ("10S", "20S")),
        ("authorization", ("Bearer a", "Bearer b")),
        ("triton-grpc-protocol-key", ("a", "b")),
    ],
)
def test_metadata_that_may_stand_once(
    identity_server: ServerProcess, name: str, values: tuple[str, ...]
) -> None:
    path = "/inference.GRPCInferenceService/ServerLive"
    with Http2Connection(identity_server.grpc_url) as client:
        headers = [(name, value) for value in values]
        refused = client.read_head(client.call(path, message(b""), end=True, headers=headers))
        assert refused["grpc-status"] == "3"
        assert f"the metadata '{name}' may stand in a call once" in refused["grpc-message"]
        twice = [(name, values[0])] * (2 if len(values) > 1 else 0)
        served = client.call(path, message(b""), end=True, headers=twice)
        assert "grpc-status" not in client.read_head(served)


def test_client_that_vanishes_ends_the_request(patient_server: ServerProcess) -> None:
    channel = grpc.insecure_channel(patient_server.grpc_url)
    stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
    call = stub.ModelInfer.future(echo_request([1.0], "patient"))
    stub.ModelInfer(echo_request([1.0]), timeout=20)
    channel.close()
    assert call.done()
    assert_no_request_left(patient_server)


# -- the server ends the call ----------------------------------------------------------------------


def test_shutdown_answers_what_is_in_flight(
    server_factory: Any, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("slow", parameters={"execute_delay_ms": "2000"})
    server = server_factory(model_repository)
    answers: list[Any] = []
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=20)  # connected
        call = stub.ModelInfer.future(echo_request([4.0], "slow"))
        stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=20)  # the call has arrived by now
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        answers.append(call.result(timeout=30))
        stopping.join()
    assert np.frombuffer(answers[0].raw_output_contents[0], np.float32).tolist() == [4.0]


# -- TLS -------------------------------------------------------------------------------------------


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A self-signed certificate for localhost, and its key."""
    return make_certificate(tmp_path)


@pytest.mark.parametrize("mutual", [False, True])
def test_tls(
    server_factory: Any,
    model_repository: ModelRepository,
    certificate: tuple[Path, Path],
    mutual: bool,
) -> None:
    model_repository.add_identity("echo")
    pem, key = certificate
    options = ["--grpc-use-ssl=true", f"--grpc-server-cert={pem}", f"--grpc-server-key={key}"]
    if mutual:
        options += ["--grpc-use-ssl-mutual=true", f"--grpc-root-cert={pem}"]
    server = server_factory(model_repository, *options)
    target = server.grpc_url.replace("127.0.0.1", "localhost")
    known = grpc.ssl_channel_credentials(pem.read_bytes(), key.read_bytes(), pem.read_bytes())
    with grpc.secure_channel(target, known) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        answer = stub.ModelInfer(echo_request([5.0]), timeout=20)
    assert np.frombuffer(answer.raw_output_contents[0], np.float32).tolist() == [5.0]

    stranger = grpc.ssl_channel_credentials(pem.read_bytes())
    with grpc.secure_channel(target, stranger) as channel:
        live = service_pb2_grpc.GRPCInferenceServiceStub(channel).ServerLive
        request = service_pb2.ServerLiveRequest()
        if mutual:
            assert refusal(live, request)[0] in ("UNAVAILABLE", "DEADLINE_EXCEEDED")
        else:
            assert live(request, timeout=20).live
