# SPDX-License-Identifier: Apache-2.0
"""Short executions of a Python model that does not batch: the process is given several at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest
import tritonclient.http
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.repository import ModelRepository
from support.server_process import ServerProcess

MODEL = """
import os
import signal

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.executions = 0

    def execute(self, requests):
        (request,) = requests  # however many the process has got
        self.executions += 1
        x = pb_utils.get_input_tensor_by_name(request, "X").as_numpy()
        if x[0] == -1:
            raise ValueError("minus one")
        if x[0] == -2:
            os.kill(os.getpid(), signal.SIGABRT)
        count = np.array([self.executions], np.int64)
        outputs = [pb_utils.Tensor("Y", x + 1), pb_utils.Tensor("COUNT", count)]
        return [pb_utils.InferenceResponse(outputs)]
"""
CONFIG = """
backend: "python"
input { name: "X" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 4 ] }
output { name: "COUNT" data_type: TYPE_INT64 dims: [ 1 ] }
"""
CLIENTS = 16
EACH = 200


@pytest.fixture
def server(server_factory: ServerFactory, model_repository: ModelRepository) -> ServerProcess:
    folder = model_repository.add("m", CONFIG)
    (folder / "1" / "model.py").write_text(MODEL, encoding="utf-8")
    return server_factory(
        model_repository, INTERPRETER, "--allow-nereid-api=true"
    )


def infer(client: tritonclient.http.InferenceServerClient, first: float) -> int:
    """Checks the answer; returns how many executions there had been."""
    given = np.array([first, 1, 2, 3], np.float32)
    tensor = tritonclient.http.InferInput("X", [4], "FP32")
    tensor.set_data_from_numpy(given)
    answer = client.infer("m", [tensor])
    np.testing.assert_array_equal(answer.as_numpy("Y"), given + 1)
    return int(answer.as_numpy("COUNT")[0])


def under_load(
    server: ServerProcess, talk: Callable[[tritonclient.http.InferenceServerClient, int], list[int]]
) -> list[int]:
    """All results of clients that run at the same time."""

    def run(number: int) -> list[int]:
        with tritonclient.http.InferenceServerClient(server.http_url) as client:
            return talk(client, number)

    with ThreadPoolExecutor(CLIENTS) as pool:
        return sum(pool.map(run, range(CLIENTS)), [])


def most_handed_over(server: ServerProcess) -> int:
    timeline = raw_http.get(server.http_url, "/v2/nereid/models/m/versions/1/timeline").json()
    executions = timeline["executions"]
    assert {execution["requests"] for execution in executions} == {1}
    times = sorted((execution["start_ns"], execution["end_ns"]) for execution in executions)
    assert all(before[1] <= after[0] for before, after in pairwise(times)), "they overlap"
    return max(Counter(execution["left_queue_ns"] for execution in executions).values())


def test_each_request_is_an_execution(server: ServerProcess) -> None:
    def talk(client: tritonclient.http.InferenceServerClient, number: int) -> list[int]:
        return [infer(client, 1000 * number + i) for i in range(EACH)]

    counts = under_load(server, talk)
    assert sorted(counts) == list(range(1, CLIENTS * EACH + 1))
    assert 1 < most_handed_over(server) <= 8
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        (statistics,) = client.get_inference_statistics("m")["model_stats"]
    assert statistics["execution_count"] == statistics["inference_count"] == CLIENTS * EACH
    (batches,) = statistics["batch_stats"]
    assert (batches["batch_size"], batches["compute_infer"]["count"]) == (1, CLIENTS * EACH)


def test_an_error_is_that_of_its_request(server: ServerProcess) -> None:
    def talk(client: tritonclient.http.InferenceServerClient, number: int) -> list[int]:
        counts = []
        for i in range(EACH):
            if (i + number) % 10 > 0:
                counts.append(infer(client, i))
                continue
            with pytest.raises(InferenceServerException, match="ValueError: minus one"):
                infer(client, -1)
        return counts

    assert len(under_load(server, talk)) == CLIENTS * EACH * 9 // 10


def test_a_process_that_dies_takes_one_request_with_it(server: ServerProcess) -> None:
    """The others that it had been given are executed by its successor."""

    def talk(client: tritonclient.http.InferenceServerClient, number: int) -> list[int]:
        counts = [infer(client, i) for i in range(EACH // 2)]
        if number == 0:
            with pytest.raises(InferenceServerException, match=r"SIGABRT|signal 6\b"):
                infer(client, -2)
        return counts + [infer(client, i) for i in range(EACH // 2)]

    assert len(under_load(server, talk)) == CLIENTS * EACH
