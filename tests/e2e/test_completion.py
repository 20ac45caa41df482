# SPDX-License-Identifier: Apache-2.0
"""What the backend makes of configurations of ONNX models: what is given stays, and what is left out
comes from the file."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from onnx import helper

from support import raw_http
from support.nereid import start_nereid
from support.onnx_models import FLOAT, INT64, save_model
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess

BACKEND = 'backend: "onnxruntime"\n'
X = tensor_text("X", "FP32", (2,))
Y = tensor_text("Y", "FP32", (2,))
ANSWER_SECONDS = 30.0


def add_shares(models: ModelRepository, name: str, config: str | None) -> None:
    """Y: the shares of X of the greatest value in the batch, so that rows depend on each other.
    HIDDEN: places of elements that are not 0; it does not have the rows of a batch."""
    folder = models.add(name, config)
    save_model(
        folder,
        [
            helper.make_node("ReduceMax", ["X"], ["most"], keepdims=1),
            helper.make_node("Div", ["X", "most"], ["Y"]),
            helper.make_node("NonZero", ["X"], ["HIDDEN"]),
        ],
        [("X", FLOAT, ["batch", 2])],
        [("Y", FLOAT, ["batch", 2]), ("HIDDEN", INT64, [2, "found"])],
    )


def add_sum(models: ModelRepository, name: str, config: str | None) -> None:
    """Y = X + Z"""
    save_model(
        models.add(name, config),
        [helper.make_node("Add", ["X", "Z"], ["Y"])],
        [("X", FLOAT, ["batch", 2]), ("Z", FLOAT, ["batch", 2])],
        [("Y", FLOAT, ["batch", 2])],
    )


def add_detector(models: ModelRepository, name: str, config: str | None) -> None:
    """FOUND: row and column of each element of X that is not 0."""
    save_model(
        models.add(name, config),
        [
            helper.make_node("NonZero", ["X"], ["columns"]),
            helper.make_node("Transpose", ["columns"], ["FOUND"]),
        ],
        [("X", FLOAT, ["images", 2])],
        [("FOUND", INT64, ["found", 2])],
    )


def add_identity(models: ModelRepository, name: str, first: str, other: str) -> None:
    save_model(
        models.add(name, None),
        [helper.make_node("Identity", ["X"], ["Y"])],
        [("X", FLOAT, [first, 2])],
        [("Y", FLOAT, [other, 2])],
    )


def add_scalar(models: ModelRepository, name: str, dims: tuple[int, ...]) -> None:
    save_model(
        models.add(
            name, f"{BACKEND}input [ {X} ]\noutput [ {tensor_text('SUM', 'FP32', dims)} ]\n"
        ),
        [helper.make_node("ReduceSum", ["X"], ["SUM"], keepdims=0)],
        [("X", FLOAT, [2])],
        [("SUM", FLOAT, [])],
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("completion")
    models = ModelRepository(folder / "models")
    batch = "max_batch_size: 8\n"
    add_shares(models, "complete", f"{BACKEND}{batch}input [ {X} ]\noutput [ {Y} ]\n")
    add_shares(
        models, "gaps", f'{BACKEND}{batch}input [ {{ name: "X" }} ]\noutput [ {{ name: "Y" }} ]\n'
    )
    add_shares(models, "outputs_alone", f"{BACKEND}{batch}output [ {Y} ]\n")
    add_sum(models, "inputs_alone", f"{BACKEND}input [ {X}, {X.replace('X', 'Z')} ]\n")
    add_sum(models, "few_inputs", f"{BACKEND}{batch}input [ {X} ]\noutput [ {Y} ]\n")
    add_sum(models, "few_inputs_alone", f"{BACKEND}{batch}input [ {X} ]\n")
    add_detector(models, "detector", None)
    add_detector(models, "forced_detector", f"{BACKEND}max_batch_size: 4\n")
    add_identity(models, "one_name", "n", "n")
    add_identity(models, "made_up_names", "unk__3", "unk__4")
    add_scalar(models, "scalar", (1,))
    add_scalar(models, "scalar_of_two", (1, 1))
    models.add("no_file", BACKEND)
    running = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        running.wait_for("/v2/health/live")
        running.wait_for("/v2/models/scalar_of_two/ready")
        yield running
    finally:
        running.stop()


def config_of(server: ServerProcess, model: str) -> dict[str, Any]:
    return raw_http.get(server.http_url, f"/v2/models/{model}/config").json()


def infer(server: ServerProcess, model: str, rows: Any, *names: str) -> raw_http.HttpAnswer:
    array = np.array(rows, np.float32)
    inputs = [
        {
            "name": name,
            "shape": list(array.shape),
            "datatype": "FP32",
            "data": array.ravel().tolist(),
        }
        for name in names or ("X",)
    ]
    return raw_http.post_json(server.http_url, f"/v2/models/{model}/infer", {"inputs": inputs})


def outputs(answer: raw_http.HttpAnswer) -> dict[str, tuple[list[int], list[float]]]:
    assert answer.status == 200, answer.body
    return {out["name"]: (out["shape"], out["data"]) for out in answer.json()["outputs"]}


def reason(server: ServerProcess, model: str) -> str:
    for entry in raw_http.post(server.http_url, "/v2/repository/index").json():
        if entry["name"] == model:
            assert entry["state"] == "UNAVAILABLE", entry
            return entry["reason"]
    raise AssertionError(f"{model} is not in the index")


@pytest.mark.parametrize("model", ["complete", "gaps"])
def test_what_is_complete_stays_as_it_is(server: ServerProcess, model: str) -> None:
    """The output that was left out is not offered, not sent, and not looked at."""
    config = config_of(server, model)
    assert config["max_batch_size"] == 8
    assert "dynamic_batching" not in config
    listed = [(out["name"], out["data_type"], out["dims"]) for out in config["output"]]
    assert listed == [("Y", "TYPE_FP32", [2])]
    metadata = raw_http.get(server.http_url, f"/v2/models/{model}").json()
    assert [out["name"] for out in metadata["outputs"]] == ["Y"]
    assert outputs(infer(server, model, [[1, 2]])) == {"Y": ([1, 2], [0.5, 1])}
    wanted = {"outputs": [{"name": "HIDDEN"}]}
    tensor = {"name": "X", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
    path = f"/v2/models/{model}/infer"
    answer = raw_http.post_json(server.http_url, path, {"inputs": [tensor], **wanted})
    assert answer.status == 400
    assert "unexpected inference output 'HIDDEN'" in answer.error()


def test_requests_share_a_batch_only_where_the_author_says_so(server: ServerProcess) -> None:
    answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
    count = 200
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        for number in range(1, count + 1):
            tensor = tritonclient.grpc.InferInput("X", [1, 2], "FP32")
            tensor.set_data_from_numpy(np.array([[number, number]], np.float32))
            client.async_infer("complete", [tensor], lambda result, error: answers.put((result, error)))
        for _ in range(count):
            result, error = answers.get(timeout=ANSWER_SECONDS)
            assert error is None, error
            assert result.as_numpy("Y").tolist() == [[1, 1]]
    statistics = raw_http.get(server.http_url, "/v2/models/complete/stats").json()["model_stats"][0]
    assert {entry["batch_size"] for entry in statistics["batch_stats"]} == {1}


def test_a_list_that_is_missing_is_made(server: ServerProcess) -> None:
    config = config_of(server, "outputs_alone")
    assert [(x["name"], x["data_type"], x["dims"]) for x in config["input"]] == [
        ("X", "TYPE_FP32", [2])
    ]
    assert [out["name"] for out in config["output"]] == ["Y"]
    assert (config["max_batch_size"], "dynamic_batching" in config) == (8, True)
    assert outputs(infer(server, "outputs_alone", [[4, 1]])) == {"Y": ([1, 2], [1, 0.25])}
    config = config_of(server, "inputs_alone")
    assert [(y["name"], y["data_type"], y["dims"]) for y in config["output"]] == [
        ("Y", "TYPE_FP32", [2])
    ]
    assert (config["max_batch_size"], "dynamic_batching" in config) == (4, True)
    assert outputs(infer(server, "inputs_alone", [[1, 2]], "X", "Z")) == {"Y": ([1, 2], [2, 4])}


@pytest.mark.parametrize("model", ["few_inputs", "few_inputs_alone"])
def test_every_input_of_the_file_is_needed(server: ServerProcess, model: str) -> None:
    expected = (
        f"unable to load model '{model}', configuration expects 1 inputs, model provides 2: input "
        "'Z' of the model (TYPE_FP32, shape [-1,2]) is not in the configuration"
    )
    assert expected in reason(server, model)


def test_a_detector_needs_no_configuration(server: ServerProcess) -> None:
    config = config_of(server, "detector")
    assert config["max_batch_size"] == 0
    assert [out["dims"] for out in config["output"]] == [[-1, 2]]
    found = outputs(infer(server, "detector", [[0, 5], [6, 7], [0, 0]]))
    assert found == {"FOUND": ([3, 2], [0, 1, 1, 0, 1, 1])}
    server.wait_for_log("the first dimension of 'X' is called 'images' in the file")


def test_a_wrong_batch_dimension_is_told(server: ServerProcess) -> None:
    assert config_of(server, "forced_detector")["max_batch_size"] == 4
    answer = infer(server, "forced_detector", [[5, 6]])
    assert answer.status == 500
    assert (
        "output 'FOUND' has shape [2,2] for a batch of 1 rows; if its first dimension is not the "
        "batch, set max_batch_size: 0 in the configuration of the model" in answer.error()
    )


@pytest.mark.parametrize("model", ["one_name", "made_up_names"])
def test_equal_names_and_those_that_say_nothing_are_a_batch(
    server: ServerProcess, model: str
) -> None:
    config = config_of(server, model)
    assert (config["max_batch_size"], config["input"][0]["dims"]) == (4, [2])


def test_a_scalar_has_the_configured_dims(server: ServerProcess) -> None:
    assert outputs(infer(server, "scalar", [1, 2])) == {"SUM": ([1], [3])}
    assert outputs(infer(server, "scalar_of_two", [1, 2])) == {"SUM": ([1, 1], [3])}
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        assert client.get_model_metadata("scalar_of_two")["outputs"][0]["shape"] == [1, 1]


def test_a_missing_file_is_named(server: ServerProcess) -> None:
    said = reason(server, "no_file")
    assert "unable to find '" in said
    assert "/no_file/1/model.onnx' for model 'no_file'" in said
