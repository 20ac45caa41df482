"""What Python models may do beside answering, in a running server: calling other models, parameters,
metrics, and models without a configuration."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
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
    assert eval(shown) == '{"a":Infinity,"b":-Infinity,"c":NaN}'


def test_a_float_reaches_the_client(server: ServerProcess) -> None:
    document = {"inputs": [], "parameters": {"t": 0.25, "n": 3}}
    answer = raw_http.post_json(server.http_url, "/v2/models/answers/infer", document)
    assert answer.json()["parameters"] == {"t": 0.25, "n": 3}


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
