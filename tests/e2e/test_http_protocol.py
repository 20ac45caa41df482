# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 itself: connections, framing, methods, limits and disconnects."""

from __future__ import annotations

import http.client
import json

import pytest

from e2e.conftest import SLOW_MILLISECONDS
from support import raw_http
from support.infer import InBackground, assert_serving, echo_document
from support.metrics import metric
from support.poll import poll_until
from support.raw_http import RawConnection
from support.server_process import ServerProcess

INFER = "/v2/models/echo/infer"
LENGTH_HEADER = "Inference-Header-Content-Length"


def head(method: str, path: str, *lines: str) -> bytes:
    """The head of a request with a Host line."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: test", *lines, "", ""]).encode()


def infer_bytes(request_id: str, path: str = INFER) -> bytes:
    body = json.dumps(echo_document(id=request_id)).encode()
    return head("POST", path, f"Content-Length: {len(body)}") + body


def test_connection_is_kept_alive(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        for number in range(20):
            connection.send(infer_bytes(f"request {number}"))
            assert connection.read_answer().json()["id"] == f"request {number}"


def test_connection_close_is_honoured(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("GET", "/v2/health/live", "Connection: close"))
        assert connection.read_answer().status == 200
        assert connection.at_end()


def test_http_1_0_closes(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        connection.send(b"GET /v2/health/live HTTP/1.0\r\n\r\n")
        assert connection.read_answer().status == 200
        assert connection.at_end()


def test_pipelined_requests_are_answered_in_order(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        names = [f"number {number}" for number in range(10)]
        connection.send(b"".join(infer_bytes(name) for name in names))
        assert [connection.read_answer().json()["id"] for _ in names] == names


def test_pipelined_behind_a_slow_one(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        slow = infer_bytes("slow", "/v2/models/slow/infer")
        connection.send(slow + infer_bytes("fast"))
        assert connection.read_answer().json()["id"] == "slow"
        assert connection.read_answer().json()["id"] == "fast"


def test_errors_keep_the_connection(identity_server: ServerProcess) -> None:
    bad = b"{"
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("GET", "/nowhere"))
        assert connection.read_answer().status == 404
        connection.send(head("POST", INFER, f"Content-Length: {len(bad)}") + bad)
        assert connection.read_answer().status == 400
        connection.send(infer_bytes("after"))
        assert connection.read_answer().json()["id"] == "after"


def test_request_in_single_bytes(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        for byte in infer_bytes("bytes"):
            connection.send(bytes([byte]))
        assert connection.read_answer().json()["id"] == "bytes"


def chunked(body: bytes, size: int, trailer: bytes = b"") -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    framed = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return framed + b"0\r\n" + trailer + b"\r\n"


@pytest.mark.parametrize("size", [1, 7, 4096])
def test_chunked_json(identity_server: ServerProcess, size: int) -> None:
    body = json.dumps(echo_document([0.5] * 50, id="chunks")).encode()
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("POST", INFER, "Transfer-Encoding: chunked") + chunked(body, size))
        answer = connection.read_answer().json()
        assert answer["id"] == "chunks"
        assert answer["outputs"][0]["data"] == [0.5] * 50
        connection.send(infer_bytes("after"))
        assert connection.read_answer().json()["id"] == "after"


def test_chunked_with_extension_and_trailer(identity_server: ServerProcess) -> None:
    body = json.dumps(echo_document(id="trailer")).encode()
    framed = b"%x;name=value\r\n%s\r\n0\r\nX-Trailer: 1\r\n\r\n" % (len(body), body)
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("POST", INFER, "Transfer-Encoding: chunked") + framed)
        assert connection.read_answer().json()["id"] == "trailer"
        connection.send(infer_bytes("after"))
        assert connection.read_answer().json()["id"] == "after"


def test_chunked_binary(identity_server: ServerProcess) -> None:
    tensor = bytes(range(256)) * 4
    document = {
        "inputs": [
            {
                "name": "INPUT0",
                "shape": [len(tensor)],
                "datatype": "UINT8",
                "parameters": {"binary_data_size": len(tensor)},
            }
        ],
        "parameters": {"binary_data_output": True},
    }
    start = json.dumps(document).encode()
    lines = ("Transfer-Encoding: chunked", f"{LENGTH_HEADER}: {len(start)}")
    with RawConnection(identity_server.http_url) as connection:
        connection.send(
            head("POST", "/v2/models/bytes/infer", *lines) + chunked(start + tensor, 100)
        )
        answer = connection.read_answer()
        assert answer.status == 200, answer.body
        assert answer.body[int(answer.header(LENGTH_HEADER) or 0) :] == tensor


@pytest.mark.parametrize(
    "path", ["/v2", "/v2/health/live", "/v2/models/echo", "/v2/models/echo/config", "/nowhere"]
)
def test_head_is_get_without_body(identity_server: ServerProcess, path: str) -> None:
    get = raw_http.get(identity_server.http_url, path)
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("HEAD", path))
        answer = connection.read_answer("HEAD")
        assert answer.status == get.status
        assert answer.body == b""
        assert answer.header("Content-Length") == str(len(get.body))
        assert answer.header("Content-Type") == get.header("Content-Type")
        connection.send(head("GET", "/v2/health/live"))
        assert connection.read_answer().status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v2"),
        ("POST", "/v2/health/live"),
        ("DELETE", "/v2/models/echo"),
        ("GET", INFER),
        ("PUT", INFER),
        ("GET", "/v2/repository/index"),
        ("PATCH", "/v2/models/echo/stats"),
    ],
)
def test_wrong_method(identity_server: ServerProcess, method: str, path: str) -> None:
    body = None if method == "GET" else b"{}"
    answer = raw_http.request(identity_server.http_url, method, path, body)
    assert answer.status == 405
    assert answer.error() == "Method Not Allowed"


@pytest.mark.parametrize(
    ("path", "pointer"),
    [
        ("/metrics", "metrics port"),
        ("/metrics/", "metrics port"),
        ("/v2/models", "POST /v2/repository/index"),
        ("/v2/models/", "POST /v2/repository/index"),
        ("/v2/", "slash"),
        ("/v2/models/echo/", "slash"),
        ("//", "slash"),
    ],
)
def test_a_wrong_path_with_a_pointer(
    identity_server: ServerProcess, path: str, pointer: str
) -> None:
    answer = raw_http.get(identity_server.http_url, path)
    assert answer.status == 404
    assert answer.error().startswith("Not Found: ")
    assert pointer in answer.error()


@pytest.mark.parametrize("path", ["/v3", "/v3/", "/metric", "/%00"])
def test_unknown_route(identity_server: ServerProcess, path: str) -> None:
    answer = raw_http.get(identity_server.http_url, path)
    assert answer.status == 404
    assert answer.error() == "Not Found"


def test_the_path_of_a_target_in_absolute_form(identity_server: ServerProcess) -> None:
    for target, status in (
        (b"http://h/v2/health/live", 200),
        (b"http://h?x=/v2/health/live", 200),  # the front page
        (b"h?x=http://h/v2/health/live", 404),
    ):
        with RawConnection(identity_server.http_url) as connection:
            connection.send(b"GET " + target + b" HTTP/1.1\r\nHost: h\r\n\r\n")
            answer = connection.read_answer()
            assert answer.status == status, target
            assert (answer.body == b'{"live":true}') == (target == b"http://h/v2/health/live")


def test_metrics_port(identity_server: ServerProcess) -> None:
    url = identity_server.metrics_url
    answer = raw_http.get(url, "/metrics")
    assert answer.status == 200
    assert answer.header("Content-Type") == "text/plain; charset=utf-8"
    assert b"# TYPE nv_inference_request_success counter" in answer.body
    assert raw_http.get(url, "/metrics/").status == 200
    elsewhere = raw_http.get(url, "/elsewhere")
    assert (elsewhere.status, elsewhere.body) == (200, b"")
    assert raw_http.post(url, "/metrics").status == 405


def test_expect_continue(identity_server: ServerProcess) -> None:
    body = json.dumps(echo_document(id="patient")).encode()
    lines = (f"Content-Length: {len(body)}", "Expect: 100-continue")
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("POST", INFER, *lines))
        interim = connection.socket.recv(1024)
        assert interim.startswith(b"HTTP/1.1 100 ")
        connection.send(body)
        assert connection.read_answer().json()["id"] == "patient"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET /v2 HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"GET  /v2 HTTP/1.1\r\nHost: a\r\n\r\n",
        head("POST", INFER, "Content-Length: twelve"),
        head("POST", INFER, "Content-Length: -1"),
        head("POST", INFER, "Content-Length: 2", "Content-Length: 3") + b"{}",
        head("POST", INFER, "Transfer-Encoding: chunked") + b"zz\r\n",
        head("POST", INFER, "Content-Length: 2", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        b"GET /v2 HTTP/1.1\r\nbad header line\r\n\r\n",
        b"GET /v2 HTTP/1.1\r\n\r\n",
        b"GET /v2 HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /v2 HTTP/1.1\nHost: a\n\n",
    ],
)
def test_broken_framing_is_refused_and_closed(
    identity_server: ServerProcess, request_bytes: bytes
) -> None:
    with RawConnection(identity_server.http_url) as connection:
        connection.send(request_bytes)
        answer = connection.read_answer()
        assert 400 <= answer.status <= 505
        assert answer.error()
        assert connection.at_end()
    assert_serving(identity_server.http_url)


def test_unknown_transfer_encoding(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("POST", INFER, "Transfer-Encoding: gzip"))
        answer = connection.read_answer()
        assert answer.status in (400, 501)
        assert "Unsupported HTTP header" in answer.error()


def test_too_many_chunks(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        connection.send(head("POST", INFER, "Transfer-Encoding: chunked"))
        try:
            connection.send(b"1\r\n \r\n" * 70_000)
        except ConnectionError:
            pass  # the server need not read to the end
        answer = connection.read_answer()
        assert answer.status == 400
        assert answer.error() == (
            "Chunked request body exceeds maximum of 65536 non-empty chunks. "
            "Send fewer or larger HTTP chunks."
        )


def test_huge_header_is_refused(identity_server: ServerProcess) -> None:
    with RawConnection(identity_server.http_url) as connection:
        try:
            connection.send(head("GET", "/v2", "X-Padding: " + "x" * 1_000_000))
        except ConnectionError:
            pass  # the server need not read to the end
        assert connection.read_answer().status == 431
        assert connection.at_end()
    assert_serving(identity_server.http_url)


def test_client_that_sends_half_a_body_and_leaves(identity_server: ServerProcess) -> None:
    for _ in range(20):
        with RawConnection(identity_server.http_url) as connection:
            connection.send(head("POST", INFER, "Content-Length: 1000") + b'{"inputs":[')
    assert_serving(identity_server.http_url)


def test_disconnect_while_the_request_waits_is_noticed(identity_server: ServerProcess) -> None:
    """A request that waits for two others must not be executed if its client disconnects."""
    url, metrics = identity_server.http_url, identity_server.metrics_url

    def of_slow(name: str, **labels: str) -> float:
        return metric(metrics, name, model="slow", **labels)

    def wait_for_waiting(count: int) -> None:
        poll_until(
            f"{count} requests waiting",
            lambda: of_slow("nv_inference_pending_request_count") == count,
            SLOW_MILLISECONDS / 1000,
        )

    executions = of_slow("nv_inference_exec_count")
    cancelled = of_slow("nv_inference_request_failure", reason="CANCELED")
    # One of the two runs as soon as the other one waits. A request sent now is behind both.
    others = [InBackground(url, "slow"), InBackground(url, "slow")]
    wait_for_waiting(1)
    with RawConnection(url) as connection:
        connection.send(infer_bytes("leaving", "/v2/models/slow/infer"))
        wait_for_waiting(2)
    assert [other.answer().status for other in others] == [200, 200]
    poll_until(
        "the cancelled request counted",
        lambda: of_slow("nv_inference_request_failure", reason="CANCELED") == cancelled + 1,
    )
    assert of_slow("nv_inference_exec_count") == executions + 2


def test_many_connections_at_once(identity_server: ServerProcess) -> None:
    connections = [RawConnection(identity_server.http_url) for _ in range(200)]
    try:
        for number, connection in enumerate(connections):
            connection.send(infer_bytes(f"client {number}"))
        for number, connection in enumerate(connections):
            assert connection.read_answer().json()["id"] == f"client {number}"
    finally:
        for connection in connections:
            connection.close()


def test_official_style_client_reuses_its_connection(identity_server: ServerProcess) -> None:
    host, port = raw_http.split_url(identity_server.http_url)
    connection = http.client.HTTPConnection(host, port, timeout=30)
    try:
        connection.request("GET", "/v2")
        connection.getresponse().read()
        used = connection.sock
        connection.request("GET", "/v2/models/echo")
        assert connection.getresponse().status == 200
        assert connection.sock is used
    finally:
        connection.close()
