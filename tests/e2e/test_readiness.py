# SPDX-License-Identifier: Apache-2.0
"""Probes are answered from known states: a backend whose check hangs does not delay them."""

from __future__ import annotations

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

HANGS_MILLISECONDS = 24 * 3600 * 1000
# As few threads as possible, so that a wait on any of them would block everything.
FEW_THREADS = ("--http-thread-count=1", "--grpc-infer-thread-count=2", "--exit-timeout-secs=2")


def add(repository: ModelRepository, name: str, **parameters: str) -> None:
    repository.add_identity(
        name, "INT32", (1,), max_batch_size=4, parameters=parameters, backend="testing"
    )


@pytest.fixture
def server(server_factory: ServerFactory, model_repository: ModelRepository) -> ServerProcess:
    """The model `hangs` answers its first check, at its load, and hangs in the second one."""
    add(model_repository, "echo")
    add(
        model_repository,
        "hangs",
        behaviour="ready_hangs",
        times="1",
        delay_ms=str(HANGS_MILLISECONDS),
    )
    return server_factory(model_repository, *FEW_THREADS)


def status(server: ServerProcess, path: str) -> int:
    return raw_http.request(server.http_url, "GET", path, timeout=20).status


def assert_echo(server: ServerProcess, model: str) -> None:
    tensor = {"name": "INPUT0", "datatype": "INT32", "shape": [1, 1], "data": [7]}
    answer = raw_http.post_json(
        server.http_url, f"/v2/models/{model}/infer", raw_http.infer_document([tensor])
    )
    assert answer.status == 200
    assert answer.json()["outputs"][0]["data"] == [7]


def end_by_force(server: ServerProcess) -> None:
    """Ends the server by its time-out, because a model whose check hangs cannot be finalised."""
    server.process.terminate()
    server.wait_exit(30)


def test_a_check_that_hangs_holds_up_nobody(server: ServerProcess) -> None:
    def hung() -> bool:
        # Probes and inference requests share these threads.
        assert status(server, "/v2/health/live") == 200
        assert status(server, "/v2/models/echo/ready") == 200
        assert_echo(server, "echo")
        return status(server, "/v2/models/hangs/ready") == 503

    assert status(server, "/v2/models/hangs/ready") == 200, "the answer of its load"
    poll_until("the model whose check hangs is not ready", hung)
    assert status(server, "/v2/health/ready") == 503
    answer = raw_http.get(server.http_url, "/v2/models/hangs/ready")
    assert answer.error() == "Model version not ready"
    assert_echo(server, "hangs")
    server.wait_for_log("has not answered TRITONBACKEND_ModelInstanceReady for 5 s")
    end_by_force(server)


def test_the_same_over_grpc(server: ServerProcess) -> None:
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)

        def ready(model: str) -> bool:
            request = service_pb2.ModelReadyRequest(name=model)
            return stub.ModelReady(request, timeout=20).ready

        def hung() -> bool:
            assert ready("echo")
            return not ready("hangs")

        poll_until("the model whose check hangs is not ready", hung)
        assert not stub.ServerReady(service_pb2.ServerReadyRequest(), timeout=20).ready
        assert stub.ServerLive(service_pb2.ServerLiveRequest(), timeout=20).live
        assert stub.ModelConfig(service_pb2.ModelConfigRequest(name="hangs"), timeout=20)
    end_by_force(server)


def test_a_first_check_that_hangs(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    """The model is loaded nevertheless, but is not ready."""
    add(model_repository, "echo")
    add(
        model_repository,
        "hangs",
        behaviour="ready_hangs",
        times="0",
        delay_ms=str(HANGS_MILLISECONDS),
    )
    server = server_factory(model_repository, *FEW_THREADS, wait_for="/v2/models/echo/ready")
    assert status(server, "/v2/models/hangs/ready") == 503
    assert status(server, "/v2/health/ready") == 503
    assert_echo(server, "hangs")
    end_by_force(server)


@pytest.mark.parametrize(
    ("binary", "options", "empty"),
    [
        ("nereid", (), False),
        ("nereid", ("--http-health-body=empty",), True),
        ("tritonserver", (), True),
        ("tritonserver", ("--http-health-body=json",), False),
    ],
)
def test_health_bodies(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    binary: str,
    options: tuple[str, ...],
    empty: bool,
) -> None:
    """Scripts written for Triton compare what `curl -s -w %{http_code}` prints with 200."""
    add(model_repository, "echo")
    server = server_factory(
        model_repository, *options, "--model-control-mode=explicit", "--load-model=*", binary=binary
    )
    for path, text in [
        ("/v2/health/live", b'{"live":true}'),
        ("/v2/health/ready", b'{"ready":true}'),
        ("/v2/models/echo/ready", b'{"name":"echo","ready":true}'),
        ("/v2/models/echo/versions/1/ready", b'{"name":"echo","ready":true}'),
    ]:
        answer = raw_http.get(server.http_url, path)
        assert (answer.status, answer.body) == (200, b"" if empty else text)
    # What is not known has a text in any case.
    answer = raw_http.get(server.http_url, "/v2/models/nobody/ready")
    assert answer.status == 404
    assert answer.error() == "Request for unknown model: 'nobody' is not found"
