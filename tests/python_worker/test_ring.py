# SPDX-License-Identifier: Apache-2.0
"""The ring and the slots: entries that do not fit wait in order, and nothing is lost."""

from __future__ import annotations

import os

import pytest

from .conftest import StartWorker, request
from .fake_server import (
    ENTRIES,
    EXECUTE,
    IS_CANCELLED,
    LOG,
    READ,
    SLOTS,
    WRITTEN,
)

pytestmark = pytest.mark.one_interpreter


def test_a_full_ring_waits(start: StartWorker) -> None:
    worker = start(
        """
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                for i in range(5000):
                    pb_utils.Logger.log_info(str(i))
                return [pb_utils.InferenceResponse([])]
        """
    )
    worker.look()
    worker.start_command(EXECUTE, (request(),))
    worker.wait_until(lambda: worker._get("I", WRITTEN)[0] - worker._get("I", READ)[0] == ENTRIES)
    assert worker.finish_command()[0] == "ok"
    assert [int(text) for _, _, _, text in worker.posted(LOG)] == list(range(5000))
    # What was read is free again: the messages of the ring took a few hundred kilobytes at a time.
    assert os.fstat(worker.out_fd).st_size < 1 << 20


def test_posts_take_no_more_than_so_many_bytes(start: StartWorker) -> None:
    worker = start(
        """
        import numpy as np
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                sender = requests[0].get_response_sender()
                for i in range(30):
                    large = pb_utils.Tensor("OUT", np.full(8 << 20, i, np.uint8))
                    sender.send(pb_utils.InferenceResponse([large]))
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        """,
        decoupled=True,
    )
    worker.start_command(EXECUTE, (request(),))
    assert worker.finish_command() == ("ok", (None,), (1,))
    sent = [post for post in worker.posts if post[0] == 1]
    assert [post[2][1][0].data[:1] for post in sent[:-1]] == [bytes([i]) for i in range(30)]
    assert sent[-1] == (1, 1, None, 1)
    # 64 MiB, one tensor that waits its turn, and what a first fit leaves between them.
    assert os.fstat(worker.out_fd).st_size <= 96 << 20


def test_more_calls_than_slots(start: StartWorker) -> None:
    callers = SLOTS + 44
    worker = start(
        f"""
        import threading

        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                seen = []

                def ask(request):
                    seen.append(request.is_cancelled())

                threads = [threading.Thread(target=ask, args=(one,)) for one in requests]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                assert seen == [True] * {callers}
                return [pb_utils.InferenceResponse([]) for _ in requests]
        """
    )
    worker.start_command(EXECUTE, tuple(request(handle) for handle in range(1, callers + 1)))
    worker.serve_until(lambda: len(worker.calls) == SLOTS)
    assert {slot for slot, _ in worker.calls} == set(range(SLOTS))
    slot, _ = worker.calls[0]
    worker.answer(slot, (0, True))
    worker.serve_until(lambda: len(worker.calls) == SLOTS + 1)
    assert worker.calls[-1][0] == slot
    worker.handlers[IS_CANCELLED] = lambda handle: True
    for slot, _ in worker.calls[1:]:
        worker.answer(slot, (0, True))
    assert worker.finish_command()[0] == "ok"
    assert sorted(arguments[1] for _, arguments in worker.calls) == list(range(1, callers + 1))


MALFORMED = {
    "nothing": b"",
    "an unknown tag": b"?",
    "a text longer than the message": b"s\xff\xff\xff\xff",
    "more items than bytes": b"l\xff\xff\xff\x7f",
    "something behind the end": b"NN",
    "a tensor outside of the file": b"t\x0b\x00\x01\x01\x00\x00\x00A"
    + (1).to_bytes(8, "little")
    + (1 << 40).to_bytes(8, "little") * 2
    + (4).to_bytes(8, "little"),
    "a tensor before its block": b"t\x0b\x00\x01\x01\x00\x00\x00A"
    + (1).to_bytes(8, "little")
    + (128).to_bytes(8, "little")
    + (64).to_bytes(8, "little")
    + (4).to_bytes(8, "little"),
    "a tensor of another size than its shape": b"t\x0b\x00\x01\x01\x00\x00\x00A"
    + (2).to_bytes(8, "little")
    + (64).to_bytes(8, "little") * 2
    + (4).to_bytes(8, "little"),
    "a tensor of a shape beyond all memory": b"t\x0b\x00\x02\x01\x00\x00\x00A"
    + (1 << 62).to_bytes(8, "little") * 2
    + (64).to_bytes(8, "little") * 2
    + (4).to_bytes(8, "little"),
    "a tensor of no type": b"t\x0f\x00\x00\x01\x00\x00\x00A" + bytes(24),
    "lists without end": b"l\x01\x00\x00\x00" * 100,
}


@pytest.mark.parametrize("message", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_messages(start: StartWorker, message: bytes) -> None:
    """The process says so and ends; it reads nothing that is not there."""
    worker = start(initialize=False)
    worker.start_raw_command(EXECUTE, message)
    assert worker.wait_for_end() == 1
    assert "ValueError: a message of the server is malformed" in worker.log.read_text()
