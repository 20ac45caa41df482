# SPDX-License-Identifier: Apache-2.0
"""A log that nobody reads: it holds up no client, no probe and no end."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import signal
import subprocess
import time
import tty
from collections.abc import Iterator

import grpc
import pytest
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving
from support.metrics import metric
from support.nereid import FREE_PORTS, INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import LOOPBACK
from support.stage import server_binary

pytestmark = pytest.mark.thorough

TALKER = """
import triton_python_backend_utils as pb_utils

def value(request):
    return pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()

class TritonPythonModel:
    def execute(self, requests):
        for _ in requests:
            for _ in range(20):
                pb_utils.Logger.log_warn("x" * 100_000)
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", value(r))])
            for r in requests
        ]
"""
STOP_SECONDS = 20.0


class UnreadServer:
    """A server whose standard output and error are one pipe, or one terminal. The test reads it
    until the ports are known, and then fills it."""

    def __init__(self, repository: ModelRepository, kind: str, *options: str) -> None:
        self.read_end, write_end = os.pipe() if kind == "pipe" else pty.openpty()
        if kind == "terminal":
            tty.setraw(write_end)
        command = [server_binary("nereid"), f"--model-repository={repository.root}"]
        self.process = subprocess.Popen(
            [*command, *FREE_PORTS, *options],
            stdin=subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            start_new_session=True,
        )
        os.set_blocking(self.read_end, False)
        self.path = f"/proc/{os.getpid()}/fd/{write_end}"
        self.write_end = write_end
        self.text = ""

    def read(self) -> str:
        """Takes what there is to be read. Returns all that was read so far."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.read_end, 1 << 16):
                self.text += data.decode(errors="replace")
        return self.text

    def port(self, service: str) -> int:
        found = poll_until(
            f"the port of {service}", lambda: re.search(rf"{service} at \S*?:(\d+)", self.read())
        )
        return int(found.group(1))

    def start(self) -> None:
        """Learns the ports, and lets nothing more be written."""
        self.http_url = f"{LOOPBACK}:{self.port('HTTPService')}"
        self.grpc_url = f"{LOOPBACK}:{self.port('GRPCInferenceService')}"
        self.metrics_url = f"{LOOPBACK}:{self.port('Metrics Service')}"
        self.fill()

    def fill(self) -> None:
        # Another open file, because the server must not see O_NONBLOCK.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        full_since = time.monotonic()
        while time.monotonic() < full_since + 0.2:  # a terminal's driver takes some more later
            with contextlib.suppress(BlockingIOError):
                os.write(descriptor, b"." * 512)
                full_since = time.monotonic()
        os.close(descriptor)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)


@pytest.fixture
def repository(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    model_repository.add_identity(
        "sequence",
        "INT32",
        (1,),
        max_batch_size=4,
        extra="sequence_batching { max_sequence_idle_microseconds: 2000000 oldest { } }",
    )
    folder = model_repository.add(
        "talker",
        'backend: "python"\nmax_batch_size: 0\n'
        f"input [ {tensor_text('INPUT0', 'FP32', (-1,))} ]\n"
        f"output [ {tensor_text('OUTPUT0', 'FP32', (-1,))} ]\n",
    )
    (folder / "1" / "model.py").write_text(TALKER)
    return model_repository


@pytest.fixture(params=["pipe", "terminal"])
def server(request: pytest.FixtureRequest, repository: ModelRepository) -> Iterator[UnreadServer]:
    started = UnreadServer(repository, request.param, INTERPRETER)
    try:
        started.start()
        yield started
    finally:
        started.close()


def begin_sequence(url: str) -> int:
    document = {
        "parameters": {"sequence_id": 7, "sequence_start": True},
        "inputs": [{"name": "INPUT0", "shape": [1, 1], "datatype": "INT32", "data": [1]}],
    }
    return raw_http.post_json(url, "/v2/models/sequence/infer", document).status


def assert_all_answers(server: UnreadServer) -> None:
    for _ in range(20):  # each a connection of its own, so that each I/O thread has some
        assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
        assert_serving(server.http_url)
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        assert stub.ServerReady(pb.ServerReadyRequest(), timeout=10).ready


def test_nobody_waits_for_the_reader(server: UnreadServer) -> None:
    for _ in range(500):
        assert begin_sequence(server.http_url) == 200
    assert_all_answers(server)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(STOP_SECONDS) == 0


def test_what_is_not_read_is_dropped_and_counted(server: UnreadServer) -> None:
    def dropped() -> bool:
        assert_serving(server.http_url, "talker")
        return metric(server.metrics_url, "nereid_log_dropped") > 0

    poll_until("lines are dropped", dropped, 60)
    assert_all_answers(server)
    missing = re.compile(r"(\d+) lines? (?:is|are) missing here")
    poll_until("a line says so", lambda: missing.search(server.read()), 60)
    server.process.send_signal(signal.SIGTERM)

    def ended() -> bool:
        server.read()
        return server.process.poll() is not None

    poll_until("the end", ended, STOP_SECONDS)
    assert server.process.returncode == 0
    server.read()
    assert "received: stopping" in server.text


@pytest.mark.parametrize("kind", ["pipe", "terminal"])
def test_a_start_that_fails(model_repository: ModelRepository, kind: str) -> None:
    model_repository.add("broken", 'backend: "nobody"\n')
    server = UnreadServer(model_repository, kind)
    try:
        server.fill()
        assert server.process.wait(STOP_SECONDS) == 1
    finally:
        server.close()


def test_clients_do_not_fill_the_log(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    server = server_factory(repository, INTERPRETER)
    for _ in range(100):
        assert begin_sequence(server.http_url) == 200
    assert server.log_text().count("begins anew before it has ended") < 90

    def told() -> bool:
        assert begin_sequence(server.http_url) == 200
        return "similar lines were suppressed)" in server.log_text()

    poll_until("a line tells of the others", told)


def test_the_lines_before_a_crash_are_written(
    server_factory: ServerFactory, repository: ModelRepository
) -> None:
    server = server_factory(repository, INTERPRETER)
    server.send_signal(signal.SIGABRT)
    assert server.wait_exit() == -signal.SIGABRT
    log = server.log_text()
    assert "SIGABRT (abort) outside of any backend call" in log
    assert "Started HTTPService" in log
