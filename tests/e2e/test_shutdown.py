# SPDX-License-Identifier: Apache-2.0
"""The end of a server: requests in flight are finished, then the process ends with exit code 0."""

from __future__ import annotations

import signal
import time

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.infer import InBackground, assert_serving
from support.metrics import metric
from support.poll import poll_until
from support.raw_http import RawConnection
from support.raw_http2 import DATA, END_HEADERS, HEADERS, Http2Connection, frame, header_block
from support.repository import ModelRepository
from support.server_process import ServerProcess

DELAY_MILLISECONDS = 1500
STOPPING = "Server is stopping, scheduler for model has stopped accepting new inference requests"


@pytest.fixture
def slow_repository(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo")
    model_repository.add_identity("slow", parameters={"execute_delay_ms": str(DELAY_MILLISECONDS)})
    return model_repository


def two_in_flight(server: ServerProcess) -> list[InBackground]:
    """Sends one request that runs, and one that waits for the same instance."""
    requests = [InBackground(server.http_url, "slow"), InBackground(server.http_url, "slow")]
    wait_for_requests(server, 2)
    return requests


def wait_for_requests(server: ServerProcess, count: int) -> None:
    """Until the model has so many. The requests in its queue do not tell: the first is there, too,
    for a moment, when the second may not have arrived."""
    poll_until(
        f"{count} requests",
        lambda: metric(server.metrics_url, "nereid_model_requests", model="slow") == count,
        DELAY_MILLISECONDS / 1000,
    )


def one_value(model: str) -> service_pb2.ModelInferRequest:
    tensor = service_pb2.ModelInferRequest.InferInputTensor(
        name="INPUT0", datatype="FP32", shape=[1]
    )
    tensor.contents.fp32_contents.append(4.5)
    return service_pb2.ModelInferRequest(model_name=model, inputs=[tensor])


def wait_until_draining(server: ServerProcess) -> None:
    text = "Waiting for in-flight requests to complete."
    poll_until("the server drains", lambda: text in server.log_text(), DELAY_MILLISECONDS / 1000)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_lets_requests_finish(
    server_factory: ServerFactory, slow_repository: ModelRepository, number: signal.Signals
) -> None:
    server = server_factory(slow_repository)
    requests = two_in_flight(server)
    server.send_signal(number)
    for request in requests:
        answer = request.answer()
        assert answer.status == 200, answer.body
        assert answer.json()["outputs"][0]["data"] == [1.0, 2.0]
    assert server.wait_exit() == 0
    server.wait_for_log("Waiting for in-flight requests to complete.")


def test_grpc_requests_finish(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    server = server_factory(slow_repository)
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        calls = [stub.ModelInfer.future(one_value("slow"), timeout=30) for _ in range(2)]
        wait_for_requests(server, 2)
        server.send_signal(signal.SIGTERM)
        for call in calls:
            assert call.result().outputs[0].name == "OUTPUT0"
    assert server.wait_exit() == 0


@pytest.mark.parametrize("protocol", ["HTTP/1.1", "HTTP/2", "gRPC"])
def test_half_a_request_gets_an_answer(
    server_factory: ServerFactory, slow_repository: ModelRepository, protocol: str
) -> None:
    """Not an empty end, when the time to stop is over."""
    server = server_factory(slow_repository, "--exit-timeout-secs=1")
    if protocol == "HTTP/1.1":
        with RawConnection(server.http_url) as client:
            client.send(b"POST /v2/models/echo/infer HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n")
            client.send(b'\r\n{"inputs"')
            raw_http.get(server.http_url, "/v2/health/live")
            server.send_signal(signal.SIGTERM)
            answer = client.read_answer("POST")
            assert (answer.status, answer.header("connection")) == (503, "close")
            assert "the server is shutting down" in answer.error()
            assert client.at_end()
    else:
        url = server.http_url if protocol == "HTTP/2" else server.grpc_url
        with Http2Connection(url) as client:
            if protocol == "HTTP/2":
                stream = client.take_stream()
                head = [(":method", "POST"), (":scheme", "http"), (":authority", "h")]
                block = header_block([*head, (":path", "/v2/models/echo/infer")])
                client.send(
                    frame(HEADERS, END_HEADERS, stream, block) + frame(DATA, 0, stream, b"{")
                )
            else:
                stream = client.call(data=b"\0\0\0\0\x20half")
            raw_http.get(server.http_url, "/v2/health/live")
            server.send_signal(signal.SIGTERM)
            answered = client.read_head(stream)
        if protocol == "HTTP/2":
            assert answered[":status"] == "503"
        else:
            assert answered["grpc-status"] == "14"
            assert "the server is shutting down" in answered["grpc-message"]
    assert server.wait_exit() == 0


def test_not_ready_from_the_signal_on(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    """Over each protocol, the server is not ready once it serves only requests in flight."""
    server = server_factory(slow_repository)
    requests = two_in_flight(server)
    server.send_signal(signal.SIGTERM)
    wait_until_draining(server)
    ready = raw_http.get(server.http_url, "/v2/health/ready")
    assert (ready.status, ready.error()) == (503, "Server exiting")
    refused = InBackground(server.http_url, "echo").answer()
    assert refused.status == 503
    assert refused.json()["error"] == STOPPING
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        with pytest.raises(grpc.RpcError) as error:
            stub.ServerReady(service_pb2.ServerReadyRequest(), timeout=10)
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE
        assert error.value.details() == "Server exiting"
        with pytest.raises(grpc.RpcError) as error:
            stub.ModelInfer(one_value("echo"), timeout=10)
        assert error.value.code() == grpc.StatusCode.UNAVAILABLE
        assert error.value.details() == STOPPING
        health = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=10)
        assert health == b"\x08\x02", "NOT_SERVING"
    assert not all(request.is_done() for request in requests), "it was to be while draining"
    assert [request.answer().status for request in requests] == [200, 200]
    assert server.wait_exit() == 0
    server.wait_for_log("Model 'slow' (version 1) has ")


def test_a_lame_duck_is_not_ready_and_serves(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    server = server_factory(slow_repository, "--lame-duck-secs=3")
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        assert stub.ServerReady(service_pb2.ServerReadyRequest(), timeout=10).ready
        server.send_signal(signal.SIGTERM)
        poll_until("it is heard", lambda: "not ready from now on" in server.log_text())
        ready = raw_http.get(server.http_url, "/v2/health/ready")
        assert (ready.status, ready.error()) == (503, "Server not ready")
        assert raw_http.get(server.http_url, "/v2/models/echo/ready").status == 503
        assert raw_http.get(server.http_url, "/v2/health/live").status == 200
        assert not stub.ServerReady(service_pb2.ServerReadyRequest(), timeout=10).ready
        health = channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=10)
        assert health == b"\x08\x02", "NOT_SERVING"
        # Over an old connection and over a new one.
        assert stub.ModelInfer(one_value("echo"), timeout=10).model_name == "echo"
        assert InBackground(server.http_url, "echo").answer().status == 200
        assert "Waiting for in-flight requests" not in server.log_text()
    assert server.wait_exit() == 0


def test_a_second_sigterm_changes_nothing(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    server = server_factory(slow_repository)
    requests = two_in_flight(server)
    server.send_signal(signal.SIGINT)
    wait_until_draining(server)
    server.send_signal(signal.SIGTERM)
    again = "second signal received: already stopping"
    poll_until("it is heard", lambda: again in server.log_text())
    assert [request.answer().status for request in requests] == [200, 200]
    assert server.wait_exit() == 0


def test_a_second_sigint_ends_at_once(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    server = server_factory(slow_repository)
    requests = two_in_flight(server)
    server.send_signal(signal.SIGTERM)
    wait_until_draining(server)
    server.send_signal(signal.SIGINT)
    assert server.wait_exit() == 128 + signal.SIGINT
    for request in requests:
        with pytest.raises(OSError):
            request.answer()


def test_no_new_connections_while_draining(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    server = server_factory(slow_repository)
    url = server.http_url
    requests = two_in_flight(server)
    server.send_signal(signal.SIGTERM)

    def refuses() -> bool:
        try:
            return raw_http.get(url, "/v2/health/ready").status != 200
        except OSError:
            return True

    poll_until("not ready any more", refuses, DELAY_MILLISECONDS / 1000)
    assert not all(request.is_done() for request in requests), "it was to be while draining"
    assert [request.answer().status for request in requests] == [200, 200]
    assert server.wait_exit() == 0


def test_idle_connections_do_not_delay_the_end(
    server_factory: ServerFactory, slow_repository: ModelRepository
) -> None:
    server = server_factory(slow_repository, "--exit-timeout-secs=30")
    with RawConnection(server.http_url) as used, RawConnection(server.http_url):
        used.send(b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n")
        assert used.read_answer().status == 200
        with grpc.insecure_channel(server.grpc_url) as channel:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            assert stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=10).live
            started = time.monotonic()
            server.stop()
            assert time.monotonic() - started < 10


def test_time_out_bounds_the_end(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """A request that takes longer than the time-out does not prevent the server's end."""
    model_repository.add_identity("slow", parameters={"execute_delay_ms": "4000"})
    server = server_factory(model_repository, "--exit-timeout-secs=1")
    with RawConnection(server.http_url) as connection:
        connection.send(b"POST /v2/models/slow/infer HTTP/1.1\r\nHost: test\r\n")
        waiting = [InBackground(server.http_url, "slow") for _ in range(4)]
        wait_for_requests(server, 4)
        server.send_signal(signal.SIGTERM)
        # The running execution may finish; the three waiting requests may not run.
        server.wait_exit(12)
        del waiting


def test_serves_until_then(server_factory: ServerFactory, slow_repository: ModelRepository) -> None:
    server = server_factory(slow_repository)
    assert_serving(server.http_url)
    server.stop()
    with pytest.raises(OSError):
        raw_http.get(server.http_url, "/v2/health/live")
