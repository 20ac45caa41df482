# SPDX-License-Identifier: Apache-2.0
"""Inputs and outputs in the shared memory of clients, which the process maps itself."""

from __future__ import annotations

import mmap
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from .conftest import StartWorker, Worker, request
from .fake_server import INPUTS_TAKEN, MAPS_INPUTS, SEND
from .values import CLIENT, PLACE, WireTensor

pytestmark = pytest.mark.one_interpreter

PAGE = mmap.PAGESIZE
COUNT = 8 * PAGE // 4
NAME = "nereid-test-client"
PATIENCE = 20.0

# What the model does with its input is the id of the request.
MODEL = """
    import numpy as np
    import triton_python_backend_utils as pb_utils

    kept = []


    class TritonPythonModel:
        def execute(self, requests):
            return [self.answer(request) for request in requests]

        def answer(self, request):
            (a, *_) = request.inputs()
            array = a.as_numpy()
            result = None
            what = request.request_id()
            if what == "write":
                array += 1
            elif what == "keep":
                kept.append(array)
            elif what == "forget":
                kept.clear()
            elif what == "kept":
                result = kept[-1].copy()
            elif what == "sum":
                result = np.array([array.sum()], np.float32)
            elif what == "new":
                result = array + 1
            elif what == "fail":
                raise ValueError("as wished")
            elif what == "send":
                kept.append(array)
                answer = pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.zeros(1))])
                request.get_response_sender().send(answer, flags=1)
                return None
            out = pb_utils.Tensor("OUT", array if result is None else result)
            return pb_utils.InferenceResponse([out])
"""


class Client:
    """A file as clients have it, and its numbers in the memory of the test."""

    def __init__(self, worker: Worker, count: int = COUNT) -> None:
        self.worker = worker
        self.fd = os.memfd_create(NAME)
        os.ftruncate(self.fd, 4 * count)
        self.memory = mmap.mmap(self.fd, 4 * count)
        self.values = np.frombuffer(self.memory, np.float32)
        self.values[:] = np.arange(count)

    def input(self, count: int = COUNT, first: int = 0) -> WireTensor:
        number = self.worker.send_file(self.fd)
        return WireTensor("A", 11, (count,), bytes(4 * count), CLIENT, number, 4 * first)

    def place(self, count: int = COUNT, first: int = 0) -> WireTensor:
        number = self.worker.send_file(self.fd)
        return WireTensor("OUT", 2, (4 * count,), bytes(4 * count), PLACE, number, 4 * first)


@pytest.fixture
def worker(start: StartWorker) -> Worker:
    return start(MODEL)


@pytest.fixture
def client(worker: Worker) -> Client:
    return Client(worker)


@pytest.fixture
def other(worker: Worker) -> Client:
    return Client(worker)


def run(worker: Worker, what: str, given: WireTensor, *places: WireTensor) -> WireTensor:
    asked = request(1, given, request_id=what, places=places)
    status, ((_, (output,), _),), _ = worker.execute(asked)
    assert status == "ok"
    return output


def taken(worker: Worker) -> bool:
    """Whether the process has reported, since the last call, that it had to copy inputs."""
    was = worker._get("I", INPUTS_TAKEN)[0]
    worker._put("I", INPUTS_TAKEN, 0)
    return was == 1


def mappings(worker: Worker) -> int:
    return Path(f"/proc/{worker.pid}/maps").read_text().count(NAME)


def descriptors(worker: Worker) -> int:
    return len(os.listdir(f"/proc/{worker.pid}/fd"))


def test_an_input_is_seen_where_it_is(worker: Worker, client: Client) -> None:
    assert worker._get("I", MAPS_INPUTS) == (1,)
    before = descriptors(worker)
    for i in range(5):
        client.values[:] = np.arange(COUNT) + i
        np.testing.assert_array_equal(run(worker, "", client.input()).array(), client.values)
        assert mappings(worker) == 1
    assert descriptors(worker) == before
    assert not taken(worker)


def test_a_part_of_a_file(worker: Worker, client: Client) -> None:
    for first, count in ((16, 32), (PAGE // 4 - 16, PAGE), (COUNT - 1, 1)):
        seen = run(worker, "", client.input(count, first)).array()
        np.testing.assert_array_equal(seen, client.values[first : first + count])


def test_a_model_may_write_to_its_input(worker: Worker, client: Client) -> None:
    before = client.values.copy()
    for i in range(3):
        np.testing.assert_array_equal(run(worker, "write", client.input()).array(), before + 1 + i)
        assert taken(worker)
        np.testing.assert_array_equal(client.values, before + i)
        client.values += 1
    np.testing.assert_array_equal(run(worker, "", client.input()).array(), before + 3)
    assert not taken(worker)


def test_inputs_of_a_batch_are_independent(worker: Worker, client: Client) -> None:
    whats = ("write", "", "write")
    asked = [request(i, client.input(), request_id=what) for i, what in enumerate(whats)]
    status, responses, _ = worker.execute(*asked)
    assert status == "ok"
    for what, (_, (output,), _) in zip(whats, responses):
        np.testing.assert_array_equal(output.array(), client.values + (what == "write"))


def test_what_a_model_keeps_stays_as_it_is(worker: Worker, client: Client) -> None:
    before = client.values.copy()
    run(worker, "keep", client.input())
    assert taken(worker)
    client.values[:] = -1
    np.testing.assert_array_equal(run(worker, "kept", client.input()).array(), before)
    np.testing.assert_array_equal(run(worker, "", client.input()).array(), client.values)
    assert not taken(worker)
    run(worker, "forget", client.input())
    assert mappings(worker) == 1


def test_an_answer_within_execute_lets_the_client_go_on(worker: Worker, client: Client) -> None:
    before = client.values.copy()
    status, responses, _ = worker.execute(request(1, client.input(), request_id="send"))
    assert (status, responses) == ("ok", (None,))
    assert len(worker.posted(SEND)) == 1
    client.values[:] = -1
    np.testing.assert_array_equal(run(worker, "kept", client.input()).array(), before)


def test_a_failed_request_lets_the_client_go_on(worker: Worker, client: Client) -> None:
    for _ in range(3):
        status, text = worker.execute(request(1, client.input(), request_id="fail"))
        assert status == "error" and "as wished" in text
    np.testing.assert_array_equal(run(worker, "", client.input()).array(), client.values)


def test_a_file_that_was_cut_is_read_as_zeros(worker: Worker, client: Client) -> None:
    run(worker, "", client.input())
    left = client.values[: COUNT // 2].sum()
    os.ftruncate(client.fd, 4 * COUNT // 2)
    for _ in range(2):
        assert run(worker, "sum", client.input()).array() == [left]
    os.ftruncate(client.fd, 0)
    assert run(worker, "sum", client.input()).array() == [0]
    assert run(worker, "write", client.input()).array().sum() == COUNT
    run(worker, "new", client.input(), client.place())
    os.ftruncate(client.fd, 4 * COUNT)
    client.values[:] = 2
    np.testing.assert_array_equal(run(worker, "", client.input()).array(), client.values)


def test_what_was_kept_of_a_file_that_is_cut(worker: Worker, client: Client, other: Client) -> None:
    run(worker, "keep", client.input())
    os.ftruncate(client.fd, 0)
    run(worker, "kept", other.input())
    np.testing.assert_array_equal(run(worker, "", other.input()).array(), other.values)


def test_an_output_goes_to_its_place(worker: Worker, client: Client, other: Client) -> None:
    for what, added in (("new", 1), ("", 0)):
        other.values[:] = -1
        output = run(worker, what, client.input(), other.place())
        assert (output.name, output.type, output.dims) == ("OUT", 11, (COUNT,))
        assert output.file == PLACE
        np.testing.assert_array_equal(other.values, client.values + added)
    assert mappings(worker) == 2


def test_outputs_whose_places_have_left_the_caches(worker: Worker) -> None:
    """So many places in turn that none is in a cache when it is written again. They begin at various
    positions in a line of the cache."""
    cache = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
    largest = int(cache.read_text().strip("K\n")) << 10 if cache.exists() else 32 << 20
    count = largest // 16 // 4 + PAGE  # five times that, read and written, is more than half of it
    clients = [Client(worker, count + 3) for _ in range(5)]
    for turn in range(3):
        for first, client in enumerate(clients):
            source = clients[first - 1]
            source.values[:] = np.arange(count + 3) + turn
            client.values[:] = -1
            run(worker, "new", source.input(count), client.place(count, first % 3))
            placed = client.values[first % 3 : first % 3 + count]
            np.testing.assert_array_equal(placed, source.values[:count] + 1)
            assert np.count_nonzero(client.values == -1) == 3


def test_a_small_output_in_a_large_place(worker: Worker, client: Client, other: Client) -> None:
    other.values[:] = -1
    output = run(worker, "sum", client.input(), other.place(COUNT - 16, 16))
    assert output.file == PLACE
    assert other.values[16] == client.values.sum()
    assert (np.delete(other.values, 16) == -1).all()


def test_an_output_without_room(worker: Worker, client: Client, other: Client) -> None:
    other.values[:] = -1
    output = run(worker, "", client.input(), other.place(COUNT - 1))
    np.testing.assert_array_equal(output.array(), client.values)
    assert (other.values == -1).all()


def test_mappings_end_when_they_are_not_used(worker: Worker, client: Client, other: Client) -> None:
    run(worker, "", client.input(), other.place())
    assert mappings(worker) == 2
    deadline = time.monotonic() + PATIENCE
    while mappings(worker) > 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    run(worker, "", client.input(), other.place())


def test_mappings_end_while_others_are_used(worker: Worker, client: Client, other: Client) -> None:
    run(worker, "", client.input())
    deadline = time.monotonic() + PATIENCE
    run(worker, "", other.input())
    assert mappings(worker) == 2
    while mappings(worker) > 1:
        assert time.monotonic() < deadline
        run(worker, "", other.input())
        time.sleep(0.01)


def test_few_mappings_are_kept(worker: Worker, client: Client) -> None:
    for i in range(100):
        run(worker, "", client.input(16, 16 * i))
    assert 1 < mappings(worker) <= 32


def test_files_that_are_not_wanted_after_all(worker: Worker, client: Client, other: Client) -> None:
    before = descriptors(worker)
    for _ in range(20):
        other.input()
    np.testing.assert_array_equal(run(worker, "", client.input()).array(), client.values)
    assert descriptors(worker) == before


def test_a_file_that_never_came(worker: Worker, client: Client) -> None:
    given = client.input()
    given.block = 7
    status, text = worker.execute(request(1, given))
    assert status == "error" and "the shared memory of a client cannot be mapped" in text


@pytest.fixture
def no_descriptors(worker: Worker) -> Iterator[None]:
    limits = resource.prlimit(worker.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
    yield


def test_a_process_without_descriptors_wants_copies(
    worker: Worker, client: Client, no_descriptors: None
) -> None:
    status, text = worker.execute(request(1, client.input()))
    assert status == "error" and "Too many open files" in text
    assert worker._get("I", MAPS_INPUTS) == (0,)
    copied = WireTensor.of("A", client.values)
    output = run(worker, "", copied, client.place())
    np.testing.assert_array_equal(output.array(), client.values)
