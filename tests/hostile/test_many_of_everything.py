# SPDX-License-Identifier: Apache-2.0
"""Requests with 100,000 elements instead of one are refused. The server's work grows no faster than
the size of the request, and a well-behaved client is answered meanwhile."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from support import raw_http
from support.good_client import GoodClient
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.work import least_work

pytestmark = pytest.mark.thorough

MANY = 100_000
FEW = 10_000
MIB = 1 << 20
# Ten times as many elements cost ten times as much, but with a search per element a hundred times.
MOST_GROWTH = 60

Refusal = tuple[str, str]  # code and text
Send = Callable[[ServerProcess, int], Refusal]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("many")
    models = ModelRepository(folder / "models")
    models.add_identity("echo")
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def names(letter: str, count: int = 16) -> str:
    return ",".join(f"'{letter}{i}'" for i in range(count))


def too_many_inputs(count: int) -> str:
    return (
        f"[request id: <id_unknown>] expected 1 inputs but got {count} inputs for model 'echo'. "
        f"Got input(s) [{names('i')}] and {count - 16} more. Please provide all required input(s)."
    )


def unknown_output(_: int) -> str:
    return "unexpected inference output 'o0' for model 'echo'"


def too_many_parameters(count: int) -> str:
    return f"the request has {count} parameters, at most 1024 are allowed"


# -- the requests ----------------------------------------------------------------------------------


def json_inputs(count: int, **members: Any) -> list[dict[str, Any]]:
    one = {"datatype": "FP32", "shape": [1], **members}
    return [{"name": f"i{i}", **one} for i in range(count)]


def documents(kind: str, count: int, **members: Any) -> dict[str, Any]:
    if kind == "inputs":
        return {"inputs": json_inputs(count, data=[1.5]), **members}
    one = {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1.5]}]}
    if kind == "outputs":
        return {**one, "outputs": [{"name": f"o{i}"} for i in range(count)], **members}
    return {**one, "parameters": {f"p{i}": i for i in range(count)}, **members}


def over_http(server: ServerProcess, body: bytes, path: str = "infer", **headers: str) -> Refusal:
    answer = raw_http.post(
        server.http_url,
        f"/v2/models/echo/{path}",
        body,
        [(name.replace("_", "-"), value) for name, value in headers.items()],
    )
    return str(answer.status), answer.error()


def json_with(kind: str) -> Send:
    return lambda server, count: over_http(server, json.dumps(documents(kind, count)).encode())


def careful_json_with(kind: str) -> Send:
    """A text with NaN, which the fast reader leaves to the careful one."""
    return lambda server, count: over_http(
        server, json.dumps(documents(kind, count, other=float("nan"))).encode()
    )


def binary_inputs(server: ServerProcess, count: int) -> Refusal:
    head = json.dumps({"inputs": json_inputs(count, parameters={"binary_data_size": 4})}).encode()
    tail = struct.pack("<f", 1.5) * count
    return over_http(server, head + tail, Inference_Header_Content_Length=str(len(head)))


def generate_parameters(server: ServerProcess, count: int) -> Refusal:
    members = {f"p{i}": i for i in range(count)}
    return over_http(server, json.dumps(members).encode(), "generate")


def message_with(kind: str, count: int) -> service_pb2.ModelInferRequest:
    message = service_pb2.ModelInferRequest(model_name="echo")
    for i in range(count if kind == "inputs" else 1):
        name = f"i{i}" if kind == "inputs" else "INPUT0"
        tensor = message.inputs.add(name=name, datatype="FP32", shape=[1])
        tensor.contents.fp32_contents.append(1.5)
    if kind == "outputs":
        for i in range(count):
            message.outputs.add(name=f"o{i}")
    if kind == "parameters":
        for i in range(count):
            message.parameters[f"p{i}"].int64_param = i
    return message


def grpc_with(kind: str) -> Send:
    def send(server: ServerProcess, count: int) -> Refusal:
        message = message_with(kind, count)
        with grpc.insecure_channel(server.grpc_url) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            with pytest.raises(grpc.RpcError) as refused:
                stub.ModelInfer(message, timeout=60)
        return refused.value.code().name, refused.value.details()

    return send


def stream_with(kind: str) -> Send:
    def send(server: ServerProcess, count: int) -> Refusal:
        message = message_with(kind, count)
        with grpc.insecure_channel(server.grpc_url) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            (answer,) = stub.ModelStreamInfer(iter([message]), timeout=60)
        return "INVALID_ARGUMENT", answer.error_message

    return send


CASES = {
    "json-inputs": (json_with("inputs"), "400", too_many_inputs),
    "json-outputs": (json_with("outputs"), "400", unknown_output),
    "json-parameters": (json_with("parameters"), "400", too_many_parameters),
    "careful-inputs": (careful_json_with("inputs"), "400", too_many_inputs),
    "careful-outputs": (careful_json_with("outputs"), "400", unknown_output),
    "binary-inputs": (binary_inputs, "400", too_many_inputs),
    "generate-parameters": (generate_parameters, "400", lambda _: too_many_parameters(1025)),
    "grpc-inputs": (grpc_with("inputs"), "INVALID_ARGUMENT", too_many_inputs),
    "grpc-outputs": (grpc_with("outputs"), "INVALID_ARGUMENT", unknown_output),
    "grpc-parameters": (grpc_with("parameters"), "INVALID_ARGUMENT", too_many_parameters),
    "stream-inputs": (stream_with("inputs"), "INVALID_ARGUMENT", too_many_inputs),
}


@pytest.mark.parametrize("case", CASES)
def test_too_many_are_refused_after_linear_work(server: ServerProcess, case: str) -> None:
    send, code, text = CASES[case]
    for count in (FEW, MANY):
        assert send(server, count) == (code, text(count))
    few = least_work(server, lambda: send(server, FEW))
    many = least_work(server, lambda: send(server, MANY), times=1)
    assert many < MOST_GROWTH * few, f"{FEW} cost {few} ns, {MANY} cost {many} ns"


def test_a_client_that_behaves_is_answered_meanwhile(server: ServerProcess) -> None:
    def attack(case: str) -> Refusal:
        return CASES[case][0](server, MANY)

    with GoodClient(server.http_url) as good, ThreadPoolExecutor(4) as attackers:
        refusals = list(attackers.map(attack, CASES))
    assert [refusal[0] for refusal in refusals] == [code for _, code, _ in CASES.values()]
    assert good.answers > 0


def test_repeated_names_beyond_what_the_model_has(server: ServerProcess) -> None:
    inputs = [{**json_inputs(1, data=[1.5])[0], "name": name} for name in "abcb"]
    code, text = over_http(server, json.dumps({"inputs": inputs}).encode())
    assert (code, text) == (
        "400",
        "[request id: <id_unknown>] input 'b' already exists in request",
    )
    inputs[3]["name"] = "c"
    code, text = over_http(server, json.dumps({"inputs": inputs}).encode())
    assert code == "400" and "expected 1 inputs but got 4 inputs" in text


@pytest.mark.parametrize(
    ("members", "text"),
    [
        ({"id": "x" * 1025}, "the id of the request has 1025 bytes, at most 1024 are allowed"),
        (
            {"parameters": {"x" * 1025: 1}},
            "the name of a parameter has 1025 bytes, at most 1024 are allowed",
        ),
        (
            {"parameters": {"p": "x" * (MIB + 1)}},
            "the parameter 'p' has 1048577 bytes, at most 1048576 are allowed",
        ),
        (
            {"inputs": json_inputs(1, data=[1.5], shape=[1] * 129)},
            "the shape of 'i0' has 129 dimensions, at most 128 are allowed",
        ),
    ],
)
def test_texts_and_dimensions_are_limited(
    server: ServerProcess, members: dict[str, Any], text: str
) -> None:
    document = {"inputs": json_inputs(1, data=[1.5]), **members}
    assert over_http(server, json.dumps(document).encode()) == ("400", text)


def test_one_name_many_times_is_named(server: ServerProcess) -> None:
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1.5]}
    document = {"inputs": [tensor] * MANY}
    assert over_http(server, json.dumps(document).encode()) == (
        "400",
        "[request id: <id_unknown>] input 'INPUT0' already exists in request",
    )
