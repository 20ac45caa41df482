# SPDX-License-Identifier: Apache-2.0
"""The command ExecuteEach: several batches, one after the other, each with a reply of its own."""

from __future__ import annotations

import numpy as np

from .conftest import StartWorker, Worker, request, tensor
from .fake_server import IS_CANCELLED

# What the model does is the id of the request.
MODEL = """
    import numpy as np
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def initialize(self, args):
            self.executions = 0

        def execute(self, requests):
            (request,) = requests
            self.executions += 1
            what = request.request_id()
            if what == "fail":
                raise ValueError("no")
            if what == "ask":
                request.is_cancelled()
            if what == "lambda":
                return [pb_utils.InferenceResponse([lambda: 1])]
            a = pb_utils.get_input_tensor_by_name(request, "A").as_numpy()
            outputs = [
                pb_utils.Tensor("SAME", a),
                pb_utils.Tensor("COUNT", np.array([self.executions])),
            ]
            return [pb_utils.InferenceResponse(outputs)]
"""


def batch(number: int, what: str = "") -> tuple:
    return (request(number, tensor("A", [number]), request_id=what),)


def outputs_of(worker: Worker, part: int) -> tuple[float, int]:
    (status, ((error, (same, count), _),), flags), start, end = worker.part(part)
    assert (status, error, flags) == ("ok", None, (1,))
    assert 0 < start <= end
    return float(same.array()[0]), int(count.array()[0])


def test_they_are_executed_one_after_the_other(start: StartWorker) -> None:
    worker = start(MODEL)
    for first in (0, 16):
        worker.execute_each(tuple(batch(number) for number in range(16)))
        assert worker.parts_replied() == 16
        for part in range(16):
            assert outputs_of(worker, part) == (part, first + part + 1)
    ends = [worker.part(part)[2] for part in range(16)]
    assert ends == sorted(ends)


def test_an_error_is_that_of_its_batch(start: StartWorker) -> None:
    worker = start(MODEL)
    worker.execute_each((batch(1), batch(2, "fail"), batch(3, "lambda"), batch(4)))
    assert outputs_of(worker, 0) == (1, 1)
    assert outputs_of(worker, 3) == (4, 4)
    for part, text in ((1, "ValueError: no"), (2, "must be a list of Tensor objects")):
        status, why = worker.part(part)[0]
        assert status == "error" and text in why, why


def test_a_reply_is_there_while_the_next_batch_is_executed(start: StartWorker) -> None:
    worker = start(MODEL)
    seen = []

    def is_cancelled(number: int) -> bool:
        seen.append((worker.parts_replied(), outputs_of(worker, 0)))
        return False

    worker.handlers[IS_CANCELLED] = is_cancelled
    worker.execute_each((batch(1), batch(2, "ask")))
    assert seen == [(1, (1, 1))]
    assert outputs_of(worker, 1) == (2, 2)


def test_blocks_return_after_the_next_command(start: StartWorker) -> None:
    worker = start(MODEL)
    batches = tuple(batch(number) for number in range(3))
    worker.execute_each(batches)
    blocks = [request_fields[7][0].block for (request_fields,) in batches]
    assert not set(blocks) & set(worker.freed), "the replies refer to their inputs"
    assert outputs_of(worker, 2) == (2, 3)
    worker.execute(*batch(9))
    worker.look()
    assert set(blocks) <= set(worker.freed)


def test_other_commands_before_and_after(start: StartWorker) -> None:
    worker = start(MODEL)
    for count in range(1, 4):
        status, ((_, (same, executed), _),), _ = worker.execute(*batch(count))
        assert (status, int(executed.array()[0])) == ("ok", 2 * count - 1)
        np.testing.assert_array_equal(same.array(), np.array([count], np.float32))
        worker.execute_each((batch(7),))
        assert outputs_of(worker, 0) == (7, 2 * count)


def test_a_process_that_ends_has_said_what_it_had_executed(start: StartWorker) -> None:
    worker = start(
        """
        import os
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                if requests[0].request_id() == "end":
                    os._exit(3)
                return [pb_utils.InferenceResponse([])]
        """
    )
    worker.start_each((batch(1), batch(2, "end"), batch(3)))
    assert worker.wait_for_end() == 3
    assert worker.parts_replied() == 1
    assert worker.part(0)[0] == ("ok", ((None, (), ""),), (1,))
