# SPDX-License-Identifier: Apache-2.0
"""Clients of the hostile tests: misbehaving ones, and the one that has to be served meanwhile."""

from __future__ import annotations

import json
import resource
import select
import socket

from support import raw_http
from support.infer import echo_document
from support.metrics import metric
from support.poll import poll_until
from support.process_memory import MIB, peak_resident
from support.raw_http import RawConnection
from support.server_process import ServerProcess

INFER = "/v2/models/echo/infer"

# The memory that the server may use beyond its limit of bytes and its memory at rest: memory kept
# by allocators, threads, sockets, connections, and unfinished texts (docs/operate/limits.md).
CONSTANT = 192 * MIB


def allow_many_files() -> None:
    """Raises this process's limit of open files to the allowed maximum."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def assert_well_served(server: ServerProcess, requests: int = 20, model: str = "echo") -> None:
    """Checks that a client that keeps its connection and reads its answers gets all of them
    right."""
    body = json.dumps(echo_document((3.5, -1.0))).encode()
    path = f"/v2/models/{model}/infer"
    head = f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
    with RawConnection(server.http_url) as connection:
        for _ in range(requests):
            connection.send(head.encode() + body)
            answer = connection.read_answer("POST")
            assert answer.status == 200, answer.body
            assert answer.json()["outputs"][0]["data"] == [3.5, -1.0]


def assert_memory(server: ServerProcess, at_rest: int, limit: int) -> None:
    peak = peak_resident(server)
    assert peak <= at_rest + limit + CONSTANT, (
        f"{peak / MIB:.0f} MiB, at rest {at_rest / MIB:.0f}, limit {limit / MIB:.0f}"
    )


def gauge(server: ServerProcess, name: str) -> float:
    return metric(server.metrics_url, name)


def wait_until_idle(server: ServerProcess) -> None:
    for name in ("nereid_in_flight_bytes", "nereid_in_flight_requests"):
        poll_until(f"{name} is 0", lambda name=name: gauge(server, name) == 0)


def announce(url: str, size: int, path: str = INFER) -> RawConnection:
    """A connection that has announced a body of `size` bytes."""
    connection = RawConnection(url)
    connection.send(f"POST {path} HTTP/1.1\r\nHost: h\r\nContent-Length: {size}\r\n\r\n".encode())
    return connection


def has_answer(connection: RawConnection) -> bool:
    return bool(select.select([connection.socket], [], [], 0)[0])


def send_until_refused(connection: RawConnection, size: int) -> int:
    """Sends up to `size` bytes, fewer if the server answers earlier; returns how many."""
    piece = bytes(64 << 10)
    sent = 0
    while sent < size and not has_answer(connection):
        try:
            sent += connection.socket.send(piece[: size - sent])
        except (BrokenPipeError, ConnectionResetError):
            break
    return sent


def slow_reader(url: str) -> socket.socket:
    """A socket with a small receive buffer, which the client does not read."""
    host, port = raw_http.split_url(url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(raw_http.TIMEOUT_SECONDS)
    connection.connect((host, port))
    return connection
