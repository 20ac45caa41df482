# SPDX-License-Identifier: Apache-2.0
"""Coroutines: execute and is_ready as `async def`, and tasks that outlive them."""

from __future__ import annotations

import pytest

from .conftest import StartWorker, request
from .fake_server import CLOSED, INFER, LOG, READY, SEND

OK = "pb_utils.InferenceResponse([])"


def test_a_coroutine_is_awaited(start: StartWorker) -> None:
    worker = start(
        f"""
        import asyncio

        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            async def execute(self, requests):
                await asyncio.gather(*(asyncio.sleep(0) for _ in requests))
                return [{OK} for _ in requests]
        """
    )
    for _ in range(3):
        assert worker.execute(request(1), request(2)) == ("ok", ((None, (), ""),) * 2, (1, 1))


@pytest.mark.one_interpreter
def test_its_exception_fails_the_batch(start: StartWorker) -> None:
    worker = start(
        """
        class TritonPythonModel:
            async def execute(self, requests):
                raise ValueError("so")
        """
    )
    text = f"ValueError: so\n\nAt:\n  {worker.model_file}(4): execute\n"
    assert worker.execute(request(1)) == (
        "error",
        f"Failed to process the request(s) for model 'model_0_0', message: {text}",
    )


def test_tasks_go_on_when_execute_has_returned(start: StartWorker) -> None:
    worker = start(
        f"""
        import asyncio

        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def __init__(self):
                self.tasks = []

            async def execute(self, requests):
                self.tasks.append(asyncio.create_task(self.later()))
                return [{OK}]

            async def later(self):
                request = pb_utils.InferenceRequest(
                    inputs=[], requested_output_names=[], model_name="other")
                await asyncio.sleep(0.01)
                response = await request.async_exec()
                pb_utils.Logger.log_info(str(response.error().message()))
        """
    )
    asked = []

    def infer(*arguments: object) -> tuple:
        asked.append(arguments)
        return ((3, "not here"), (), "")

    worker.handlers[INFER] = infer
    assert worker.execute(request(1))[0] == "ok"
    worker.serve_until(lambda: len(worker.posted(LOG)) == 1)
    assert worker.posted(LOG)[0][3] == "not here"
    assert asked[0][-2:] == (False, False)  # execute has returned: this holds up nobody


def test_a_decoupled_coroutine_is_not_awaited(start: StartWorker) -> None:
    worker = start(
        f"""
        import asyncio

        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def __init__(self):
                self.event = None

            async def execute(self, requests):
                if self.event is None:
                    self.event = asyncio.Event()
                    await self.event.wait()
                self.event.set()
                for request in requests:
                    request.get_response_sender().send({OK}, 1)
        """,
        decoupled=True,
    )
    assert worker.execute(request(1)) == ("ok", (None,), (1,))
    assert worker.execute(request(2)) == ("ok", (None,), (1,))
    worker.serve_until(lambda: len(worker.posted(SEND)) == 2)
    assert [handle for handle, _, _ in worker.posted(SEND)] == [2, 1]
    worker.execute()
    assert worker.posted(CLOSED) == []


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        ("raise ValueError('so')", "ValueError: so\n\nAt:\n  {file}(9): execute\n"),
        (
            "return []",
            "TritonModelException: Python model 'model_0_0' is using the decoupled mode and the "
            "execute function must return None.",
        ),
    ],
)
@pytest.mark.one_interpreter
def test_a_decoupled_coroutine_that_fails(start: StartWorker, failure: str, text: str) -> None:
    worker = start(
        f"""
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            async def execute(self, requests):
                requests[0].get_response_sender().send(flags=1)
                requests[1].get_response_sender().send({OK})
                {failure}
        """,
        decoupled=True,
    )
    assert worker.execute(*(request(handle) for handle in (1, 2, 3)))[0] == "ok"
    worker.serve_until(lambda: len(worker.posted(SEND)) == 4)
    said = "Failed to process the request(s) for model 'model_0_0', message: " + text.format(
        file=worker.model_file
    )
    assert worker.posted(SEND)[2:] == [(handle, ((1, said), (), ""), 1) for handle in (2, 3)]
    ((level, _, _, line),) = worker.posted(LOG)
    assert level == 2
    assert line.startswith("Traceback (most recent call last):")


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("def other(self): pass", (True, "")),
        ("def is_ready(self): return True", (True, "")),
        ("async def is_ready(self): return True", (True, "")),
        ("def is_ready(self): return False", (False, "is_ready returned False.")),
        (
            "def is_ready(self): return 1",
            (False, "is_ready must return a bool, found type '<class 'int'>'."),
        ),
        (
            "async def is_ready(self): raise ValueError('so')",
            (False, "ValueError: so\n\nAt:\n  {file}(3): is_ready\n"),
        ),
    ],
)
@pytest.mark.one_interpreter
def test_readiness(start: StartWorker, method: str, answer: tuple) -> None:
    worker = start(
        f"""
        class TritonPythonModel:
            {method}
        """
    )
    ready, why = answer
    assert worker.command(READY, None) == (ready, why.format(file=worker.model_file))


def test_a_coroutine_waits_for_credit(start: StartWorker) -> None:
    """Its event loop goes on, and a plain send on the loop's thread does not wait."""
    worker = start(
        f"""
        import triton_python_backend_utils as pb_utils

        FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


        class TritonPythonModel:
            async def execute(self, requests):
                sender = requests[0].get_response_sender()
                if requests[0].request_id() == "plain":
                    sender.send({OK})
                else:
                    await sender.async_send({OK})
                    await sender.async_send({OK})
                await sender.async_send(flags=FINAL)
        """,
        decoupled=True,
    )

    def answered(handle: int) -> list[int]:
        return [flags for number, _, flags in worker.posted(SEND) if number == handle]

    for handle in (1, 2):
        worker.withdraw_credit(handle)
        worker.execute(request(handle))
    worker.execute(request(3))
    worker.withdraw_credit(4)
    worker.execute(request(4, request_id="plain"))
    worker.serve_until(lambda: answered(3) == [0, 0, 1] and answered(4) == [0, 1])
    assert answered(1) == answered(2) == []
    worker.return_credit(2)
    worker.serve_until(lambda: answered(2) == [0, 0, 1])
    assert answered(1) == []
    worker.return_credit(1)
    worker.serve_until(lambda: answered(1) == [0, 0, 1])
    worker.withdraw_credit(5)  # a thread that watches is started again
    worker.execute(request(5))
    worker.return_credit(5)
    worker.serve_until(lambda: answered(5) == [0, 0, 1])
