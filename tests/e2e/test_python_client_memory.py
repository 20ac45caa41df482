# SPDX-License-Identifier: Apache-2.0
"""Tensors of Python models in system shared memory: the model's process maps them itself. Whatever
clients do with their memory, and models with their inputs, answers are right and nobody else is
harmed."""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not (backend_directory() / "python" / "libtriton_python.so").exists(),
        reason="the Python backend is not staged",
    ),
]

# The request's id says what the model does.
MODEL = """
import os
import time
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.kept = []

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        array = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
        what = request.request_id()
        result = array
        if what == "write":
            array += 1
        elif what == "new":
            result = array + 1
        elif what == "keep":
            self.kept.append(array)
        elif what == "kept":
            result = self.kept[-1]
        elif what == "wait":
            time.sleep(0.3)
        elif what == "die":
            os.abort()
        elif what == "both":
            return pb_utils.InferenceResponse(
                [pb_utils.Tensor("Z", array * 0), pb_utils.Tensor("Y", array)]
            )
        elif what == "error":
            return pb_utils.InferenceResponse(error=pb_utils.TritonError("as wished"))
        return pb_utils.InferenceResponse([pb_utils.Tensor("Y", result)])
"""
STREAMING = """
import threading
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            array = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
            sender = request.get_response_sender()
            threading.Timer(0.2, self.answer, (sender, array)).start()

    def answer(self, sender, array):
        response = pb_utils.InferenceResponse([pb_utils.Tensor("Y", array)])
        sender.send(response, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""
TENSORS = """
backend: "python"
input { name: "X" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "Z" data_type: TYPE_FP32 dims: [ -1 ] }
"""
BATCHING = TENSORS + "max_batch_size: 4\ndynamic_batching { max_queue_delay_microseconds: 200000 }"
OPTIONS = (INTERPRETER, "--allow-client-shm=true")
RESTART = "it is started again in"  # in the log when a process has died
COUNT = 1 << 18  # 1 MiB
BYTES = 4 * COUNT
SECONDS = float(os.environ.get("NEREID_HOSTILE_SECONDS", "5"))


class Segment:
    """A segment, its numbers, and its regions: each region covers all of it."""

    def __init__(self, server: ServerProcess, name: str, count: int = COUNT) -> None:
        self.server = server
        self.size = 4 * count
        self.key = f"/nereid-test-{os.getpid()}-{name}"
        self.path = Path(f"/dev/shm{self.key}")
        self.path.write_bytes(bytes(self.size))
        self.values = np.memmap(self.path, np.float32, "r+")
        self.values[:] = np.arange(count)

    def register(self, region: str) -> str:
        body = {"key": self.key, "offset": 0, "byte_size": self.size}
        path = f"/v2/systemsharedmemory/region/{region}/register"
        assert raw_http.post_json(self.server.http_url, path, body).status == 200
        return region

    def unregister(self, region: str) -> None:
        path = f"/v2/systemsharedmemory/region/{region}/unregister"
        assert raw_http.post(self.server.http_url, path).status == 200


class InBackground:
    """A request that a thread sends."""

    def __init__(self, send: Callable[[], raw_http.HttpAnswer]) -> None:
        self._got: list[raw_http.HttpAnswer] = []
        self._thread = threading.Thread(target=lambda: self._got.append(send()))
        self._thread.start()

    def result(self) -> raw_http.HttpAnswer:
        self._thread.join()
        return self._got[0]


Make = Callable[..., Segment]


@pytest.fixture
def server(server_factory: ServerFactory, model_repository: ModelRepository) -> ServerProcess:
    batching = BATCHING.replace("[ -1 ]", f"[ {COUNT} ]")
    for name, config, model in (
        ("m", TENSORS, MODEL),
        ("two", TENSORS + "instance_group [ { kind: KIND_CPU count: 2 } ]", MODEL),
        ("batches", batching, MODEL),
        ("streams", TENSORS + "model_transaction_policy { decoupled: true }", STREAMING),
    ):
        folder = model_repository.add(name, config)
        (folder / "1" / "model.py").write_text(model, encoding="utf-8")
    return server_factory(model_repository, *OPTIONS)


@pytest.fixture
def segment(server: ServerProcess) -> Iterator[Make]:
    made: list[Segment] = []

    def make(name: str, count: int = COUNT) -> Segment:
        made.append(Segment(server, name, count))
        made[-1].register(name)
        return made[-1]

    yield make
    for one in made:
        one.path.unlink(missing_ok=True)


def part(region: str, count: int = COUNT, first: int = 0) -> dict[str, Any]:
    return {
        "shared_memory_region": region,
        "shared_memory_byte_size": 4 * count,
        "shared_memory_offset": 4 * first,
    }


def ask(
    server: ServerProcess,
    what: str,
    given: dict[str, Any],
    *places: tuple[str, dict[str, Any]],
    model: str = "m",
) -> raw_http.HttpAnswer:
    """`given` and `places` are parts of regions; without places the answer has the numbers."""
    shape = [given["shared_memory_byte_size"] // 4]
    if model == "batches":
        shape.insert(0, 1)
    document = {
        "id": what,
        "inputs": [{"name": "X", "datatype": "FP32", "shape": shape, "parameters": given}],
        "outputs": [{"name": name, "parameters": place} for name, place in places]
        or [{"name": "Y", "parameters": {"binary_data": True}}],
    }
    body = json.dumps(document).encode()
    return raw_http.post(server.http_url, f"/v2/models/{model}/infer", body)


def numbers(answer: raw_http.HttpAnswer, count: int = COUNT) -> np.ndarray:
    assert answer.status == 200, answer.body
    return np.frombuffer(answer.body[-4 * count :], np.float32)


def check_served(server: ServerProcess, a: Segment, b: Segment, model: str = "m") -> None:
    """An ordinary client is served."""
    a.values[:] = np.arange(COUNT) * 2
    b.values[:] = -1
    answer = ask(server, "new", part("a"), ("Y", part("b")), model=model)
    assert answer.status == 200, answer.body
    np.testing.assert_array_equal(b.values, a.values + 1)


def process_maps(server: ServerProcess, segment: Segment) -> int:
    """How many processes other than this and the server have the segment mapped."""
    count = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) in (os.getpid(), server.process.pid):
            continue
        try:
            count += segment.key in (folder / "maps").read_text()
        except OSError:
            continue
    return count


def test_inputs_and_outputs(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    for i in range(5):
        a.values[:] = np.arange(COUNT) + i
        for what, added in (("", 0), ("new", 1)):
            answer = ask(server, what, part("a"), ("Y", part("b")))
            assert answer.status == 200, answer.body
            assert "data" not in answer.json()["outputs"][0]
            assert answer.json()["outputs"][0]["shape"] == [COUNT]
            np.testing.assert_array_equal(b.values, a.values + added)
        np.testing.assert_array_equal(numbers(ask(server, "", part("a"))), a.values)
    assert process_maps(server, a) == 1


def test_parts_of_regions(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    half = COUNT // 2
    for first in (0, 16, 17, 1024, half):
        b.values[:] = -1
        answer = ask(server, "new", part("a", half, first), ("Y", part("b", half, half - first)))
        assert answer.status == 200, answer.body
        to = half - first
        np.testing.assert_array_equal(b.values[to : to + half], a.values[first : first + half] + 1)
        assert (b.values[:to] == -1).all() and (b.values[to + half :] == -1).all()


def test_an_output_that_is_too_large(server: ServerProcess, segment: Make) -> None:
    segment("a")
    b = segment("b")
    b.values[:] = -1
    answer = ask(server, "", part("a"), ("Y", part("b", COUNT - 1)))
    assert answer.status == 500
    assert "should be at least" in answer.error()
    assert (b.values == -1).all()


def test_an_error_writes_nothing(server: ServerProcess, segment: Make) -> None:
    segment("a")
    b = segment("b")
    b.values[:] = -1
    assert "as wished" in ask(server, "error", part("a"), ("Y", part("b"))).error()
    assert (b.values == -1).all()


def test_a_model_that_writes_to_its_input(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    before = a.values.copy()
    for i in range(4):
        assert ask(server, "write", part("a"), ("Y", part("b"))).status == 200
        np.testing.assert_array_equal(a.values, before + i)
        np.testing.assert_array_equal(b.values, before + i + 1)
        a.values += 1
    check_served(server, a, b)


def test_a_model_that_keeps_its_input(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    before = a.values.copy()
    assert ask(server, "keep", part("a"), ("Y", part("b"))).status == 200
    a.values[:] = -1
    a.unregister("a")
    a.path.unlink()
    c = segment("c")
    np.testing.assert_array_equal(numbers(ask(server, "kept", part("c"))), before)
    np.testing.assert_array_equal(numbers(ask(server, "", part("c"))), c.values)


def test_an_output_where_its_input_is(server: ServerProcess, segment: Make) -> None:
    a = segment("a", 2 * COUNT)
    before = a.values.copy()
    for i in range(3):
        assert ask(server, "new", part("a"), ("Y", part("a"))).status == 200
        np.testing.assert_array_equal(a.values[:COUNT], before[:COUNT] + i + 1)
    np.testing.assert_array_equal(a.values[COUNT:], before[COUNT:])
    before = a.values.copy()
    # Z, zeros, covers the end of the input, whose view Y comes after it. A second region of the
    # file makes no difference.
    a.register("again")
    for x, y in (("a", "again"), ("again", "a")):
        a.values[:] = before
        places = ("Z", part(x, COUNT, COUNT // 2)), ("Y", part(x))
        assert ask(server, "both", part(y), *places).status == 200
        np.testing.assert_array_equal(a.values[:COUNT], before[:COUNT])
        assert (a.values[COUNT : COUNT + COUNT // 2] == 0).all()


def test_a_batch_of_one_region(server: ServerProcess, segment: Make) -> None:
    a, outputs = segment("a"), [segment(f"out{i}") for i in range(4)]
    asked = [
        InBackground(
            lambda what=what, i=i: ask(
                server, what, part("a"), ("Y", part(f"out{i}")), model="batches"
            )
        )
        for i, what in enumerate(("write", "", "new", "write"))
    ]
    for one in asked:
        assert one.result().status == 200
    for i, output in enumerate(outputs):
        np.testing.assert_array_equal(output.values, a.values + (i != 1))


def test_a_decoupled_model_answers_later(server: ServerProcess, segment: Make) -> None:
    import tritonclient.grpc as grpcclient

    a, b = segment("a"), segment("b")
    answers: list[Any] = []
    with grpcclient.InferenceServerClient(server.grpc_url) as client:
        x = grpcclient.InferInput("X", [COUNT], "FP32")
        x.set_shared_memory("a", BYTES)
        y = grpcclient.InferRequestedOutput("Y")
        y.set_shared_memory("b", BYTES)
        client.start_stream(lambda result, error: answers.append((result, error)))
        for i in range(3):
            a.values[:] = np.arange(COUNT) + i
            client.async_stream_infer("streams", [x], outputs=[y])
            poll_until("the answer", lambda i=i: len(answers) > i, 30)
            assert answers[-1][1] is None
            np.testing.assert_array_equal(b.values, a.values)
        client.stop_stream()


def test_a_region_that_is_unregistered_in_flight(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    waits = InBackground(lambda: ask(server, "wait", part("a"), ("Y", part("b"))))
    time.sleep(0.1)
    for one, name in ((a, "a"), (b, "b")):
        one.unregister(name)
        one.path.unlink()
    answer = waits.result()
    assert answer.status == 200, answer.body
    np.testing.assert_array_equal(b.values, a.values)
    # Nothing of the segments stays.
    poll_until("the end of the mappings", lambda: process_maps(server, a) == 0, 20)
    poll_until("the end of the mappings", lambda: process_maps(server, b) == 0, 20)


def test_a_segment_that_is_cut_in_flight(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    for cut in ((a,), (b,), (a, b)):
        waits = InBackground(lambda: ask(server, "wait", part("a"), ("Y", part("b"))))
        time.sleep(0.1)
        for one in cut:
            os.truncate(one.path, 0)
        answer = waits.result()
        assert answer.status == 200, answer.body
        refused = ask(server, "", part("a"), ("Y", part("b")))
        assert "truncated" in refused.error()
        for one, name in ((a, "a"), (b, "b")):
            os.truncate(one.path, one.size)
            one.unregister(name)
            one.register(name)
        check_served(server, a, b)
    assert RESTART not in server.log_text()


def test_a_process_that_dies(server: ServerProcess, segment: Make) -> None:
    a, b = segment("a"), segment("b")
    died = ask(server, "die", part("a"), ("Y", part("b")))
    assert re.search(r"SIGABRT|signal 6\b", died.error())
    poll_until("the next process", lambda: ask(server, "", part("a")).status == 200, 30)
    check_served(server, a, b)


def test_clients_that_do_what_they_like(server: ServerProcess, segment: Make) -> None:
    """Two instances, several clients, each with segments that it cuts and changes meanwhile; a
    client with segments of its own gets right answers all the time."""
    a, b = segment("a"), segment("b")
    wild = [segment(f"wild{i}") for i in range(3)]
    end = time.monotonic() + SECONDS
    errors: list[BaseException] = []

    def guarded(action: Callable[[random.Random], None], seed: int) -> None:
        dice = random.Random(seed)
        try:
            while time.monotonic() < end and not errors:
                action(dice)
        except BaseException as error:
            errors.append(error)

    def user(dice: random.Random) -> None:
        x, y = dice.choice(wild), dice.choice(wild)
        name = {one: f"wild{i}" for i, one in enumerate(wild)}
        what = dice.choice(["", "new", "both"])
        places = [("Y", part(name[y]))] if dice.random() < 0.7 else []
        ask(server, what, part(name[x]), *places, model="two")

    def vandal(dice: random.Random) -> None:
        one = dice.choice(wild)
        os.truncate(one.path, dice.choice([0, 1, 4096, one.size // 2 + 1, one.size - 1]))
        os.truncate(one.path, one.size)
        name = f"wild{wild.index(one)}"
        one.unregister(name)
        one.register(name)
        time.sleep(dice.random() * 0.003)

    def good(_: random.Random) -> None:
        check_served(server, a, b, model="two")

    actions = [user, user, user, vandal, good]
    threads = [
        threading.Thread(target=guarded, args=(action, seed)) for seed, action in enumerate(actions)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    assert RESTART not in server.log_text()
