# SPDX-License-Identifier: Apache-2.0
"""What the hostile tests of HTTP/2 share: one server with short limits, and a client that is served
meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tritonclient.grpc import service_pb2

from hostile.clients import assert_memory, assert_well_served, gauge, wait_until_idle
from support.good_client import GoodGrpcClient
from support.nereid import start_nereid
from support.poll import poll_until
from support.process_memory import MIB, resident
from support.raw_http2 import STREAM, message
from support.repository import ModelRepository
from support.server_process import ServerProcess

FLOODING = "nereid_grpc_flooding_clients"
SLOW = "nereid_grpc_slow_clients"
STREAMS = 100


@dataclass(frozen=True)
class Port:
    """One that takes HTTP/2."""

    name: str
    answer: str  # the status of a call of gRPC
    open_path: str  # what keeps a request open that has not ended

    def url(self, server: ServerProcess) -> str:
        return server.http_url if self.name == "http" else server.grpc_url

    @property
    def flooding(self) -> str:
        return f"nereid_{self.name}_flooding_clients"

    @property
    def slow(self) -> str:
        return f"nereid_{self.name}_slow_clients"


PORTS = [Port("grpc", "200", STREAM), Port("http", "404", "/v2/models/echo/infer")]

OPTIONS = (
    "--http-header-timeout-secs=1",
    "--http2-stall-timeout-secs=1",
    "--http2-handshake-timeout-secs=1",
    "--http2-min-rate-bytes-per-sec=1024",
    f"--http2-max-concurrent-streams={STREAMS}",
)


def start_server(folder: Path) -> Iterator[ServerProcess]:
    repository = ModelRepository(folder / "models")
    repository.add_identity("echo")
    server = start_nereid(repository.root, folder / "logs", OPTIONS)
    try:
        server.wait_for()
        assert_well_served(server)
        yield server
    finally:
        server.stop()


def echo_message(values: int, model: str = "echo") -> bytes:
    """A call's message with a tensor of `values` numbers."""
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="INPUT0", datatype="FP32", shape=[values])
    request.raw_input_contents.append(np.zeros(values, np.float32).tobytes())
    return message(request.SerializeToString())


@contextmanager
def attack(server: ServerProcess, counted: str = "", at_least: int = 1) -> Iterator[None]:
    """Around an attack: another client is served all the time, `counted` counts the attackers, and
    afterwards nothing of them is left."""
    before = gauge(server, counted) if counted else 0
    at_rest = resident(server)
    with GoodGrpcClient(server.grpc_url):
        yield
    if counted:
        poll_until(
            f"{counted} counts them", lambda: gauge(server, counted) >= before + at_least, 10
        )
    for name in ("nereid_grpc_connections", "nereid_http_connections"):
        poll_until(f"{name} is 0", lambda name=name: gauge(server, name) == 0, 10)
    wait_until_idle(server)
    assert_memory(server, at_rest, 64 * MIB)
