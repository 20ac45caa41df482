# SPDX-License-Identifier: Apache-2.0
"""Requests to other models: the message that is sent, and the answer that the model gets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .conftest import Session, StartWorker, request, tensor
from .fake_server import (
    EXECUTE,
    FINALIZE,
    INFER,
    IS_MODEL_READY,
    LATER,
    STREAM_CANCEL,
    STREAM_CLOSE,
    STREAM_NEXT,
    LOG,
    ServerError,
)

ASK = """
    def ask(**fields):
        fields.setdefault("inputs", [])
        fields.setdefault("requested_output_names", [])
        return pb_utils.InferenceRequest(model_name="other", **fields)

    def shown(response):
        if response.has_error():
            return response.error().code().name, response.error().message()
        return [(t.name(), t.as_numpy().tolist()) for t in response.output_tensors()]
"""


@pytest.fixture
def bls(session: Session) -> Session:
    assert session.run(ASK) == "None"
    return session


def asked_for(session: Session, answer: Any) -> list[tuple]:
    """The arguments of each Infer, all answered the same way."""
    asked = []

    def infer(*arguments: Any) -> Any:
        asked.append(arguments)
        if isinstance(answer, Exception):
            raise answer
        return answer

    session.worker.handlers[INFER] = infer
    return asked


def test_a_request_and_its_response(bls: Session) -> None:
    output = tensor("OUT", [[1.5, 2]])
    asked = asked_for(bls, (None, (output,), '{"p": 1}'))
    bls.run(
        """
        a = pb_utils.Tensor("A", np.arange(3))
        response = ask(inputs=[a], requested_output_names=["OUT", "OUT", "MORE"], request_id="id",
                       correlation_id=2**64 - 1, flags=3, timeout=77, model_version=2,
                       parameters={"x": "y"}).exec()
        result = None
        """
    )
    assert bls.evaluate("shown(response), response.parameters(), response.error()") == repr(
        ([("OUT", [[1.5, 2.0]])], '{"p": 1}', None)
    )
    ((name, version, request_id, correlation, flags, timeout, priority, *others),) = asked
    assert (name, version, request_id) == ("other", 2, "id")
    assert (correlation, flags, timeout, priority) == (2**64 - 1, 3, 77, 0)
    parameters, requested, inputs, trace, decoupled, blocks, waits = others
    assert (parameters, requested, trace) == ('{"x": "y"}', ("OUT", "MORE"), 0)
    assert (decoupled, blocks, waits) == (False, True, True)
    np.testing.assert_array_equal(inputs[0].array(), np.arange(3))


def test_errors_are_responses(bls: Session) -> None:
    asked_for(bls, ServerError(2, "Model other - Error when running inference: no such model"))
    assert bls.evaluate("shown(ask().exec())") == repr(
        ("NOT_FOUND", "Model other - Error when running inference: no such model")
    )
    assert bls.evaluate("[shown(r) for r in ask().exec(decoupled=True)]") == repr(
        [("NOT_FOUND", "Model other - Error when running inference: no such model")]
    )
    asked_for(bls, ((7, "gone"), (), ""))
    assert bls.evaluate("shown(ask().exec())") == "('CANCELLED', 'gone')"
    asked_for(bls, ServerError(1, ""))
    assert "An error occurred while performing BLS request." in bls.evaluate("shown(ask().exec())")


@pytest.mark.one_interpreter
def test_a_large_answer(bls: Session) -> None:
    asked_for(bls, (None, (tensor("OUT", range(1000)),), "x" * 1000))
    assert bls.evaluate("shown(ask().exec())") == repr([("OUT", [float(i) for i in range(1000)])])


@pytest.mark.one_interpreter
def test_from_threads(bls: Session) -> None:
    asked = asked_for(bls, (None, (), ""))
    bls.run(
        """
        threads = [threading.Thread(target=lambda: ask().exec()) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        """
    )
    assert [arguments[-2:] for arguments in asked] == [(False, True)] * 8


@pytest.mark.one_interpreter
def test_the_trace_and_the_request_itself(bls: Session) -> None:
    asked = asked_for(bls, (None, (), ""))
    assert (
        bls.evaluate("request.trace().get_context()", trace=(12, "context")) == "'context'"
    )
    assert bls.evaluate("request.trace().get_context()") == "None"
    bls.run("ask(trace=request.trace()).exec()", trace=(12, "context"))
    assert asked[0][10] == 12


ASYNC = """
    import asyncio

    import triton_python_backend_utils as pb_utils


    def ask():
        return pb_utils.InferenceRequest(
            inputs=[], requested_output_names=[], model_name="other")


    class TritonPythonModel:
        async def execute(self, requests):
            responses = await asyncio.gather(*(ask().async_exec() for _ in range(5)))
            responses.append(ask().exec())
            texts = ",".join(response.error().message() for response in responses)
            return [pb_utils.InferenceResponse(error=pb_utils.TritonError(texts))]
"""


def test_many_at_once(start: StartWorker) -> None:
    worker = start(ASYNC)
    pending: list[int] = []

    def infer(*arguments: Any) -> Any:
        """Answers the first five together, the last first: they are under way together."""
        assert arguments[-2] is True  # execute waits for each
        pending.append(worker.calls[-1][0])
        if len(pending) == 5:
            for number, slot in enumerate(reversed(pending)):
                worker.answer(slot, (0, ((1, str(number)), (), "")))
        return LATER if len(pending) <= 5 else ((1, "last"), (), "")

    worker.handlers[INFER] = infer
    status, (((_, text), _, _),), _ = worker.execute((1, "", 0, 0, 0, "", (), (), 0, None, 0, ()))
    assert status == "ok"
    assert sorted(text.split(",")[:5]) == list("01234") and text.endswith(",last")


@pytest.mark.one_interpreter
def test_async_exec_needs_a_loop(bls: Session) -> None:
    assert bls.evaluate("ask().async_exec()") == "RuntimeError: no running event loop"


@pytest.mark.one_interpreter
def test_in_initialize(start: StartWorker) -> None:
    worker = start(
        """
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def initialize(self, args):
                self.text = pb_utils.InferenceRequest(
                    inputs=[], requested_output_names=[], model_name="other").exec().error().message()

            def execute(self, requests):
                return [pb_utils.InferenceResponse(error=pb_utils.TritonError(self.text))]
        """,
        initialize=False,
    )
    asked = []
    worker.handlers[INFER] = lambda *arguments: asked.append(arguments) or ((1, "ready"), (), "")
    assert worker.initialize() is False
    assert asked[0][-2:] == (False, True)  # no execute waits for it
    _, (((_, text), _, _),), _ = worker.execute(request(1))
    assert text == "ready"


@pytest.mark.parametrize("when", ["auto_complete_config", "finalize", "__init__"])
@pytest.mark.one_interpreter
def test_outside_of_execute(start: StartWorker, when: str) -> None:
    worker = start(
        f"""
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def {when}(*args):
                pb_utils.InferenceRequest(
                    inputs=[], requested_output_names=[], model_name="other").exec()
        """,
        initialize=False,
    )
    if when == "auto_complete_config":
        _, text = worker.auto_complete("{}")
    else:
        text = worker.initialize()
    if when == "finalize":
        assert text is False
        text = worker.command(FINALIZE, None)
    assert isinstance(text, str) and text.startswith(
        "TritonModelException: BLS is only supported during the 'execute' function.\n\nAt:\n"
    )


# --- Decoupled models.


def streams(session: Session, *parts: Any) -> list[tuple]:
    asked = asked_for(session, 31)
    left = list(parts)

    def next_of(stream: int) -> Any:
        assert stream == 31
        part = left.pop(0)
        if isinstance(part, Exception):
            raise part
        return part

    session.worker.handlers[STREAM_NEXT] = next_of
    return asked


def numbered(number: int) -> tuple:
    return (None, (tensor("N", [number]),), "")


def test_a_stream(bls: Session) -> None:
    asked = streams(bls, (numbered(0), False), (numbered(1), False), (None, True))
    bls.run(
        """
        responses = ask().exec(decoupled=True)
        def all_of(it): return [[t.as_numpy().tolist() for t in r.output_tensors()] for r in it]
        first = next(responses)
        """
    )
    # It goes on where it was; the end comes as a response without outputs.
    assert bls.evaluate("all_of(responses)") == "[[[1.0]], []]"
    assert bls.evaluate("next(responses)") == (
        "StopIteration: Iteration is done for the responses."
    )
    assert bls.evaluate("all_of(responses)") == "[[[0.0]], [[1.0]], []]"
    assert asked[0][-2:] == (True, True)
    bls.run("del responses")
    bls.run("")
    assert bls.worker.posted(STREAM_CLOSE) == [(31,)]


@pytest.mark.one_interpreter
def test_the_last_with_outputs(bls: Session) -> None:
    streams(bls, (numbered(4), True))
    assert bls.evaluate("[shown(r) for r in ask().exec(decoupled=True)]") == "[[('N', [4.0])]]"


@pytest.mark.one_interpreter
def test_a_stream_that_fails(bls: Session) -> None:
    streams(bls, (((7, "gone"), (), ""), False), ServerError(4, "unloaded"))
    assert bls.evaluate("[shown(r) for r in ask().exec(decoupled=True)]") == repr(
        [("CANCELLED", "gone"), ("UNAVAILABLE", "unloaded")]
    )


@pytest.mark.one_interpreter
def test_a_stream_that_nobody_reads_to_its_end(bls: Session) -> None:
    streams(bls, (numbered(0), False))
    bls.run("responses = ask().exec(decoupled=True); next(responses)")
    bls.run("responses.cancel()")
    assert bls.worker.posted(STREAM_CANCEL) == [(31,)]
    assert bls.worker.posted(STREAM_CLOSE) == []
    bls.run("del responses")
    bls.run("")
    assert bls.worker.posted(STREAM_CLOSE) == [(31,)]
    assert bls.worker.posted(LOG) == []


ASYNC_STREAM = """
    import asyncio

    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        async def execute(self, requests):
            self.ticks = 0
            request = pb_utils.InferenceRequest(
                inputs=[], requested_output_names=[], model_name=b"other")
            ticking = asyncio.ensure_future(self.tick())
            responses = await request.async_exec(decoupled=True)
            seen = [next(responses).error().message(), f"{self.ticks > 0}"]
            self.ticks = 0
            async for response in responses:
                seen += [response.error().message(), f"{self.ticks > 0}"]
            async for response in responses:
                seen.append(response.error().message())
            ticking.cancel()
            return [pb_utils.InferenceResponse(error=pb_utils.TritonError(",".join(seen)))]

        async def tick(self):
            while True:
                await asyncio.sleep(0.001)
                self.ticks += 1
                pb_utils.Logger.log_info("tick")
"""


@pytest.mark.one_interpreter
def test_the_event_loop_goes_on_while_responses_are_awaited(start: StartWorker) -> None:
    """async_exec is done with the first response, and `async for` awaits the others."""
    worker = start(ASYNC_STREAM)
    worker.handlers[INFER] = lambda *_: 31
    asked: list[int] = []

    def next_of(stream: int) -> Any:
        asked.append(worker.calls[-1][0])
        return LATER

    worker.handlers[STREAM_NEXT] = next_of
    worker.start_command(EXECUTE, (request(1),))
    for number, text in enumerate(("first", "second")):
        # The loop ticks while each of them is awaited, and only then it comes.
        worker.serve_until(lambda: len(asked) > number)
        worker.posts.clear()
        worker.serve_until(lambda: len(worker.posted(LOG)) > 2)
        worker.answer(asked[number], (0, (((1, text), (), ""), number == 1)))
    status, (((_, text), _, _),), _ = worker.finish_command()
    assert status == "ok"
    assert text == "first,True,second,True,first,second"


# --- Processes that the model has forked.

FORK = """
    def in_child(code):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                text = repr(eval(code, globals()))
            except BaseException as error:
                text = f"{type(error).__name__}: {error}"
            os.write(theirs, text.encode())
            os._exit(0)
        os.close(theirs)
        with open(ours, "rb") as pipe:
            text = pipe.read().decode()
        os.waitpid(child, 0)
        return text
"""


@pytest.fixture
def forks(bls: Session) -> Session:
    assert bls.run(FORK) == "None"
    return bls


def test_a_forked_process_asks_through_its_parent(forks: Session) -> None:
    output = tensor("OUT", [[1.5, 2]])
    asked = asked_for(forks, (None, (output,), '{"p": 1}'))
    forks.run("strings = np.array([b'x', b'longer'], dtype=object); large = np.arange(300_000)")
    ask = (
        "ask(inputs=[pb_utils.Tensor('S', strings), pb_utils.Tensor('L', large), request.inputs()[0]])"
    )
    assert forks.evaluate(
        f'in_child("""(shown({ask}.exec()), ask().exec().parameters())""")', tensor("IN", [4, 5])
    ) == repr(repr(([("OUT", [[1.5, 2.0]])], '{"p": 1}')))
    strings, large, given = asked[0][9]
    assert strings.array().tolist() == [b"x", b"longer"]
    np.testing.assert_array_equal(large.array(), np.arange(300_000))
    assert given.array().tolist() == [4, 5]
    # execute waits for it as far as is known, but the process has other things to say meanwhile.
    assert [arguments[-2:] for arguments in asked] == [(True, False)] * 2


@pytest.mark.one_interpreter
def test_streams_of_a_forked_process_are_closed_with_it(forks: Session) -> None:
    streams(forks, (numbered(0), False), (numbered(1), False), (None, True))
    assert forks.evaluate(
        "in_child('[len(r.output_tensors()) for r in ask().exec(decoupled=True)]')"
    ) == repr("[1, 1, 0]")
    assert forks.worker.posted(STREAM_CLOSE) == [(31,)]
    forks.worker.posts.clear()
    streams(forks, (numbered(0), False))
    forks.run("in_child('[next(it := ask().exec(decoupled=True)), it.cancel()]')")
    forks.worker.serve_until(lambda: len(forks.worker.posts) == 2)
    assert [post[0] for post in forks.worker.posts] == [STREAM_CANCEL, STREAM_CLOSE]


@pytest.mark.one_interpreter
def test_a_stream_that_a_forked_process_forsakes_is_closed_with_its_next_call(forks: Session) -> None:
    streams(forks, (numbered(0), False), (numbered(1), False))
    forks.run("kept = ask().exec(decoupled=True); next(kept)")
    code = "[next(ask().exec(decoupled=True)), gc.collect(), pb_utils.is_model_ready('m')][2]"
    closed = []

    def ready(*_: Any) -> bool:
        closed.extend(forks.worker.posted(STREAM_CLOSE))
        return True

    forks.worker.handlers[IS_MODEL_READY] = ready
    assert forks.evaluate(f'in_child("{code}")') == repr("True")
    assert closed == [(31,)]
    # Its copy of the parent's stream closes nothing.
    assert forks.worker.posted(STREAM_CLOSE) == [(31,)]


@pytest.mark.one_interpreter
def test_a_fork_of_a_forked_process_asks_too(forks: Session) -> None:
    asked_for(forks, ((1, "answer"), (), ""))
    code = "in_child('shown(ask().exec())'), shown(ask().exec())"
    expected = repr(("INTERNAL", "answer"))
    assert forks.evaluate(f'in_child("({code})")') == repr(repr((expected, ("INTERNAL", "answer"))))


@pytest.mark.one_interpreter
def test_what_a_forked_process_cannot_do(forks: Session) -> None:
    asked_for(forks, ServerError(4, "not ready"))
    assert forks.evaluate("in_child('shown(ask().exec())')") == repr(
        repr(("UNAVAILABLE", "not ready"))
    )
    text = forks.evaluate("in_child('pb_utils.MetricFamily(\"n\", \"d\", pb_utils.COUNTER)')")
    assert "TritonModelException: " in text and "cannot create metrics" in text
    text = forks.evaluate(
        "in_child('request.get_response_sender().send(pb_utils.InferenceResponse([]))')"
    )
    assert "TritonModelException: This process was forked from " in text


@pytest.mark.one_interpreter
def test_a_pool_made_by_initialize(start: StartWorker) -> None:
    worker = start(
        """
        import multiprocessing

        import triton_python_backend_utils as pb_utils


        def ask(number):
            request = pb_utils.InferenceRequest(
                inputs=[], requested_output_names=[], model_name="other", request_id=str(number))
            return request.exec().error().message()


        class TritonPythonModel:
            def initialize(self, args):
                self.pool = multiprocessing.get_context("fork").Pool(3)

            def execute(self, requests):
                texts = ",".join(self.pool.map(ask, range(8)))
                return [pb_utils.InferenceResponse(error=pb_utils.TritonError(texts))]

            def finalize(self):
                raise RuntimeError(self.pool.map(ask, [8])[0])
        """
    )
    worker.handlers[INFER] = lambda *arguments: ((1, f"answer {arguments[2]}"), (), "")
    _, (((_, text), _, _),), _ = worker.execute(request(1))
    assert text.split(",") == [f"answer {number}" for number in range(8)]
    # They do not learn how the life of the model goes on, but their parent sees to it.
    text = worker.command(FINALIZE, None)
    assert text.startswith("RuntimeError: BLS is only supported during the 'execute' function.")


# --- What no request is.


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            "inputs=[None], request_id='7'",
            "TritonModelException: Input tensor for request with id '7' and model name 'other' "
            "should not be empty.",
        ),
        (
            "requested_output_names=['']",
            "TritonModelException: Requested output name for request with id '' and model name "
            "'other' should not be empty.",
        ),
        (
            "correlation_id=1.5",
            "TritonModelException: Correlation ID must be integer or string",
        ),
        ("parameters=[]", "TritonModelException: Expect dict, got <class 'list'>"),
        (
            "parameters={1: 2}",
            "TritonModelException: Expect parameters keys to have type str, found type "
            "<class 'int'>",
        ),
        (
            "parameters={'a': None}",
            "TritonModelException: Expect parameters values to have type bool/int/str, found type "
            "<class 'NoneType'>; a float is taken, too",
        ),
    ],
)
@pytest.mark.one_interpreter
def test_what_is_refused(bls: Session, fields: str, text: str) -> None:
    assert bls.evaluate(f"ask({fields})") == text


@pytest.mark.parametrize(
    "fields",
    [
        "inputs=None",
        "inputs=[1]",
        "requested_output_names=None",
        "requested_output_names=[1]",
        "request_id=None",
        "correlation_id=None",
        "flags=None",
        "timeout=None",
        "model_version=None",
        "preferred_memory=None",
        "trace=None",
    ],
)
@pytest.mark.one_interpreter
def test_arguments_of_other_types(bls: Session, fields: str) -> None:
    assert bls.evaluate(f"ask({fields})").startswith("TypeError: ")


@pytest.mark.one_interpreter
def test_a_number_that_is_too_large(bls: Session) -> None:
    for fields in ("correlation_id=2**64", "correlation_id=-1", "timeout=-1", "flags=-1"):
        assert bls.evaluate(f"ask({fields})").startswith("TypeError: ")
