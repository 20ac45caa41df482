# SPDX-License-Identifier: Apache-2.0
"""Processes of Python models that end: who does the work meanwhile, which requests are refused, and
what becomes of memory."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import ServerFactory
from support import raw_http
from support.metrics import metric
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.process_memory import MIB, shared
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess

pytestmark = pytest.mark.thorough

ABORT, WAIT = -1, -2
MODEL = """
import os
import time
from pathlib import Path

import triton_python_backend_utils as pb_utils

MARKS = Path(__file__).parents[1] / "marks"


class TritonPythonModel:
    def initialize(self, args):
        mark = MARKS / args["model_instance_name"]
        mark.with_suffix(".new").write_text(str(os.getpid()))
        mark.with_suffix(".new").rename(mark)

    def execute(self, requests):
        responses = []
        for request in requests:
            x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            if x[0] == -1:
                os.abort()
            if x[0] == -2:
                (MARKS / "waits").touch()
                while not (MARKS / "go").exists():
                    time.sleep(0.01)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("Y", x + 1)]))
        return responses
"""


class Model:
    """The model `m` of a server."""

    def __init__(self, start: ServerFactory, folder: Path, instances: int, extra: str = "") -> None:
        repository = ModelRepository(folder / "models")
        tensors = tensor_text("X", "INT32", [-1]), tensor_text("Y", "INT32", [-1])
        model = repository.add(
            "m",
            f'backend: "python"\ninput [ {tensors[0]} ]\noutput [ {tensors[1]} ]\n'
            f"instance_group [ {{ kind: KIND_CPU count: {instances} }} ]\n{extra}",
        )
        (model / "1" / "model.py").write_text(MODEL, encoding="utf-8")
        self.marks = model / "marks"
        self.marks.mkdir()
        self.server: ServerProcess = start(repository.root, INTERPRETER)

    def ask(self, *values: int, **parameters: int | bool) -> raw_http.HttpAnswer:
        tensor = {"name": "X", "shape": [len(values)], "datatype": "INT32", "data": list(values)}
        document = {"inputs": [tensor], "parameters": parameters}
        return raw_http.post_json(self.server.http_url, "/v2/models/m/infer", document)

    def ready(self) -> bool:
        return raw_http.get(self.server.http_url, "/v2/models/m/ready").status == 200

    def pid(self, instance: int = 0) -> int:
        return int((self.marks / f"m_0_{instance}").read_text())

    def kill(self, instance: int = 0) -> None:
        """Kills the instance's process from outside, and waits until the server has seen it."""
        pid = self.pid(instance)
        before = self.seen()
        os.kill(pid, signal.SIGKILL)
        poll_until("the end to be seen", lambda: self.seen() > before)

    def seen(self) -> int:
        return self.server.log_text().count("it is started again in ")

    def await_restart(self, instance: int, pid: int) -> None:
        poll_until("the next process", lambda: self.pid(instance) != pid, 60)

    def kill_until_they_wait(self, *instances: int) -> None:
        """The next processes start 0, 1, 2 and, after the return, 4 seconds after the ends."""
        for _ in range(3):
            pids = [self.pid(instance) for instance in instances]
            for instance in instances:
                self.kill(instance)
            for instance, pid in zip(instances, pids, strict=True):
                self.await_restart(instance, pid)
        for instance in instances:
            self.kill(instance)


MakeModel = Callable[..., Model]


@pytest.fixture
def make_model(server_factory: ServerFactory, tmp_path: Path) -> MakeModel:
    return lambda *options: Model(server_factory, tmp_path, *options)


def test_an_instance_without_a_process_takes_no_work(make_model: MakeModel) -> None:
    model = make_model(2)
    model.kill_until_they_wait(0)
    for i in range(300):
        answer = model.ask(i)
        assert answer.status == 200, (i, answer.body)
    assert model.ready()


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_new_sequences_begin_where_there_is_a_process(make_model: MakeModel, strategy: str) -> None:
    idle = "max_sequence_idle_microseconds: 600000000"
    model = make_model(2, f"sequence_batching {{ {idle} {strategy} {{ }} }}\n")
    start = {"sequence_start": True}
    # The first instance has a sequence when its process ends, and keeps it.
    assert model.ask(1, sequence_id=1, **start).status == 200
    model.kill_until_they_wait(0)
    for i in range(2, 100):
        answer = model.ask(i, sequence_id=i, sequence_end=True, **start)
        assert answer.status == 200, (i, answer.body)
    answer = model.ask(1, sequence_id=1)
    assert answer.status == 503, answer.body
    pid = model.pid()
    model.await_restart(0, pid)
    poll_until("the first instance", lambda: _good(model.ask(2, sequence_id=1)))
    assert model.ask(3, sequence_id=1, sequence_end=True).status == 200


def test_a_model_is_not_ready_while_no_instance_has_a_process(make_model: MakeModel) -> None:
    model = make_model(2)
    assert model.ready()
    model.kill_until_they_wait(0, 1)
    poll_until("the model not to be ready", lambda: not model.ready())
    poll_until("the model to be ready", model.ready)
    assert model.ask(1).status == 200


def test_a_request_that_ends_the_process_twice_is_refused(make_model: MakeModel) -> None:
    model = make_model(1)
    for _ in range(2):
        answer = model.ask(ABORT, 5)
        assert answer.status == 503, answer.body
        assert "signal 6" in answer.json()["error"]
    for _ in range(3):
        answer = model.ask(ABORT, 5)
        assert answer.status == 400, answer.body  # which does not invite to try again
        assert "has ended twice when it executed a request with these inputs" in answer.json()["error"]
    line = "with the same inputs: requests with these inputs are refused for 10 minutes"
    assert model.server.log_text().count(line) == 1
    labels = {"model": "m", "version": "1"}
    assert metric(model.server.metrics_url, "nereid_python_refused_requests", **labels) == 3
    poll_until("the next process", lambda: model.ask(1).status == 200)


def test_a_request_whose_process_was_killed_is_not_to_blame(make_model: MakeModel) -> None:
    model = make_model(1)
    for _ in range(3):
        pid = model.pid()
        answers: list[raw_http.HttpAnswer] = []
        thread = threading.Thread(target=lambda: answers.append(model.ask(WAIT)))  # noqa: B023
        thread.start()
        poll_until("the model to wait", (model.marks / "waits").exists)
        model.kill()
        thread.join()
        assert answers[0].status == 503, answers[0].body
        (model.marks / "waits").unlink()
        model.await_restart(0, pid)
    (model.marks / "go").touch()
    answer = poll_until("the next process", lambda: _good(model.ask(WAIT)))
    assert answer.json()["outputs"][0]["data"] == [WAIT + 1]


def _good(answer: raw_http.HttpAnswer) -> raw_http.HttpAnswer | None:
    return answer if answer.status == 200 else None


def test_the_memory_of_a_large_request_goes_back(make_model: MakeModel) -> None:
    model = make_model(1)
    before = shared(model.server)
    count = 64 * MIB // 4
    size = {"binary_data_size": count * 4}
    tensor = {"name": "X", "shape": [count], "datatype": "INT32", "parameters": size}
    wanted = {"name": "Y", "parameters": {"binary_data": True}}
    answer = raw_http.binary_infer(
        model.server.http_url,
        "m",
        {"inputs": [tensor], "outputs": [wanted]},
        np.arange(count, dtype=np.int32).tobytes(),
    )
    assert answer.status == 200, answer.body[:300]
    assert shared(model.server) > before + 64 * MIB
    # Nothing is sent meanwhile.
    poll_until("the memory to go back", lambda: shared(model.server) < before + 8 * MIB, 60)
    assert model.ask(1).status == 200
