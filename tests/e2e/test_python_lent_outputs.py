# SPDX-License-Identifier: Apache-2.0
"""Large outputs of Python models, which the server sends from the memory that it shares with the
model's process: they stay as they were, whatever the model, its process and the server do
before the client reads them."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest
import tritonclient.grpc as grpcclient

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "python" / "libtriton_python.so").exists(),
    reason="the Python backend is not staged",
)

# The first element of the input says what the model does.
PASS, NEW, KEEP, SPOIL = 0, 1, 2, 3
MODEL = """
import os
import numpy as np
import triton_python_backend_utils as pb_utils

PASS, NEW, KEEP, SPOIL = 0, 1, 2, 3


class TritonPythonModel:
    def initialize(self, args):
        self.kept = []

    def execute(self, requests):
        responses = []
        for request in requests:
            array = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            what = int(array[0])
            if what == KEEP:
                self.kept.append(array)
            if what == SPOIL:
                for kept in self.kept:
                    kept[:] = -1
            result = array * 1 if what == NEW else array
            outputs = [pb_utils.Tensor("Y", result), pb_utils.Tensor("PID", np.array([os.getpid()]))]
            responses.append(pb_utils.InferenceResponse(outputs))
        return responses
"""
CONFIG = """
backend: "python"
input { name: "X" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "PID" data_type: TYPE_INT64 dims: [ 1 ] }
"""
OPTIONS = (
    INTERPRETER,
    "--model-control-mode=explicit",
    "--load-model=m",
)
# More than the socket buffers of both ends hold.
COUNT = 3 << 20
SECONDS = 60.0


@pytest.fixture
def server(server_factory: ServerFactory, model_repository: ModelRepository) -> ServerProcess:
    folder = model_repository.add("m", CONFIG)
    (folder / "1" / "model.py").write_text(MODEL, encoding="utf-8")
    return server_factory(model_repository, *OPTIONS)


def values(what: int, seed: int, count: int = COUNT) -> np.ndarray:
    made = np.arange(count, dtype=np.float32) + np.float32(seed)
    made[0] = what
    return made


class Unread:
    """A request over HTTP whose answer is not read yet."""

    def __init__(self, server: ServerProcess, given: np.ndarray, output: str = "Y") -> None:
        self._given, self._output = given, output
        tensor = {
            "name": "X",
            "shape": [given.size],
            "datatype": "FP32",
            "parameters": {"binary_data_size": given.nbytes},
        }
        wanted = [{"name": output, "parameters": {"binary_data": True}}]
        head = json.dumps({"inputs": [tensor], "outputs": wanted}).encode()
        self._socket = socket.socket()
        self._socket.settimeout(SECONDS)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        self._socket.connect(raw_http.split_url(server.http_url))
        self._socket.sendall(
            b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            b"Inference-Header-Content-Length: %d\r\nContent-Length: %d\r\n\r\n"
            % (len(head), len(head) + given.nbytes)
            + head
            + given.tobytes()
        )
        # The answer has begun, so the model has executed.
        self._socket.recv(1, socket.MSG_PEEK)

    def read(self) -> np.ndarray:
        with closing(self._socket):
            response = http.client.HTTPResponse(self._socket)
            response.begin()
            assert response.status == 200
            length = int(response.headers["Inference-Header-Content-Length"])
            body = response.read()[length:]
        return np.frombuffer(body, np.float32 if self._output == "Y" else np.int64)

    def check(self) -> None:
        np.testing.assert_array_equal(self.read(), self._given)


def pid_of(server: ServerProcess) -> int:
    return int(Unread(server, values(PASS, 0, 1), "PID").read()[0])


@contextmanager
def unread(server: ServerProcess) -> Iterator[None]:
    """Answers wait for their clients while the block runs; then they are checked."""
    answers = [Unread(server, values(what, seed)) for seed, what in enumerate((PASS, NEW, KEEP))]
    yield
    for answer in answers:
        answer.check()


def test_later_requests_leave_answers_alone(server: ServerProcess) -> None:
    with unread(server):
        for seed in range(20):
            Unread(server, values((PASS, NEW)[seed % 2], 1000 + seed)).check()


def test_a_model_may_change_an_input_that_it_has_answered_with(server: ServerProcess) -> None:
    with unread(server):
        Unread(server, values(SPOIL, 7)).check()


def test_more_answers_than_the_process_keeps(server: ServerProcess) -> None:
    answers = [Unread(server, values((PASS, NEW)[i % 2], i)) for i in range(12)]
    for answer in reversed(answers):
        answer.check()
    for i in range(12):
        Unread(server, values((PASS, NEW)[i % 2], 100 + i)).check()


def test_answers_outlive_the_process(server: ServerProcess) -> None:
    before = pid_of(server)
    with unread(server):
        os.kill(before, signal.SIGKILL)
        poll_until("another process", lambda: pid_of_next(server) not in (0, before), SECONDS)
        Unread(server, values(PASS, 9)).check()


def pid_of_next(server: ServerProcess) -> int:
    """0 while the next process starts."""
    try:
        return pid_of(server)
    except AssertionError:
        return 0


def test_answers_outlive_the_model(server: ServerProcess) -> None:
    with unread(server):
        for what, index in (("unload", "unloaded"), ("load", "loaded")):
            raw_http.post_json(server.http_url, f"/v2/repository/models/m/{what}", {})
            poll_until(
                "the model",
                lambda done=index: f"successfully {done} 'm'" in server.log_text(),
                SECONDS,
                server.log_text,
            )
        Unread(server, values(NEW, 9)).check()


def test_a_client_that_leaves_frees_what_was_kept_for_it(server: ServerProcess) -> None:
    for i in range(30):
        answer = Unread(server, values((PASS, NEW)[i % 2], i))
        answer._socket.close()
    Unread(server, values(PASS, 9)).check()


def test_other_forms(server: ServerProcess) -> None:
    given = values(NEW, 5, 1 << 17)
    with grpcclient.InferenceServerClient(server.grpc_url) as client:
        x = grpcclient.InferInput("X", [given.size], "FP32")
        x.set_data_from_numpy(given)
        for what in (PASS, NEW):
            given[0] = what
            x.set_data_from_numpy(given)
            answer = client.infer("m", [x], outputs=[grpcclient.InferRequestedOutput("Y")])
            np.testing.assert_array_equal(answer.as_numpy("Y"), given)
        best = grpcclient.InferRequestedOutput("Y", class_count=1)
        ((value,),) = [client.infer("m", [x], outputs=[best]).as_numpy("Y")]
        assert value.decode().split(":")[1] == str(given.size - 1)
    tensor = {"name": "X", "shape": [given.size], "datatype": "FP32", "data": given.tolist()}
    body = {"inputs": [tensor], "outputs": [{"name": "Y"}]}
    answer = raw_http.post_json(server.http_url, "/v2/models/m/infer", body)
    assert answer.json()["outputs"][0]["data"] == given.tolist()
