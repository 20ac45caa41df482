# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Serving's REST API, in front of ONNX and identity models.

What its public documentation says and these tests rely on: the paths, `instances` and `predictions`,
`inputs` and `outputs`, `examples` and `results`; a tensor alone has no name; strings of bytes are
{"b64": ...}, in answers under keys that end in `_bytes`; NaN, Infinity and -Infinity are written as
they are; an error is {"error": TEXT}, 404 for a model that is not there ("Servable not found for
request: Latest(half)") and 400 for a wrong request; versions are AVAILABLE when they serve."""

from __future__ import annotations

import base64
import gzip
import json
import math
import socket
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.raw_http import HttpAnswer, RawConnection
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.tensorflow_serving import REGRESS, add_classifier, add_half_plus

@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("tfs")
    models = ModelRepository(folder / "models")
    add_half_plus(models, "half_plus_two", {1: 2, 2: 3})
    add_classifier(models)
    models.add_identity("echo")
    models.add_identity("matrix", "INT32", (-1, -1), tensors=2)
    models.add_identity(
        "text",
        "STRING",
        max_batch_size=8,
        parameters={"tfs.signature.binary": "predict in=INPUT0 -> out_bytes=OUTPUT0"},
    )
    models.add_identity("half", "FP16")
    options = ["--tfs-http-port=0", "--http-max-input-size=4000000"]
    server = start_nereid(models.root, folder / "log", options)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture
def url(server: ServerProcess) -> Iterator[str]:
    """The port's address. Checks after each test that nothing is in flight and that the server
    answers."""
    yield f"{LOOPBACK}:{server.port('tfs_http')}"
    assert server.is_alive(), server.log_text()[-2000:]
    assert_serving(server.http_url)
    poll_until(
        "all bytes given back", lambda: metric(server.metrics_url, "nereid_in_flight_bytes") == 0
    )


def call(url: str, what: str, document: Any) -> HttpAnswer:
    return raw_http.post_json(url, f"/v1/models/{what}", document)


def ok(answer: HttpAnswer) -> Any:
    assert answer.status == 200, answer.body
    assert answer.header("Content-Type") == "application/json"
    return answer.json()


def error(answer: HttpAnswer, status: int = 400) -> str:
    assert answer.status == status, answer.body
    return answer.error()


# -- status and metadata ---------------------------------------------------------------------------


def available(version: str) -> dict[str, Any]:
    status = {"error_code": "OK", "error_message": ""}
    return {"version": version, "state": "AVAILABLE", "status": status}


def test_status(url: str) -> None:
    path = "/v1/models/half_plus_two"
    both = {"model_version_status": [available("2"), available("1")]}
    assert ok(raw_http.get(url, path)) == both
    one = {"model_version_status": [available("1")]}
    assert ok(raw_http.get(url, f"{path}/versions/1")) == one
    assert ok(raw_http.get(url, f"{path}/labels/stable")) == one
    nothing = "Could not find any versions of model half"
    assert error(raw_http.get(url, "/v1/models/nothing"), 404) == nothing.replace("half", "nothing")
    gone = "Could not find version 3 of model half_plus_two"
    assert error(raw_http.get(url, f"{path}/versions/3"), 404) == gone


def test_metadata(url: str) -> None:
    document = ok(raw_http.get(url, "/v1/models/half_plus_two/labels/stable/metadata"))
    spec = {"name": "half_plus_two", "signature_name": "", "version": "1"}
    assert document["model_spec"] == spec
    signatures = document["metadata"]["signature_def"]["signature_def"]
    assert set(signatures) == {"serving_default", REGRESS}
    default = signatures["serving_default"]
    assert default["method_name"] == "tensorflow/serving/predict"
    assert default["inputs"]["x"]["dtype"] == "DT_FLOAT"
    rows = {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False}
    assert default["outputs"]["y"]["tensor_shape"] == rows
    assert signatures[REGRESS]["outputs"]["outputs"]["name"] == "y"
    missing = "Servable not found for request: Latest(half_a_dozen)"
    assert error(raw_http.get(url, "/v1/models/half_a_dozen/metadata"), 404) == missing


# -- predict ---------------------------------------------------------------------------------------


def test_the_example_of_half_plus_two(url: str) -> None:
    rows = {"instances": [1.0, 2.0, 5.0]}
    assert ok(call(url, "half_plus_two:predict", rows)) == {"predictions": [3.5, 4.0, 5.5]}
    first = "half_plus_two/versions/1:predict"
    assert ok(call(url, first, rows)) == {"predictions": [2.5, 3.0, 4.5]}
    stable = "half_plus_two/labels/stable:predict"
    assert ok(call(url, stable, {"inputs": [[1.0]]})) == {"outputs": [2.5]}
    named = {"signature_name": "serving_default", "instances": [{"x": 1.0}, {"x": [2.0]}]}
    assert "its lists differ" in error(call(url, "half_plus_two:predict", named))
    named["instances"] = [{"x": 1.0}, {"x": 2.0}]
    assert ok(call(url, "half_plus_two:predict", named)) == {"predictions": [3.5, 4.0]}


def test_rows_and_columns_of_several_tensors(url: str) -> None:
    rows = [{"INPUT0": [1, 2], "INPUT1": [3]}, {"INPUT0": [-4, 5], "INPUT1": [6]}]
    answers = [{"OUTPUT0": row["INPUT0"], "OUTPUT1": row["INPUT1"]} for row in rows]
    assert ok(call(url, "matrix:predict", {"instances": rows})) == {"predictions": answers}
    columns = {"INPUT0": [[1, 2], [-4, 5], [7, 8]], "INPUT1": [[3]]}
    outputs = {"OUTPUT0": columns["INPUT0"], "OUTPUT1": columns["INPUT1"]}
    assert ok(call(url, "matrix:predict", {"inputs": columns})) == {"outputs": outputs}
    # In columns the outputs may have different numbers of rows.
    assert len(outputs["OUTPUT0"]) != len(outputs["OUTPUT1"])


def test_strings_and_bytes(url: str) -> None:
    content = bytes(range(256))
    coded = {"b64": base64.b64encode(content).decode()}
    texts = {"instances": [["a", "é\n"], [{"b64": "Yg=="}, ""]]}
    answer = {"predictions": [["a", "é\n"], ["b", ""]]}
    assert ok(call(url, "text:predict", texts)) == answer
    binary = {"signature_name": "binary", "instances": [{"in": [coded]}]}
    assert ok(call(url, "text:predict", binary)) == {"predictions": [[coded]]}
    plain = {"instances": [[coded]]}
    assert "is not UTF-8" in error(call(url, "text:predict", plain))


def test_numbers_that_json_does_not_have(url: str) -> None:
    body = b'{"inputs": [NaN, Infinity, -Infinity, -0.0, 1e-45]}'
    values = ok(raw_http.post(url, "/v1/models/echo:predict", body))["outputs"]
    assert math.isnan(values[0])
    assert values[1:3] == [math.inf, -math.inf]
    assert struct.pack("<2f", *values[3:]) == struct.pack("<2f", -0.0, 1e-45)


def test_large_body_and_answer(url: str) -> None:
    """Read and written by other threads than those of the connections."""
    values = list(range(300_000))
    assert ok(call(url, "echo:predict", {"instances": values})) == {"predictions": values}


# -- classify and regress --------------------------------------------------------------------------


def test_classify(url: str) -> None:
    examples = [{"pair": [0.25, 0.75]}, {"pair": [1, 0]}]
    document = {"signature_name": "guess", "examples": examples}
    results = [[["cat", 0.25], ["dog", 0.75]], [["cat", 1.0], ["dog", 0.0]]]
    assert ok(call(url, "classifier:classify", document)) == {"results": results}
    shared = {"signature_name": "guess", "context": {"pair": [1, 0]}, "examples": [{}, {}]}
    answer = ok(call(url, "classifier:classify", shared))
    assert answer == {"results": [results[1], results[1]]}


def test_regress(url: str) -> None:
    document = {"signature_name": REGRESS, "examples": [{"x": 1.0}, {"x": 2.0}]}
    assert ok(call(url, "half_plus_two:regress", document)) == {"results": [3.5, 4.0]}
    first = call(url, "half_plus_two/versions/1:regress", document)
    assert ok(first) == {"results": [2.5, 3.0]}
    del document["signature_name"]
    assert "needs one with tensorflow/serving/regress" in error(
        call(url, "half_plus_two:regress", document)
    )


# -- mistakes --------------------------------------------------------------------------------------


def test_models_and_versions_that_are_not_there(url: str) -> None:
    rows = {"instances": [1.0]}
    latest = "Servable not found for request: Latest(nothing)"
    assert error(call(url, "nothing:predict", rows), 404) == latest
    specific = "Servable not found for request: Specific(half_plus_two, 7)"
    assert error(call(url, "half_plus_two/versions/7:predict", rows), 404) == specific
    lost = "Servable not found for request: Specific(half_plus_two, 9)"
    assert error(call(url, "half_plus_two/labels/lost:predict", rows), 404) == lost
    label = "Unrecognized servable version label: beta"
    assert error(call(url, "half_plus_two/labels/beta:predict", rows)) == label
    assert raw_http.post(url, f"/v1/models/echo/versions/{10**30}:predict").status == 400


def test_paths_and_methods(url: str, server: ServerProcess) -> None:
    for path in ("/", "/v1/models", "/v2/models/echo", "/v1/models/echo/labels", "/metrics"):
        assert raw_http.get(url, path).status == 404, path
    assert raw_http.get(url, "/v1/models/echo:predict").header("Allow") == "POST"
    assert raw_http.post(url, "/v1/models/echo").header("Allow") == "GET, HEAD"
    # Its paths are not those of the port of HTTP.
    assert raw_http.get(server.http_url, "/v1/models/echo").status == 404
    answer = call(url, "echo%3Apredict:predict", {"inputs": [1.0]})
    assert error(answer, 404) == "Servable not found for request: Latest(echo:predict)"


@pytest.mark.parametrize(
    ("model", "body", "text"),
    [
        ("echo", "", "failed to parse the request JSON buffer"),
        ("echo", "{", "failed to parse the request JSON buffer"),
        ("echo", "[]", "must be a JSON object"),
        ("echo", '{"instances": [1], "inputs": [1]}', "exactly one is allowed"),
        ("echo", '{"input": [1]}', "Missing 'inputs' or 'instances' key"),
        ("echo", '{"instances": 1}', "'instances' must be a list"),
        ("echo", '{"instances": []}', "'instances' must be a list"),
        ("echo", '{"inputs": [[1, 2], [3]]}', "its lists differ"),
        ("echo", '{"inputs": [1, [2]]}', "its lists differ"),
        ("echo", '{"inputs": ["1"]}', 'takes elements of FP32, and "1" is none'),
        ("echo", '{"inputs": [1e39]}', "takes elements of FP32, and 1e39 is none"),
        ("echo", '{"inputs": [1e999]}', "failed to parse the request JSON buffer"),
        ("echo", '{"inputs": {"INPUT7": [1]}}', "'INPUT7', which is no input of the signature"),
        ("echo", '{"inputs": {}}', "does not have named input: INPUT0"),
        ("echo", '{"signature_name": "x", "inputs": [1]}', '"x" not found in signature def'),
        ("echo", '{"inputs": [[[1]]]}', "unexpected shape"),
        ("matrix", '{"inputs": [[1]]}', "must name the inputs, because the signature has 2"),
        ("matrix", '{"inputs": {"INPUT0": [[1]]}}', "does not have named input: INPUT1"),
        ("matrix", '{"inputs": {"INPUT0": [[2147483648]], "INPUT1": [[1]]}}', "is none"),
        ("matrix", '{"inputs": {"INPUT0": [[1.5]], "INPUT1": [[1]]}}', "1.5 is none"),
        ("text", '{"inputs": [[{"b64": "%"}]]}', "not Base64"),
        ("text", '{"inputs": [[1]]}', "takes elements of BYTES, and 1 is none"),
        ("half", '{"inputs": [1]}', "FP16, for which this API has no form in JSON"),
        ("echo", '{"inputs": ' + "[" * 5000 + "]" * 5000 + "}", "nesting depth exceeds"),
        ("echo", '{"inputs": [' + "1," * 1_100_000 + "1]}", "has more than 4000000 bytes"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_bodies(url: str, model: str, body: str, text: str) -> None:
    assert text in error(raw_http.post(url, f"/v1/models/{model}:predict", body.encode()))


def test_body_that_is_too_large(url: str) -> None:
    body = b'{"inputs": [' + b"1," * 2_000_000 + b"1]}"
    assert "exceeds the maximum allowed input size" in error(
        raw_http.post(url, "/v1/models/echo:predict", body)
    )


@pytest.mark.parametrize("count", [3, 300_000])
@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_compressed_bodies(url: str, coding: str, count: int) -> None:
    values = [float(i % 100) for i in range(count)]
    plain = json.dumps({"instances": values}).encode()
    body = gzip.compress(plain) if coding == "gzip" else zlib.compress(plain)
    headers = [("Content-Encoding", coding), ("Accept-Encoding", coding)]
    answer = raw_http.post(url, "/v1/models/echo:predict", body, headers)
    assert answer.status == 200, answer.body
    assert answer.header("Content-Encoding") == coding
    written = gzip.decompress(answer.body) if coding == "gzip" else zlib.decompress(answer.body)
    assert json.loads(written) == {"predictions": values}


def test_compressed_bodies_that_are_wrong(url: str) -> None:
    def refused(body: bytes, coding: str, status: int = 400) -> HttpAnswer:
        answer = raw_http.post(url, "/v1/models/echo:predict", body, [("Content-Encoding", coding)])
        assert answer.status == status, answer.body
        return answer

    refused(b"x", "gzip")
    bomb = gzip.compress(b'{"inputs": [' + b" " * 8_000_000 + b"1]}")
    assert "4000000" in refused(bomb, "gzip").error()
    other = refused(b"x", "br", 501)
    assert other.error() == "Unsupported compression type"
    assert other.header("Accept-Encoding") == "gzip, deflate"


def test_client_that_leaves(url: str) -> None:
    body = json.dumps({"instances": list(range(100_000))}).encode()
    for sent in (0, 10, len(body)):
        connection = RawConnection(url)
        head = f"POST /v1/models/echo:predict HTTP/1.1\r\nHost: h\r\nContent-Length: {len(body)}\r\n"
        connection.send(head.encode() + b"\r\n" + body[:sent])
        connection.socket.close()


# -- the server ------------------------------------------------------------------------------------


def test_port_is_off_unless_asked_for(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    server = server_factory(model_repository)
    assert "TensorFlow Serving" not in server.log_text()


def test_keys_origins_and_access_log_of_the_port(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    model_repository.add_identity("echo")
    keys = tmp_path / "keys"
    keys.write_text("inference key-of-a-client-0123456789\nhealth *\n", encoding="ascii")
    keys.chmod(0o600)
    log = tmp_path / "access.log"
    server = server_factory(
        model_repository, "--tfs-http-port=0", f"--api-key-file={keys}", f"--access-log={log}"
    )
    url = f"{LOOPBACK}:{server.port('tfs_http')}"
    body = b'{"instances": [1.5]}'
    path = "/v1/models/echo:predict"
    assert raw_http.post(url, path, body).status == 401
    key = [("Authorization", "Bearer key-of-a-client-0123456789")]
    assert ok(raw_http.post(url, path, body, key)) == {"predictions": [1.5]}
    poll_until("both lines of the access log", lambda: log.read_text().count(path) == 2)
    other = [*key, ("Origin", "http://evil.example")]
    assert raw_http.post(url, path, body, other).status == 403


def test_wrong_parameter_keeps_a_model_from_loading(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    model_repository.add_identity("wrong", parameters={"tfs.signature.s": "predict A -> OUTPUT0"})
    server = server_factory(
        model_repository, "--exit-on-error=false", "--strict-readiness=false", "--tfs-http-port=0"
    )
    url = f"{LOOPBACK}:{server.port('tfs_http')}"
    (status,) = ok(raw_http.get(url, "/v1/models/wrong"))["model_version_status"]
    assert status["state"] == "END"
    assert status["status"]["error_code"] == "UNKNOWN"
    why = "the parameter 'tfs.signature.s' names 'A' as an input"
    assert why in status["status"]["error_message"]
    assert "Servable not found" in error(call(url, "wrong:predict", {"inputs": [1]}), 404)


def test_taken_port_is_told(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = server_factory(model_repository, f"--tfs-http-port={port}", wait_for=None)
        assert server.wait_exit() == 1
        server.wait_for_log("failed to start TensorFlow Serving HTTP service")
