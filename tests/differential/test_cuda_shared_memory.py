# SPDX-License-Identifier: Apache-2.0
"""CUDA shared memory on simulated GPUs: Triton and Nereid are asked the same, and answer the same but
for the faults that tests/e2e/test_cuda_shared_memory.py shows to be none of ours."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from differential.original_server import prepare, simulate_gpus, start_original
from support import raw_http
from support.cuda_memory import HANDLE_BYTES, CudaMemory, simulated_machine
from support.gpus import add_testing, simulated_gpus
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess, ready
from support.stage import backend_directory

GPUS = 3
DATA = struct.pack("<16f", *range(16))
ROOT = "/v2/cudasharedmemory"

Servers = Mapping[str, ServerProcess]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("cuda")
    models = ModelRepository(folder / "models")
    add_testing(models, "gpu", "gpu_identity", "instance_group { gpus: [ 0 ] }")
    layout = prepare(folder / "triton")
    simulate_gpus(layout, backend_directory() / "testing" / "simulated_cuda")
    environment = simulated_gpus(GPUS, mb="256")
    started = {
        "triton": start_original(
            layout,
            models.root,
            folder / "log-triton",
            backend_directory(),
            options=["--allow-gpu-metrics=false"],
            environment=environment,
        ),
        "nereid": start_nereid(
            models.root, folder / "log-nereid", ["--allow-client-shm=true"], environment
        ),
    }
    with ready(started.values()):
        yield started


@pytest.fixture
def memory() -> Iterator[dict[str, CudaMemory]]:
    with simulated_machine(GPUS) as machine:
        made = {name: CudaMemory(machine, len(DATA)) for name in ("in", "out")}
        made["in"].write(DATA)
        yield made
        for one in made.values():
            one.free()


def register_body(one: CudaMemory, byte_size: int = len(DATA)) -> dict[str, Any]:
    return {
        "raw_handle": {"b64": one.handle.decode()},
        "device_id": one.gpu,
        "byte_size": byte_size,
    }


def tensor(name: str, region: str, byte_size: int, offset: int, **more: Any) -> dict[str, Any]:
    place = {
        "shared_memory_region": region,
        "shared_memory_byte_size": byte_size,
        "shared_memory_offset": offset,
    }
    return {"name": name, "parameters": place, **more}


def infer_body(
    source: tuple[str, int, int] | None, target: tuple[str, int, int] | None
) -> dict[str, Any]:
    """Each is a region, a size and an offset; None: the tensor is in the body."""
    shape: dict[str, Any] = {"shape": [16], "datatype": "FP32"}
    body: dict[str, Any] = {
        "inputs": [
            {"name": "INPUT0", **shape, "data": list(range(16))}
            if source is None
            else tensor("INPUT0", *source, **shape)
        ]
    }
    if target is not None:
        body["outputs"] = [tensor("OUTPUT0", *target)]
    return body


def answers(server: ServerProcess, memory: Mapping[str, CudaMemory]) -> dict[str, Any]:
    """What the server says to each request, over HTTP, and what it has written."""
    said: dict[str, Any] = {}

    def ask(name: str, path: str, body: Any = None) -> None:
        answer = (
            raw_http.get(server.http_url, path)
            if body is None
            else raw_http.post(server.http_url, path, json.dumps(body).encode())
        )
        said[name] = (answer.status, json.loads(answer.body) if answer.body else None)

    size = len(DATA)
    for name, one in memory.items():
        ask(f"register {name}", f"{ROOT}/region/{name}/register", register_body(one))
    ask("again", f"{ROOT}/region/in/register", register_body(memory["in"]))
    ask("status", f"{ROOT}/status")
    ask("status of one", f"{ROOT}/region/in/status")
    ask("status of none", f"{ROOT}/region/nope/status")
    ask("status of the other kind", "/v2/systemsharedmemory/region/in/status")
    ask("no name", f"{ROOT}/register", {})
    memory["out"].write(bytes(size))
    ask("infer", "/v2/models/gpu/infer", infer_body(("in", size, 0), ("out", size, 0)))
    said["written"] = memory["out"].read()
    ask("infer from", "/v2/models/gpu/infer", infer_body(("in", size, 0), None))
    memory["out"].write(bytes(size))
    ask("infer to", "/v2/models/gpu/infer", infer_body(None, ("out", size, 0)))
    said["written again"] = memory["out"].read()
    ask("small", "/v2/models/gpu/infer", infer_body(("in", size, 0), ("out", 32, 0)))
    ask("beyond", "/v2/models/gpu/infer", infer_body(("in", 4, size), None))
    ask("across", "/v2/models/gpu/infer", infer_body(("in", size, 4), None))
    ask("unregistered as the other kind", "/v2/systemsharedmemory/region/in/unregister", {})
    ask("still there", f"{ROOT}/region/in/status")
    ask("unregister", f"{ROOT}/region/in/unregister", {})
    ask("gone", f"{ROOT}/region/in/status")
    ask("unregister all", f"{ROOT}/unregister", {})
    ask("none left", f"{ROOT}/status")
    return said


def test_the_same_requests_get_the_same_answers(
    servers: Servers, memory: dict[str, CudaMemory]
) -> None:
    said = {name: answers(server, memory) for name, server in servers.items()}
    assert said["nereid"]["written"] == said["nereid"]["written again"] == DATA
    assert said["nereid"]["status"][1] == [
        {"name": name, "device_id": 0, "byte_size": len(DATA)} for name in ("in", "out")
    ]
    different = {
        name: (said["triton"][name], answer)
        for name, answer in said["nereid"].items()
        if said["triton"][name] != answer
    }
    assert not different


def refused(server: ServerProcess, body: Any) -> tuple[int, str]:
    answer = raw_http.post(server.http_url, f"{ROOT}/region/r/register", json.dumps(body).encode())
    return answer.status, answer.error()


def test_registrations_that_both_refuse(servers: Servers, memory: dict[str, CudaMemory]) -> None:
    """Nereid adds what is wrong with the arguments."""
    good = register_body(memory["in"])
    for body in (
        {},
        {**good, "raw_handle": {"b64": "!!!"}},
        {**good, "raw_handle": {"b64": good["raw_handle"]["b64"][:40]}},
        {**good, "byte_size": len(DATA) + 1},
        {**good, "raw_handle": {"b64": base64.b64encode(b"A" * HANDLE_BYTES).decode()}},
    ):
        triton = refused(servers["triton"], body)
        nereid = refused(servers["nereid"], body)
        assert triton[0] == nereid[0] == 400, (triton, nereid)
        assert nereid[1].startswith(triton[1]), (triton, nereid)


def test_faults_of_triton(servers: Servers, memory: dict[str, CudaMemory]) -> None:
    """It accepts a GPU that there is not, and a region without bytes."""
    good = register_body(memory["in"])
    for change in ({"device_id": 9}, {"byte_size": 0}):
        answer = raw_http.post(
            servers["triton"].http_url,
            f"{ROOT}/region/r/register",
            json.dumps({**good, **change}).encode(),
        )
        assert answer.status == 200, answer.body
        raw_http.post(servers["triton"].http_url, f"{ROOT}/unregister")
        assert refused(servers["nereid"], {**good, **change})[0] == 400


def grpc_answers(server: ServerProcess, memory: Mapping[str, CudaMemory]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)

        def ask(name: str, method: str, message: Any) -> None:
            try:
                said[name] = getattr(stub, method)(message)
            except grpc.RpcError as error:
                said[name] = (error.code(), error.details())

        def register(name: str, one: CudaMemory, byte_size: int) -> pb.CudaSharedMemoryRegisterRequest:
            return pb.CudaSharedMemoryRegisterRequest(
                name=name, raw_handle=one.raw_handle, device_id=one.gpu, byte_size=byte_size
            )

        status = pb.CudaSharedMemoryStatusRequest
        ask("register", "CudaSharedMemoryRegister", register("in", memory["in"], len(DATA)))
        ask("again", "CudaSharedMemoryRegister", register("in", memory["in"], len(DATA)))
        ask("status", "CudaSharedMemoryStatus", status())
        ask("status of none", "CudaSharedMemoryStatus", status(name="nope"))
        ask("unregister", "CudaSharedMemoryUnregister", pb.CudaSharedMemoryUnregisterRequest())
        ask("none left", "CudaSharedMemoryStatus", status())
    return said


def test_grpc_answers_the_same(servers: Servers, memory: dict[str, CudaMemory]) -> None:
    said = {name: grpc_answers(server, memory) for name, server in servers.items()}
    assert said["nereid"]["status"].regions["in"].byte_size == len(DATA)
    assert said["triton"] == said["nereid"]
