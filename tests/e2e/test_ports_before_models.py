# SPDX-License-Identifier: Apache-2.0
"""A server has its ports before it loads models, and lets nobody in until they are loaded."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import ServerFactory
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.ports import free_ports
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess

# Tells that it is being loaded, and is loaded when somebody has written to the pipe.
MODEL = """
from pathlib import Path

class TritonPythonModel:
    def initialize(self, args):
        folder = Path({folder!r})
        (folder / "loading").touch()
        (folder / "go").read_bytes()

    def execute(self, requests):
        return []
"""
PORTS = {
    "GRPC": ("--grpc-port",),
    "HTTP": ("--http-port",),
    "Sagemaker": ("--sagemaker-port", "--allow-sagemaker=true"),
    "Vertex AI": ("--vertex-ai-port", "--allow-vertex-ai=true"),
    "Console": ("--console-port",),
    "TensorFlow Serving HTTP": ("--tfs-http-port",),
    "TensorFlow Serving GRPC": ("--tfs-grpc-port",),
    "Metrics": ("--metrics-port",),
}


class SlowModel:
    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        os.mkfifo(folder / "go")
        self._folder = folder
        self.repository = ModelRepository(folder / "models")
        model = self.repository.add_identity("slow", backend="python")
        (model / "1" / "model.py").write_text(MODEL.format(folder=str(folder)))

    @property
    def loading(self) -> bool:
        return (self._folder / "loading").exists()

    def let_load(self) -> None:
        (self._folder / "go").write_bytes(b"")


@pytest.fixture
def slow(tmp_path: Path) -> SlowModel:
    return SlowModel(tmp_path / "slow")


@pytest.fixture
def other(tmp_path: Path) -> SlowModel:
    return SlowModel(tmp_path / "other")


@pytest.fixture
def used_port() -> Iterator[int]:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        yield taken.getsockname()[1]


def start_slowly(
    server_factory: ServerFactory, slow: SlowModel, *options: str
) -> tuple[ServerProcess, list[int]]:
    """A server that is loading its model, and its ports of HTTP, gRPC and metrics."""
    ports = free_ports(3)
    names = ("http", "grpc", "metrics")
    chosen = [f"--{name}-port={port}" for name, port in zip(names, ports, strict=True)]
    server = server_factory(slow.repository, *chosen, INTERPRETER, *options, wait_for=None)
    poll_until("the load of the model", lambda: slow.loading, 60.0, server.log_text)
    return server, ports


def test_clients_are_refused_until_models_are_loaded(
    server_factory: ServerFactory, slow: SlowModel
) -> None:
    server, ports = start_slowly(server_factory, slow)
    for port in ports:
        with socket.socket() as client, pytest.raises(ConnectionRefusedError):
            client.connect((LOOPBACK, port))
        with socket.socket() as taker, pytest.raises(OSError, match="already in use"):
            taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taker.bind((LOOPBACK, port))
    assert "Started" not in server.log_text()
    slow.let_load()
    server.wait_for()
    assert [server.port(name) for name in ("http", "grpc", "metrics")] == ports


def test_second_server_ends_although_the_first_does_not_listen_yet(
    server_factory: ServerFactory, slow: SlowModel, other: SlowModel
) -> None:
    first, ports = start_slowly(server_factory, slow)
    second = server_factory(
        other.repository, f"--http-port={ports[0]}", INTERPRETER, wait_for=None
    )
    assert second.wait_exit() == 1
    second.wait_for_log(
        "failed to start HTTP service: Unavailable - "
        f"Socket '{LOOPBACK}:{ports[0]}' already in use by a process that does not listen yet"
    )
    assert not other.loading
    slow.let_load()
    first.wait_for()


def test_servers_that_share_a_port_load_at_the_same_time(
    server_factory: ServerFactory, slow: SlowModel, other: SlowModel
) -> None:
    share = "--reuse-http-port=true"
    first, ports = start_slowly(server_factory, slow, share)
    second, _ = start_slowly(server_factory, other, share, f"--http-port={ports[0]}")
    for model in (slow, other):
        model.let_load()
    for server in (first, second):
        assert server.port("http") == ports[0]


@pytest.mark.parametrize("service", PORTS)
def test_no_model_is_loaded_if_a_port_is_taken(
    server_factory: ServerFactory, slow: SlowModel, used_port: int, service: str
) -> None:
    option, *others = PORTS[service]
    server = server_factory(
        slow.repository, INTERPRETER, f"{option}={used_port}", *others, wait_for=None
    )
    assert server.wait_exit() == 1
    said = (
        rf"failed to start {service} service: Unavailable - Socket '[0-9.]+:{used_port}' already "
        rf"in use by process {os.getpid()} \(.+\); {option} chooses another port"
    )
    assert re.search(said, server.log_text()), server.log_text()
    assert not slow.loading
