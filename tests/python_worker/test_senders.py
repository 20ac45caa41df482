# SPDX-License-Identifier: Apache-2.0
"""Response senders of decoupled and other models, and senders that are dropped without an
answer."""

from __future__ import annotations

import pytest

from .conftest import StartWorker, Worker, request
from .fake_server import (
    CLOSED,
    EXECUTE,
    IS_CANCELLED,
    LOG,
    READ,
    SEND,
    TURN,
    WRITTEN,
    ServerError,
)

FINAL = 1
OK = "pb_utils.InferenceResponse([])"
ONCE = "Unable to send response. Non-decoupled model cannot send more than one response."
CLOSED_TEXT = "Unable to send response. Response sender has been closed."


def model(body: str, kind: str = "def") -> str:
    """A model whose execute runs `body`; what it raises is logged."""
    lines = "\n".join(" " * 20 + line for line in body.strip().splitlines())
    return f"""
        import gc
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def __init__(self):
                self.kept = []

            {kind} execute(self, requests):
                request = requests[0]
                sender = request.get_response_sender()
                try:
{lines}
                except pb_utils.TritonModelException as error:
                    pb_utils.Logger.log_info(str(error))
    """


def logged(worker: Worker) -> list[str]:
    """By the model, and not for it: what it raises is logged, too."""
    return [text for level, *_, text in worker.posted(LOG) if level == 0]


def test_many_responses(start: StartWorker) -> None:
    worker = start(
        model(
            f"""
for i in range(3):
    sender.send(pb_utils.InferenceResponse(error=pb_utils.TritonError(str(i))))
sender.send({OK}, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
sender.send({OK})
"""
        ),
        decoupled=True,
    )
    assert worker.execute(request(9)) == ("ok", (None,), (1,))
    assert worker.posted(SEND) == [
        *((9, ((1, str(i)), (), ""), 0) for i in range(3)),
        (9, (None, (), ""), FINAL),
    ]
    assert logged(worker) == [CLOSED_TEXT]
    worker.execute(request(10))
    assert worker.posted(CLOSED) == []


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (f"sender.send({OK}, flags=2)", "Unable to send response. Unsupported flag provided."),
        (
            "sender.send()",
            "Inference Response object must be provided when the response flags is set to zero.",
        ),
        (
            "pb_utils.InferenceRequest(inputs=[], requested_output_names=[], model_name='m')"
            f".get_response_sender().send({OK})",
            "Unable to send response. Response sender has no reference to the decoupled state of "
            "the model.",
        ),
    ],
)
@pytest.mark.one_interpreter
def test_what_is_refused(start: StartWorker, call: str, text: str, decoupled: bool) -> None:
    worker = start(model(call), decoupled=decoupled)
    worker.execute(request(1))
    assert logged(worker) == [text]
    assert worker.posted(SEND) == []


@pytest.mark.parametrize(
    ("body", "sent", "text"),
    [
        (f"sender.send({OK})\nsender.send({OK})", [0], ONCE),
        (f"sender.send({OK}, 1)\nsender.send({OK})", [1], ONCE),
        (
            "sender.send(flags=1)",
            [],
            "Unable to send response. Non-decoupled model cannot send complete final before sending "
            "a response.",
        ),
        (f"sender.send({OK}, 1)\nsender.send(flags=1)", [1], CLOSED_TEXT),
        (f"sender.send({OK})\nsender.send(flags=1)\nsender.send(flags=1)", [0, 1], CLOSED_TEXT),
    ],
)
@pytest.mark.one_interpreter
def test_a_model_that_is_not_decoupled(
    start: StartWorker, body: str, sent: list, text: str
) -> None:
    worker = start(model(body))
    assert worker.execute(request(1)) == ("ok", (None,), (1,))
    assert [flags for _, _, flags in worker.posted(SEND)] == sent
    assert logged(worker) == [text]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"sender.send({OK})\nreturn [{OK}]", ONCE),
        (f"sender.send({OK}, 1)\nreturn [{OK}]", ONCE),
    ],
)
@pytest.mark.one_interpreter
def test_a_response_that_is_sent_and_returned(start: StartWorker, body: str, text: str) -> None:
    worker = start(model(body))
    status, said = worker.execute(request(1))
    assert (status, said.split("message: ")[1]) == ("error", text)


@pytest.mark.one_interpreter
def test_a_returned_response_closes_the_sender(start: StartWorker) -> None:
    worker = start(model(f"self.kept.append(sender)\nself.kept[0].send({OK})\nreturn [{OK}]"))
    # In the first execute it is the sender itself that answers; in the second, the first again.
    worker.execute(request(1))
    worker.execute(request(2))
    assert logged(worker) == [ONCE]
    worker = start(
        f"""
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            sender = None

            def execute(self, requests):
                if self.sender is not None:
                    self.sender.send(flags=1)
                self.sender = requests[0].get_response_sender()
                return [{OK}]
        """
    )
    worker.execute(request(1))
    status, text = worker.execute(request(2))
    assert status == "error" and CLOSED_TEXT in text
    assert worker.posted(SEND) == []


def test_a_sender_that_dies_unfinished(start: StartWorker) -> None:
    worker = start(model("self.kept.append(sender)\nself.kept = self.kept[-1:]"), decoupled=True)
    worker.execute(request(5))
    worker.execute(request(6))  # takes the place of the first
    worker.execute(request(7))
    worker.look()
    assert worker.posted(CLOSED) == [(5,), (6,)]


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.one_interpreter
def test_a_request_that_nobody_answers(start: StartWorker, decoupled: bool) -> None:
    worker = start(
        """
        class TritonPythonModel:
            def execute(self, requests):
                return None
        """,
        decoupled=decoupled,
    )
    assert worker.execute(request(1), request(2)) == ("ok", (None, None), (1, 1))
    worker.execute()
    assert sorted(worker.posted(CLOSED)) == [(1,), (2,)]


@pytest.mark.one_interpreter
def test_a_failed_execute_closes_senders(start: StartWorker) -> None:
    worker = start(
        model(
            """
if self.kept:
    self.kept[0].send(flags=1)
self.kept.append(sender)
raise ValueError("so")
"""
        ),
        decoupled=True,
    )
    assert worker.execute(request(1))[0] == "error"
    assert worker.execute(request(2)) == ("ok", (None,), (1,))
    assert logged(worker) == [CLOSED_TEXT]
    assert worker.posted(SEND) == []
    assert (1,) not in worker.posted(CLOSED)  # the reply answered it


@pytest.mark.one_interpreter
def test_what_was_sent_comes_before_the_error(start: StartWorker) -> None:
    worker = start(model(f"sender.send({OK})\nraise ValueError('so')"), decoupled=True)
    worker.look()
    worker.start_command(EXECUTE, (request(1),))
    worker.wait_until(lambda: worker._get("I", WRITTEN) != worker._get("I", READ))
    assert worker._get("I", TURN) == (1,)  # there is no reply before the post is read
    assert worker.finish_command()[0] == "error"
    assert worker.posted(SEND) == [(1, (None, (), ""), 0)]


def test_from_a_thread_after_execute(start: StartWorker) -> None:
    worker = start(
        model(
            f"""
import threading
def answer():
    sender.send({OK})
    sender.send(flags=1)
threading.Thread(target=answer).start()
"""
        ),
        decoupled=True,
    )
    assert worker.execute(request(1)) == ("ok", (None,), (1,))
    worker.serve_until(lambda: len(worker.posted(SEND)) == 2)
    assert worker.posted(SEND) == [(1, (None, (), ""), 0), (1, None, 1)]


@pytest.mark.one_interpreter
def test_outputs_that_nobody_requested(start: StartWorker) -> None:
    worker = start(
        model(
            """
import numpy as np
response = pb_utils.InferenceResponse([pb_utils.Tensor(n, np.zeros(1)) for n in "ABC"])
sender.send(response, 1)
pb_utils.Logger.log_info(repr([t.name() for t in response.output_tensors()]))
"""
        ),
        decoupled=True,
    )
    worker.execute(request(1, requested=("C", "A")))
    ((_, (_, outputs, _), _),) = worker.posted(SEND)
    assert [out.name for out in outputs] == ["A", "C"]
    assert logged(worker) == ["['A', 'C']"]


@pytest.mark.one_interpreter
def test_cancellation(start: StartWorker) -> None:
    worker = start(
        model(
            """
seen = [request.is_cancelled(), sender.is_cancelled(), request.is_cancelled(),
        sender.is_cancelled(), sender.is_cancelled(), request.is_cancelled()]
pb_utils.Logger.log_info(repr(seen))
sender.send(flags=1)
"""
        ),
        decoupled=True,
    )
    answers = [False, ServerError(2, "no such request"), True, True]

    def is_cancelled(handle: int) -> bool:
        assert handle == 4
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    worker.handlers[IS_CANCELLED] = is_cancelled
    worker.execute(request(4))
    assert logged(worker) == ["[False, False, True, True, True, True]"]
    assert answers == []  # once it is, nobody is asked again


# Each request is answered by a thread of its own.
ANSWERED_BY_THREADS = f"""
    import threading

    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def execute(self, requests):
            for request in requests:
                sender = request.get_response_sender()
                threading.Thread(target=self.answer, args=(sender,), daemon=True).start()

        def answer(self, sender):
            for i in range(3):
                sender.send({OK})
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""


def answered(worker: Worker, handle: int) -> list[int]:
    """The flags of the responses to a request."""
    return [flags for number, _, flags in worker.posted(SEND) if number == handle]


def test_only_the_thread_of_a_request_without_credit_waits(start: StartWorker) -> None:
    worker = start(ANSWERED_BY_THREADS, decoupled=True)
    worker.withdraw_credit(1)
    for handle in (1, 2, 3):
        assert worker.execute(request(handle)) == ("ok", (None,), (1,))
    worker.serve_until(lambda: all(answered(worker, n) == [0, 0, 0, 1] for n in (2, 3)))
    worker.withdraw_credit(4)
    worker.return_credit(4)  # wakes the thread, which finds nothing
    worker.execute(request(5))
    assert answered(worker, 1) == []
    worker.return_credit(1)
    worker.serve_until(lambda: answered(worker, 1) == [0, 0, 0, 1])


@pytest.mark.one_interpreter
def test_the_last_response_waits_for_no_credit(start: StartWorker) -> None:
    worker = start(
        model(f"sender.send({OK}, flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)"),
        decoupled=True,
    )
    worker.withdraw_credit(1)
    worker.execute(request(1))
    assert answered(worker, 1) == [1]


@pytest.mark.one_interpreter
def test_a_sender_is_not_far_ahead_of_the_server(start: StartWorker) -> None:
    """What the server has not read may cost the credit."""
    worker = start(
        """
        import threading

        import numpy as np
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                sender = requests[0].get_response_sender()
                threading.Thread(target=self.answer, args=(sender,), daemon=True).start()

            def answer(self, sender):
                for i in range(20):
                    tensor = pb_utils.Tensor("O", np.zeros(40_000, np.int32))
                    sender.send(pb_utils.InferenceResponse([tensor]))
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
        """,
        decoupled=True,
    )
    worker.execute(request(1))
    written = worker._get("I", WRITTEN)[0]
    worker.wait_until(lambda: worker._get("I", WRITTEN)[0] > written)
    worker.withdraw_credit(1)
    worker.serve_until(lambda: len(answered(worker, 1)) >= 2)
    worker.execute(request(2))  # the process has had time to send more
    assert len(answered(worker, 1)) < 10
    worker.return_credit(1)
    worker.serve_until(lambda: answered(worker, 1) == [0] * 20 + [1])
