# SPDX-License-Identifier: Apache-2.0
"""Requests to load and unload models while one model's load hangs: who waits for what."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import grpc
import pytest
import tritonclient.grpc as grpc_client
from tritonclient.grpc import service_pb2, service_pb2_grpc

from conftest import ServerFactory
from support import raw_http, raw_http2
from support.metrics import metric
from support.model_control import EXPLICIT, index
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "python" / "libtriton_python.so").exists(),
    reason="the Python backend is not staged",
)

# Notes that it is initialised, and waits while there is a file `hang`.
MODEL = """
import time
from pathlib import Path


class TritonPythonModel:
    def initialize(self, args):
        notes = Path(args["model_repository"]).parent.parent / "notes"
        with open(notes / "loads", "a") as loads:
            loads.write("x")
        while (notes / "hang").exists():
            time.sleep(0.01)

    def execute(self, requests):
        raise NotImplementedError
"""
TENSORS = """
input { name: "X" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "Y" data_type: TYPE_INT32 dims: [ 1 ] }
instance_group { kind: KIND_CPU count: 1 }
"""
# Other than what is loaded, so that each of these loads is carried out, unless it is dropped.
OTHER_CONFIG = json.dumps(
    {
        "backend": "python",
        "max_batch_size": 0,
        "input": [{"name": "X", "data_type": "TYPE_INT32", "dims": [2]}],
        "output": [{"name": "Y", "data_type": "TYPE_INT32", "dims": [2]}],
        "instance_group": [{"kind": "KIND_CPU", "count": 1}],
    }
)
LOAD_OTHER = json.dumps({"parameters": {"config": OTHER_CONFIG}}).encode()
HANGS_LOAD = "/v2/repository/models/hangs/load"


class HangingModel:
    def __init__(self, models: ModelRepository, name: str = "hangs") -> None:
        folder = models.add(name, f'backend: "python" max_batch_size: 0 {TENSORS}')
        (folder / "1" / "model.py").write_text(MODEL)
        # Outside of the repository: they are no changes of the model.
        self.notes = models.root.parent / "notes"
        self.notes.mkdir()
        (self.notes / "hang").touch()

    def __enter__(self) -> HangingModel:
        return self

    def __exit__(self, *_: object) -> None:
        self.let_go()  # also if the test fails: its clients wait

    def let_go(self) -> None:
        (self.notes / "hang").unlink(missing_ok=True)

    def loads(self) -> int:
        loads = self.notes / "loads"
        return len(loads.read_text()) if loads.exists() else 0

    def await_loads(self, count: int) -> None:
        poll_until("loads that have begun", lambda: self.loads() >= count)


@pytest.fixture
def hangs(model_repository: ModelRepository) -> HangingModel:
    model_repository.add_identity("echo")
    return HangingModel(model_repository)


def threads(server: ServerProcess) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def change(server: ServerProcess, name: str, what: str, body: bytes = b"{}") -> raw_http.HttpAnswer:
    return raw_http.post(server.http_url, f"/v2/repository/models/{name}/{what}", body)


def leave_http1(server: ServerProcess, count: int) -> None:
    for _ in range(count):
        with socket.create_connection(raw_http.split_url(server.http_url)) as client:
            length = f"Content-Length: {len(LOAD_OTHER)}"
            head = f"POST {HANGS_LOAD} HTTP/1.1\r\nHost: x\r\n{length}\r\n\r\n"
            client.sendall(head.encode() + LOAD_OTHER)


def leave_http2(server: ServerProcess, count: int) -> None:
    with raw_http2.Http2Connection(server.http_url) as client:
        client.agree()
        for _ in range(count):
            stream = client.take_stream()
            head = [(":method", "POST"), (":scheme", "http"), (":path", HANGS_LOAD)]
            client.send(
                raw_http2.frame(
                    raw_http2.HEADERS,
                    raw_http2.END_HEADERS,
                    stream,
                    raw_http2.header_block([*head, (":authority", "test")]),
                )
                + raw_http2.frame(raw_http2.DATA, raw_http2.END_STREAM, stream, LOAD_OTHER)
            )
            client.send(raw_http2.reset(stream))


def leave_grpc(server: ServerProcess, count: int) -> None:
    request = service_pb2.RepositoryModelLoadRequest(model_name="hangs")
    request.parameters["config"].string_param = OTHER_CONFIG
    with grpc.insecure_channel(server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        calls = [stub.RepositoryModelLoad.future(request) for _ in range(count)]
        for call in calls:
            call.cancel()


@pytest.mark.parametrize("leave", [leave_http1, leave_http2, leave_grpc])
def test_clients_that_leave_a_load_that_hangs_hold_up_nobody(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    hangs: HangingModel,
    leave: Callable[[ServerProcess, int], None],
) -> None:
    server = server_factory(model_repository, EXPLICIT, INTERPRETER)
    change(server, "echo", "load")
    with ThreadPoolExecutor(1) as pool, hangs:
        first = pool.submit(change, server, "hangs", "load")
        hangs.await_loads(1)
        before = threads(server)
        leave(server, 300)
        for name in ("unload", "load"):
            # On a slow machine the 300 may still wait to be looked at; whoever comes then is told so.
            poll_until(
                f"the {name} to be done", lambda name=name: change(server, "echo", name).status == 200
            )
        # Those of the administration, of connections that come and go, and of ends.
        assert threads(server) < before + 40
        assert index(server)["hangs", "1"][0] == "LOADING"
        assert index(server)["echo", "1"] == ("READY", "")
        poll_until(
            "all to have left",
            lambda: metric(server.metrics_url, "nereid_http_connections") <= 3
            and metric(server.metrics_url, "nereid_grpc_connections") == 0,
        )
        hangs.let_go()
        assert first.result().status == 200
    assert index(server)["hangs", "1"] == ("READY", "")
    assert change(server, "hangs", "unload").status == 200
    assert hangs.loads() == 1, "those of clients that left were dropped"
    assert change(server, "hangs", "load").status == 200
    assert hangs.loads() == 2
    assert index(server)["hangs", "1"] == ("READY", "")


def wait_for_end(futures: list[Future[raw_http.HttpAnswer]]) -> list[int]:
    return [future.result().status for future in futures]


def test_clients_that_stay_share_one_load(
    server_factory: ServerFactory, model_repository: ModelRepository, hangs: HangingModel
) -> None:
    server = server_factory(model_repository, EXPLICIT, INTERPRETER)
    with ThreadPoolExecutor(61) as pool, hangs:
        first = pool.submit(change, server, "hangs", "load")
        hangs.await_loads(1)
        before = threads(server)
        stay = [pool.submit(change, server, "hangs", "load", LOAD_OTHER) for _ in range(60)]
        poll_until(
            "all to wait", lambda: metric(server.metrics_url, "nereid_http_connections") >= 61
        )
        assert change(server, "echo", "load").status == 200
        assert change(server, "echo", "unload").status == 200
        assert threads(server) < before + 40
        hangs.let_go()
        assert first.result().status == 200
        assert wait_for_end(stay) == [200] * 60
    assert hangs.loads() == 2
    config = raw_http.get(server.http_url, "/v2/models/hangs/config").json()
    assert config["input"][0]["dims"] == [2]


def test_a_load_and_an_unload_of_one_model_keep_their_order(
    server_factory: ServerFactory, model_repository: ModelRepository, hangs: HangingModel
) -> None:
    server = server_factory(model_repository, EXPLICIT, INTERPRETER)
    with (
        ThreadPoolExecutor(2) as pool,
        grpc_client.InferenceServerClient(server.grpc_url) as client,
        hangs,
    ):
        first = pool.submit(change, server, "hangs", "load")
        hangs.await_loads(1)
        unload = pool.submit(client.unload_model, "hangs")
        assert not unload.done()
        hangs.let_go()
        assert first.result().status == 200
        unload.result()
    poll_until("unloaded", lambda: index(server)["hangs", "1"] == ("UNAVAILABLE", "unloaded"))


def test_the_limit_for_a_model_names_it(
    server_factory: ServerFactory, model_repository: ModelRepository, hangs: HangingModel
) -> None:
    server = server_factory(model_repository, EXPLICIT, INTERPRETER)
    request = service_pb2.RepositoryModelLoadRequest(model_name="hangs")
    with grpc.insecure_channel(server.grpc_url) as channel, hangs:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        calls = [stub.RepositoryModelLoad.future(request)]
        hangs.await_loads(1)
        # Administration requests are bounded, too, until their bodies are read.
        while len(calls) < 1101:
            calls += [stub.RepositoryModelLoad.future(request) for _ in range(50)]
            change(server, "echo", "load")
        poll_until("refusals", lambda: sum(call.done() for call in calls) >= len(calls) - 1001)
        refused = [call for call in calls if call.done()]
        assert len(refused) == len(calls) - 1001
        assert refused[-1].code() == grpc.StatusCode.UNAVAILABLE
        assert refused[-1].details() == (
            "more than 1000 requests to load or unload model 'hangs' wait: try again later"
        )
        assert change(server, "echo", "unload").status == 200
        hangs.let_go()
        for call in calls:
            if call not in refused:
                call.result()
