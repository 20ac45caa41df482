# SPDX-License-Identifier: Apache-2.0
"""The access log: a line for each request over HTTP and gRPC, written by nobody who serves."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any

import grpc
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.infer import echo, echo_document
from support.metrics import metric
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import LOOPBACK
from support.streaming import (
    add_repeat,
    add_testing,
    repeat_request,
    stream_all,
    vector_request,
)

INFER = "/inference.GRPCInferenceService/ModelInfer"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "access.log"


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    return model_repository


def lines_of(file: Path, path: str) -> list[dict[str, Any]]:
    """The lines about `path`."""
    if not file.exists():
        return []
    text = file.read_text()
    complete = text[: text.rfind("\n") + 1]
    return [line for line in map(json.loads, complete.splitlines()) if line["path"] == path]


def await_lines(file: Path, path: str, count: int = 1) -> list[dict[str, Any]]:
    poll_until(f"{count} lines about {path}", lambda: len(lines_of(file, path)) >= count)
    lines = lines_of(file, path)
    assert len(lines) == count
    return lines


def test_a_line_per_http_request(
    server_factory: ServerFactory, models: ModelRepository, file: Path
) -> None:
    server = server_factory(models, f"--access-log={file}")
    answer = raw_http.post_json(server.http_url, "/v2/models/echo/infer", echo_document(id="the id"))
    (line,) = await_lines(file, "/v2/models/echo/infer")
    assert line["peer"].startswith(f"{LOOPBACK}:")
    assert line["time"].endswith("Z")
    assert 0 < line["duration_us"] < 60_000_000
    expected = {
        "protocol": "HTTP/1.1",
        "method": "POST",
        "status": "200",
        "model": "echo",
        "request_id": "the id",
        "bytes_out": len(answer.body),
    }
    assert {key: line[key] for key in expected} == expected
    assert line["bytes_in"] > 50
    # Others, and refusals.
    raw_http.get(server.http_url, "/v2")
    raw_http.get(server.http_url, "/v2/nowhere")
    raw_http.get(server.http_url, "/v2/models/echo/infer")
    echo(server.http_url, "nobody")
    assert await_lines(file, "/v2")[0]["method"] == "GET"
    assert await_lines(file, "/v2/nowhere")[0]["status"] == "404"
    assert await_lines(file, "/v2/models/echo/infer", 2)[1]["status"] == "405"
    refused = await_lines(file, "/v2/models/nobody/infer")[0]
    assert (refused["status"], refused["model"]) == ("404", "nobody")


def test_a_line_per_call(server_factory: ServerFactory, models: ModelRepository, file: Path) -> None:
    add_repeat(models)
    server = server_factory(models, f"--access-log={file}")
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        stub.ModelInfer(vector_request("echo", "FP32", [1.0, 2.0], id="mine"))
        with pytest.raises(grpc.RpcError):
            stub.ModelInfer(vector_request("nobody", "FP32", [1.0]))
        stub.ServerLive(pb.ServerLiveRequest())
    good, bad = await_lines(file, INFER, 2)
    assert (good["protocol"], good["status"], good["model"]) == ("gRPC", "OK", "echo")
    assert (good["request_id"], bad["status"]) == ("mine", "NOT_FOUND")
    assert good["bytes_in"] > 20 and good["bytes_out"] > 20
    assert good["peer"].startswith(f"{LOOPBACK}:")
    assert await_lines(file, "/inference.GRPCInferenceService/ServerLive")[0]["status"] == "OK"
    assert stream_all(server.grpc_url, repeat_request([1, 2, 3]))
    stream = await_lines(file, "/inference.GRPCInferenceService/ModelStreamInfer")[0]
    assert stream["status"] == "OK"
    assert stream["bytes_out"] > good["bytes_out"]


def test_generated_streams_have_a_line_at_their_end(
    server_factory: ServerFactory, models: ModelRepository, file: Path
) -> None:
    decoupled = "model_transaction_policy { decoupled: true }"
    add_testing(models, "three", "decoupled", decoupled, data_type="STRING", responses="3")
    server = server_factory(models, f"--access-log={file}")
    path = "/v2/models/three/generate_stream"
    answer = raw_http.post_json(server.http_url, path, {"id": "g", "INPUT0": "text"})
    assert answer.status == 200
    (line,) = await_lines(file, path)
    assert (line["status"], line["model"]) == ("200", "three")
    assert line["bytes_out"] == len(answer.body)


def test_clients_that_leave(
    server_factory: ServerFactory, models: ModelRepository, file: Path
) -> None:
    models.add_identity("slow", parameters={"execute_delay_ms": "1500"})
    server = server_factory(models, f"--access-log={file}")
    body = json.dumps(echo_document()).encode()
    with socket.create_connection((LOOPBACK, server.port("http"))) as client:
        head = f"POST /v2/models/slow/infer HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        client.sendall(head.encode() + body)
        time.sleep(0.3)
        # A client that only stops sending may still read: this one is gone.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        tensor = tritonclient.grpc.InferInput("INPUT0", [1], "FP32")
        tensor._raw_content = b"\0\0\0\0"
        call = client.async_infer("slow", [tensor], callback=lambda result, error: None)
        time.sleep(0.3)
        call.cancel()
    assert await_lines(file, "/v2/models/slow/infer")[0]["status"] == "499"
    assert await_lines(file, INFER)[0]["status"] == "CANCELLED"


def test_a_sample(server_factory: ServerFactory, models: ModelRepository, file: Path) -> None:
    server = server_factory(
        models, f"--access-log={file}", "--access-log-sample=5", wait_for=None
    )
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        for _ in range(50):
            assert client.is_server_live()
    server.stop()
    assert len(lines_of(file, "/v2/health/live")) == 10


def test_the_standard_output(server_factory: ServerFactory, models: ModelRepository) -> None:
    server = server_factory(models, "--access-log=-")
    assert echo(server.http_url).status == 200
    poll_until("a line", lambda: '"path":"/v2/models/echo/infer"' in server.stdout_text())


def test_the_file_is_opened_again(
    server_factory: ServerFactory, models: ModelRepository, file: Path
) -> None:
    server = server_factory(models, f"--access-log={file}")
    assert echo(server.http_url).status == 200
    await_lines(file, "/v2/models/echo/infer")
    file.rename(file.with_suffix(".1"))
    server.send_signal(signal.SIGHUP)
    poll_until("a new file", file.exists)
    assert echo(server.http_url).status == 200
    await_lines(file, "/v2/models/echo/infer")
    assert len(lines_of(file.with_suffix(".1"), "/v2/models/echo/infer")) == 1


def test_nobody_waits_for_a_reader_who_does_not_read(
    server_factory: ServerFactory, models: ModelRepository, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    server = server_factory(models, f"--access-log={pipe}")
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        def dropped() -> bool:
            for _ in range(1000):
                assert client.is_server_live()
            return metric(server.metrics_url, "nereid_access_log_dropped") > 0

        poll_until("lines are dropped", dropped)
    assert echo(server.http_url).status == 200
    os.close(reader)  # lets the log's thread end


def test_a_file_that_cannot_be_opened(
    server_factory: ServerFactory, models: ModelRepository
) -> None:
    server = server_factory(models, "--access-log=/nonexistent-folder/log", wait_for=None)
    assert server.wait_exit() == 1
    assert "failed to open access log '/nonexistent-folder/log'" in server.stderr_text()
