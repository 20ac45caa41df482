# SPDX-License-Identifier: Apache-2.0
"""A server with few file descriptors serves new clients at the expense of idle ones."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from support import raw_http
from support.infer import InBackground, assert_serving
from support.metrics import metric
from support.nereid import FREE_PORTS, INTERPRETER
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.stage import server_binary

LIMIT = 256

TELLER = """
import resource
import numpy as np
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        limits = np.array(resource.getrlimit(resource.RLIMIT_NOFILE), dtype=np.int64)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", limits)]) for _ in requests]
"""


def start(
    models: ModelRepository, logs: Path, soft: int, hard: int, *options: str
) -> ServerProcess:
    """A server with these limits of open files."""
    command = [
        *("prlimit", f"--nofile={soft}:{hard}", "--", server_binary("nereid")),
        f"--model-repository={models.root}",
        *FREE_PORTS,
        *options,
    ]
    server = ServerProcess(command, logs)
    server.wait_for()
    return server


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    model_repository.add_identity("slow", parameters={"execute_delay_ms": "3000"})
    return model_repository


@pytest.fixture
def server(models: ModelRepository, tmp_path: Path) -> Iterator[ServerProcess]:
    started = start(models, tmp_path / "log", 128, LIMIT)
    yield started
    started.stop()


@contextlib.contextmanager
def idle_clients(url: str, count: int) -> Iterator[list[socket.socket]]:
    """Connections that have had an answer each, and ask for nothing more. Some may be closed."""
    host, port = url.rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        clients = []
        for _ in range(count):
            client = stack.enter_context(socket.create_connection((host, int(port)), timeout=10))
            client.sendall(b"GET /v2/health/live HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200")
            clients.append(client)
        yield clients


def grpc_clients(stack: contextlib.ExitStack, url: str, count: int) -> list[Any]:
    """Stubs with a connection each, which has had an answer. They last as long as `stack`."""
    stubs = []
    for _ in range(count):
        options = [("grpc.use_local_subchannel_pool", 1)]
        channel = stack.enter_context(grpc.insecure_channel(url, options))
        stubs.append(service_pb2_grpc.GRPCInferenceServiceStub(channel))
        assert stubs[-1].ServerLive(pb.ServerLiveRequest(), timeout=10).live
    return stubs


def is_closed(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def descriptors(server: ServerProcess) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def assert_all_answer(server: ServerProcess) -> None:
    assert_serving(server.http_url)
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        assert stub.ServerReady(pb.ServerReadyRequest(), timeout=10).ready
    assert metric(server.metrics_url, "nereid_in_flight_bytes_limit") > 0


def test_idle_connections_make_room(server: ServerProcess) -> None:
    with idle_clients(server.http_url, 250) as clients:
        for _ in range(5):
            assert_all_answer(server)
        assert descriptors(server) < LIMIT - 16
        closed = [is_closed(client) for client in clients]
        assert 50 < sum(closed) < 200
        # Those that have been idle for longest have gone.
        assert closed[0] and not closed[-1]
    assert "Too many open files" not in server.log_text()


def test_idle_grpc_connections_go_last(server: ServerProcess) -> None:
    with contextlib.ExitStack() as stack:
        stubs = grpc_clients(stack, server.grpc_url, 20)
        before = metric(server.metrics_url, "nereid_grpc_connections")
        assert before >= 20
        stack.enter_context(idle_clients(server.http_url, 250))
        assert metric(server.metrics_url, "nereid_grpc_connections") == before
        for stub in stubs:
            assert stub.ServerLive(pb.ServerLiveRequest(), timeout=10).live


def test_grpc_connections_make_room_when_no_other_is_idle(server: ServerProcess) -> None:
    with contextlib.ExitStack() as stack:
        stubs = grpc_clients(stack, server.grpc_url, 250)
        assert_all_answer(server)
        assert descriptors(server) < LIMIT - 16
        for stub in stubs[:10]:  # a client whose connection has gone opens another
            assert stub.ServerLive(pb.ServerLiveRequest(), timeout=10).live


def test_busy_connections_stay(server: ServerProcess) -> None:
    working = InBackground(server.http_url, "slow")
    with idle_clients(server.http_url, 250):
        assert_all_answer(server)
        assert working.answer().status == 200


def test_limits_that_cannot_be_reached_are_named(models: ModelRepository, tmp_path: Path) -> None:
    server = start(models, tmp_path / "log", 128, LIMIT)
    server.stop()
    line = re.search(
        r"--http-max-connections=10000 and --grpc-max-connections=10000 cannot be reached: "
        rf"the limit of {LIMIT} open files allows \d+ connections",
        server.stderr_text(),
    )
    assert line, server.stderr_text()
    server = start(
        *(models, tmp_path / "log 2", 128, LIMIT),
        *("--http-max-connections=50", "--grpc-max-connections=50"),
    )
    server.stop()
    assert "cannot be reached" not in server.stderr_text()


def test_python_models_get_the_soft_limit_back(models: ModelRepository, tmp_path: Path) -> None:
    folder = models.add(
        "teller",
        'backend: "python"\nmax_batch_size: 0\n'
        f"input [ {tensor_text('INPUT0', 'FP32', (-1,))} ]\n"
        f"output [ {tensor_text('OUTPUT0', 'INT64', (2,))} ]\n",
    )
    (folder / "1" / "model.py").write_text(TELLER)
    server = start(models, tmp_path / "log", 200, 300, INTERPRETER)
    soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    assert (soft, hard) == (300, 300)
    document = {"inputs": [{"name": "INPUT0", "shape": [1], "datatype": "FP32", "data": [1]}]}
    answer = raw_http.post_json(server.http_url, "/v2/models/teller/infer", document)
    assert answer.json()["outputs"][0]["data"] == [200, 300]
    server.stop()
