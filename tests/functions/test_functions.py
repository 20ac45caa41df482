# SPDX-License-Identifier: Apache-2.0
"""Served functions, asked by the official clients."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import nereid_server
import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

from functions import served


def tensor(protocol, name: str, array: np.ndarray):
    from tritonclient.utils import np_to_triton_dtype

    made = protocol.InferInput(name, list(array.shape), np_to_triton_dtype(array.dtype))
    made.set_data_from_numpy(array)
    return made


def http_infer(server: nereid_server.ServedFunctions, model: str, **inputs: np.ndarray):
    with tritonclient.http.InferenceServerClient(f"127.0.0.1:{server.http_port}") as client:
        return client.infer(model, [tensor(tritonclient.http, *item) for item in inputs.items()])


def grpc_infer(server: nereid_server.ServedFunctions, model: str, **inputs: np.ndarray):
    with tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
        return client.infer(model, [tensor(tritonclient.grpc, *item) for item in inputs.items()])


def post(server: nereid_server.ServedFunctions, path: str, body: dict) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=30)
    try:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def text(*words: str) -> np.ndarray:
    return np.array([word.encode() for word in words], dtype=object)


@pytest.mark.parametrize("infer", [http_infer, grpc_infer])
def test_a_batch_of_a_client(server, infer) -> None:
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(infer(server, "double", x=x).as_numpy("y"), 2 * x)


def test_requests_become_a_batch(server) -> None:
    sizes = [1, 2, 1, 1, 1]
    assert sum(sizes) == served.BATCH
    with ThreadPoolExecutor(len(sizes)) as pool:
        asked = [pool.submit(http_infer, server, "rows", x=np.zeros((size, 3), np.float32)) for size in sizes]
        for size, answer in zip(sizes, asked):
            np.testing.assert_array_equal(answer.result().as_numpy("output"), [[served.BATCH]] * size)


def test_plain_values_and_defaults(server) -> None:
    assert grpc_infer(server, "greet", name=text("Bob")).as_numpy("output")[0] == b"hello, Bob"
    both = http_infer(server, "greet", name=text("Zoë"), greeting=text("hi"))
    assert both.as_numpy("output")[0].decode() == "hi, Zoë"
    status, body = post(server, "/v2/models/greet/generate", {"name": "Ann"})
    assert (status, json.loads(body)["output"]) == (200, "hello, Ann")


def test_text_that_is_none(server) -> None:
    with pytest.raises(InferenceServerException, match=r"\[400\] input 'name' is not UTF-8"):
        http_infer(server, "greet", name=np.array([b"\xff"], dtype=object))


STREAMS = ["count", "count_slowly", "counted", "counted_async", "found_async", "listed"]


@pytest.mark.parametrize("model", STREAMS)
def test_a_stream(server, model) -> None:
    status, body = post(server, f"/v2/models/{model}/generate_stream", {"to": 4})
    events = [json.loads(line.removeprefix("data: ")) for line in body.splitlines() if line]
    assert (status, [event["output"] for event in events]) == (200, [0, 1, 2, 3])


def test_a_stream_that_is_none(server) -> None:
    _, body = post(server, "/v2/models/no_iterator/generate_stream", {"to": 3})
    assert json.loads(body.strip().removeprefix("data: ")) == {
        "error": "the function 'no_iterator' returned an object of type int in place of an iterator"
    }


def test_bfloat16(server) -> None:
    x = np.array([[1, 3]], ml_dtypes.bfloat16)
    given = tritonclient.grpc.InferInput("x", [1, 2], "BF16")
    given._raw_content = x.tobytes()
    with tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{server.grpc_port}") as client:
        answer = client.infer("halve", [given]).get_response()
    assert (answer.outputs[0].datatype, answer.raw_output_contents[0]) == ("BF16", (x / 2).tobytes())


def test_a_stream_that_fails(server) -> None:
    _, body = post(server, "/v2/models/count/generate_stream", {"to": 3})
    last = json.loads(body.strip().splitlines()[-1].removeprefix("data: "))
    assert last == {"error": "the function 'count' failed: RuntimeError: three is too many"}


def test_coroutines_run_side_by_side(server) -> None:
    numbers = range(served.MEETING)
    with ThreadPoolExecutor(served.MEETING) as pool:
        asked = [pool.submit(http_infer, server, "meet", number=np.array([number])) for number in numbers]
        assert [int(answer.result().as_numpy("output")[0]) for answer in asked] == list(numbers)


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("INVALID_ARG", 400),
        ("NOT_FOUND", 404),
        ("UNAVAILABLE", 503),
        ("UNSUPPORTED", 501),
        ("ALREADY_EXISTS", 400),
        ("CANCELLED", 400),
        ("INTERNAL", 500),
    ],
)
def test_a_refusal(server, code, status) -> None:
    with pytest.raises(InferenceServerException, match=rf"\[{status}\] refused with {code}"):
        http_infer(server, "refuse", code=text(code))


def test_an_exception(server) -> None:
    expected = r"\[500\] the function 'fail' failed: ValueError: no good"
    with pytest.raises(InferenceServerException, match=expected):
        http_infer(server, "fail", x=np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("shape", r"returned 'output' with the shape \[3\] in place of \[2\]"),
        ("type", "returned 'output' as <U1 in place of float32"),
        ("keys", "returned a dict with the keys 'other' in place of 'output'"),
    ],
)
def test_a_result_that_is_not_as_declared(server, what, expected) -> None:
    with pytest.raises(InferenceServerException, match=f"the function 'declare_wrongly' {expected}"):
        http_infer(server, "declare_wrongly", what=text(what))


def test_a_class_and_an_object(server) -> None:
    x = np.ones((1, 2), np.float32)
    np.testing.assert_array_equal(http_infer(server, "Scale", x=x).as_numpy("output"), 2 * x)
    np.testing.assert_array_equal(http_infer(server, "scale_by_three", x=x).as_numpy("output"), 3 * x)


def test_a_typed_dict(server) -> None:
    answer = http_infer(server, "moments", x=np.array([1.0, 3.0]))
    assert answer.as_numpy("mean") == [2.0]
    np.testing.assert_array_equal(answer.as_numpy("values"), [1.0, 3.0])
