# SPDX-License-Identifier: Apache-2.0
"""Blocks of the in file: each is returned to the server exactly when nothing uses it any more."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Session, StartWorker, Worker, request, tensor
from .fake_server import INFER, LATER


def freed(worker: Worker) -> list[int]:
    worker.look()
    return worker.freed


@pytest.fixture
def kept(session: Session) -> Session:
    """The session's model holds an array, its tensor, and a capsule over one input."""
    session.a = tensor("A", np.arange(8))
    session.run(
        """
        t = request.inputs()[0]
        array = t.as_numpy()[2:4]
        capsule = t.to_dlpack()
        """,
        session.a,
    )
    session.run("")  # what the command itself held is gone when the next one comes
    return session


def test_the_last_view_counts(kept: Session) -> None:
    for name in ("t", "capsule"):
        assert freed(kept.worker) == []
        kept.run(f"del {name}")
    assert freed(kept.worker) == []
    assert kept.evaluate("array.tolist()") == "[2.0, 3.0]"
    kept.run("del array")
    assert freed(kept.worker) == [kept.a.block]


def test_an_input_goes_with_its_request(session: Session) -> None:
    for _ in range(3):
        a = tensor("A", [1])
        session.run("", a)
        session.run("")
        assert freed(session.worker) == [a.block]
        session.worker.freed.clear()


@pytest.mark.one_interpreter
def test_tensors_that_share_a_block(session: Session) -> None:
    block = session.worker.place(np.arange(4, dtype=np.float32).tobytes())
    first, second = tensor("A", [0, 1]), tensor("B", [2, 3])
    first.block, first.offset = block, block
    second.block, second.offset = block, block + 8
    assert session.run(
        "keep = request.inputs()[1]; result = keep.as_numpy().tolist()", first, second
    ) == "[2.0, 3.0]"
    session.run("")
    assert freed(session.worker) == []
    session.run("del keep")
    session.run("")
    assert freed(session.worker) == [block]


@pytest.mark.one_interpreter
def test_decoded_strings_hold_nothing(session: Session) -> None:
    a = tensor("A", [b"a", b"b"], np.object_)
    session.run("strings = request.inputs()[0].as_numpy()", a)
    session.run("")
    assert session.evaluate("strings.tolist()") == "[b'a', b'b']"
    assert freed(session.worker) == [a.block]


PASS_ON = """
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def execute(self, requests):
            responses = []
            for request in requests:
                (a,) = request.inputs()
                array = a.as_numpy()
                outputs = [
                    a,
                    pb_utils.Tensor("ROW", array[1]),
                    pb_utils.Tensor("RESHAPED", array.reshape(-1)),
                    pb_utils.Tensor("TURNED", array.T),
                ]
                responses.append(pb_utils.InferenceResponse(outputs))
            return responses
"""


def test_what_lies_in_the_in_file_is_not_copied(start: StartWorker) -> None:
    worker = start(PASS_ON)
    a = tensor("A", [[1, 2], [3, 4]])
    _, ((_, outputs, _),), _ = worker.execute(request(1, a))
    same, row, reshaped, turned = outputs
    assert [(out.file, out.block, out.offset) for out in (same, row, reshaped)] == [
        (0, a.block, a.block),
        (0, a.block, a.block + 8),
        (0, a.block, a.block),
    ]
    assert turned.file == 1
    np.testing.assert_array_equal(turned.array(), [[1, 3], [2, 4]])
    # The reply names the block: it stays until the next command.
    assert freed(worker) == []
    worker.execute(request(2, tensor("A", [[1, 2], [3, 4]])))
    assert freed(worker)[0] == a.block


@pytest.mark.one_interpreter
def test_blocks_of_an_answer(session: Session) -> None:
    """Of a BLS response: the message's own block is free at once, that of a tensor with it."""
    output = tensor("OUT", range(100))
    worker = session.worker

    def infer(*arguments: object) -> object:
        slot = worker.calls[-1][0]
        worker.answer(slot, (0, (None, (output,), "x" * 300)))
        return LATER

    worker.handlers[INFER] = infer
    session.run(
        """
        ask = pb_utils.InferenceRequest(inputs=[], requested_output_names=[], model_name="m")
        response = ask.exec()
        """
    )
    session.run("")
    message = [block for block in freed(worker) if block != output.block]
    assert len(message) == 1 and len(worker.freed) == 1
    session.run("del response")
    session.run("")
    assert output.block in freed(worker)


@pytest.mark.one_interpreter
def test_many_blocks_at_once(session: Session) -> None:
    """More than the ring has room for, while nobody reads it."""
    inputs = [tensor("A", [i]) for i in range(2500)]
    session.run("many = request.inputs()", *inputs)
    session.run("many.clear(); gc.collect()")
    session.run("")
    session.run("")
    session.run("")
    session.worker.look()
    session.run("")
    assert sorted(freed(session.worker)) == sorted(one.block for one in inputs)


def test_a_forked_child_gives_nothing_back(session: Session) -> None:
    a = tensor("A", [1, 2])
    session.run("t = request.inputs()[0]", a)
    ended = session.run(
        """
        child = os.fork()
        if child == 0:
            del t
            try:
                request.get_response_sender().send(pb_utils.InferenceResponse([]))
                os._exit(1)
            except pb_utils.TritonModelException as error:
                os._exit(7 if "was forked" in str(error) else 2)
        result = os.WEXITSTATUS(os.waitpid(child, 0)[1])
        """
    )
    assert ended == "7"
    assert freed(session.worker) == []
    assert session.evaluate("t.as_numpy().tolist()") == "[1.0, 2.0]"
