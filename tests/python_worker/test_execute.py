"""The command Execute: tensors in and out, and every answer to what execute may return."""

from __future__ import annotations

import numpy as np

from .conftest import StartWorker, request, tensor

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
