# SPDX-License-Identifier: Apache-2.0
"""Checks repeatedly whether a server is ready and which models it has, while something else runs.

An open loop: each check falls due every PERIOD_SECONDS, and its latency counts from then. A check
that falls due while the previous one has no answer yet is not sent, but charged with the time until
that answer. The checks run in separate processes, so that they do not wait for this process or
delay it. If possible they have a higher priority than all other processes, so that they wait only
for the server.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

PERIOD_SECONDS = 0.01
TIMEOUT_SECONDS = 120.0
HTTP_CHECKS = ("server ready", "model ready", "index")
CHECKS = tuple((protocol, check) for protocol in ("http", "grpc") for check in HTTP_CHECKS)

Ask = Callable[[], bool]  # runs a check; returns whether the answer was right


@dataclass(frozen=True)
class Sample:
    """One check."""

    protocol: str
    check: str
    due: float  # by time.perf_counter(), which is the same in all processes
    seconds: float  # from the time it was due to its answer
    good: bool


class HttpConnection:
    """A keep-alive connection with as little overhead as Python allows. Owned by one thread."""

    def __init__(self, address: str) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> tuple[int, bytes]:
        """Returns status and body. Raises OSError if the server does not answer in full."""
        self._socket.sendall(request)
        answer = b""
        while (end := answer.find(b"\r\n\r\n")) < 0:
            answer += self._receive()
        head = answer[:end]
        length = re.search(rb"\r\ncontent-length:\s*(\d+)", head, re.IGNORECASE)
        whole = end + 4 + (int(length[1]) if length else 0)
        while len(answer) < whole:
            answer += self._receive()
        return int(head.split(b" ", 2)[1]), answer[end + 4 :]

    def _receive(self) -> bytes:
        part = self._socket.recv(1 << 18)
        if not part:
            raise ConnectionError("the server has closed the connection")
        return part

    def close(self) -> None:
        self._socket.close()


def http_request(method: str, path: str, body: bytes = b"") -> bytes:
    length = f"Content-Length: {len(body)}\r\n" if method == "POST" else ""
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{length}\r\n".encode() + body


INDEX = http_request("POST", "/v2/repository/index", b"{}")
READY_INDEX = http_request("POST", "/v2/repository/index", b'{"ready":true}')


def _http_asks(address: str, model: str) -> Mapping[str, Ask]:
    requests = (
        http_request("GET", "/v2/health/ready"),
        http_request("GET", f"/v2/models/{model}/ready"),
        INDEX,
    )

    def make(request: bytes) -> Ask:
        connection = HttpConnection(address)
        # A server that is loading may answer that it is not ready; only a missing answer counts.
        good = (200, 400, 503) if request is requests[0] else (200,)
        return lambda: connection.ask(request)[0] in good

    return {check: make(request) for check, request in zip(HTTP_CHECKS, requests)}


def _grpc_asks(address: str, model: str) -> Mapping[str, Ask]:
    def make(method: str, request: Any, is_good: Callable[[Any], bool]) -> Ask:
        # A separate connection for each check, as over HTTP.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
        stub = service_pb2_grpc.GRPCInferenceServiceStub(grpc.insecure_channel(address, options))
        call = getattr(stub, method)
        return lambda: is_good(call(request, timeout=TIMEOUT_SECONDS, wait_for_ready=True))

    asks = (
        make("ServerReady", service_pb2.ServerReadyRequest(), lambda answer: True),
        make("ModelReady", service_pb2.ModelReadyRequest(name=model), lambda answer: answer.ready),
        make(
            "RepositoryIndex",
            service_pb2.RepositoryIndexRequest(),
            lambda answer: len(answer.models) > 0,
        ),
    )
    return dict(zip(HTTP_CHECKS, asks))


def _good(ask: Ask) -> bool:
    try:
        return ask()
    except (OSError, grpc.RpcError):
        return False


def ask_until(
    stop: threading.Event,
    ask: Ask,
    clock: Callable[[], float],
    wait: Callable[[float], None],
    period: float = PERIOD_SECONDS,
) -> list[tuple[float, float, bool]]:
    """Runs checks until `stop`; returns (when due, seconds, good) of each. `wait` gets a positive
    number of seconds."""
    found: list[tuple[float, float, bool]] = []
    due = clock()
    while not stop.is_set():
        if (early := due - clock()) > 0:
            wait(early)
        good = _good(ask)
        answered = clock()
        found.append((due, answered - due, good))
        due += period
        # Checks that fell due meanwhile would have waited for this one.
        while due < answered:
            found.append((due, answered - due, good))
            due += period
    return found


def hurry() -> bool:
    """Gives this process, and threads that it will create, priority over all ordinary processes.
    False if that is not allowed."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        return False
    return True


def _run_process(protocol: str, address: str, model: str, parent: Connection) -> None:
    hurried = hurry()
    asks = (_http_asks if protocol == "http" else _grpc_asks)(address, model)
    for ask in asks.values():
        for _ in range(20):  # opens the connections and warms the code up
            _good(ask)
    stop = threading.Event()
    found: dict[str, list[tuple[float, float, bool]]] = {}

    def run(check: str, ask: Ask) -> None:
        found[check] = ask_until(stop, ask, time.perf_counter, time.sleep)

    threads = [threading.Thread(target=run, args=item) for item in asks.items()]
    for thread in threads:
        thread.start()
    parent.send(hurried)
    parent.recv()
    stop.set()
    for thread in threads:
        thread.join()
    parent.send([Sample(protocol, check, *one) for check, all_ in found.items() for one in all_])


class Probes:
    """All checks against one server, from the beginning of a `with` block until `stop`."""

    def __init__(self, http: str, grpc_address: str, model: str) -> None:
        self.hurried = False  # whether the checks have priority; set when the block begins
        # Not forked, because gRPC does not support it.
        context = multiprocessing.get_context("spawn")
        self._processes = []
        self._pipes: list[Connection] = []
        for protocol, address in (("http", http), ("grpc", grpc_address)):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_run_process, args=(protocol, address, model, theirs), daemon=True
            )
            process.start()
            theirs.close()
            self._processes.append(process)
            self._pipes.append(ours)

    def __enter__(self) -> Probes:
        self.hurried = all([pipe.recv() for pipe in self._pipes])
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.join()

    def stop(self) -> list[Sample]:
        """Ends the checks. Raises EOFError if one of the processes has ended by itself."""
        for pipe in self._pipes:
            pipe.send("stop")
        return [sample for pipe in self._pipes for sample in pipe.recv()]


def between(samples: Sequence[Sample], begin: float, end: float) -> list[Sample]:
    """The samples that fell due in this time."""
    return [sample for sample in samples if begin <= sample.due < end]
