# SPDX-License-Identifier: Apache-2.0
"""The generate extension over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving
from support.metrics import metric
from support.nereid import INTERPRETER, start_nereid
from support.poll import poll_until
from support.raw_http import RawConnection
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.streaming import CANCELLED_LINE, DECOUPLED, add_repeat, add_testing

NOT_ONE_RESPONSE = (
    "generate expects model to produce exactly 1 response, use generate stream for model that "
    "generates various number of responses"
)
EVENTS = "text/event-stream; charset=utf-8"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("generate")
    models = ModelRepository(folder / "models")
    add_repeat(models)
    models.add_identity("echo")
    models.add_identity("text", "STRING")
    models.add_identity("matrix", "INT32", (2, -1))
    models.add_identity("bytes", "UINT8")
    add_testing(models, "fails_some", "fails_some")
    server = start_nereid(models.root, folder / "log", ["--http-max-input-size=1000000"])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture
def url(server: ServerProcess) -> Iterator[str]:
    """The server's address. Checks after each test that nothing is in flight and that the server
    answers."""
    yield server.http_url
    assert server.is_alive(), server.log_text()[-2000:]
    assert_serving(server.http_url)
    poll_until(
        "all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0
    )


def generate(url: str, model: str, document: Any, stream: bool = False) -> raw_http.HttpAnswer:
    endpoint = "generate_stream" if stream else "generate"
    return raw_http.post_json(url, f"/v2/models/{model}/{endpoint}", document)


def repeat(values: list[int], delays: list[int] | None = None, **members: Any) -> dict[str, Any]:
    return {"IN": values, "DELAY": delays or [0] * len(values), "WAIT": 0, **members}


def events(answer: raw_http.HttpAnswer) -> list[Any]:
    """The events of a complete stream; each has to be one line of JSON."""
    text = answer.body.decode()
    assert text == "" or text.endswith("\n\n")
    lines = text.split("\n\n")[:-1]
    assert all(line.startswith("data: ") and "\n" not in line for line in lines)
    return [json.loads(line.removeprefix("data: ")) for line in lines]


def test_scalars_lists_and_parameters(url: str) -> None:
    answer = generate(url, "text", {"INPUT0": "a\nb", "temperature": 0.5, "stop": "x", "id": "7"})
    assert answer.status == 200
    assert answer.header("Content-Type") == "application/json"
    assert answer.body == rb'{"OUTPUT0":"a\nb","id":"7","model_name":"text","model_version":"1"}'
    assert generate(url, "text", {"INPUT0": ["a", "b"]}).json()["OUTPUT0"] == ["a", "b"]
    assert generate(url, "echo", {"INPUT0": []}).json()["OUTPUT0"] == []
    nested = {"parameters": {"INPUT0": 1.5, "n": 3}}
    assert generate(url, "echo", nested).json() == {
        "OUTPUT0": 1.5,
        "model_name": "echo",
        "model_version": "1",
    }


@pytest.mark.parametrize(
    ("model", "document", "status", "error"),
    [
        ("nobody", {}, 404, "Request for unknown model: 'nobody' is not found"),
        ("echo", [], 400, "attempt to get members for non-object"),
        (
            "echo",
            {"INPUT0": 1, "PARAMS": {}},
            400,
            "parameter 'PARAMS' has invalid type. It should be either 'int', 'bool', or 'string'.",
        ),
        (
            "echo",
            {"INPUT0": 1, "parameters": "x"},
            400,
            "Expected JSON object for keyword: 'parameters': attempt to access JSON non-object as "
            "object",
        ),
        (
            "echo",
            {"INPUT0": 1, "parameters": {"nested": {}}},
            400,
            "Converting keyword: 'parameters': parameter 'nested' has invalid type. It should be "
            "either 'int', 'bool', or 'string'.",
        ),
        (
            "text",
            {"INPUT0": 1},
            400,
            "Unable to parse JSON bytes array: attempt to access JSON non-string as string: "
            "element 0 of input 'INPUT0', whose datatype is BYTES",
        ),
        (
            "matrix",
            {"INPUT0": [1, 2, 3]},
            400,
            "The schema can not convert input 'INPUT0' to tensor with proper shape",
        ),
        (
            "fails_some",
            {"INPUT0": -1},
            400,
            "testing backend: refused the value -1 on purpose",
        ),
    ],
)
def test_errors(url: str, model: str, document: Any, status: int, error: str) -> None:
    answer = generate(url, model, document)
    assert answer.status == status
    assert answer.header("Content-Type") == "application/json"
    assert answer.error() == error


def test_input_size(url: str) -> None:
    answer = generate(url, "text", {"INPUT0": "x" * 1_000_000})
    assert answer.status == 400
    assert "exceeds the maximum allowed input size of 1000000 bytes" in answer.error()
    answer = generate(url, "echo", {"INPUT0": [1] * 300_000})
    assert answer.status == 400
    assert "with input 'INPUT0' of size 1200000 bytes exceeds the maximum" in answer.error()


def test_not_exactly_one_response(url: str) -> None:
    for values in ([], [1, 2]):
        assert generate(url, "repeat", repeat(values)).error() == NOT_ONE_RESPONSE
    assert generate(url, "repeat", repeat([5])).json()["OUT"] == 5


def test_whole_stream(url: str) -> None:
    answer = generate(url, "repeat", repeat([4, 2, 0], id="x"), stream=True)
    assert answer.status == 200
    assert answer.header("Content-Type") == EVENTS
    assert events(answer) == [
        {"IDX": index, "OUT": value, "id": "x", "model_name": "repeat", "model_version": "1"}
        for index, value in enumerate([4, 2, 0])
    ]
    assert events(generate(url, "repeat", repeat([]), stream=True)) == []
    assert events(generate(url, "echo", {"INPUT0": 2}, stream=True))[0]["OUTPUT0"] == 2.0


def test_error_as_an_event(url: str) -> None:
    answer = generate(url, "repeat", repeat([1], [0, 0]), stream=True)
    assert answer.status == 400
    assert answer.header("Content-Type") == EVENTS
    assert events(answer) == [{"error": "expected IN and DELAY shape to match, got [1] and [2]"}]


def stream_request(document: dict[str, Any], model: str = "repeat") -> bytes:
    body = json.dumps(document).encode()
    return (
        b"POST /v2/models/%s/generate_stream HTTP/1.1\r\nHost: test\r\n"
        b"Content-Length: %d\r\n\r\n%s" % (model.encode(), len(body), body)
    )


def read_until(client: RawConnection, end: bytes) -> bytes:
    seen = b""
    while end not in seen:
        piece = client.socket.recv(65536)
        assert piece, seen
        seen += piece
    return seen


def test_events_are_sent_at_once_and_leaving_cancels(url: str, server: ServerProcess) -> None:
    before = server.log_text().count(CANCELLED_LINE)
    with RawConnection(url) as client:
        started = time.monotonic()
        client.send(stream_request(repeat([1, 2, 3], [0, 200, 60_000])))
        read_until(client, b'"OUT":1,')
        assert time.monotonic() - started < 20
        read_until(client, b'"OUT":2,')
        assert time.monotonic() - started >= 0.2
    poll_until("the model saw it", lambda: server.log_text().count(CANCELLED_LINE) == before + 1)


def test_leaving_before_the_first_event_cancels(url: str, server: ServerProcess) -> None:
    before = server.log_text().count(CANCELLED_LINE)

    def executed() -> float:
        return metric(server.metrics_url, "nv_inference_exec_count", model="repeat")

    executions = executed()
    with RawConnection(url) as client:
        client.send(stream_request(repeat([1], [60_000])))
        poll_until("it runs", lambda: executed() > executions)
    poll_until("the model saw it", lambda: server.log_text().count(CANCELLED_LINE) == before + 1)


def test_slow_reader(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    """A client requests 100 MB of events and does not read: the server buffers little and serves
    others."""
    add_testing(
        model_repository, "flood", "decoupled", DECOUPLED, data_type="STRING", responses="100"
    )
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--max-waiting-stream-bytes=4000000")

    def waiting() -> float:
        return metric(server.metrics_url, "nereid_in_flight_bytes")

    with RawConnection(server.http_url) as client:
        client.send(stream_request({"INPUT0": "x" * 1_000_000}, "flood"))
        poll_until("events wait", lambda: waiting() > 3_000_000)
        for _ in range(50):
            assert_serving(server.http_url)
        assert waiting() < 16_000_000
        assert len(events(client.read_answer("POST"))) == 100
    poll_until("all is given back", lambda: waiting() == 0)


def test_stop_lets_a_stream_finish(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_repeat(model_repository)
    server = server_factory(model_repository)
    with RawConnection(server.http_url) as client:
        client.send(stream_request(repeat([1, 2], [0, 1000])))
        read_until(client, b'"OUT":1,')
        server.process.terminate()
        read_until(client, b'"OUT":2,')
        server.wait_exit(20)


# A language model's cache, as its backend would publish it.
CACHE_MODEL = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.family = pb_utils.MetricFamily(
            name="nv_trt_llm_kv_cache_block_metrics",
            description="Blocks",
            kind=pb_utils.MetricFamily.GAUGE,
        )
        self.metrics = []
        for kind, value in (("used", 3), ("max", 4), ("tokens_per", 64), ("free", 1)):
            labels = {"model": "cache", "version": "1", "kv_cache_block_type": kind}
            self.metrics.append(self.family.Metric(labels=labels))
            self.metrics[-1].set(value)

    def execute(self, requests):
        return [
            pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUTPUT0", tensor.as_numpy())]
            )
            for request in requests
            for tensor in request.inputs()
        ]
"""


def test_answers_tell_how_full_the_cache_is(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("cache", "INT32", (1,), backend="python")
    (folder / "1" / "model.py").write_text(CACHE_MODEL)
    url = server_factory(model_repository, INTERPRETER).http_url

    def load(route: str, *formats: str) -> str | None:
        headers = [("endpoint-load-metrics-format", one) for one in formats]
        answer = raw_http.post_json(url, f"/v2/models/cache/{route}", {"INPUT0": 1}, headers)
        assert answer.status == 200
        return answer.header("endpoint-load-metrics")

    for route in ("generate", "generate_stream"):
        assert load(route, "text") == (
            "TEXT named_metrics.kv_cache_utilization=0.750000, named_metrics.max_token_capacity=256"
        )
        format_, _, document = str(load(route, "json")).partition(" ")
        assert format_ == "JSON"
        numbers = {"kv_cache_utilization": 0.75, "max_token_capacity": 256}
        assert json.loads(document) == {"named_metrics": numbers}
        assert load(route) is None
        assert load(route, "xml") is None


NOT_FINITE = [
    ("literal", "[NaN,-Infinity,1.5]"),
    ("null", "[null,null,1.5]"),
    ("string", '["NaN","-Infinity",1.5]'),
]


def infer_floats(url: str, values: str, parameters: str) -> raw_http.HttpAnswer:
    body = (
        f'{{"parameters":{{{parameters}}},"inputs":[{{"name":"INPUT0","shape":[3],'
        f'"datatype":"FP32","data":{values}}}]}}'
    )
    return raw_http.post(url, "/v2/models/echo/infer", body.encode())


@pytest.mark.parametrize(("how", "written"), NOT_FINITE)
def test_numbers_that_are_not_finite(url: str, how: str, written: str) -> None:
    choice = f'"json_non_finite":"{how}"'
    for parameters in [choice, ""] if how == "literal" else [choice]:
        answer = infer_floats(url, "[NaN,-Infinity,1.5]", parameters)
        assert f'"data":{written}'.encode() in answer.body
        body = ",".join(filter(None, [parameters, '"INPUT0":[NaN,-Infinity,1.5]'])).join("{}")
        for endpoint in ["generate", "generate_stream"]:
            answer = raw_http.post(url, f"/v2/models/echo/{endpoint}", body.encode())
            assert f'"OUTPUT0":{written}'.encode() in answer.body


def test_numbers_that_are_not_finite_can_be_refused(tmp_path: Path) -> None:
    models = ModelRepository(tmp_path / "models")
    models.add_identity("echo")
    server = start_nereid(models.root, tmp_path / "log", ["--http-json-non-finite=error"])
    try:
        server.wait_for()
        text = "output 'OUTPUT0' cannot be sent as JSON: element 1 is NaN or infinite."
        answer = infer_floats(server.http_url, "[1,Infinity,1.5]", "")
        assert answer.status == 400
        assert answer.error().startswith(text)
        for endpoint in ["generate", "generate_stream"]:
            body = b'{"INPUT0":[1,Infinity,1.5]}'
            answer = raw_http.post(server.http_url, f"/v2/models/echo/{endpoint}", body)
            assert answer.status == 400
            assert text in answer.body.decode()
        answer = infer_floats(server.http_url, "[1,Infinity,1.5]", '"json_non_finite":"null"')
        assert b'"data":[1.0,null,1.5]' in answer.body
        # A binary output has no words.
        answer = infer_floats(server.http_url, "[1,Infinity,1.5]", '"binary_data_output":true')
        assert answer.status == 200
    finally:
        server.stop()


@pytest.mark.parametrize("stream", [False, True])
def test_values_that_have_no_json_or_no_type(url: str, stream: bool) -> None:
    answer = generate(url, "bytes", {"INPUT0": [255, 256]}, stream)
    assert answer.status == 400
    assert (
        "Unable to parse 'data': 256 is out of range, 0 to 255: element 1 of input 'INPUT0', "
        "whose datatype is UINT8" in answer.body.decode()
    )
    endpoint = "generate_stream" if stream else "generate"
    answer = raw_http.post(url, f"/v2/models/text/{endpoint}", b'{"INPUT0":["a","\xff"]}')
    assert answer.status == 400
    assert "output 'OUTPUT0' cannot be sent as JSON: element 1 is not UTF-8" in answer.body.decode()
