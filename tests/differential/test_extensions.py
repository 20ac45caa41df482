# SPDX-License-Identifier: Apache-2.0
"""Shared memory, restricted APIs and forwarded headers: both servers, started with the same options
and asked the same, answer the same."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from differential.original_server import prepare, start_original
from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess, ready
from support.stage import backend_directory

OPTIONS = [
    "--http-restricted-api=statistics,model-config:admin=let=me",
    "--grpc-restricted-protocol=statistics,model-config:admin=let=me",
    "--http-header-forward-pattern=(x-|triton_|priority)",
    "--grpc-header-forward-pattern=(x-|triton_|priority)",
]
SEGMENT_BYTES = 64
REASON = re.compile(r": the segment '.*' has .*")
VALUES = struct.pack("<4f", 1.5, -2.0, 0.25, 4.0)

Servers = Mapping[str, ServerProcess]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("extensions")
    models = ModelRepository(folder / "models")
    models.add_identity("echo", "FP32", (-1,))
    started = {
        "original": start_original(
            prepare(folder / "original"),
            models.root,
            folder / "log-original",
            backend_directory=backend_directory(),
            options=OPTIONS,
        ),
        # Release 2.73 needs the last one, too; 2.51 does not know it.
        "nereid": start_nereid(
            models.root, folder / "log-nereid", [*OPTIONS, "--allow-client-shm=true"]
        ),
    }
    with ready(started.values()):
        yield started


@pytest.fixture(scope="module")
def segment() -> Iterator[str]:
    """The key of a segment whose first bytes are VALUES."""
    key = f"/nereid_differential_{os.getpid()}"
    file = Path("/dev/shm") / key[1:]
    file.write_bytes(VALUES.ljust(SEGMENT_BYTES, b"\0"))
    yield key
    file.unlink()


def without_reason(answer: Any) -> Any:
    """Nereid says why a region cannot be registered (row `shared-memory-why`)."""
    head, body = answer
    if isinstance(body, dict) and "error" in body:
        return head, {"error": REASON.sub("", body["error"])}
    return head, REASON.sub("", body) if isinstance(body, str) else body


def assert_same(servers: Servers, ask: Callable[[ServerProcess], Any]) -> Any:
    """Asks both, and returns their answer."""
    answers = {name: ask(server) for name, server in servers.items()}
    assert without_reason(answers["nereid"]) == answers["original"]
    return answers["nereid"]


def http(
    method: str, path: str, body: Any = None, headers: raw_http.Headers = ()
) -> Callable[[ServerProcess], tuple[int, Any]]:
    def ask(server: ServerProcess) -> tuple[int, Any]:
        text = b"" if body is None else json.dumps(body).encode()
        sent = None if method == "GET" else text
        answer = raw_http.request(server.http_url, method, path, sent, headers)
        return answer.status, json.loads(answer.body) if answer.body else None

    return ask


def rpc(
    name: str, request: Any, metadata: tuple[tuple[str, str], ...] = ()
) -> Callable[[ServerProcess], tuple[str, Any]]:
    def ask(server: ServerProcess) -> tuple[str, Any]:
        with grpc.insecure_channel(server.grpc_url) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            try:
                return "OK", getattr(stub, name)(request, timeout=30, metadata=metadata)
            except grpc.RpcError as error:
                return error.code().name, error.details()

    return ask


# -- shared memory ---------------------------------------------------------------------------------

REGIONS = "/v2/systemsharedmemory"


def infer_body(region: str, offset: int, size: int, output_size: int | None = None) -> Any:
    place = {"shared_memory_region": region, "shared_memory_byte_size": size}
    tensor: dict[str, Any] = {
        "name": "INPUT0",
        "datatype": "FP32",
        "shape": [size // 4],
        "parameters": {**place, "shared_memory_offset": offset},
    }
    output: dict[str, Any] = {"name": "OUTPUT0"}
    if output_size is not None:
        output["parameters"] = {**place, "shared_memory_byte_size": output_size}
    return {"inputs": [tensor], "outputs": [output]}


def test_shared_memory_over_http(servers: Servers, segment: str) -> None:
    region = f"{REGIONS}/region/r"
    good = {"key": segment, "offset": 0, "byte_size": SEGMENT_BYTES}
    infer = "/v2/models/echo/infer"
    steps = [
        http("GET", f"{REGIONS}/status"),
        http("GET", f"{region}/status"),
        http("POST", f"{region}/register", {"byte_size": 4}),
        http("POST", f"{region}/register", {"key": segment}),
        http("POST", f"{region}/register", {**good, "key": "/nothing_of_nereid"}),
        http("POST", f"{region}/register", {**good, "byte_size": SEGMENT_BYTES + 1}),
        http("POST", f"{region}/register", good),
        http("POST", f"{region}/register", good),
        http("GET", f"{REGIONS}/status"),
        http("GET", f"{region}/status"),
        http("GET", "/v2/cudasharedmemory/region/r/status"),
        http("POST", infer, infer_body("r", 0, 16)),
        http("POST", infer, infer_body("r", 0, 16, output_size=16)),
        http("POST", infer, infer_body("r", 0, 16, output_size=8)),
        http("POST", infer, infer_body("r", SEGMENT_BYTES, 16)),
        http("POST", infer, infer_body("r", 56, 16)),
        http("POST", infer, infer_body("other", 0, 16)),
        http("POST", f"{region}/unregister"),
        http("POST", f"{region}/unregister"),
        http("POST", infer, infer_body("r", 0, 16)),
    ]
    answers = [assert_same(servers, step) for step in steps]
    statuses = [status for status, _ in answers]
    assert statuses.count(200) == 8, answers


def test_shared_memory_over_grpc(servers: Servers, segment: str) -> None:
    good = {"name": "g", "key": segment, "offset": 0, "byte_size": SEGMENT_BYTES}
    register = pb.SystemSharedMemoryRegisterRequest

    def infer(region: str, offset: int, size: int) -> Callable[[ServerProcess], Any]:
        request = pb.ModelInferRequest(model_name="echo")
        tensor = request.inputs.add(name="INPUT0", datatype="FP32", shape=[size // 4])
        tensor.parameters["shared_memory_region"].string_param = region
        tensor.parameters["shared_memory_byte_size"].int64_param = size
        tensor.parameters["shared_memory_offset"].int64_param = offset
        return rpc("ModelInfer", request)

    steps = [
        rpc("SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest(name="g")),
        rpc("SystemSharedMemoryRegister", register(**{**good, "key": "/nothing_of_nereid"})),
        rpc("SystemSharedMemoryRegister", register(**{**good, "offset": SEGMENT_BYTES})),
        rpc("SystemSharedMemoryRegister", register(**good)),
        rpc("SystemSharedMemoryRegister", register(**good)),
        rpc("SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest()),
        infer("g", 0, 16),
        infer("g", SEGMENT_BYTES, 16),
        infer("nobody", 0, 16),
        rpc("SystemSharedMemoryUnregister", pb.SystemSharedMemoryUnregisterRequest(name="g")),
        rpc("SystemSharedMemoryUnregister", pb.SystemSharedMemoryUnregisterRequest()),
    ]
    codes = [assert_same(servers, step)[0] for step in steps]
    assert codes.count("OK") == 5, codes


# -- restricted APIs and forwarded headers ---------------------------------------------------------


@pytest.mark.parametrize("headers", [(), (("admin", "let"),), (("Admin", "let=me"),)])
@pytest.mark.parametrize("path", ["/v2/models/echo/config", "/v2/models/stats", "/v2"])
def test_restricted_over_http(servers: Servers, path: str, headers: raw_http.Headers) -> None:
    def status(server: ServerProcess) -> Any:
        answer = raw_http.request(server.http_url, "GET", path, headers=headers)
        return answer.status, answer.json() if answer.status != 200 else None

    open_to_all = path == "/v2"
    answer = assert_same(servers, status)
    assert (answer[0] == 200) == (open_to_all or headers == (("Admin", "let=me"),))


@pytest.mark.parametrize("value", [None, "let", "let=me"])
def test_restricted_over_grpc(servers: Servers, value: str | None) -> None:
    metadata = () if value is None else (("triton-grpc-protocol-admin", value),)
    ask = rpc("ModelStatistics", pb.ModelStatisticsRequest(name="nobody"), metadata)
    code, text = assert_same(servers, ask)
    assert ("restricted" in text) == (value != "let=me"), (code, text)


def infer_with(name: str) -> tuple[Callable[[ServerProcess], Any], Callable[[ServerProcess], Any]]:
    """Requests over HTTP and gRPC with a header of that name."""
    body = {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1]}]}
    request = pb.ModelInferRequest(model_name="echo")
    tensor = request.inputs.add(name="INPUT0", datatype="FP32", shape=[1])
    tensor.contents.fp32_contents.append(1)
    return (
        http("POST", "/v2/models/echo/infer", body, [(name, "value")]),
        rpc("ModelInfer", request, ((name, "value"),)),
    )


def test_forwarded_headers(servers: Servers) -> None:
    over_http, over_grpc = infer_with("x-tenant")
    assert assert_same(servers, over_http)[0] == 200
    assert assert_same(servers, over_grpc)[0] == "OK"


@pytest.mark.parametrize("name", ["triton_secret", "priority"])
def test_reserved_headers(servers: Servers, name: str) -> None:
    """Release 2.73 refuses them; 2.51 gives them to the model."""
    over_http, over_grpc = infer_with(name)
    text = f"Header '{name}' is reserved for Triton usage and cannot be forwarded."
    assert over_http(servers["nereid"]) == (400, {"error": text})
    assert over_grpc(servers["nereid"]) == ("INVALID_ARGUMENT", text)
    assert over_http(servers["original"])[0] == 200
