# SPDX-License-Identifier: Apache-2.0
"""Replies that the server keeps: their tensors stay where they are, whatever commands follow."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import StartWorker, Worker, request, tensor
from .fake_server import HELD, KEEP_REPLY, SOLE_REPLY
from .values import WireTensor

pytestmark = pytest.mark.one_interpreter

NOT_HELD, IS_HELD, OVER = range(3)
COUNT = 1 << 17  # 512 KiB

# What the model does with its input is the id of the request.
MODEL = """
    import triton_python_backend_utils as pb_utils

    kept = []


    class TritonPythonModel:
        def execute(self, requests):
            (request,) = requests
            (a,) = request.inputs()
            array = a.as_numpy()
            what = request.request_id()
            if what == "keep":
                kept.append(array[:1])
            elif what == "forget":
                kept.clear()
            outputs = [array + 1 if what == "new" else array]
            tensors = [pb_utils.Tensor("OUT", output) for output in outputs]
            return [pb_utils.InferenceResponse(tensors)]
"""


@pytest.fixture
def worker(start: StartWorker) -> Worker:
    return start(MODEL)


def run(worker: Worker, what: str, first: float = 0, count: int = COUNT) -> WireTensor:
    """Executes a request; returns the output."""
    given = tensor("A", np.arange(count) + first)
    status, ((_, (output,), _),), _ = worker.execute(request(1, given, request_id=what))
    assert status == "ok"
    if what != "new":
        assert output.file == 0 and output.block == given.block
    return output


def keep(worker: Worker, number: int) -> None:
    """The next command says that the last reply is kept under this number, from 1 on."""
    worker._put("I", KEEP_REPLY, number)
    if number > 0:
        worker._put("I", HELD + 4 * (number - 1), IS_HELD)


def held(worker: Worker, number: int) -> int:
    return worker._get("I", HELD + 4 * (number - 1))[0]


def content(worker: Worker, output: WireTensor) -> np.ndarray:
    return np.frombuffer(worker._fetch(output.file, output.offset, 4 * COUNT), np.float32)


def test_the_reply_is_sole_unless_the_model_has_a_view(worker: Worker) -> None:
    for what, sole in (("pass", 1), ("keep", 0), ("pass", 1), ("new", 0)):
        run(worker, what)
        assert worker._get("I", SOLE_REPLY) == (sole,), what
    run(worker, "pass", count=1)
    assert worker._get("I", SOLE_REPLY) == (0,), "small tensors are not looked at"


def test_a_reply_is_kept(worker: Worker) -> None:
    passed = run(worker, "pass", 1)
    keep(worker, 1)
    made = run(worker, "new", 2)
    keep(worker, 8)
    for i in range(3):
        run(worker, "new", 10 + i)
        keep(worker, 0)
    worker.look()
    assert passed.block not in worker.freed
    np.testing.assert_array_equal(content(worker, passed), np.arange(COUNT, dtype=np.float32) + 1)
    np.testing.assert_array_equal(content(worker, made), np.arange(COUNT, dtype=np.float32) + 3)
    assert (held(worker, 1), held(worker, 8)) == (IS_HELD, IS_HELD)

    worker._put("I", HELD, OVER)
    run(worker, "new")
    worker.look()
    assert (held(worker, 1), held(worker, 8)) == (NOT_HELD, IS_HELD)
    assert passed.block in worker.freed

    worker._put("I", HELD + 4 * 7, OVER)
    run(worker, "new")
    assert held(worker, 8) == NOT_HELD


def test_a_reply_that_is_over_before_the_next_command_is_freed_with_it(worker: Worker) -> None:
    passed = run(worker, "pass")
    keep(worker, 2)
    worker._put("I", HELD + 4, OVER)
    run(worker, "new")
    worker.look()
    assert held(worker, 2) == NOT_HELD
    assert passed.block in worker.freed


def test_a_number_that_cannot_be_keeps_nothing(worker: Worker) -> None:
    passed = run(worker, "pass")
    worker._put("I", KEEP_REPLY, 9)
    run(worker, "new")
    worker.look()
    assert passed.block in worker.freed
