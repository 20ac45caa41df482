# SPDX-License-Identifier: Apache-2.0
"""REST over HTTP/2, on the HTTP port and on the gRPC port: the same requests, answers and errors as
over HTTP/1.1."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from conftest import ServerFactory
from support import raw_http
from support.certificates import make_certificate
from support.infer import InBackground, echo_document
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.raw_http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    NO_ERROR,
    PROTOCOL_ERROR,
    RST_STREAM,
    UNARY,
    Frame,
    Http2Connection,
    frame,
    header_block,
    reset,
)
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import CANCELLED_LINE, add_repeat

INFER = "/v2/models/echo/infer"
SLOW_MILLISECONDS = 1500
LARGE_VALUES = 3_000_000
LAME_DUCK = "--lame-duck-secs=2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("http2")
    models = ModelRepository(folder / "models")
    models.add_identity("echo")
    models.add_identity("slow", parameters={"execute_delay_ms": str(SLOW_MILLISECONDS)})
    add_repeat(models)
    server = start_nereid(models.root, folder / "log", ["--http-max-body-size=20000000"])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture(params=["http", "grpc"])
def url(request: pytest.FixtureRequest, server: ServerProcess) -> Iterator[str]:
    """Each port. Checks afterwards that nothing is left in flight."""
    yield server.http_url if request.param == "http" else server.grpc_url
    poll_until(
        "all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0
    )


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    """Speaks HTTP/2 with prior knowledge."""
    plain = {"Accept-Encoding": "identity"}
    with httpx.Client(
        base_url=f"http://{url}", http1=False, http2=True, timeout=30, headers=plain
    ) as client:
        yield client


def request_headers(
    method: str, path: str, more: list[tuple[str, str]] | None = None
) -> bytes:
    head = [(":method", method), (":scheme", "http"), (":path", path), (":authority", "test")]
    return header_block([*head, *(more or [])])


def begin(
    client: Http2Connection,
    path: str,
    body: bytes,
    end: bool = True,
    more: list[tuple[str, str]] | None = None,
) -> int:
    """Sends a POST; returns its stream."""
    stream = client.take_stream()
    client.send(
        frame(HEADERS, END_HEADERS, stream, request_headers("POST", path, more))
        + frame(DATA, END_STREAM if end else 0, stream, body)
    )
    return stream


def infer_body(values: list[float]) -> bytes:
    return json.dumps(echo_document(values)).encode()


# -- requests and answers --------------------------------------------------------------------------


def test_all_kinds_of_requests(client: httpx.Client) -> None:
    ready = client.get("/v2/health/ready")
    assert (ready.status_code, ready.http_version) == (200, "HTTP/2")
    assert client.get("/v2").json()["name"] == "nereid"
    assert client.head("/v2").headers["content-length"] == str(len(client.get("/v2").content))
    answer = client.post(INFER, json=echo_document([1.5, 2.5]))
    assert answer.json()["outputs"][0]["data"] == [1.5, 2.5]
    assert client.post("/v2/repository/index").status_code == 200


@pytest.mark.parametrize("known", [True, False])
def test_binary_tensors(client: httpx.Client, known: bool) -> None:
    """In one piece of known length, and in pieces whose number nobody knows."""
    values = np.arange(LARGE_VALUES, dtype=np.float32)
    tensor = {"name": "INPUT0", "shape": [LARGE_VALUES], "datatype": "FP32"}
    document = {
        "inputs": [{**tensor, "parameters": {"binary_data_size": values.nbytes}}],
        "parameters": {"binary_data_output": True},
    }
    head = json.dumps(document).encode()
    body = head + values.tobytes()
    pieces = (body[at : at + 50_000] for at in range(0, len(body), 50_000))
    answer = client.post(
        INFER,
        content=body if known else pieces,
        headers={"Inference-Header-Content-Length": str(len(head))},
    )
    assert answer.status_code == 200, answer.content
    begin_of_tensor = int(answer.headers["inference-header-content-length"])
    assert (np.frombuffer(answer.content[begin_of_tensor:], np.float32) == values).all()


def test_compression(client: httpx.Client) -> None:
    values = [0.5] * 10_000
    answer = client.post(
        INFER,
        content=gzip.compress(infer_body(values)),
        headers={"Content-Encoding": "gzip", "Accept-Encoding": "gzip"},
    )
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.json()["outputs"][0]["data"] == values


def test_events_arrive_as_they_are_made(client: httpx.Client) -> None:
    document = {"IN": [3, 4, 5], "DELAY": [0, 0, 0], "WAIT": 0}
    with client.stream("POST", "/v2/models/repeat/generate_stream", json=document) as answer:
        assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert "content-length" not in answer.headers
        events = [line for line in answer.iter_lines() if line]
    assert [json.loads(event.removeprefix("data: "))["OUT"] for event in events] == [3, 4, 5]


def test_many_requests_at_a_time(url: str) -> None:
    async def run() -> list[list[float]]:
        async with httpx.AsyncClient(base_url=f"http://{url}", http1=False, http2=True) as client:
            posts = (client.post(INFER, json=echo_document([float(i)])) for i in range(200))
            answers = await asyncio.gather(*posts)
        return [answer.json()["outputs"][0]["data"] for answer in answers]

    assert asyncio.run(run()) == [[float(i)] for i in range(200)]


def test_curl(url: str) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("needs the program curl")
    done = subprocess.run(
        [curl, "-s", "--http2-prior-knowledge", "-w", "%{http_version} %{http_code}"]
        + ["-d", json.dumps(echo_document([2.0])), f"http://{url}{INFER}"],
        check=True,
        capture_output=True,
        timeout=30,
    )
    assert done.stdout.endswith(b"2 200")
    assert b'"data":[2.0]' in done.stdout


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "headers"),
    [
        ("GET", "/nothing", b"", {}),
        ("POST", "/v2/models/nobody/infer", b"{}", {}),
        ("PUT", INFER, b"{}", {}),
        ("POST", INFER, b"{", {}),
        ("POST", INFER, b"", {}),
        ("POST", INFER, b"{}", {"Inference-Header-Content-Length": "3"}),
        ("POST", INFER, b"{}", {"Content-Encoding": "br"}),
        ("POST", INFER, b"{}", {"Content-Encoding": "gzip"}),
        ("POST", INFER, b"{}", {"Expect": "wonders"}),
        ("POST", "/v2/trace/setting", b"{", {}),
    ],
)
def test_the_same_errors_as_http1(
    client: httpx.Client,
    server: ServerProcess,
    method: str,
    path: str,
    body: bytes,
    headers: dict[str, str],
) -> None:
    before = raw_http.request(server.http_url, method, path, body, list(headers.items()))
    answer = client.request(method, path, content=body, headers=headers)
    assert answer.status_code == before.status >= 400
    assert answer.content == before.body
    for name in ("content-type", "allow", "accept-encoding"):
        assert answer.headers.get(name) == before.header(name)
    assert client.get("/v2/health/live").status_code == 200


@pytest.mark.parametrize(
    "header",
    [("connection", "close"), ("transfer-encoding", "chunked"), ("upgrade", "h2c")],
)
def test_headers_of_http1(url: str, header: tuple[str, str]) -> None:
    with Http2Connection(url) as client:
        stream = begin(client, INFER, b"{}", more=[header])
        assert client.read_of(RST_STREAM, stream).error_code() == PROTOCOL_ERROR
        other = begin(client, INFER, infer_body([1.0]))
        assert client.read_head(other)[":status"] == "200"


def test_a_body_that_is_too_long_is_refused_before_it_is_sent(url: str) -> None:
    with Http2Connection(url) as client:
        stream = begin(client, INFER, b"{", end=False, more=[("content-length", "20000001")])
        assert client.read_head(stream)[":status"] == "413"
        refusal = json.loads(client.read_of(DATA, stream).payload)
        assert refusal["error"] == (
            "request body of 20000001 bytes exceeds the maximum of 20000000 bytes. "
            "Use --http-max-body-size to increase the limit."
        )
        assert client.read_of(RST_STREAM, stream).error_code() == NO_ERROR


def test_a_body_that_differs_from_its_length(url: str) -> None:
    with Http2Connection(url) as client:
        stream = begin(client, INFER, b"{}", more=[("content-length", "3")])
        assert client.read_of(RST_STREAM, stream).error_code() == PROTOCOL_ERROR


# -- cancellation ----------------------------------------------------------------------------------


def test_a_reset_cancels(server: ServerProcess, url: str) -> None:
    """The first request runs, so that the second one waits."""

    def cancelled() -> float:
        return metric(
            server.metrics_url, "nv_inference_request_failure", model="slow", reason="CANCELED"
        )

    before = cancelled()
    running = InBackground(server.http_url, "slow")
    poll_until(
        "it runs", lambda: metric(server.metrics_url, "nereid_in_flight_requests") == 1
    )
    with Http2Connection(url) as client:
        stream = begin(client, "/v2/models/slow/infer", infer_body([1.0]))
        poll_until(
            "it waits", lambda: metric(server.metrics_url, "nereid_in_flight_requests") == 2
        )
        client.send(reset(stream))
        poll_until("it is cancelled", lambda: cancelled() == before + 1)
    assert running.answer().status == 200


def test_the_end_of_a_connection_cancels_a_stream(server: ServerProcess, url: str) -> None:
    document = {"IN": list(range(1000)), "DELAY": [20] * 1000, "WAIT": 0}
    seen = server.log_text().count(CANCELLED_LINE)
    with Http2Connection(url) as client:
        path = "/v2/models/repeat/generate_stream"
        stream = begin(client, path, json.dumps(document).encode())
        assert client.read_head(stream)[":status"] == "200"
        assert client.read_of(DATA, stream).payload.startswith(b"data: ")
    poll_until(
        "it is cancelled", lambda: server.log_text().count(CANCELLED_LINE) == seen + 1
    )


# -- connections -----------------------------------------------------------------------------------


def become_lame_duck(server: ServerProcess) -> None:
    server.send_signal(signal.SIGTERM)
    poll_until(
        "it is not ready",
        lambda: raw_http.get(server.http_url, "/v2/health/ready").status == 503,
    )


@pytest.mark.parametrize("port", ["http", "grpc"])
def test_shutdown(
    server_factory: ServerFactory, model_repository: ModelRepository, port: str
) -> None:
    """Clients are told at once; what they have begun is finished."""
    model_repository.add_identity("slow", parameters={"execute_delay_ms": str(SLOW_MILLISECONDS)})
    server = server_factory(model_repository)
    url = server.http_url if port == "http" else server.grpc_url
    with Http2Connection(url) as client:
        client.agree()
        stream = begin(client, "/v2/models/slow/infer", infer_body([7.0]))
        poll_until(
            "it runs", lambda: metric(server.metrics_url, "nereid_in_flight_requests") == 1
        )
        server.process.send_signal(signal.SIGTERM)
        assert client.read_of(GOAWAY).error_code() == NO_ERROR
        assert client.read_head(stream)[":status"] == "200"
        assert b'"data":[7.0]' in client.read_of(DATA, stream).payload
        client.read_to_end()
    assert server.wait_exit() == 0


@pytest.mark.parametrize("port", ["http", "grpc"])
def test_a_lame_duck_serves_the_connections_it_has(
    server_factory: ServerFactory, model_repository: ModelRepository, port: str
) -> None:
    """Clients are told to leave only when its time is over."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository, LAME_DUCK)
    url = server.http_url if port == "http" else server.grpc_url

    def is_head(got: Frame) -> bool:
        assert got.kind != GOAWAY, "the client is told to leave, although it is served"
        return got.kind == HEADERS

    with Http2Connection(url) as client:
        client.agree()
        become_lame_duck(server)
        ready = client.take_stream()
        asked = request_headers("GET", "/v2/health/ready")
        client.send(frame(HEADERS, END_HEADERS | END_STREAM, ready, asked))
        head = client.read_until(is_head)
        assert (head.stream, client.decode(head)[":status"]) == (ready, "503")
        stream = begin(client, INFER, infer_body([7.0]))
        head = client.read_until(is_head)
        assert (head.stream, client.decode(head)[":status"]) == (stream, "200")
        assert b'"data":[7.0]' in client.read_of(DATA, stream).payload
        assert client.read_of(GOAWAY).error_code() == NO_ERROR
        client.read_to_end()
    assert server.wait_exit() == 0


def test_a_lame_duck_loses_no_request_of_http1(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """One request after the other on one connection, until the server refuses or closes it."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository, LAME_DUCK)
    body = infer_body([7.0])
    post = f"POST {INFER} HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    served = 0
    with raw_http.RawConnection(server.http_url) as connection:
        become_lame_duck(server)
        while True:
            try:
                connection.send(post + body)
                answer = connection.read_answer("POST")
            except ConnectionError:
                break
            if answer.status == 503:
                assert answer.error().startswith("Server is stopping")
                break
            assert answer.json()["outputs"][0]["data"] == [7.0]
            served += 1
            if (answer.header("Connection") or "").lower() == "close":
                break
    assert served > 0
    assert server.wait_exit() == 0


def test_an_idle_connection_ends(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--http-idle-timeout-secs=1")
    with Http2Connection(server.http_url) as client:
        client.agree()
        assert client.read_of(GOAWAY).error_code() == NO_ERROR
        client.read_to_end()


def test_requests_beyond_the_limit(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """The limit is announced, and a client that does not know it yet is told to try again."""
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--max-connection-requests=3")
    for url in (server.http_url, server.grpc_url):
        with Http2Connection(url) as client:
            for _ in range(3):
                begin(client, INFER, b"{", end=False)
            refused = begin(client, INFER, b"{", end=False)
            assert client.read_of(RST_STREAM, refused).error_code() == 7


def test_the_metrics_port_speaks_http1_only(server: ServerProcess) -> None:
    with Http2Connection(server.metrics_url) as client:
        received = client.socket.recv(1 << 16)
    assert received.startswith(b"HTTP/1.1 505 ")


# -- the gRPC port ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [UNARY, "/grpc.health.v1.Health/Check"])
def test_paths_of_grpc_stay_grpc(server: ServerProcess, path: str) -> None:
    with httpx.Client(http1=False, http2=True) as client:
        url = f"http://{server.grpc_url}{path}"
        wrong = client.post(url, content=b"{}", headers={"content-type": "application/json"})
        assert wrong.status_code == 415
        assert wrong.text == "This port speaks gRPC: 'content-type' must be application/grpc.\n"
        assert client.get(url).status_code == 405


def test_without_http_there_is_no_rest(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--allow-http=false", wait_for=None)
    with httpx.Client(http1=False, http2=True) as client:
        url = f"http://{server.grpc_url}"
        answer = client.post(url + INFER, json=echo_document())
        assert answer.status_code == 415
        assert "REST is not served on this port: HTTP is off (--allow-http=false" in answer.text
        assert client.get(url + "/v2/health/live").status_code == 405


@pytest.mark.parametrize("narrowed", ["address", "tls", "client certificates"])
def test_rest_on_the_grpc_port_is_no_way_around_http(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path, narrowed: str
) -> None:
    model_repository.add_identity("echo")
    certificate, key = make_certificate(tmp_path)
    tls = [f"--http-server-cert={certificate}", f"--http-server-key={key}"]
    options = {
        "address": ["--grpc-address=0.0.0.0"],
        "tls": ["--http-use-ssl=true", *tls],
        "client certificates": [
            "--http-use-ssl-mutual=true",
            f"--http-root-cert={certificate}",
            *tls,
        ],
    }[narrowed]
    server = server_factory(model_repository, *options, wait_for=None)
    poll_until("the server is ready", lambda: "Started Metrics Service" in server.log_text(), 30)
    with httpx.Client(http1=False, http2=True) as client:
        url = f"http://127.0.0.1:{server.port('grpc')}"
        for path in (INFER, "/v2/logging", "/v2/repository/index"):
            answer = client.post(url + path, json={})
            assert answer.status_code == 415
            assert "REST is not served on this port: " in answer.text
        assert client.get(url + "/v2/health/live").status_code == 405
    server.wait_for_log("The gRPC port answers no REST: ")


def test_grpc_and_rest_on_one_connection(server: ServerProcess) -> None:
    with Http2Connection(server.grpc_url) as client:
        rest = begin(client, INFER, infer_body([1.0]))
        live = "/inference.GRPCInferenceService/ServerLive"
        call = client.call(live, struct.pack(">BI", 0, 0), end=True)
        heads: dict[int, dict[str, str]] = {}
        while len(heads) < 2:
            got = client.read_until(lambda got: got.kind == HEADERS)
            heads.setdefault(got.stream, client.decode(got))
        assert heads[rest]["content-type"] == "application/json"
        assert heads[call]["content-type"] == "application/grpc"


def test_answers_are_gathered(client: httpx.Client) -> None:
    """Answers of different sizes, some of which are copied and some referred to."""
    for count in (1, 100, 1000, 1100, 5000, 100_000):
        document: dict[str, Any] = echo_document([0.5] * count)
        document["outputs"] = [{"name": "OUTPUT0", "parameters": {"binary_data": True}}]
        answer = client.post(INFER, json=document)
        begin_of_tensor = int(answer.headers["inference-header-content-length"])
        assert answer.content[begin_of_tensor:] == np.full(count, 0.5, np.float32).tobytes()
