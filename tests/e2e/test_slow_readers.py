# SPDX-License-Identifier: Apache-2.0
"""Clients that do not read their streams: nobody else waits for them, what waits for them is
bounded, and when they read on, they get everything.

The clients that stall read nothing before the others have their answers: one that had to wait for
them would wait until its own time-out."""

from __future__ import annotations

import json
import queue
import re
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from conftest import ServerFactory
from support import raw_http
from support.ensembles import add_ensemble, step_text
from support.metrics import metric
from support.nereid import INTERPRETER, start_nereid
from support.poll import poll_until
from support.raw_http import RawConnection
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.streaming import DECOUPLED, add_raw, add_repeat, add_testing, repeat_request

pytestmark = pytest.mark.thorough

LIMIT = 2_000_000
# What waits beyond the limit: what senders had under way, and the windows of the transports.
MOST_WAITING = 16_000_000
RESPONSES = 200
LARGE = 65_536  # INT32 elements of each response, if there are many

# How models for audio or language do it: a thread for each request.
THREADS = """
import threading

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            n = int(pb_utils.get_input_tensor_by_name(request, "N").as_numpy()[0])
            sender = request.get_response_sender()
            threading.Thread(target=self.answer, args=(sender, n), daemon=True).start()

    def answer(self, sender, n):
        for i in range(n):
            if sender.is_cancelled():
                break
            values = np.full(65536 if n > 10 else 1, i, np.int32)
            sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("B", values)]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""

COROUTINES = """
import asyncio

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    async def execute(self, requests):
        await asyncio.gather(*(self.answer(request) for request in requests))

    async def answer(self, request):
        n = int(pb_utils.get_input_tensor_by_name(request, "N").as_numpy()[0])
        sender = request.get_response_sender()
        for i in range(n):
            if sender.is_cancelled():
                break
            values = np.full(65536 if n > 10 else 1, i, np.int32)
            await sender.async_send(pb_utils.InferenceResponse([pb_utils.Tensor("B", values)]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""

# Not decoupled: the second step of the ensemble.
BLOW = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            a = int(pb_utils.get_input_tensor_by_name(request, "A").as_numpy()[0])
            values = np.full(65536 if a >= 0 else 1, a, np.int32)
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor("B", values)]))
        return answers
"""

# The Python that runs the tests has numpy.
OPTIONS = (
    INTERPRETER,
    f"--max-waiting-stream-bytes={LIMIT}",
    "--model-control-mode=explicit",
    "--load-model=*",
)


# A client's library takes ahead what its windows hold. It would enlarge them as it measures the
# connection, on a slow machine to more than some streams are long.
CHANNEL = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.http2.bdp_probe", 0),
    ("grpc.http2.lookahead_bytes", 65_536),
]


def instances(count: int) -> str:
    return f"instance_group [ {{ kind: KIND_CPU count: {count} }} ]\n"


def add_python(
    repository: ModelRepository, name: str, source: str, takes: str, count: int, extra: str
) -> None:
    folder = repository.add(
        name,
        'backend: "python"\nmax_batch_size: 0\n'
        f"input [ {tensor_text(takes, 'INT32', (1,))} ]\n"
        f"output [ {tensor_text('B', 'INT32', (-1,))} ]\n{instances(count)}{extra}",
    )
    (folder / "1" / "model.py").write_text(source)


def add_models(repository: ModelRepository, count: int = 1) -> None:
    """`count`: instances of each model."""
    add_python(repository, "threads", THREADS, "N", count, DECOUPLED)
    add_python(repository, "coroutines", COROUTINES, "N", count, DECOUPLED)
    add_python(repository, "blow", BLOW, "A", count, "")
    add_repeat(repository, extra=DECOUPLED + instances(count))
    add_ensemble(
        repository,
        "chain",
        [
            tensor_text("IN", "INT32", (-1,)),
            tensor_text("DELAY", "UINT32", (-1,)),
            tensor_text("WAIT", "UINT32", (1,)),
        ],
        [tensor_text("B", "INT32", (-1,))],
        [
            step_text("repeat", {"IN": "IN", "DELAY": "DELAY", "WAIT": "WAIT"}, {"OUT": "o"}),
            step_text("blow", {"A": "o"}, {"B": "B"}),
        ],
    )


class Case:
    """Requests to one model, for many responses or for a few small ones."""

    def __init__(self, model: str, many: int) -> None:
        self.model = model
        self.many = many

    def message(self, n: int) -> pb.ModelInferRequest:
        if self.model in ("repeat", "chain"):
            return repeat_request(self.values(n), model=self.model)
        request = pb.ModelInferRequest(model_name=self.model)
        add_raw(request, "N", "INT32", [n])
        return request

    def document(self, n: int) -> dict[str, Any]:
        if self.model in ("repeat", "chain"):
            return {"IN": self.values(n), "DELAY": [0] * n, "WAIT": 0}
        return {"N": n}

    def values(self, n: int) -> list[int]:
        # The ensemble's answers to negative numbers are small.
        return [-1] * n if self.model == "chain" and n <= 10 else list(range(n))


CASES = [
    Case("threads", RESPONSES),
    Case("coroutines", RESPONSES),
    Case("repeat", 120_000),
    Case("chain", RESPONSES),
]
BY_NAME = {case.model: case for case in CASES}


class GrpcClient:
    """A client of a stream that reads only when told."""

    def __init__(self, server: ServerProcess, case: Case, n: int) -> None:
        self._channel = grpc.insecure_channel(server.grpc_url, options=CHANNEL)
        self._requests: queue.Queue[Any] = queue.Queue()
        self._requests.put(case.message(n))
        stub = service_pb2_grpc.GRPCInferenceServiceStub(self._channel)
        self._call = stub.ModelStreamInfer(iter(self._requests.get, None), timeout=120)

    def read(self) -> list[int]:
        """The first number of each response, to the end."""
        self._requests.put(None)
        return [
            int.from_bytes(r.infer_response.raw_output_contents[0][:4], "little", signed=True)
            for r in self._call
            if r.infer_response.raw_output_contents
        ]

    def code(self) -> tuple[grpc.StatusCode, str]:
        """How the call ends, after everything has been read."""
        self._requests.put(None)
        try:
            for _ in self._call:
                pass
        except grpc.RpcError:
            pass
        return self._call.code(), self._call.details()

    def close(self) -> None:
        self._call.cancel()
        self._channel.close()


class HttpClient:
    """The same over HTTP."""

    def __init__(self, server: ServerProcess, case: Case, n: int) -> None:
        body = json.dumps(case.document(n)).encode()
        self._connection = RawConnection(server.http_url)
        # What the kernel keeps for the client would otherwise be more than some streams are long.
        self._connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        self._connection.send(
            b"POST /v2/models/%s/generate_stream HTTP/1.1\r\nHost: test\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (case.model.encode(), len(body), body)
        )

    def events(self) -> list[dict[str, Any]]:
        text = self._connection.read_answer("POST").body.decode()
        assert text == "" or text.endswith("\n\n")
        return [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n")[:-1]]

    def read(self) -> list[int]:
        numbers = [event["OUT"] if "OUT" in event else event["B"] for event in self.events()]
        return [number[0] if isinstance(number, list) else number for number in numbers]

    def close(self) -> None:
        self._connection.close()


Client = Callable[[ServerProcess, Case, int], Any]
CLIENTS = [pytest.param(GrpcClient, id="grpc"), pytest.param(HttpClient, id="http")]


def waiting(server: ServerProcess) -> float:
    return metric(server.metrics_url, "nereid_in_flight_bytes")


def stall(server: ServerProcess, client: Client, case: Case) -> Any:
    """A client that has got all that it may and reads nothing."""
    stalled = client(server, case, case.many)
    try:
        poll_until(
            "responses wait", lambda: waiting(server) > LIMIT / 2, explain=lambda: _page(server)
        )
        poll_until("no more come", lambda: _is_still(server))
    except BaseException:
        stalled.close()  # or the next test would find what waits for it
        raise
    return stalled


def _page(server: ServerProcess) -> str:
    """The lines of the metrics page that say where requests are, to understand a failure."""
    page = raw_http.get(server.metrics_url, "/metrics").body.decode()
    wanted = re.compile(r"(nereid_(in_flight|grpc|waiting)|nv_inference_(count|exec|pending))\S* \S+$")
    lines = [line for line in page.splitlines() if wanted.match(line)]
    return "\n".join([*lines, server.log_text()[-2000:]])


def _is_still(server: ServerProcess) -> bool:
    before = waiting(server)
    time.sleep(0.2)
    return waiting(server) == before


@pytest.fixture(scope="module", params=[1, 2], ids=["one-instance", "two-instances"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:

    folder = tmp_path_factory.mktemp("slow")
    models = ModelRepository(folder / "models")
    add_models(models, request.param)
    server = start_nereid(models.root, folder / "log", OPTIONS)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_others_go_on(server: ServerProcess, client: Client, case: Case) -> None:
    """Streams of the same instance, and requests to a member of the ensemble."""
    stalled = stall(server, client, case)
    try:
        small = {"inputs": [{"name": "A", "shape": [1], "datatype": "INT32", "data": [-1]}]}
        for _ in range(5):
            other = client(server, case, 3)
            assert other.read() == ([-1] * 3 if case.model == "chain" else [0, 1, 2])
            other.close()
            assert raw_http.post_json(server.http_url, "/v2/models/blow/infer", small).status == 200
        assert LIMIT / 2 < waiting(server) < MOST_WAITING, "the client is still stalled"
        numbers = stalled.read()
        # Iterations of an ensemble may pass each other where a member has several instances.
        assert sorted(numbers) == list(range(case.many))
        if case.model != "chain":
            assert numbers == list(range(case.many))
    finally:
        stalled.close()
    poll_until("all is given back", lambda: waiting(server) == 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_many_stalled_streams(server: ServerProcess, case: Case) -> None:
    stalled: list[Any] = []
    try:
        for _ in range(6):
            stalled.append(stall(server, GrpcClient, case))
        other = GrpcClient(server, case, 3)
        assert len(other.read()) == 3
        other.close()
    finally:
        for one in stalled:
            one.close()
    poll_until("all is given back", lambda: waiting(server) == 0)


# -- servers of their own ----------------------------------------------------------------------


def test_a_model_that_ignores_credit_ends_its_own_stream(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(
        model_repository, "flood", "decoupled", DECOUPLED, responses="2000", ignores_credit="true"
    )
    add_repeat(model_repository)
    server = server_factory(
        model_repository, f"--max-waiting-stream-bytes={LIMIT}", "--max-in-flight-bytes=67108864"
    )
    with grpc.insecure_channel(server.grpc_url, options=CHANNEL) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        requests: queue.Queue[Any] = queue.Queue()
        request = pb.ModelInferRequest(model_name="flood", id="greedy")
        add_raw(request, "INPUT0", "INT32", [7] * LARGE)
        requests.put(request)
        call = stub.ModelStreamInfer(iter(requests.get, None), timeout=120)
        poll_until("it has ended", lambda: "reads them too slowly" in server.log_text())
        repeat = GrpcClient(server, BY_NAME["repeat"], 3)
        assert repeat.read() == [0, 1, 2]
        repeat.close()
        poll_until("its responses are dropped", lambda: waiting(server) < MOST_WAITING)
        requests.put(None)
        with pytest.raises(grpc.RpcError) as caught:
            for response in call:
                assert len(response.infer_response.raw_output_contents[0]) == LARGE * 4
        assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert caught.value.details().startswith(
            "[request id: greedy] the responses of model 'flood' end here because the client reads "
            "them too slowly: "
        )
    poll_until("all is given back", lambda: waiting(server) == 0)


def test_events_of_a_model_that_ignores_credit(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_testing(
        model_repository,
        "flood",
        "decoupled",
        DECOUPLED,
        data_type="STRING",
        responses="1000",
        ignores_credit="true",
    )
    server = server_factory(
        model_repository, f"--max-waiting-stream-bytes={LIMIT}", "--max-in-flight-bytes=67108864"
    )

    class Text(Case):
        def document(self, n: int) -> dict[str, Any]:
            return {"INPUT0": "x" * 250_000}

    client = HttpClient(server, Text("flood", 0), 0)
    poll_until("it has ended", lambda: "too slowly" in server.log_text())
    *events, last = client.events()
    assert all(len(event["OUTPUT0"]) == 250_000 for event in events)
    assert len(events) < 1000
    assert "end here because the client reads them too slowly" in last["error"]
    client.close()
    poll_until("all is given back", lambda: waiting(server) == 0)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_an_unload_does_not_wait_for_a_client(
    server_factory: ServerFactory, model_repository: ModelRepository, client: Client, case: Case
) -> None:
    add_models(model_repository)
    server = server_factory(model_repository, *OPTIONS)
    stalled = stall(server, client, case)
    # Of an ensemble, the member whose answers are the ensemble's.
    model = "blow" if case.model == "chain" else case.model
    answer = raw_http.post(server.http_url, f"/v2/repository/models/{model}/unload")
    assert answer.status == 200, answer.error()

    def state() -> str:
        index = raw_http.post(server.http_url, "/v2/repository/index").json()
        return next(entry.get("state", "") for entry in index if entry["name"] == model)

    poll_until("it is unloaded", lambda: state() == "UNAVAILABLE", 20)
    assert sorted(stalled.read()) == list(range(case.many))
    stalled.close()
    poll_until("all is given back", lambda: waiting(server) == 0)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_the_end_does_not_wait_for_a_client(
    server_factory: ServerFactory, model_repository: ModelRepository, client: Client, case: Case
) -> None:
    add_models(model_repository)
    server = server_factory(model_repository, *OPTIONS)
    stalled = stall(server, client, case)
    server.process.terminate()
    server.wait_exit(20)  # --exit-timeout-secs is 30
    stalled.close()
