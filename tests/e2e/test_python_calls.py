# SPDX-License-Identifier: Apache-2.0
"""What Python models may do beside answering, in a running server: calling other models, parameters,
metrics, and models without a configuration."""

from __future__ import annotations

import json
import re
import textwrap
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

# Runs the Python text that it gets; answers with the repr of `result`.
LAB = """
    import gc
    import json
    import multiprocessing

    import numpy as np
    import triton_python_backend_utils as pb_utils


    def ask(model, decoupled=False, **fields):
        fields = {"inputs": [], "requested_output_names": [], **fields}
        return pb_utils.InferenceRequest(model_name=model, **fields).exec(decoupled=decoupled)


    def seed_of(number):
        answer = ask("answers", parameters={"seed": number})
        return json.loads(answer.parameters())["seed"]


    class TritonPythonModel:
        def execute(self, requests):
            names = dict(globals(), request=requests[0])
            (code,) = requests[0].inputs()[0].as_numpy()
            try:
                exec(code.decode(), names)
                text = repr(names.get("result"))
            except Exception as error:
                text = f"{type(error).__name__}: {error}"
            tensor = pb_utils.Tensor("RESULT", np.array([text], dtype=object))
            return [pb_utils.InferenceResponse([tensor])]
"""
LAB_CONFIG = """
backend: "python"
input { name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "RESULT" data_type: TYPE_STRING dims: [ 1 ] }
"""

# Answer with the parameters of their requests as parameters of their responses.
ANSWERS = """
    import json

    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def execute(self, requests):
            return [
                pb_utils.InferenceResponse([], parameters=json.loads(request.parameters()))
                for request in requests
            ]
"""
STREAM = """
    import json

    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def execute(self, requests):
            for request in requests:
                sender = request.get_response_sender()
                for number in range(2):
                    parameters = {**json.loads(request.parameters()), "number": number}
                    sender.send(pb_utils.InferenceResponse([], parameters=parameters))
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""
OPTIONAL = 'backend: "python"\ninput { name: "X" data_type: TYPE_INT32 dims: [ 1 ] optional: true }\n'
OPTIONAL += 'output { name: "Y" data_type: TYPE_INT32 dims: [ 1 ] }\n'


def add(repository: ModelRepository, name: str, model: str, config: str | None) -> None:
    folder = repository.add(name, config)
    (folder / "1" / "model.py").write_text(textwrap.dedent(model), encoding="utf-8")


@pytest.fixture
def server(server_factory: ServerFactory, model_repository: ModelRepository) -> ServerProcess:
    add(model_repository, "lab", LAB, LAB_CONFIG)
    add(model_repository, "answers", ANSWERS, OPTIONAL)
    decoupled = OPTIONAL + "model_transaction_policy { decoupled: true }\n"
    add(model_repository, "stream", STREAM, decoupled)
    return server_factory(model_repository, INTERPRETER)


def run(server: ServerProcess, code: str, **parameters: Any) -> str:
    """Runs a piece of Python in the model `lab`."""
    tensor = {"name": "CODE", "shape": [1], "datatype": "BYTES", "data": [textwrap.dedent(code)]}
    document = {"inputs": [tensor], "parameters": parameters}
    answer = raw_http.post_json(server.http_url, "/v2/models/lab/infer", document)
    assert answer.status == 200, answer.body
    return answer.json()["outputs"][0]["data"][0]


# --- Parameters.


def test_parameters_go_both_ways(server: ServerProcess) -> None:
    given = {"who": "dbl", "n": -7, "yes": True, "no": False, "t": 0.7, "large": 2**63 - 1}
    code = """
        parameters = json.loads(request.parameters())
        result = [ask("answers", parameters=parameters).parameters()]
        result += [r.parameters() for r in ask("stream", decoupled=True, parameters=parameters)]
    """
    one, first, second, last = map(json.loads, eval(run(server, code, **given)))
    assert one == given
    assert first == {**given, "number": 0} and second == {**given, "number": 1}
    assert last == {}
    assert [type(value) for value in one.values()] == [str, int, bool, bool, float, int]


def test_parameters_that_no_json_has(server: ServerProcess) -> None:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        tensor = tritonclient.grpc.InferInput("CODE", [1], "BYTES")
        text = "result = ask('answers', parameters=json.loads(request.parameters())).parameters()"
        tensor.set_data_from_numpy(np.array([text], dtype=object))
        answer = client.infer(
            "lab", [tensor], parameters={"a": float("inf"), "b": float("-inf"), "c": float("nan")}
        )
        (shown,) = answer.as_numpy("RESULT")
    parameters = sorted(json.loads(eval(shown)).items())
    assert repr(parameters) == "[('a', inf), ('b', -inf), ('c', nan)]"


def test_a_float_reaches_the_client(server: ServerProcess) -> None:
    document = {"inputs": [], "parameters": {"t": 0.25, "n": 3}}
    answer = raw_http.post_json(server.http_url, "/v2/models/answers/infer", document)
    assert answer.json()["parameters"] == {"t": 0.25, "n": 3}


# --- Coroutines that ask decoupled models.

# Answers when three requests are there at a time.
MEETING = """
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def initialize(self, args):
            self.there = []

        def execute(self, requests):
            self.there += requests
            pb_utils.Logger.log_info(f"there are {len(self.there)}")
            if len(self.there) < 3:
                return
            for request in self.there:
                sender = request.get_response_sender()
                (x,) = request.inputs()
                sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("Y", x.as_numpy())]))
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
            self.there.clear()
"""
ROUTER = """
    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        async def execute(self, requests):
            for request in requests:
                asked = pb_utils.InferenceRequest(
                    model_name=b"meeting", inputs=request.inputs(), requested_output_names=[b"Y"])
                sender = request.get_response_sender()
                for response in await asked.async_exec(decoupled=True):
                    if response.output_tensors():
                        sender.send(pb_utils.InferenceResponse(response.output_tensors()))
                sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""


def test_coroutines_that_await_first_responses_run_side_by_side(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    decoupled = OPTIONAL + "model_transaction_policy { decoupled: true }\n"
    add(model_repository, "meeting", MEETING, decoupled)
    add(model_repository, "router", ROUTER, decoupled)
    server = server_factory(model_repository, INTERPRETER)

    def ask(number: int) -> int:
        answer = raw_http.post_json(server.http_url, "/v2/models/router/generate", {"X": number})
        assert answer.status == 200, answer.body
        return answer.json()["Y"]

    with ThreadPoolExecutor(3) as pool:
        asked = []
        for number in range(3):
            asked.append(pool.submit(ask, number))
            # The next one is sent when all before are awaited.
            there = f"there are {number + 1}"
            poll_until(there, lambda there=there: there in server.log_text())
        assert [answer.result() for answer in asked] == [0, 1, 2]


# --- Processes that a model forks.


def test_a_pool_of_processes_asks(server: ServerProcess) -> None:
    code = """
        with multiprocessing.get_context("fork").Pool(4) as pool:
            result = pool.map(seed_of, range(20))
    """
    assert run(server, code) == repr(list(range(20)))


# --- Metrics.


def test_a_histogram_without_bounds(server: ServerProcess) -> None:
    code = """
        family = pb_utils.MetricFamily("lab_all", "d", pb_utils.MetricFamily.HISTOGRAM)
        metric = family.Metric(labels={}, buckets=[])
        metric.observe(3)
        pb_utils.kept = family, metric
    """
    assert run(server, code) == "None"
    page = raw_http.get(server.metrics_url, "/metrics").body.decode()
    assert [line for line in page.splitlines() if line.startswith("lab_all")] == [
        "lab_all_count 1",
        "lab_all_sum 3",
        'lab_all_bucket{le="+Inf"} 1',
    ]


def test_the_names_of_the_server_are_taken(server: ServerProcess) -> None:
    """Two families of one name are a page that cannot be read."""
    page = raw_http.get(server.metrics_url, "/metrics").body.decode()
    families = re.findall(r"^# TYPE (\S+)", page, re.MULTILINE)
    assert {"nv_inference_count", "nereid_in_flight_bytes", "nv_cpu_utilization"} <= set(families)
    for family in families:
        text = run(server, f"pb_utils.MetricFamily('{family}', 'd', pb_utils.MetricFamily.GAUGE)")
        assert f"the name '{family}' of a metric family is taken" in text, text
    assert run(server, "pb_utils.MetricFamily('nv_trt_llm_x', 'd', pb_utils.MetricFamily.GAUGE)") == "None"


# --- Outputs that are not as configured.

MISFITS = """
    import numpy as np
    import triton_python_backend_utils as pb_utils

    ARRAYS = {
        "good": np.ones((1, 2), np.float32),
        "type": np.ones((1, 2)),
        "rank": np.ones(2, np.float32),
        "size": np.ones((1, 3), np.float32),
    }


    class TritonPythonModel:
        def execute(self, requests):
            responses = []
            for request in requests:
                good = pb_utils.Tensor("Z", ARRAYS["good"])
                how = request.request_id()
                tensor = pb_utils.Tensor("NO" if how == "name" else "Y", ARRAYS.get(how, ARRAYS["good"]))
                responses.append(pb_utils.InferenceResponse([tensor, good]))
            return responses
"""
MISFITS_CONFIG = """
backend: "python"
max_batch_size: 4
input { name: "X" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "Y" data_type: TYPE_FP32 dims: [ 2 ] }
output { name: "Z" data_type: TYPE_FP32 dims: [ 2 ] }
"""


@pytest.mark.parametrize(
    ("how", "shape", "said"),
    [
        ("good", [1, 2], None),
        ("type", [1, 2], "is TYPE_FP64 [1,2], but its configuration says TYPE_FP32 [-1,2]"),
        ("rank", [2], "is TYPE_FP32 [2], but its configuration says TYPE_FP32 [-1,2]"),
        ("size", [1, 3], "is TYPE_FP32 [1,3], but its configuration says TYPE_FP32 [-1,2]"),
    ],
)
def test_an_output_that_is_not_as_configured_is_named_once(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    how: str,
    shape: list[int],
    said: str | None,
) -> None:
    add(model_repository, "misfits", MISFITS, MISFITS_CONFIG)
    server = server_factory(model_repository, INTERPRETER)
    document = {"id": how, "inputs": [{"name": "X", "shape": [1, 1], "datatype": "INT32", "data": [1]}]}
    for _ in range(3):
        answer = raw_http.post_json(server.http_url, "/v2/models/misfits/infer", document)
        assert (answer.status, answer.json()["outputs"][0]["shape"]) == (200, shape)
    server.stop()
    lines = [line for line in server.log_text().splitlines() if "its configuration says" in line]
    assert len(lines) == (said is not None)
    if said is not None:
        assert f"output 'Y' of Python model 'misfits' {said}" in lines[0] and lines[0].startswith("W")


def test_an_output_that_is_not_configured_is_named_once(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "misfits", MISFITS, MISFITS_CONFIG)
    server = server_factory(model_repository, INTERPRETER)
    tensor = {"name": "X", "shape": [1, 1], "datatype": "INT32", "data": [1]}
    document = {"id": "name", "inputs": [tensor]}
    for asked in ({}, {"outputs": [{"name": "Z"}]}):  # all outputs, and one
        answer = raw_http.post_json(server.http_url, "/v2/models/misfits/infer", {**document, **asked})
        assert [output["name"] for output in answer.json()["outputs"]] == ["Z"]
    good = {"id": "good", "inputs": [tensor], "outputs": [{"name": "Z"}]}
    assert raw_http.post_json(server.http_url, "/v2/models/misfits/infer", good).status == 200
    server.stop()
    (line,) = [line for line in server.log_text().splitlines() if " is left out, " in line]
    assert "output 'NO' of Python model instance 'misfits_0' is left out" in line and line.startswith("W")


# --- Calls of a model that is not initialized yet.

EARLY = """
    import json
    import time

    import triton_python_backend_utils as pb_utils


    class TritonPythonModel:
        def initialize(self, args):
            while WAITS and not pb_utils.is_model_ready("answers"):
                time.sleep(0.01)
            answer = pb_utils.InferenceRequest(
                model_name="answers", inputs=[], requested_output_names=[], parameters={"n": 5}
            ).exec()
            if answer.has_error():
                raise pb_utils.TritonModelException(answer.error().message())
            self.parameters = json.loads(answer.parameters())

        def execute(self, requests):
            return [pb_utils.InferenceResponse([], parameters=self.parameters) for _ in requests]
"""


def test_initialize_asks_a_model_that_is_ready(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "early", EARLY.replace("WAITS", "False"), OPTIONAL)
    add(model_repository, "answers", ANSWERS, OPTIONAL)
    server = server_factory(model_repository, INTERPRETER, "--model-control-mode=explicit")

    def load(model: str) -> raw_http.HttpAnswer:
        return raw_http.post_json(server.http_url, f"/v2/repository/models/{model}/load", {})

    assert "Request for unknown model: 'answers' is not found" in load("early").json()["error"]
    assert load("answers").status == 200 and load("early").status == 200
    answer = raw_http.post_json(server.http_url, "/v2/models/early/infer", {"inputs": []})
    assert answer.json()["parameters"] == {"n": 5}


def test_initialize_awaits_a_model_of_the_same_start(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add(model_repository, "early", EARLY.replace("WAITS", "True"), OPTIONAL)
    slow = ANSWERS + "\n        def initialize(self, args):\n            __import__('time').sleep(0.5)\n"
    add(model_repository, "answers", slow, OPTIONAL)
    server = server_factory(model_repository, INTERPRETER)
    answer = raw_http.post_json(server.http_url, "/v2/models/early/infer", {"inputs": []})
    assert answer.json()["parameters"] == {"n": 5}


# --- The end of a process.


def test_a_process_that_ends_as_told_repeats_nothing(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model = ANSWERS + "\n        def finalize(self):\n            print('the last words')\n"
    add(model_repository, "answers", model, OPTIONAL)
    server = server_factory(model_repository, INTERPRETER, "--log-verbose=1")
    server.stop()
    log = server.log_text()
    assert log.count("the last words") == 1 and "exited with status 0" in log


# --- Models without a configuration.


@pytest.mark.parametrize("config", [None, "", 'backend: "python"'])
def test_a_model_that_configures_nothing(
    server_factory: ServerFactory, model_repository: ModelRepository, config: str | None
) -> None:
    add(model_repository, "bare", ANSWERS, config)
    server = server_factory(model_repository, INTERPRETER)
    document = {"inputs": [], "parameters": {"n": 3}}
    answer = raw_http.post_json(server.http_url, "/v2/models/bare/infer", document)
    assert answer.json()["parameters"] == {"n": 3}
    config_shown = raw_http.get(server.http_url, "/v2/models/bare/config").json()
    assert (config_shown["max_batch_size"], config_shown["input"], config_shown["output"]) == (0, [], [])
