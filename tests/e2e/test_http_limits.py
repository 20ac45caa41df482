# SPDX-License-Identifier: Apache-2.0
"""Limits of the HTTP frontend that options set."""

from __future__ import annotations

import gzip
import json

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving, echo_document
from support.metrics import metric
from support.raw_http import RawConnection
from support.repository import ModelRepository

INFER = "/v2/models/echo/infer"
LIMIT = 4096


@pytest.fixture
def echo_repository(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    return model_repository


def test_max_input_size(server_factory: ServerFactory, echo_repository: ModelRepository) -> None:
    server = server_factory(echo_repository, f"--http-max-input-size={LIMIT}")
    url = server.http_url
    json_body = json.dumps(echo_document([0.5] * 2000)).encode()
    answer = raw_http.post(url, INFER, json_body)
    assert answer.status == 400
    assert answer.error() == (
        f"request JSON size of {len(json_body)} bytes exceeds the maximum allowed input size of "
        f"{LIMIT} bytes. Use --http-max-input-size to increase the limit."
    )
    raw = raw_http.post(url, INFER, bytes(8192), [("Inference-Header-Content-Length", "0")])
    assert raw.status == 400
    assert raw.error().endswith(
        f"(8192 bytes) that exceeds the maximum allowed value of {LIMIT} bytes. "
        "Use --http-max-input-size to increase the limit."
    )
    assert_serving(url)


def test_decompressed_size(server_factory: ServerFactory, echo_repository: ModelRepository) -> None:
    url = server_factory(echo_repository, f"--http-max-input-size={LIMIT}").http_url
    bomb = gzip.compress(b" " * 10_000_000)
    answer = raw_http.post(url, INFER, bomb, [("Content-Encoding", "gzip")])
    assert answer.status == 400
    assert answer.error() == (
        f"Decompressed data size exceeds the maximum allowed value of {LIMIT} bytes. "
        "Use --http-max-input-size to increase the limit."
    )
    assert_serving(url)


def test_binary_tensors_are_not_limited_by_it(
    server_factory: ServerFactory, echo_repository: ModelRepository
) -> None:
    url = server_factory(echo_repository, f"--http-max-input-size={LIMIT}").http_url
    tensor = {"name": "INPUT0", "shape": [5000], "datatype": "FP32"}
    document = {"inputs": [{**tensor, "parameters": {"binary_data_size": 20_000}}]}
    assert raw_http.binary_infer(url, "echo", document, bytes(20_000)).status == 200


@pytest.mark.parametrize("value", ["0", "-1"])
def test_max_input_size_must_be_positive(
    server_factory: ServerFactory, echo_repository: ModelRepository, value: str
) -> None:
    server = server_factory(echo_repository, f"--http-max-input-size={value}", wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("Error: --http-max-input-size must be greater than 0.")


def test_body_beyond_the_limit_is_refused_before_it_is_read(
    server_factory: ServerFactory, echo_repository: ModelRepository
) -> None:
    url = server_factory(echo_repository, f"--http-max-body-size={LIMIT}").http_url
    with RawConnection(url) as connection:
        connection.send(
            f"POST {INFER} HTTP/1.1\r\nHost: test\r\nContent-Length: {LIMIT + 1}\r\n\r\n".encode()
        )
        answer = connection.read_answer()
        assert answer.status == 413
        assert "--http-max-body-size" in answer.error()
    assert_serving(url)


def test_chunked_body_beyond_the_limit(
    server_factory: ServerFactory, echo_repository: ModelRepository
) -> None:
    url = server_factory(echo_repository, f"--http-max-body-size={LIMIT}").http_url
    with RawConnection(url) as connection:
        connection.send(
            f"POST {INFER} HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        connection.send(b"1001\r\n" + b" " * LIMIT)
        assert connection.read_answer().status == 413
    assert_serving(url)


PIECE = bytes(64 << 20)


@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_of_more_than_2_gib(
    server_factory: ServerFactory, model_repository: ModelRepository, chunked: bool
) -> None:
    """No length on the way has 32 bits: the core counts what has arrived."""
    model_repository.add_identity("bytes", "UINT8")
    url = server_factory(model_repository, "--max-in-flight-bytes=8000000000").http_url
    size = 2**31 + len(PIECE)
    tensor = {"name": "INPUT0", "shape": [size + 1], "datatype": "UINT8"}
    document = {"inputs": [{**tensor, "parameters": {"binary_data_size": size}}]}
    head = json.dumps(document).encode()
    length = f"Content-Length: {len(head) + size}"
    if chunked:
        length = "Transfer-Encoding: chunked"

    def framed(data: bytes) -> list[bytes]:
        return [b"%x\r\n" % len(data), data, b"\r\n"] if chunked else [data]

    with RawConnection(url, timeout=120) as connection:
        connection.send(
            f"POST /v2/models/bytes/infer HTTP/1.1\r\nHost: test\r\n{length}\r\n"
            f"Inference-Header-Content-Length: {len(head)}\r\n\r\n".encode()
        )
        for data in [head, *[PIECE] * (size // len(PIECE))]:
            for part in framed(data):
                connection.send(part)
        connection.send(b"0\r\n\r\n" if chunked else b"")
        answer = connection.read_answer("POST")
    assert answer.status == 400
    assert f"Expected {size + 1}, got {size}" in answer.error()


@pytest.mark.parametrize(
    ("length", "status", "text"),
    [
        (2**33, 413, "that one request may take of the server limit 'in-flight bytes'"),
        (
            2**63,
            400,
            "Unable to parse Content-Length, value is out of range "
            f"[ 0, 9223372036854775807 ], got: {2**63}",
        ),
    ],
)
def test_lengths_that_cannot_be(
    server_factory: ServerFactory,
    echo_repository: ModelRepository,
    length: int,
    status: int,
    text: str,
) -> None:
    url = server_factory(echo_repository, "--max-in-flight-bytes=4294967296").http_url
    with RawConnection(url) as connection:
        connection.send(
            f"POST {INFER} HTTP/1.1\r\nHost: test\r\nContent-Length: {length}\r\n\r\n".encode()
        )
        answer = connection.read_answer()
    assert answer.status == status
    assert text in answer.error()


def test_connection_limit(server_factory: ServerFactory, echo_repository: ModelRepository) -> None:
    """A connection beyond the limit gets an error and is closed; the others continue."""
    url = server_factory(echo_repository, "--http-max-connections=3", wait_for=None).http_url
    get = b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n"
    connections = [RawConnection(url) for _ in range(3)]
    try:
        for connection in connections:
            connection.send(get)
            assert connection.read_answer().status == 200
        with RawConnection(url) as refused:
            assert refused.read_answer().status == 503
            assert refused.at_end()
        for connection in connections:
            connection.send(get)
            assert connection.read_answer().status == 200
    finally:
        for connection in connections:
            connection.close()


def test_bytes_in_flight_follow_from_the_memory_limit(
    server_factory: ServerFactory, echo_repository: ModelRepository
) -> None:
    env = {"NEREID_MEMORY_LIMIT": str(1 << 30)}
    server = server_factory(echo_repository, env=env)
    assert metric(server.metrics_url, "nereid_in_flight_bytes_limit") == 416 << 20
    server.wait_for_log("at most 416 MiB of requests and responses in flight")
    server = server_factory(echo_repository, "--max-in-flight-bytes=5000000", env=env)
    assert metric(server.metrics_url, "nereid_in_flight_bytes_limit") == 5000000
    assert "in flight" not in server.log_text()
    wrong = server_factory(echo_repository, env={"NEREID_MEMORY_LIMIT": "1Gi"}, wait_for=None)
    assert wrong.wait_exit() == 1
    wrong.wait_for_log("NEREID_MEMORY_LIMIT")
