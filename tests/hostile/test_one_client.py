# SPDX-License-Identifier: Apache-2.0
"""A connection is one client to the byte limit, whatever it holds on however many streams: what it
leaves is enough for somebody who needs more than each of its streams has."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from hostile.clients import gauge, wait_until_idle
from support import raw_http
from support.nereid import start_nereid
from support.process_memory import MIB
from support.raw_http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    INITIAL_WINDOW_SIZE,
    RST_STREAM,
    Http2Connection,
    frame,
    header_block,
    message,
)
from support.repository import ModelRepository
from support.server_process import ServerProcess

pytestmark = pytest.mark.thorough

LIMIT = 64 * MIB
FRAME = 16_384
PIECE = 16 * FRAME  # what each stream sends: less than its window
STREAMS = 400  # together more than the limit
SMALLEST = LIMIT * 11 // 16  # what a client gets while nobody else holds anything
NEWCOMER = 3 * MIB  # of floats, which take as much again in the answer
GRPC = "/inference.GRPCInferenceService/"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("one")
    models = ModelRepository(folder / "models")
    models.add_identity("echo")
    models.add_identity(
        "slow", parameters={"execute_delay_ms": "3000", "nereid.inline_execution": "false"}
    )
    server = start_nereid(models.root, folder / "log", [f"--max-in-flight-bytes={LIMIT}"])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def floats(model: str) -> bytes:
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="INPUT0", datatype="FP32", shape=[PIECE // 4])
    request.raw_input_contents.append(bytes(PIECE))
    return message(request.SerializeToString())


def data(stream: int, body: bytes, end: bool) -> bytes:
    pieces = [body[i : i + FRAME] for i in range(0, len(body), FRAME)]
    return b"".join(
        frame(DATA, END_STREAM if end and i == len(pieces) - 1 else 0, stream, piece)
        for i, piece in enumerate(pieces)
    )


def call(client: Http2Connection, method: str, body: bytes, end: bool) -> int:
    stream = client.call(GRPC + method)
    client.send(data(stream, body, end))
    return stream


def post(
    client: Http2Connection, model: str, body: bytes, end: bool, headers: dict[str, str]
) -> int:
    stream = client.take_stream()
    block = header_block(
        [
            (":method", "POST"),
            (":scheme", "http"),
            (":path", f"/v2/models/{model}/infer"),
            (":authority", "test"),
            *headers.items(),
        ]
    )
    client.send(frame(HEADERS, END_HEADERS, stream, block) + data(stream, body, end))
    return stream


def binary() -> tuple[bytes, dict[str, str]]:
    document = {
        "inputs": [
            {
                "name": "INPUT0",
                "datatype": "FP32",
                "shape": [PIECE // 4],
                "parameters": {"binary_data_size": PIECE},
            }
        ],
        "parameters": {"binary_data_output": True},
    }
    head = json.dumps(document).encode()
    return head + bytes(PIECE), {"inference-header-content-length": str(len(head))}


Holding = Callable[[Http2Connection], int]


@dataclass(frozen=True)
class Case:
    """A way for a stream to hold about PIECE bytes, or twice as many."""

    name: str
    port: str
    hold: Holding
    window: int = 65_535


# A message of 1 MiB of which PIECE bytes come.
UNFINISHED = (b"\x00" + (1 << 20).to_bytes(4, "big")).ljust(PIECE, b"\x00")


def rest_body(end: bool, model: str) -> Holding:
    body, headers = binary()
    return lambda client: post(client, model, body, end, headers)


CASES = [
    Case("message", "grpc", lambda c: call(c, "ModelInfer", UNFINISHED, end=False)),
    Case("stream", "grpc", lambda c: call(c, "ModelStreamInfer", UNFINISHED, end=False)),
    Case("admin", "grpc", lambda c: call(c, "RepositoryModelLoad", UNFINISHED, end=False)),
    Case("body", "http", rest_body(end=False, model="echo")),
    Case("body-on-grpc-port", "grpc", rest_body(end=False, model="echo")),
    Case(
        "sized-body",
        "http",
        lambda c: post(c, "echo", bytes(PIECE), False, {"content-length": str(1 << 20)}),
    ),
    Case("waits", "grpc", lambda c: call(c, "ModelInfer", floats("slow"), end=True)),
    Case("stream-waits", "grpc", lambda c: call(c, "ModelStreamInfer", floats("slow"), end=False)),
    Case("rest-waits", "http", rest_body(end=True, model="slow")),
    Case("answer", "grpc", lambda c: call(c, "ModelInfer", floats("echo"), end=True), window=0),
    Case(
        "stream-answer",
        "grpc",
        lambda c: call(c, "ModelStreamInfer", floats("echo"), end=False),
        window=0,
    ),
    Case("rest-answer", "http", rest_body(end=True, model="echo"), window=0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_a_connection_leaves(server: ServerProcess, case: Case) -> None:
    wait_until_idle(server)
    url = server.grpc_url if case.port == "grpc" else server.http_url
    with Http2Connection(url, {INITIAL_WINDOW_SIZE: case.window}) as client:
        client.agree()
        ended = 0
        for _ in range(STREAMS):
            case.hold(client)
            while client.readable(0):
                got = client.read_frame()
                assert got is not None, "the connection ends"
                if got.kind == HEADERS:
                    client.decode(got)
                ended += got.kind == RST_STREAM or bool(
                    got.kind in (HEADERS, DATA) and got.flags & END_STREAM
                )
            if ended >= 20:
                break
        assert ended >= 20, "the limit refuses some"
        assert gauge(server, "nereid_in_flight_bytes") >= SMALLEST
        values = np.arange(NEWCOMER // 4, dtype=np.float32)
        document = {
            "inputs": [
                {
                    "name": "INPUT0",
                    "datatype": "FP32",
                    "shape": [len(values)],
                    "parameters": {"binary_data_size": values.nbytes},
                }
            ],
            "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}],
        }
        answer = raw_http.binary_infer(server.http_url, "echo", document, values.tobytes())
        assert answer.status == 200, answer.error()
        assert answer.body.endswith(values.tobytes())
