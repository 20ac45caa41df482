# SPDX-License-Identifier: Apache-2.0
"""A server that is taken out of service under load loses no request: clients go on, each over a new
connection, until the endpoint is withdrawn, as Kubernetes withdraws it some time after SIGTERM."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import grpc
import pytest
from tritonclient.grpc import service_pb2_grpc

from conftest import ServerFactory
from support.infer import echo
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import add_testing, vector_request

LAME_DUCK_SECONDS = 4
WITHDRAWN_AFTER = 2.0  # from the signal
CLIENTS = 3  # of each kind


class Endpoint:
    """What tells clients whether they may begin requests."""

    def __init__(self) -> None:
        self._withdrawn = threading.Event()

    def listed(self) -> bool:
        return not self._withdrawn.is_set()

    def withdraw(self) -> None:
        self._withdrawn.set()


def ask_http(server: ServerProcess) -> None:
    """Each over a connection of its own."""
    answer = echo(server.http_url, "slow")
    assert answer.status == 200, answer.body


def ask_grpc(server: ServerProcess) -> None:
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
    with grpc.insecure_channel(server.grpc_url, options=options) as channel:
        answer_over(channel)


def answer_over(channel: grpc.Channel) -> None:
    stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
    answer = stub.ModelInfer(vector_request("slow", "FP32", [1.0, 2.0]), timeout=30)
    assert answer.model_name == "slow"


class Sender(threading.Thread):
    """Sends one request after the other while the endpoint is listed."""

    def __init__(self, endpoint: Endpoint, ask: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._endpoint = endpoint
        self._ask = ask
        self.answered: list[float] = []  # when
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            while self._endpoint.listed():
                self._ask()
                self.answered.append(time.monotonic())
        except BaseException as error:  # handed to the test's thread
            self.error = error


@pytest.fixture
def slow_models(model_repository: ModelRepository) -> ModelRepository:
    # Requests are under way at every moment, also at the withdrawal.
    add_testing(
        model_repository,
        "slow",
        "slow",
        "instance_group { count: 4 }",
        data_type="FP32",
        delay_ms="30",
    )
    return model_repository


def test_no_request_is_lost(server_factory: ServerFactory, slow_models: ModelRepository) -> None:
    server = server_factory(slow_models, f"--lame-duck-secs={LAME_DUCK_SECONDS}")
    endpoint = Endpoint()
    # Connections that stay, as those of gRPC do, beside those that are new for each request.
    channels = [
        grpc.insecure_channel(server.grpc_url, options=[("grpc.use_local_subchannel_pool", 1)])
        for _ in range(CLIENTS)
    ]
    senders = [
        *(Sender(endpoint, lambda: ask_http(server)) for _ in range(CLIENTS)),
        *(Sender(endpoint, lambda: ask_grpc(server)) for _ in range(CLIENTS)),
        *(Sender(endpoint, lambda channel=channel: answer_over(channel)) for channel in channels),
    ]
    for sender in senders:
        sender.start()
    poll_until("all are served", lambda: all(len(sender.answered) > 2 for sender in senders))
    server.send_signal(signal.SIGTERM)
    signalled = time.monotonic()
    time.sleep(WITHDRAWN_AFTER)
    endpoint.withdraw()
    for sender in senders:
        sender.join(30)
    assert [sender.error for sender in senders] == [None] * len(senders)
    for sender in senders:
        assert sender.answered[-1] > signalled + WITHDRAWN_AFTER / 2, "served up to the withdrawal"
    for channel in channels:
        channel.close()
    assert server.wait_exit() == 0
    assert time.monotonic() >= signalled + LAME_DUCK_SECONDS


def test_without_a_lame_duck_requests_are_lost(
    server_factory: ServerFactory, slow_models: ModelRepository
) -> None:
    """So that the test above can fail: clients that do not know yet that the server ends are
    refused."""
    server = server_factory(slow_models)
    endpoint = Endpoint()
    senders = [Sender(endpoint, lambda: ask_http(server)) for _ in range(CLIENTS)]
    for sender in senders:
        sender.start()
    poll_until("all are served", lambda: all(len(sender.answered) > 2 for sender in senders))
    server.send_signal(signal.SIGTERM)
    for sender in senders:
        sender.join(30)
    assert all(sender.error is not None for sender in senders)
    assert server.wait_exit() == 0
