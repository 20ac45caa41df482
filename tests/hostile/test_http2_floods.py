# SPDX-License-Identifier: Apache-2.0
"""HTTP/2 frames that cost the client little and the server much. The limits are those of
docs/operate/limits.md."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

import pytest

from conftest import ServerFactory
from hostile.clients import gauge
from hostile.http2 import PORTS, STREAMS, Port, attack, echo_message, start_server
from support.poll import poll_until
from support.raw_http2 import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    ENHANCE_YOUR_CALM,
    GOAWAY,
    HEADERS,
    PADDED,
    PING,
    PRIORITY,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    RST_STREAM,
    SETTINGS,
    UNARY,
    Http2Connection,
    call_headers,
    frame,
    header_block,
    reset,
    settings,
    window_update,
)
from support.repository import ModelRepository
from support.server_process import ServerProcess

MANY = 10_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    yield from start_server(tmp_path_factory.mktemp("floods"))


@pytest.fixture(params=PORTS, ids=lambda port: port.name)
def port(request: pytest.FixtureRequest) -> Port:
    return request.param


# Each gets a stream that is open, and yields the frames of the flood.
def pings(_: int) -> bytes:
    return frame(PING, payload=bytes(8))


def answers_to_no_ping(_: int) -> bytes:
    return frame(PING, ACK, payload=bytes(8))


def settings_frames(_: int) -> bytes:
    return settings()


def priorities(stream: int) -> bytes:
    return frame(PRIORITY, 0, stream, struct.pack(">IB", 0, 7))


def empty_data(stream: int) -> bytes:
    return frame(DATA, 0, stream)


def data_of_padding(stream: int) -> bytes:
    return frame(DATA, PADDED, stream, bytes([3]) + bytes(3))


@pytest.mark.parametrize(
    "flood",
    [
        pings,
        answers_to_no_ping,
        settings_frames,
        priorities,
        empty_data,
        data_of_padding,
    ],
)
def test_floods(server: ServerProcess, port: Port, flood: Callable[[int], bytes]) -> None:
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:
        stream = client.call(port.open_path)
        client.read_of(SETTINGS)
        client.send_until_closed(flood(stream) * 100 for _ in range(MANY // 100))
        client.read_to_end()


def test_who_stops_in_time_is_told_why(server: ServerProcess, port: Port) -> None:
    """More than the burst, but not so much that the server closes on bytes that are unread."""
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:
        stream = client.call(port.open_path)
        client.send(empty_data(stream) * 2100)
        told = client.read_of(GOAWAY)
        assert told.error_code() == ENHANCE_YOUR_CALM
        assert told.payload[8:] == b"too_many_control_frames"


def test_rapid_reset(server: ServerProcess, port: Port) -> None:
    head = call_headers(UNARY)
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:

        def pair() -> bytes:
            stream = client.take_stream()
            return frame(HEADERS, END_HEADERS, stream, head) + reset(stream)

        client.send_until_closed(pair() for _ in range(MANY))
        client.read_to_end()


def test_rapid_reset_of_calls_that_run(server: ServerProcess, port: Port) -> None:
    head, data = call_headers(UNARY), echo_message(1)
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:

        def call() -> bytes:
            stream = client.take_stream()
            begin = frame(HEADERS, END_HEADERS, stream, head)
            return begin + frame(DATA, 0, stream, data) + reset(stream)

        client.send_until_closed(call() for _ in range(MANY))
        client.read_to_end()


def test_who_makes_the_server_reset(server: ServerProcess, port: Port) -> None:
    """Streams that break a rule after they have begun (CVE-2025-8671)."""
    head = call_headers(UNARY)
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:

        def pair() -> bytes:
            stream = client.take_stream()
            begin = frame(HEADERS, END_HEADERS, stream, head)
            return begin + window_update(stream, 2**31 - 1)

        client.send_until_closed(pair() for _ in range(MANY))
        client.read_to_end()


def test_continuations(server: ServerProcess, port: Port) -> None:
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:
        stream = client.take_stream()
        client.send(frame(HEADERS, 0, stream, call_headers(UNARY)))
        piece = frame(CONTINUATION, 0, stream, header_block([("a", "b")])) * 100
        client.send_until_closed(piece for _ in range(MANY // 100))
        client.read_to_end()


@pytest.mark.parametrize(("count", "size"), [(300, 10), (5, 60_000), (100_000, 1)])
def test_heads_beyond_the_limit(server: ServerProcess, port: Port, count: int, size: int) -> None:
    """Too many headers, or too long ones: 431, or the connection ends if there are very many."""
    with attack(server), Http2Connection(port.url(server)) as client:
        client.agree()
        block = call_headers(UNARY, [("x", "y" * size)] * count)
        stream = client.take_stream()
        pieces = [block[at : at + 100_000] for at in range(0, len(block), 100_000)]
        frames = [frame(HEADERS, 0, stream, pieces[0])]
        frames += [frame(CONTINUATION, 0, stream, piece) for piece in pieces[1:]]
        frames.append(frame(CONTINUATION, END_HEADERS, stream))
        client.send_until_closed(frames)
        assert client.read_head(stream)[":status"] == "431"
        other = client.call(UNARY, echo_message(1), end=True)
        assert client.read_head(other)[":status"] == port.answer


@pytest.mark.parametrize("trailers", [False, True])
def test_a_header_that_names_a_long_one_again_and_again(
    server: ServerProcess, port: Port, trailers: bool
) -> None:
    """An HPACK bomb: one byte for 4,000."""
    with attack(server, port.flooding), Http2Connection(port.url(server)) as client:
        client.agree()
        stream = client.call() if trailers else client.take_stream()
        kept = b"\x40\x01x" + b"\x7f\xa1\x1e" + b"y" * 4000  # into the table, at index 62
        block = (b"" if trailers else call_headers(UNARY)) + kept + b"\xbe" * 500_000
        client.send_until_closed(
            [frame(HEADERS, END_HEADERS | (END_STREAM if trailers else 0), stream, block)]
        )
        client.read_to_end()


@pytest.mark.parametrize("told", [False, True])
def test_more_streams_than_allowed(server: ServerProcess, port: Port, told: bool) -> None:
    """Before the client can know the limit, calls beyond it are refused; afterwards they are an
    error of the connection."""
    with attack(server), Http2Connection(port.url(server)) as client:
        if told:
            client.agree()
        for _ in range(STREAMS):
            client.call(port.open_path)
        one_more = client.call(port.open_path)
        if told:
            assert client.read_of(GOAWAY).error_code() == PROTOCOL_ERROR
            client.read_to_end()
        else:
            assert client.read_of(RST_STREAM, one_more).error_code() == REFUSED_STREAM


def test_without_a_limit_of_control_frames(
    server_factory: ServerFactory, model_repository: ModelRepository, port: Port
) -> None:
    """And the library's own limit of resets is not in the way."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--http2-max-control-frames-per-sec=0")
    head = call_headers(UNARY)
    with attack(server), Http2Connection(port.url(server)) as client:
        for _ in range(MANY):
            stream = client.take_stream()
            client.send(frame(HEADERS, END_HEADERS, stream, head) + reset(stream))
        last = client.call(UNARY, echo_message(1), end=True)
        assert client.read_head(last)[":status"] == port.answer
    assert gauge(server, port.flooding) == 0


def test_more_connections_than_allowed(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--grpc-max-connections=3")
    assert gauge(server, "nereid_grpc_connections_limit") == 3
    clients = [Http2Connection(server.grpc_url) for _ in range(3)]
    try:
        for client in clients:
            client.read_of(SETTINGS)
        assert gauge(server, "nereid_grpc_connections") == 3
        with Http2Connection(server.grpc_url, preface=False) as refused:
            assert refused.read_to_end() == []
        call = clients[0].call(UNARY, echo_message(1), end=True)
        assert clients[0].read_head(call)[":status"] == "200"
    finally:
        for client in clients:
            client.close()
    poll_until("all are closed", lambda: gauge(server, "nereid_grpc_connections") == 0)
