# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 clients that send or take nothing, or next to nothing, and those that speak another
protocol."""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
import struct
from collections.abc import Iterator

import pytest

from hostile.clients import gauge, slow_reader
from hostile.http2 import PORTS, SLOW, Port, attack, echo_message, start_server
from support.poll import poll_until
from support.raw_http2 import (
    CANCEL,
    DATA,
    GOAWAY,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    NO_ERROR,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    STREAM,
    UNARY,
    WINDOW_UPDATE,
    Http2Connection,
    call_headers,
    frame,
    window_update,
)
from support.server_process import ServerProcess

pytestmark = pytest.mark.thorough

MANY_VALUES = 100_000  # of an answer that is longer than a window of 65,535 bytes
UNAVAILABLE = "14"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    yield from start_server(tmp_path_factory.mktemp("slow"))


# -- who takes nothing -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", [UNARY, STREAM])
def test_a_window_of_zero(server: ServerProcess, path: str) -> None:
    with (
        attack(server, SLOW),
        Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 0}) as client,
    ):
        call = client.call(path, echo_message(10), end=True)
        assert client.read_of(RST_STREAM, call).error_code() == CANCEL
        # Others of the connection go on.
        other = client.call(path, echo_message(10), end=True)
        client.send(window_update(other, 1000))
        assert client.read_of(DATA, other).payload


@pytest.mark.parametrize("path", [UNARY, STREAM])
def test_a_window_of_the_connection_that_stays_closed(server: ServerProcess, path: str) -> None:
    with (
        attack(server, SLOW, 3),
        Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 1 << 20}) as client,
    ):
        client.agree()
        calls = [client.call(path, echo_message(MANY_VALUES), end=True) for _ in range(3)]
        ends = {}
        while len(ends) < len(calls):
            got = client.read_until(lambda got: got.kind == RST_STREAM)
            ends[got.stream] = got.error_code()
        assert ends == dict.fromkeys(calls, CANCEL)


def test_windows_that_open_by_one_byte(server: ServerProcess) -> None:
    with (
        attack(server, SLOW),
        Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 0}) as client,
    ):
        client.agree()
        call = client.call(UNARY, echo_message(MANY_VALUES), end=True)
        drips = 0
        while not client.readable(0.1) or (got := client.read_frame()).kind != RST_STREAM:
            client.send(window_update(call, 1))
            drips += 1
        assert got.error_code() == CANCEL
        assert drips > 5  # one at least every stall


def test_a_stream_that_is_read_slowly_goes_on(server: ServerProcess) -> None:
    """Its client takes less than the rate, but something: the model is held back instead."""
    with (
        attack(server),
        Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 0}) as client,
    ):
        client.agree()
        call = client.call(STREAM, echo_message(10_000), end=True)
        for _ in range(8):
            client.send(window_update(call, 1))
            assert len(client.read_of(DATA, call).payload) == 1
            assert not client.readable(0.4)
        client.send(window_update(call, 1 << 20))
        assert client.read_head(call)["grpc-status"] == "0"


def test_who_does_not_read_the_socket(server: ServerProcess) -> None:
    most = (1 << 31) - 1
    before = gauge(server, SLOW)
    with attack(server, SLOW):
        reader = slow_reader(server.grpc_url)
        values = {INITIAL_WINDOW_SIZE: most}
        with Http2Connection(server.grpc_url, values, connection=reader) as client:
            client.agree()
            client.send(window_update(0, most - 65535))
            for _ in range(20):
                client.call(UNARY, echo_message(MANY_VALUES), end=True)
            poll_until("it is given up", lambda: gauge(server, SLOW) == before + 1)


# -- who sends nothing -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", [UNARY, "/inference.GRPCInferenceService/ServerLive"])
@pytest.mark.parametrize("begun", [b"", b"\0\0", struct.pack(">BI", 0, 1000) + b"abc"])
def test_a_message_that_does_not_come(server: ServerProcess, path: str, begun: bytes) -> None:
    with attack(server, SLOW), Http2Connection(server.grpc_url) as client:
        call = client.call(path, begun)
        trailers = client.read_head(call)
        assert trailers["grpc-status"] == UNAVAILABLE
        assert trailers["grpc-message"] == (
            "the client's message arrives too slowly: none of it within 1 s"
        )
        assert client.read_of(RST_STREAM, call).error_code() == NO_ERROR


@pytest.mark.parametrize("path", [UNARY, STREAM])
def test_a_message_that_drips(server: ServerProcess, path: str) -> None:
    with attack(server, SLOW), Http2Connection(server.grpc_url) as client:
        call = client.call(path, struct.pack(">BI", 0, 1_000_000))
        trailers = None
        while trailers is None:
            client.send(frame(DATA, 0, call, b"x"))
            if client.readable(0.1) and (got := client.read_frame()).kind == HEADERS:
                trailers = client.decode(got)
        assert trailers["grpc-status"] == UNAVAILABLE
        assert trailers["grpc-message"] == (
            "the client's message arrives too slowly: fewer than 1024 bytes per second"
        )


def test_a_stream_may_be_silent_between_messages(server: ServerProcess) -> None:
    with attack(server, SLOW), Http2Connection(server.grpc_url) as client:
        silent = client.call(STREAM, echo_message(1))
        client.read_of(DATA, silent)
        late = client.call(STREAM, echo_message(1)[:-1])
        assert client.read_head(late)["grpc-status"] == UNAVAILABLE
        client.send(frame(DATA, 0, silent, echo_message(1)))
        assert client.read_of(DATA, silent).payload


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.name)
def test_a_head_that_does_not_end(server: ServerProcess, port: Port) -> None:
    with attack(server, port.slow), Http2Connection(port.url(server)) as client:
        client.send(frame(HEADERS, 0, client.take_stream(), call_headers(UNARY)))
        client.read_to_end()


@pytest.mark.parametrize("begun", [PREFACE, PREFACE + b"\0\0\0"])
def test_who_does_not_begin_to_speak_on_the_http_port(server: ServerProcess, begun: bytes) -> None:
    with attack(server), Http2Connection(server.http_url, preface=False) as client:
        client.send(begun)
        assert {got.kind for got in client.read_to_end()} == {SETTINGS, WINDOW_UPDATE}


@pytest.mark.parametrize("begun", [PREFACE[:1], PREFACE[:-1]])
def test_half_a_preface_on_the_http_port(server: ServerProcess, begun: bytes) -> None:
    """It could still become a request of HTTP/1.1, and is answered as one."""
    with attack(server), Http2Connection(server.http_url, preface=False) as client:
        client.send(begun)
        assert client.socket.recv(1000).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("begun", [b"", b"P", PREFACE, PREFACE + b"\0\0\0"])
def test_who_does_not_begin_to_speak(server: ServerProcess, begun: bytes) -> None:
    with attack(server), Http2Connection(server.grpc_url, preface=False) as client:
        client.send(begun)
        assert {got.kind for got in client.read_to_end()} == {SETTINGS, WINDOW_UPDATE}


# -- who speaks another protocol -------------------------------------------------------------------


def client_hello() -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="test")
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize(
    "what",
    [
        b"POST /v2/models/echo/infer HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n{}",
        client_hello(),
        random.Random(5).randbytes(100_000),
        PREFACE + b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["http1", "tls", "garbage", "after-the-preface"],
)
def test_another_protocol(server: ServerProcess, what: bytes) -> None:
    with attack(server), Http2Connection(server.grpc_url, preface=False) as client:
        client.send_until_closed([what])
        assert {got.kind for got in client.read_to_end()} <= {SETTINGS, WINDOW_UPDATE, GOAWAY}


@pytest.mark.parametrize("port", PORTS, ids=lambda port: port.name)
@pytest.mark.parametrize("seed", range(20))
def test_random_frames(server: ServerProcess, seed: int, port: Port) -> None:
    """Frames with sizes that are right and the rest at random."""
    numbers = random.Random(seed)
    with attack(server), Http2Connection(port.url(server)) as client:
        client.call(STREAM, echo_message(1))
        client.send_until_closed(
            frame(
                numbers.randrange(12),
                numbers.randrange(256),
                numbers.choice([0, 1, 2, 3, 2**31 - 1]),
                numbers.randbytes(numbers.choice([0, 4, 5, 6, 8, 100])),
            )
            for _ in range(200)
        )
        with contextlib.suppress(OSError):  # closed already
            client.socket.shutdown(socket.SHUT_WR)
        client.read_to_end()
