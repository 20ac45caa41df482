# SPDX-License-Identifier: Apache-2.0
"""The command Execute: inputs and outputs, and the reply to every kind of result of execute."""

from __future__ import annotations

import time

import numpy as np
import pytest

from .conftest import StartWorker, Worker, request, tensor
from .fake_server import CLOSED

ADD_SUB = """
    import numpy as np
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def initialize(self, args):
            self.args = args

        def execute(self, requests):
            responses = []
            for request in requests:
                a = pb_utils.get_input_tensor_by_name(request, "A").as_numpy()
                b = pb_utils.get_input_tensor_by_name(request, "B").as_numpy()
                outputs = [pb_utils.Tensor("SUM", a + b), pb_utils.Tensor("DIFF", a - b)]
                responses.append(pb_utils.InferenceResponse(outputs))
            return responses
"""


@pytest.mark.one_interpreter
def test_the_memory_of_a_large_answer_goes_back(start: StartWorker) -> None:
    worker = start(ADD_SUB)
    a, b = (tensor(name, np.zeros(1 << 20)) for name in "AB")
    assert worker.execute(request(1, a, b))[0] == "ok"
    # The first time, the answer was needed until now.
    assert worker.trim() >= 4 << 20
    assert worker.trim() <= 1 << 20
    assert worker.execute(request(2, tensor("A", [1, 2]), tensor("B", [3, 5])))[0] == "ok"


def test_a_batch_is_answered(start: StartWorker) -> None:
    worker = start(ADD_SUB)
    status, responses, flags = worker.execute(
        request(1, tensor("A", [1, 2]), tensor("B", [3, 5])),
        request(2, tensor("A", [[8]]), tensor("B", [[1]]), requested=("DIFF",)),
    )
    assert status == "ok"
    assert flags == (1, 1)
    (error, outputs, parameters), (_, pruned, _) = responses
    assert (error, parameters) == (None, "")
    assert [out.name for out in outputs] == ["SUM", "DIFF"]
    np.testing.assert_array_equal(outputs[0].array(), np.array([4, 7], np.float32))
    np.testing.assert_array_equal(outputs[1].array(), np.array([-2, -3], np.float32))
    assert [out.name for out in pruned] == ["DIFF"]
    np.testing.assert_array_equal(pruned[0].array(), np.array([[7]], np.float32))


def test_an_exception_fails_the_batch(start: StartWorker) -> None:
    worker = start(
        """
        class TritonPythonModel:
            def execute(self, requests):
                return lorem_ipsum
        """
    )
    assert worker.execute(request(1), request(2)) == (
        "error",
        "Failed to process the request(s) for model 'model_0_0', message: NameError: name "
        f"'lorem_ipsum' is not defined\n\nAt:\n  {worker.model_file}(4): execute\n",
    )


def message(worker: Worker, what: str) -> tuple:
    return ("error", f"Failed to process the request(s) for model 'model_0_0', message: {what}")


def returning(expression: str, before: str = "pass", kind: str = "def") -> str:
    return f"""
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            {kind} execute(self, requests):
                {before}
                return {expression}
    """


OK = "pb_utils.InferenceResponse([])"
WRONG_RETURNS = [
    (f"({OK},)", "Expected a list in the execute return, found type '<class 'tuple'>'."),
    ("5", "Expected a list in the execute return, found type '<class 'int'>'."),
    (
        "[]",
        "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
        "InferenceRequest(s) size is:1, and InferenceResponse(s) size is:0\n",
    ),
    (
        f"[{OK}, {OK}]",
        "Number of InferenceResponse objects do not match the number of InferenceRequest objects. "
        "InferenceRequest(s) size is:1, and InferenceResponse(s) size is:2\n",
    ),
    (
        "['text']",
        "Expected an 'InferenceResponse' object in the execute function return list, found type "
        "'<class 'str'>'.",
    ),
]


@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.parametrize(("expression", "text"), WRONG_RETURNS)
@pytest.mark.one_interpreter
def test_wrong_returns(start: StartWorker, expression: str, text: str, kind: str) -> None:
    worker = start(returning(expression, kind=kind))
    assert worker.execute(request(1)) == message(worker, text)


@pytest.mark.one_interpreter
def test_no_execute(start: StartWorker) -> None:
    worker = start("class TritonPythonModel: pass")
    text = f"Python model {worker.model_file} does not implement `execute` method."
    assert worker.execute(request(1)) == message(worker, text)


@pytest.mark.one_interpreter
def test_a_decoupled_model_returns_none(start: StartWorker) -> None:
    worker = start(returning("[]"), decoupled=True)
    assert worker.execute(request(1)) == message(
        worker,
        "Python model 'model_0_0' is using the decoupled mode and the execute function must return "
        "None.",
    )


def test_an_error_fails_its_request_alone(start: StartWorker) -> None:
    worker = start(
        f"""
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                codes = ["UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE",
                         "UNSUPPORTED", "ALREADY_EXISTS", "CANCELLED"]
                errors = [pb_utils.TritonError(name, getattr(pb_utils.TritonError, name))
                          for name in codes]
                errors.append(pb_utils.TritonError("no code"))
                return [pb_utils.InferenceResponse(error=error) for error in errors] + [{OK}]
        """
    )
    status, responses, _ = worker.execute(*(request(handle) for handle in range(1, 11)))
    assert status == "ok"
    assert [response[0] and response[0][0] for response in responses] == [*range(8), 1, None]
    assert responses[3][0] == (3, "INVALID_ARG")


@pytest.mark.parametrize("raised", ["SystemExit(3)", "KeyboardInterrupt()"])
@pytest.mark.parametrize("kind", ["def", "async def"])
@pytest.mark.one_interpreter
def test_exceptions_that_are_no_errors(start: StartWorker, raised: str, kind: str) -> None:
    worker = start(returning("None", before=f"raise {raised}", kind=kind))
    for _ in range(2):  # the process lives
        status, text = worker.execute(request(1))
        assert status == "error"
        name, argument = raised.rstrip(")").split("(")
        argument = argument or "<EMPTY MESSAGE>"
        assert text.split("message: ")[1].startswith(f"{name}: {argument}\n\nAt:\n  {worker.folder}")


@pytest.mark.one_interpreter
def test_frames_innermost_first(start: StartWorker) -> None:
    worker = start(
        """
        import triton_python_backend_utils as pb_utils


        def inner():
            pb_utils.Tensor("", [])


        class TritonPythonModel:
            def execute(self, requests):
                inner()
        """
    )
    file = worker.model_file
    assert worker.execute(request(1)) == message(
        worker,
        "TritonModelException: Tensor name cannot be an empty string.\n\nAt:\n"
        f"  {file}(6): inner\n  {file}(11): execute\n",
    )


@pytest.mark.one_interpreter
def test_frames_of_this_package_are_left_out(start: StartWorker) -> None:
    worker = start(returning("pb_utils.TritonError(5)"))
    assert worker.execute(request(1)) == message(
        worker,
        "TypeError: TritonError(): incompatible function arguments. 'message' must be a str or bytes, not "
        f"<class 'int'>\n\nAt:\n  {worker.model_file}(8): execute\n",
    )


@pytest.mark.one_interpreter
def test_what_cannot_be_sent_fails_the_batch(start: StartWorker) -> None:
    worker = start(
        """
        import resource

        import numpy as np
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
                size = int(requests[0].request_id())
                return [pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.zeros(size))])]
        """
    )
    status, text = worker.execute(request(1, request_id=str(1 << 20)))
    assert status == "error"
    assert "MemoryError: there is no memory for a message of 8388" in text
    assert worker.execute(request(1, request_id="5"))[0] == "ok"


@pytest.mark.one_interpreter
def test_texts_that_are_no_utf8(start: StartWorker) -> None:
    worker = start(returning("None", before="raise ValueError('\\udc80')"))
    status, text = worker.execute(request(1))
    assert status == "error"
    assert "ValueError: \\udc80" in text


@pytest.mark.one_interpreter
def test_parameters_of_requests_and_responses(start: StartWorker) -> None:
    worker = start(
        """
        import json
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                return [
                    pb_utils.InferenceResponse([], parameters=json.loads(request.parameters()))
                    for request in requests
                ]
        """
    )
    given = '{"a": 1, "b": true, "c": "text", "d": 1.5}'
    _, responses, _ = worker.execute(request(1, parameters=given), request(2))
    assert [response[2] for response in responses] == [given, ""]
    status, text = worker.execute(request(1, parameters='{"a": []}'))
    assert "Expect parameters values to have type bool/int/str, found type <class 'list'>" in text


@pytest.mark.one_interpreter
def test_rescheduling(start: StartWorker) -> None:
    worker = start(
        """
        import triton_python_backend_utils as pb_utils


        class TritonPythonModel:
            def execute(self, requests):
                responses = []
                for request in requests:
                    request.set_release_flags(pb_utils.TRITONSERVER_REQUEST_RELEASE_RESCHEDULE)
                    again = request.request_id() == "again"
                    responses.append(None if again else pb_utils.InferenceResponse([]))
                return responses
        """
    )
    assert worker.execute(request(1, request_id="again")) == ("ok", (None,), (2,))
    assert worker.execute(request(2)) == message(
        worker,
        "Expected a None object in the execute function return list for reschduled request, found "
        "type '<class 'c_python_backend_utils.InferenceResponse'>'.",
    )
    # The first comes again, by another number; the second is answered.
    assert worker.posted(CLOSED) == [(1,)]


@pytest.mark.one_interpreter
def test_the_time_of_the_model_is_noted(start: StartWorker) -> None:
    worker = start(returning(f"[{OK}]"))
    before = time.monotonic_ns()
    worker.execute(request(1))
    started, ended = worker.compute_times()
    assert before <= started <= ended <= time.monotonic_ns()
