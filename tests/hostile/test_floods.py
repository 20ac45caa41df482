# SPDX-License-Identifier: Apache-2.0
"""Floods of requests and connections. NEREID_HOSTILE_REQUESTS=1000000 gives the long form."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator

import grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from hostile.clients import (
    INFER,
    allow_many_files,
    announce,
    assert_memory,
    assert_well_served,
    gauge,
    wait_until_idle,
)
from support.infer import echo_document
from support.metrics import metric
from support.poll import poll_until
from support.process_memory import MIB, resident
from support.raw_http import RawConnection
from support.repository import ModelRepository

TINY_REQUESTS = int(os.environ.get("NEREID_HOSTILE_REQUESTS", "30000"))
REQUEST_COST = 8 << 10


def tiny_request(model: str) -> service_pb2.ModelInferRequest:
    request = service_pb2.ModelInferRequest(model_name=model)
    request.inputs.add(name="INPUT0", datatype="FP32", shape=[0])
    request.raw_input_contents.append(b"")
    return request


class Streams:
    """Streams that send tiny requests as fast as the server reads them, and count the answers."""

    def __init__(self, url: str, count: int, requests: int, model: str) -> None:
        self.answers = 0
        self.refusals: set[str] = set()
        self._mutex = threading.Lock()
        self._channels = [
            grpc.insecure_channel(url, options=[("grpc.use_local_subchannel_pool", 1)])
            for _ in range(count)
        ]
        self._calls = []
        self._threads = []
        for channel in self._channels:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            call = stub.ModelStreamInfer(iter(tiny_request(model) for _ in range(requests)))
            self._calls.append(call)
            self._threads.append(threading.Thread(target=self._read, args=(call,), daemon=True))
            self._threads[-1].start()

    def _read(self, call: grpc.Call) -> None:
        with contextlib.suppress(grpc.RpcError):
            for message in call:
                with self._mutex:
                    self.answers += 1
                    if message.error_message:
                        self.refusals.add(message.error_message.split(":")[0])

    def close(self) -> None:
        for call in self._calls:
            call.cancel()
        for thread in self._threads:
            thread.join(30)
        for channel in self._channels:
            channel.close()


class Calls:
    """Unary calls with tiny requests, all at once on a separate connection."""

    def __init__(self, url: str, requests: int, model: str) -> None:
        self.refusals: set[str] = set()
        self._mutex = threading.Lock()
        self._channel = grpc.insecure_channel(url, options=[("grpc.use_local_subchannel_pool", 1)])
        stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)
        self._calls = [stub.ModelInfer.future(tiny_request(model)) for _ in range(requests)]
        for call in self._calls:
            call.add_done_callback(self._note)

    def _note(self, call: grpc.Future) -> None:
        if not call.cancelled() and call.exception() is not None:
            with self._mutex:
                self.refusals.add(call.exception().details())

    def close(self) -> None:
        for call in self._calls:
            call.cancel()
        self._channel.close()


def test_tiny_requests_of_a_stream_wait_unread(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    model_repository.add_identity("stuck", parameters={"execute_delay_ms": "3600000"})
    server = server_factory(
        model_repository, "--max-connection-requests=500", "--exit-timeout-secs=1"
    )
    assert_well_served(server)
    at_rest = resident(server)
    streams = Streams(server.grpc_url, count=4, requests=TINY_REQUESTS // 4, model="stuck")
    try:
        poll_until(
            "the streams have what they may", lambda: gauge(server, "nereid_in_flight_requests") == 2000
        )
        assert gauge(server, "nereid_in_flight_bytes") < 2000 * 2 * REQUEST_COST
        assert_well_served(server)
        assert gauge(server, "nereid_in_flight_requests") == 2000
        assert_memory(server, at_rest, 2000 * 2 * REQUEST_COST)
        assert not streams.refusals
    finally:
        streams.close()
        server.kill()


def test_calls_beyond_the_servers_limit_are_refused(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """Calls of the client with the most calls are refused; others, on HTTP and gRPC, are served."""
    model_repository.add_identity("echo")
    model_repository.add_identity("stuck", parameters={"execute_delay_ms": "3600000"})
    server = server_factory(
        model_repository, "--max-in-flight-requests=1000", "--exit-timeout-secs=1"
    )
    at_rest = resident(server)
    calls = Calls(server.grpc_url, 3000, "stuck")
    try:
        poll_until("there are refusals", lambda: calls.refusals)
        assert_well_served(server, requests=100)
        with grpc.insecure_channel(server.grpc_url, [("grpc.use_local_subchannel_pool", 1)]) as own:
            stub = service_pb2_grpc.GRPCInferenceServiceStub(own)
            for _ in range(20):
                stub.ModelInfer(tiny_request("echo"), timeout=30)
        assert gauge(server, "nereid_in_flight_requests") <= 1000
        assert all("'in-flight requests' of 1000 is exhausted" in text for text in calls.refusals)
        assert all("--max-in-flight-requests" in text for text in calls.refusals)
        assert_memory(server, at_rest, 64 * MIB)
    finally:
        calls.close()
        server.kill()


def test_a_flooded_model_leaves_the_others_alone(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    model_repository.add_identity("stuck", parameters={"execute_delay_ms": "3600000"})
    server = server_factory(model_repository, "--max-model-requests=200", "--exit-timeout-secs=1")
    calls = Calls(server.grpc_url, 1000, "stuck")
    try:
        poll_until("there are refusals", lambda: calls.refusals)
        assert_well_served(server)
        assert calls.refusals == {
            "server limit 'requests of a model' of 200 is exhausted for model 'stuck'; try again "
            "later or raise --max-model-requests"
        }
        assert gauge(server, "nereid_model_requests_limit") == 200
        assert metric(server.metrics_url, "nereid_model_requests", model="stuck") <= 200
    finally:
        calls.close()
        server.kill()


def test_pipelined_requests_are_read_as_they_are_answered(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository)
    assert_well_served(server)
    at_rest = resident(server)
    body = json.dumps(echo_document((1.0,))).encode()
    head = f"POST {INFER} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n\r\n"
    request = head.encode() + body
    count = min(TINY_REQUESTS, 30_000)
    connections = [RawConnection(server.http_url) for _ in range(8)]

    def send(connection: RawConnection) -> None:
        with contextlib.suppress(OSError):
            connection.send(request * count)

    senders = [threading.Thread(target=send, args=(one,), daemon=True) for one in connections]
    try:
        for sender in senders:
            sender.start()
        assert_well_served(server, requests=200)
        # A connection has one request at a time; one that is answered may still have to be released.
        assert gauge(server, "nereid_in_flight_requests") <= 2 * 9
        # The clients have read nothing yet; requests and answers are in the sockets.
        assert_memory(server, at_rest, 16 * MIB)
        for _ in range(200):
            assert connections[0].read_answer("POST").status == 200
    finally:
        for connection in connections:
            connection.close()
        for sender in senders:
            sender.join(30)
    wait_until_idle(server)


def many_connections(url: str, count: int) -> Iterator[RawConnection]:
    """One third idle connections, one third with half a header, one third with a header but no
    body."""
    for number in range(count):
        if number % 3 == 0:
            yield announce(url, 100)
            continue
        connection = RawConnection(url)
        connection.send(b"POST /v2/mod" if number % 3 == 1 else b"\r\n")
        yield connection


def test_many_connections(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    allow_many_files()
    model_repository.add_identity("echo")
    server = server_factory(model_repository)
    assert_well_served(server)
    at_rest = resident(server)
    count = 3000
    connections = list(many_connections(server.http_url, count))
    try:
        poll_until(
            "all are there", lambda: gauge(server, "nereid_http_connections") == count
        )
        assert_well_served(server)
        assert gauge(server, "nereid_in_flight_bytes") <= count * (100 + REQUEST_COST)
        assert_memory(server, at_rest, count * 2 * REQUEST_COST)
    finally:
        for connection in connections:
            connection.close()
    wait_until_idle(server)
