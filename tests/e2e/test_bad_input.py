# SPDX-License-Identifier: Apache-2.0
"""Bad requests get the right status and a helpful sentence, and the server keeps serving."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from tritonclient.grpc import service_pb2, service_pb2_grpc

from support import raw_http
from support.infer import assert_serving
from support.raw_http import HttpAnswer, RawConnection
from support.server_process import ServerProcess

FLOATS = struct.pack("<3f", 1, 2, 3)


@pytest.fixture
def url(identity_server: ServerProcess) -> Iterator[str]:
    """The server's address; afterwards it has to serve as before."""
    yield identity_server.http_url
    assert identity_server.is_alive(), identity_server.log_text()[-2000:]
    assert_serving(identity_server.http_url)


def infer(url: str, body: bytes | str, model: str = "echo", version: str = "") -> HttpAnswer:
    data = body.encode() if isinstance(body, str) else body
    return raw_http.post(url, f"/v2/models/{model}{version}/infer", data)


def infer_inputs(url: str, *inputs: Any, model: str = "echo", **members: Any) -> HttpAnswer:
    return infer(url, json.dumps({**members, "inputs": inputs}), model)


def tensor(**changes: Any) -> dict[str, Any]:
    """A good input with some members changed; None removes a member."""
    document = {"name": "INPUT0", "shape": [3], "datatype": "FP32", "data": [1, 2, 3], **changes}
    return {key: value for key, value in document.items() if value is not None}


def refused(answer: HttpAnswer, status: int, *words: str) -> None:
    """Checks that the answer has this status and is JSON with an error text that contains
    `words`."""
    assert answer.status == status, answer.body
    text = answer.error()
    for word in words:
        assert word in text, text


@pytest.mark.parametrize(
    "body",
    ["", "{", "hello", '{"inputs":[}', '{"inputs":[],}', "{} {}", '{"inputs" 1}', "\x00\x01", '"'],
)
def test_malformed_json(url: str, body: str) -> None:
    refused(infer(url, body), 400, "failed to parse the request JSON buffer")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("[]", "'inputs'"),
        ("1", "'inputs'"),
        ("{}", "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'"),
        ('{"inputs":{}}', "attempt to access JSON non-array as array"),
        ('{"inputs":[1]}', ""),
        ('{"inputs":[[]]}', ""),
        ('{"inputs":[null]}', ""),
    ],
)
def test_wrong_document(url: str, body: str, words: str) -> None:
    refused(infer(url, body), 400, words)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shape": [2]}, "input 'INPUT0' has more than the 2 elements of its shape [2]"),
        ({"shape": [4]}, "input 'INPUT0' has 3 of the 4 elements of its shape [4]"),
        ({"shape": [1, 3]}, "Expected [-1], got [1,3]"),
        ({"shape": []}, ""),
        ({"shape": [-3]}, "non-unsigned-integer"),
        ({"shape": ["3"]}, "non-unsigned-integer"),
        ({"shape": 3}, "non-array as array"),
        ({"shape": None}, "'shape'"),
        ({"shape": [2**62, 4], "data": []}, "shape"),
        ({"shape": [2**64], "data": []}, "shape"),
        ({"shape": [2**63], "data": []}, "9223372036854775808, which is out of range, 0 to 9223"),
        ({"data": [1, 2, 1e39]}, "1e+39 is out of range, -3.4028234663852886e+38 to 3.4028"),
        ({"datatype": "INT32"}, "data-type is 'INT32', but model 'echo' expects 'FP32'"),
        ({"datatype": "FLOAT32"}, "invalid datatype for input INPUT0: unknown datatype 'FLOAT32'"),
        ({"datatype": "fp32"}, "'fp32', did you mean 'FP32'? Known: BOOL, UINT8, "),
        ({"datatype": 7}, "'datatype'"),
        ({"datatype": None}, "'datatype'"),
        ({"data": [1, 2]}, "shape does not match true shape"),
        ({"data": [1, 2, 3, 4]}, "Shape does not match true shape of 'data' field"),
        ({"data": ["a", "b", "c"]}, "attempt to access JSON non-number as double"),
        ({"data": [1, None, 3]}, "non-number as double: element 1 of input 'INPUT0'"),
        ({"data": {}}, "non-array as array"),
        ({"data": None}, "But no field is set"),
        ({"name": None}, "'name'"),
        ({"name": 1}, "non-string as string"),
        ({"name": "INPUT9"}, "INPUT9"),
        ({"name": ""}, "''"),
    ],
)
def test_wrong_tensor(url: str, changes: dict[str, Any], words: str) -> None:
    refused(infer_inputs(url, tensor(**changes)), 400, words)


@pytest.mark.parametrize("size", [0, 4, 8, 11, 16])
def test_wrong_byte_size(url: str, size: int) -> None:
    document = {"inputs": [tensor(data=None, parameters={"binary_data_size": size})]}
    answer = raw_http.binary_infer(url, "echo", document, bytes(size))
    refused(answer, 400, "input byte size mismatch for input 'INPUT0'", f"Expected 12, got {size}")


def test_nan_and_infinity_are_good_input(url: str) -> None:
    text = (
        '{"inputs":[{"name":"INPUT0","shape":[4],"datatype":"FP32",'
        '"data":[NaN, Infinity, -Infinity, 1e-400]}]}'
    )
    answer = infer(url, text)
    assert answer.status == 200, answer.body
    data = answer.json()["outputs"][0]["data"]
    assert math.isnan(data[0])
    assert data[1:] == [math.inf, -math.inf, 0.0]


def test_nan_in_binary_keeps_its_bits(url: str) -> None:
    bits = struct.pack("<3I", 0x7FC00001, 0xFF800000, 0x7F800000)
    document = {
        "inputs": [tensor(data=None, parameters={"binary_data_size": 12})],
        "parameters": {"binary_data_output": True},
    }
    answer = raw_http.binary_infer(url, "echo", document, bits)
    assert answer.body.endswith(bits)


def test_unknown_model(url: str) -> None:
    text = "Request for unknown model: 'nobody' is not found"
    refused(infer_inputs(url, tensor(), model="nobody"), 404, text)
    refused(raw_http.get(url, "/v2/models/nobody"), 404, text)
    refused(raw_http.get(url, "/v2/models/nobody/config"), 404, text)


def test_unknown_version(url: str) -> None:
    body = json.dumps({"inputs": [tensor()]})
    text = "Request for unknown model: 'echo' version 7 is not found"
    refused(infer(url, body, version="/versions/7"), 404, text)
    refused(raw_http.get(url, "/v2/models/echo/versions/7"), 404, text)
    refused(infer(url, body, version="/versions/99999999999999999999"), 400, "version")


def test_missing_input(url: str) -> None:
    first = {"name": "INPUT0", "shape": [2], "datatype": "INT32", "data": [1, 2]}
    refused(
        infer_inputs(url, first, model="pair"),
        400,
        "expected 2 inputs but got 1 inputs for model 'pair'",
        "missing required input(s) ['INPUT1']",
    )
    refused(infer_inputs(url, model="pair"), 400, "missing required input(s) ['INPUT0','INPUT1']")


def test_request_id_is_in_the_error(url: str) -> None:
    refused(infer_inputs(url, id="the request"), 400, "[request id: the request] ")


def test_input_given_twice(url: str) -> None:
    first = {"name": "INPUT0", "shape": [2], "datatype": "INT32", "data": [1, 2]}
    refused(infer_inputs(url, first, first, model="pair"), 400, "input 'INPUT0' already exists")


def test_unknown_output(url: str) -> None:
    answer = infer_inputs(url, tensor(), outputs=[{"name": "OUTPUT7"}])
    refused(answer, 400, "unexpected inference output 'OUTPUT7' for model 'echo'")


def test_output_given_twice(url: str) -> None:
    answer = infer_inputs(url, tensor(), outputs=[{"name": "OUTPUT0"}, {"name": "OUTPUT0"}])
    refused(answer, 400, "output 'OUTPUT0' already exists in request")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"triton_private": 1}, "reserved for Triton usage"),
        ({"deep": {"a": 1}}, "parameter 'deep' has invalid type"),
        ({"nothing": None}, "parameter 'nothing' has invalid type"),
        ({"priority": "high"}, "'priority'"),
        ({"timeout": -1}, "'timeout'"),
        ({"sequence_start": "yes"}, "'sequence_start'"),
        ({"binary_data_output": 1}, "'binary_data_output'"),
    ],
)
def test_wrong_parameters(url: str, parameters: dict[str, Any], words: str) -> None:
    refused(infer_inputs(url, tensor(), parameters=parameters), 400, words)


def test_batch_too_large(url: str) -> None:
    batch = {"name": "INPUT0", "shape": [5, 2], "datatype": "FP32", "data": [0] * 10}
    answer = infer_inputs(url, batch, model="batched")
    refused(answer, 400, "inference request batch-size must be <= 4 for 'batched'")


def test_half_precision_wants_binary(url: str) -> None:
    answer = infer_inputs(url, tensor(datatype="FP16"), model="half")
    refused(
        answer,
        400,
        "receiving FP16 data via JSON is not supported. "
        "Please use the binary data format for input INPUT0",
    )


@pytest.mark.parametrize(
    ("length", "text"),
    [
        ("100000", "inference header size should be in range (0, "),
        ("2147483648", "inference header size should be in range (0, "),
        ("-1", "inference header size should be in range (0, "),
        ("many", "Unable to parse Inference-Header-Content-Length, got: many"),
        (
            "99999999999999999999",
            "Unable to parse Inference-Header-Content-Length, value is out of range "
            "[ -9223372036854775808, 9223372036854775807 ], got: 99999999999999999999",
        ),
        ("7", "failed to parse the request JSON buffer"),
    ],
)
def test_header_length(url: str, length: str, text: str) -> None:
    body = json.dumps({"inputs": [tensor()]}).encode()
    headers = [("Inference-Header-Content-Length", length)]
    refused(raw_http.post(url, "/v2/models/echo/infer", body, headers), 400, text)


def test_truncated_tensor(url: str) -> None:
    document = {"inputs": [tensor(data=None, parameters={"binary_data_size": 12})]}
    refused(
        raw_http.binary_infer(url, "echo", document, FLOATS[:5]),
        400,
        "unexpected size for input 'INPUT0', expecting 7 additional bytes for model 'echo'",
    )
    refused(
        raw_http.binary_infer(url, "echo", document, FLOATS + b"more"),
        400,
        "unexpected additional input data for model 'echo'",
    )


def test_truncated_body(url: str) -> None:
    """A client that sends less than announced, then closes, gets no answer and does no harm."""
    body = json.dumps({"inputs": [tensor()]}).encode()
    with RawConnection(url) as connection:
        connection.send(
            f"POST /v2/models/echo/infer HTTP/1.1\r\nHost: t\r\nContent-Length: {len(body) + 9}"
            "\r\n\r\n".encode()
            + body
        )


def test_ten_thousand_nested_arrays(url: str) -> None:
    deep = "[" * 10_000 + "]" * 10_000
    nested = json.dumps({"inputs": [tensor(data="DATA")]}).replace('"DATA"', deep)
    refused(infer(url, nested), 400)
    refused(infer(url, deep), 400)
    refused(infer(url, "[" * 10_000), 400)
    refused(infer(url, '{"a":' * 10_000 + "1" + "}" * 10_000), 400)
    refused(infer(url, json.dumps({"id": "x", "inputs": []})[:-1] + ',"extra":' + deep + "}"), 400)


def test_names_that_are_not_utf8(url: str) -> None:
    good = json.dumps({"inputs": [tensor(name="NAME")]}).encode()
    answer = infer(url, good.replace(b"NAME", b"\xff\xfe\x80"))
    assert answer.status == 400
    answer.body.decode("utf-8")
    refused(answer, 400, "unexpected inference input")
    model = raw_http.get(url, "/v2/models/%FF%FE")
    assert model.status == 404
    model.body.decode("utf-8")


def test_strings_with_broken_lengths(url: str) -> None:
    document = {
        "inputs": [
            {
                "name": "INPUT0",
                "shape": [1],
                "datatype": "BYTES",
                "parameters": {"binary_data_size": 5},
            }
        ]
    }
    for tail in (b"\x09\0\0\0a", b"\xff\xff\xff\xffa", b"\0\0\0\0\0"):
        refused(raw_http.binary_infer(url, "text", document, tail), 400, "INPUT0")


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v2/repository/index", b'{"ready":"yes"}', "'ready'"),
        ("/v2/repository/index", b"{", "failed to parse the request JSON buffer"),
    ],
)
def test_index_body(url: str, path: str, body: bytes, words: str) -> None:
    refused(raw_http.post(url, path, body), 400, words)


# The known name that is nearest to the unknown one follows it.
@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/v2/logging", b'{"log_inf":false}', "log setting 'log_inf', did you mean 'log_info'?"),
        ("/v2/logging", b"[]", "non-object as object"),
        ("/v2/trace/setting", b'{"trace_lvl":["OFF"]}', "'trace_lvl', did you mean 'trace_level'?"),
        ("/v2/models/echo/trace/setting", b'{"rate":"1"}', "unknown trace setting 'rate'"),
        ("/v2/trace/setting", b"[]", "non-object as object"),
        ("/v2/repository/index", b'{"Ready":true}', "'Ready', did you mean 'ready'?"),
        ("/v2/repository/models/echo/load", b'{"config":"{}"}', "load request 'config'"),
        (
            "/v2/repository/models/echo/unload",
            b'{"parameters":{"unload_dependent":true}}',
            "'unload_dependent', did you mean 'unload_dependents'?",
        ),
    ],
)
def test_unknown_names_of_administration(url: str, path: str, body: bytes, words: str) -> None:
    refused(raw_http.post(url, path, body), 400, words)


def test_what_clients_send_to_administration(url: str) -> None:
    for path, body in (
        ("/v2/logging", b"{}"),
        ("/v2/logging", b'{"log_file":null,"log_info":true}'),
        ("/v2/trace/setting", b"{}"),
        ("/v2/repository/index", b""),
        ("/v2/repository/index", b"{}"),
        ("/v2/repository/index", b'{"ready":true}'),
    ):
        assert raw_http.post(url, path, body).status == 200, (path, body)


def test_unknown_names_over_grpc(identity_server: ServerProcess) -> None:
    with grpc.insecure_channel(identity_server.grpc_url) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        log = service_pb2.LogSettingsRequest()
        log.settings["log_inf"].bool_param = False
        trace = service_pb2.TraceSettingRequest()
        trace.settings["trace_lvl"].value.append("OFF")
        unload = service_pb2.RepositoryModelUnloadRequest(model_name="echo")
        unload.parameters["unload_dependent"].bool_param = True
        for call, message, words in (
            (stub.LogSettings, log, "'log_inf', did you mean 'log_info'?"),
            (stub.TraceSetting, trace, "'trace_lvl', did you mean 'trace_level'?"),
            (stub.RepositoryModelUnload, unload, "did you mean 'unload_dependents'?"),
        ):
            with pytest.raises(grpc.RpcError) as caught:
                call(message, timeout=60)
            assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert words in caught.value.details()
