# SPDX-License-Identifier: Apache-2.0
"""Every line of the log about a request carries its id, and in JSON also its model."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from conftest import ServerFactory
from support import raw_http
from support.ensembles import add_ensemble, step_text
from support.infer import echo_document
from support.poll import poll_until
from support.raw_http import RawConnection
from support.raw_http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    STREAM,
    UNARY,
    Http2Connection,
    frame,
    header_block,
    message,
)
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.streaming import DECOUPLED, add_testing, vector_request

IMPATIENT = "--http2-stall-timeout-secs=1"


def line_about(server: ServerProcess, text: str) -> dict[str, str]:
    """The first line with `text` in its message."""

    def found() -> list[dict[str, str]]:
        lines = [line for line in server.log_text().splitlines() if line.endswith("}")]
        return [one for one in map(json.loads, lines) if text in one["message"]]

    poll_until(f"the line '{text}'", found)
    return found()[0]


def infer(server: ServerProcess, model: str, document: dict[str, object]) -> None:
    answer = raw_http.post_json(server.http_url, f"/v2/models/{model}/infer", document)
    assert answer.status == 200, answer.body


@pytest.mark.parametrize(
    ("cache", "values", "text"),
    [
        ("local,size=500", 400, "Failed to insert"),
        ("testing,behaviour=insert_fails", 1, "Failed to insert"),
        ("testing,behaviour=lookup_throws", 1, "Failed to look up"),
    ],
)
def test_a_cache_that_fails(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    cache: str,
    values: int,
    text: str,
) -> None:
    model_repository.add_identity("echo", extra="response_cache { enable: true }")
    server = server_factory(model_repository, f"--cache-config={cache}", "--log-format=json")
    infer(server, "echo", echo_document([1.0] * values, id="mine"))
    line = line_about(server, text)
    assert (line["request_id"], line["model"]) == ("mine", "echo")


def test_an_output_that_is_left_out(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    tensors = [tensor_text(f"INPUT{i}", "FP32", (-1,), "optional: true") for i in range(2)]
    outputs = [tensor_text(f"OUTPUT{i}", "FP32", (-1,)) for i in range(2)]
    model_repository.add(
        "maybe",
        f'backend: "identity"\ninput [ {", ".join(tensors)} ]\noutput [ {", ".join(outputs)} ]\n',
    )
    step = step_text("maybe", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0", "OUTPUT1": "OUTPUT1"})
    add_ensemble(model_repository, "both", tensors[:1], outputs, [step])
    server = server_factory(model_repository, "--log-format=json")
    infer(server, "both", echo_document(id="mine"))
    line = line_about(server, "has answered without output")
    assert (line["request_id"], line["model"]) == ("mine", "both")


Begin = Callable[[Http2Connection], None]


def call_grpc(client: Http2Connection) -> None:
    request = vector_request("echo", "FP32", [1.0] * 10)
    request.id = "mine"
    client.call(UNARY, message(request.SerializeToString()), end=True)


def call_rest(client: Http2Connection) -> None:
    body = json.dumps(echo_document(id="mine")).encode()
    head = header_block(
        [
            (":method", "POST"),
            (":scheme", "http"),
            (":authority", "test"),
            (":path", "/v2/models/echo/infer"),
        ]
    )
    stream = client.take_stream()
    client.send(frame(HEADERS, END_HEADERS, stream, head) + frame(DATA, END_STREAM, stream, body))


@pytest.mark.parametrize(
    ("begin", "text"),
    [
        (call_grpc, "resetting a call whose client does not read its answer"),
        (call_rest, "resetting a request whose client does not read its answer"),
    ],
)
def test_an_answer_that_is_not_read(
    server_factory: ServerFactory, model_repository: ModelRepository, begin: Begin, text: str
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(
        model_repository, IMPATIENT, "--http-header-timeout-secs=1", "--log-format=json", "--log-verbose=1"
    )
    url = server.grpc_url if begin is call_grpc else server.http_url
    with Http2Connection(url, {INITIAL_WINDOW_SIZE: 0}) as client:
        begin(client)
        line = line_about(server, text)
    assert (line["request_id"], line["model"]) == ("mine", "echo")


def post_stream(server: ServerProcess) -> RawConnection:
    """Asks for the events of `flood`, and reads none."""
    connection = RawConnection(server.http_url)
    body = json.dumps({"id": "mine", "INPUT0": [1.0] * 10_000}).encode()
    head = "POST /v2/models/flood/generate_stream HTTP/1.1\r\nHost: x\r\n"
    connection.send(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection


def open_stream(server: ServerProcess) -> Http2Connection:
    """The same over gRPC."""
    request = vector_request("flood", "FP32", [1.0] * 10_000)
    request.id = "mine"
    client = Http2Connection(server.grpc_url, {INITIAL_WINDOW_SIZE: 0})
    client.agree()
    client.call(STREAM, message(request.SerializeToString()), end=True)
    return client


@pytest.mark.parametrize("begin", [post_stream, open_stream])
def test_a_stream_that_is_not_read(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    begin: Callable[[ServerProcess], RawConnection | Http2Connection],
) -> None:
    """Its backend asks for no credit, and goes on until the stream's share of memory is full."""
    counts = {"responses": "1000", "ignores_credit": "true"}
    add_testing(model_repository, "flood", "decoupled", DECOUPLED, data_type="FP32", **counts)
    server = server_factory(
        model_repository,
        "--max-waiting-stream-bytes=100000",
        "--max-in-flight-bytes=10000000",
        "--log-format=json",
    )
    with begin(server):
        line = line_about(server, "because the client reads them too slowly")
    assert (line["request_id"], line["model"]) == ("mine", "flood")
