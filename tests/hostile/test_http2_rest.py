# SPDX-License-Identifier: Apache-2.0
"""REST over HTTP/2 from clients that send or take nothing, or next to nothing. Each port keeps the
limits of HTTP (`--http-*`) for these requests."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from hostile.http2 import PORTS, Port, attack, start_server
from support.infer import echo_document
from support.raw_http2 import (
    CANCEL,
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    RST_STREAM,
    Http2Connection,
    frame,
    header_block,
    window_update,
)
from support.server_process import ServerProcess

pytestmark = pytest.mark.thorough

MANY_VALUES = 50_000  # of an answer that is longer than a window of 65,535 bytes
HEAD = header_block(
    [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", "/v2/models/echo/infer"),
        (":authority", "test"),
    ]
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    yield from start_server(tmp_path_factory.mktemp("rest"))


@pytest.fixture(params=PORTS, ids=lambda port: port.name)
def port(request: pytest.FixtureRequest) -> Port:
    return request.param


def echo_body(values: int) -> bytes:
    return json.dumps(echo_document([0.5] * values)).encode()


def begin(client: Http2Connection, body: bytes, end: bool) -> int:
    stream = client.take_stream()
    head = frame(HEADERS, END_HEADERS, stream, HEAD)
    client.send(head + frame(DATA, END_STREAM if end else 0, stream, body))
    return stream


def test_a_window_of_zero(server: ServerProcess, port: Port) -> None:
    with (
        attack(server, port.slow),
        Http2Connection(port.url(server), {INITIAL_WINDOW_SIZE: 0}) as client,
    ):
        client.agree()
        request = begin(client, echo_body(10), end=True)
        assert client.read_of(RST_STREAM, request).error_code() == CANCEL
        # Others of the connection go on.
        other = begin(client, echo_body(10), end=True)
        client.send(window_update(other, 1000))
        assert client.read_of(DATA, other).payload


def test_windows_that_open_by_one_byte(server: ServerProcess, port: Port) -> None:
    with (
        attack(server, port.slow),
        Http2Connection(port.url(server), {INITIAL_WINDOW_SIZE: 0}) as client,
    ):
        client.agree()
        request = begin(client, echo_body(MANY_VALUES), end=True)
        drips = 0
        while not client.readable(0.1) or (got := client.read_frame()).kind != RST_STREAM:
            client.send(window_update(request, 1))
            drips += 1
        assert got.error_code() == CANCEL
        assert drips > 5  # one at least every stall


@pytest.mark.parametrize("begun", [b"", b"{"])
def test_a_body_that_does_not_come(server: ServerProcess, port: Port, begun: bytes) -> None:
    with attack(server, port.slow), Http2Connection(port.url(server)) as client:
        request = begin(client, begun, end=False)
        assert client.read_head(request)[":status"] == "408"
        refusal = json.loads(client.read_of(DATA, request).payload)
        assert refusal == {"error": "timed out waiting for the request body"}


def test_a_body_that_drips(server: ServerProcess, port: Port) -> None:
    with attack(server, port.slow), Http2Connection(port.url(server)) as client:
        request = begin(client, b"{", end=False)
        head = None
        while head is None:
            client.send(frame(DATA, 0, request, b" "))
            if client.readable(0.1) and (got := client.read_frame()).kind == HEADERS:
                head = client.decode(got)
        assert head[":status"] == "408"
        refusal = json.loads(client.read_of(DATA, request).payload)
        assert "(--http-min-rate-bytes-per-sec)" in refusal["error"]


def test_bodies_that_announce_much(server: ServerProcess, port: Port) -> None:
    """An announced length costs nothing until the bytes arrive."""
    announced = header_block([("content-length", "2000000000")])
    with attack(server), Http2Connection(port.url(server)) as client:
        for _ in range(100):
            stream = client.take_stream()
            client.send(frame(HEADERS, END_HEADERS, stream, HEAD + announced))
        for _ in range(100):
            head = client.decode(client.read_until(lambda got: got.kind == HEADERS))
            assert head[":status"] == "408"
