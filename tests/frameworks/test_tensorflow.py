# SPDX-License-Identifier: Apache-2.0
"""TensorFlow models in the server give the same answers as TensorFlow alone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
from tritonclient.utils import InferenceServerException

from frameworks.tensorflow_models import (
    BACKEND,
    PACKAGES,
    Client,
    TensorflowRepository,
)
from support.nereid import start_nereid
from support.repository import tensor_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = [
    pytest.mark.skipif(
        not (backend_directory() / "tensorflow").is_dir(),
        reason="the backend tensorflow is not staged: make stage BACKENDS=tensorflow",
    ),
    pytest.mark.skipif(
        not all(package.is_dir() for package in PACKAGES),
        reason="TensorFlow's Python package is not in build/deps: make stage BACKENDS=tensorflow",
    ),
]

PROTOCOLS = ("http", "grpc")
# Sums in another order, since batches are of other sizes than those that TensorFlow alone was given.
TOLERANCE = {"rtol": 2e-5, "atol": 2e-5}
IDENTITY_VALUES = {
    "BOOL": np.array([[True, False, True], [False, False, True]]),
    "STRING": np.array([[b"", b"a\0b", "\u00fc".encode()], [b"x" * 300, b"1", b"\xff"]], object),
    "BF16": np.array([[1.5, -2.0, 3e38], [0.0, np.inf, 1e-3]]).astype(ml_dtypes.bfloat16),
}
NUMBERS = {
    "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32, "UINT64": np.uint64,
    "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
}  # fmt: skip

LSTM = BACKEND + (
    "max_batch_size: 4\n"
    f"input [ {tensor_text('x', 'FP32', (8,))} ]\n"
    f"output [ {tensor_text('y', 'FP32', (16,))} ]\n"
    "sequence_batching { oldest { max_candidate_sequences: 4 }\n"
    + "".join(
        f'state {{ input_name: "{name}" output_name: "{name}_next" data_type: TYPE_FP32 '
        f"dims: [ 16 ] initial_state {{ name: \"zero\" data_type: TYPE_FP32 dims: [ 16 ] "
        "zero_data: true } }\n"
        for name in ("h", "c")
    )
    + "}\n"
)
GRAPH = (
    'platform: "tensorflow_graphdef"\nmax_batch_size: 8\n'
    f"input [ {tensor_text('a', 'FP32', (3,))}, {tensor_text('b', 'FP32', (3,))} ]\n"
    f"output [ {tensor_text('total', 'FP32', (3,))}, {tensor_text('scaled', 'FP32', (3,))} ]\n"
)
GRAPH_DIFFERENCE = (
    'platform: "tensorflow_graphdef"\nmax_batch_size: 0\n'
    f"output [ {tensor_text('difference', 'FP32', (-1, 3))} ]\n"
)
QUEUE = (
    'platform: "tensorflow_graphdef"\n'
    f"output [ {tensor_text('kept_count', 'INT32', (1,))}, {tensor_text('oldest', 'FP32', (4,))} ]\n"
)
GRAPH_TABLE = (
    'platform: "tensorflow_graphdef"\nmax_batch_size: 4\n'
    f"output [ {tensor_text('number', 'INT32', (1,))} ]\n"
)
TAGGED = BACKEND + (
    f"input [ {tensor_text('x', 'FP32', (2, 2))} ]\noutput [ {tensor_text('y', 'FP32', (2, 2))} ]\n"
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> TensorflowRepository:
    models = TensorflowRepository(tmp_path_factory.mktemp("tensorflow"))
    for network in ("mlp", "resnet18", "transformer", "text", "counter"):
        models.add_network(network)
    for data_type in (*NUMBERS, *IDENTITY_VALUES):
        models.add_network(f"identity_{data_type.lower()}")
    models.add_network("text", BACKEND + 'output [ { name: "id" } ]\n', name="text_id")
    models.add_network("lstm", LSTM)
    models.add_network("signatures", parameters={"TF_SIGNATURE_DEF": "triple"})
    models.add_network("tagged", TAGGED, {"TF_GRAPH_TAG": "mine"})
    models.add_network("graph", GRAPH)
    models.add_network("graph", GRAPH_DIFFERENCE, name="graph_difference")
    models.add_network("graph_table", GRAPH_TABLE, {"TF_INIT_OPS_FILE": "init_ops.json"})
    models.add_network("queue", QUEUE + "instance_group { count: 1 kind: KIND_CPU }\n")
    return models


@pytest.fixture(scope="module")
def server(
    repository: TensorflowRepository, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    running = start_nereid(repository.root, tmp_path_factory.mktemp("log"))
    try:
        running.wait_for()
        yield running
    finally:
        running.stop()


@pytest.fixture(params=PROTOCOLS)
def client(server: ServerProcess, request: pytest.FixtureRequest) -> Iterator[Client]:
    made = Client(server, request.param)
    yield made
    made.close()


def inputs_of(examples: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {key[3:]: value for key, value in examples.items() if key.startswith("in.")}


def assert_outputs(got: dict[str, np.ndarray], examples: dict[str, np.ndarray]) -> None:
    expected = {key[4:]: value for key, value in examples.items() if key.startswith("out.")}
    assert set(got) == set(expected)
    for name, value in expected.items():
        value = value.reshape(got[name].shape)  # one number a row: as [rows, 1]
        if value.dtype.kind == "f":
            np.testing.assert_allclose(got[name], value, **TOLERANCE)
        else:
            assert got[name].tolist() == value.tolist(), name


@pytest.mark.parametrize("network", ["mlp", "resnet18", "transformer", "text"])
def test_answers_are_the_frameworks(
    repository: TensorflowRepository, client: Client, network: str
) -> None:
    examples = repository.examples(network)
    inputs = {
        name: value.astype(object) if value.dtype.kind == "S" else value
        for name, value in inputs_of(examples).items()
    }
    rows = len(next(iter(inputs.values())))
    for first in range(0, rows, 4):
        part = slice(first, min(first + 4, rows))
        got = client.infer(network, {name: value[part] for name, value in inputs.items()})
        wanted = {
            key: value[part] if key.startswith("out.") else value for key, value in examples.items()
        }
        assert_outputs(got, wanted)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("network", ["mlp", "transformer", "text"])
def test_answers_of_batches(
    repository: TensorflowRepository, server: ServerProcess, network: str, protocol: str
) -> None:
    """Single rows from many clients: the server makes batches of them."""
    examples = repository.examples(network)
    inputs = {
        name: value.astype(object) if value.dtype.kind == "S" else value
        for name, value in inputs_of(examples).items()
    }
    rows = len(next(iter(inputs.values())))

    def ask(first: int) -> None:
        client = Client(server, protocol)
        for k in range(10):
            row = (first + k) % rows
            got = client.infer(network, {name: value[row : row + 1] for name, value in inputs.items()})
            wanted = {key: value[row : row + 1] for key, value in examples.items()}
            assert_outputs(got, wanted)
        client.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, range(8)))


@pytest.mark.parametrize("data_type", [*NUMBERS, *IDENTITY_VALUES])
def test_every_type(client: Client, data_type: str) -> None:
    value = IDENTITY_VALUES.get(data_type)
    if value is None:
        number = NUMBERS[data_type]
        limits = np.finfo(number) if np.issubdtype(number, np.floating) else np.iinfo(number)
        value = np.array([[limits.min, 0, limits.max], [1, 2, 3]], number)
    got = client.infer(f"identity_{data_type.lower()}", {"INPUT0": value})
    assert got["OUTPUT0"].shape == value.shape
    assert got["OUTPUT0"].tolist() == value.tolist()


def test_empty_tensors(client: Client) -> None:
    for data_type, value in (("fp32", np.zeros((0, 3), np.float32)), ("string", np.zeros((0, 3), object))):
        got = client.infer(f"identity_{data_type}", {"INPUT0": value})
        assert got["OUTPUT0"].shape == (0, 3)


def test_large_tensors_and_small_ones_after_them(client: Client) -> None:
    """The memory of a channel grows, and gives back."""
    for rows in (1, 4, 1):
        text = np.full((rows, 200_000), b"some text", object)
        assert client.infer("text", {"text": text})["id"].shape == text.shape


def test_implicit_state(repository: TensorflowRepository, client: Client) -> None:
    examples = repository.examples("lstm")
    steps = len(examples["xs"])
    for row in range(2):
        for step in range(steps):
            got = client.infer(
                "lstm",
                {"x": examples["xs"][step, row : row + 1]},
                sequence_id=100 + row,
                sequence_start=step == 0,
                sequence_end=step == steps - 1,
            )
            np.testing.assert_allclose(got["y"], examples["ys"][step, row : row + 1], **TOLERANCE)


def test_completion(server: ServerProcess) -> None:
    client = Client(server, "http").client
    config = client.get_model_config("mlp")
    assert config["max_batch_size"] == 4
    assert "dynamic_batching" in config
    assert [(t["name"], t["data_type"], t["dims"]) for t in config["input"]] == [("x", "TYPE_FP32", [64])]
    assert [(t["name"], t["data_type"], t["dims"]) for t in config["output"]] == [("y", "TYPE_FP32", [10])]
    text = client.get_model_config("text")
    assert {t["name"]: (t["data_type"], t["dims"]) for t in text["output"]} == {
        "id": ("TYPE_INT64", [-1]),
        "joined": ("TYPE_STRING", [1]),
        "upper": ("TYPE_STRING", [-1]),
    }
    counter = client.get_model_config("counter")
    assert (counter["max_batch_size"], counter["input"][0]["dims"]) == (0, [2])
    difference = client.get_model_config("graph_difference")
    assert [(t["name"], t["dims"]) for t in difference["input"]] == [("a", [-1, 3]), ("b", [-1, 3])]


def test_only_the_outputs_that_are_asked_for(client: Client) -> None:
    value = np.array([[b"red"]], object)
    assert set(client.infer("text", {"text": value}, outputs=("id",))) == {"id"}


def test_an_output_that_is_left_out_is_not_served(server: ServerProcess, client: Client) -> None:
    config = Client(server, "http").client.get_model_config("text_id")
    outputs = [(t["name"], t["data_type"], t["dims"]) for t in config["output"]]
    assert outputs == [("id", "TYPE_INT64", [-1])]
    assert set(client.infer("text_id", {"text": np.array([[b"red"]], object)})) == {"id"}


def test_a_signature_by_name(client: Client) -> None:
    assert client.infer("signatures", {"x": np.array([[1, 2]], np.float32)})["y"].tolist() == [[3, 6]]


def test_a_tag_and_an_input_of_any_shape(client: Client) -> None:
    got = client.infer("tagged", {"x": np.array([[1, 2], [3, 4]], np.float32)})
    assert got["y"].tolist() == [[2, 3], [4, 5]]


def test_a_graph(client: Client) -> None:
    a, b = np.array([[1, 2, 3]], np.float32), np.array([[4, 4, 4]], np.float32)
    got = client.infer("graph", {"a": a, "b": b})
    assert got["total"].tolist() == [[5, 6, 7]]
    assert got["scaled"].tolist() == [[50, 60, 70]], "the graph's own value for the rest"
    assert client.infer("graph_difference", {"a": a, "b": b})["difference"].tolist() == [[-3, -2, -1]]


def test_init_ops_of_a_graph(client: Client) -> None:
    words = np.array([[b"two"], [b"one"], [b"none"]], object)
    assert client.infer("graph_table", {"word": words})["number"].tolist() == [[2], [1], [-1]]


def test_variables_are_shared_by_the_instances(server: ServerProcess) -> None:
    client = Client(server, "http")
    one = {"add": np.array([1, 10], np.float32)}
    before = client.infer("counter", {"add": np.zeros(2, np.float32)})["total"]
    for _ in range(4):
        client.infer("counter", one)
    assert (client.infer("counter", one)["total"] - before).tolist() == [5, 50]


def test_what_a_model_keeps_stays_as_it_was(server: ServerProcess) -> None:
    """Inputs lie in memory that the next request is written to; a queue holds on to them."""
    client = Client(server, "http")

    def numbers(first: float) -> dict[str, np.ndarray]:
        return {"x": np.arange(first, first + 4, dtype=np.float32)}

    for k in range(5):
        assert client.infer("queue", numbers(10 * k), ("kept_count",))["kept_count"] == k + 1
    kept = [client.infer("queue", numbers(777), ("oldest",))["oldest"].tolist() for _ in range(5)]
    assert kept == [numbers(10 * k)["x"].tolist() for k in range(5)]


def test_a_failure_stays_in_its_request(server: ServerProcess) -> None:
    client = Client(server, "http")
    with pytest.raises(InferenceServerException) as failed:
        client.infer("mlp", {"x": np.zeros((1, 63), np.float32)})
    assert "[-1,64]" in str(failed.value) or "shape" in str(failed.value)
    bad = {"a": np.zeros((1, 3), np.float32), "b": np.zeros((2, 3), np.float32)}
    with pytest.raises(InferenceServerException) as failed:
        client.infer("graph_difference", {**bad, "b": np.zeros((3, 3), np.float32), "a": np.zeros((2, 3), np.float32)})
    assert "Incompatible shapes" in str(failed.value)
    assert "\n" not in str(failed.value)
    assert client.infer("mlp", {"x": np.zeros((1, 64), np.float32)})["y"].shape == (1, 10)


def test_compute_time_is_the_frameworks(server: ServerProcess) -> None:
    client = Client(server, "grpc")
    before = client.client.get_inference_statistics("resnet18").model_stats[0].inference_stats
    client.infer("resnet18", {"image": np.zeros((1, 224, 224, 3), np.float32)})
    after = client.client.get_inference_statistics("resnet18").model_stats[0].inference_stats
    compute = after.compute_infer.ns - before.compute_infer.ns
    total = after.success.ns - before.success.ns
    assert 0 < compute < total


def test_the_log_names_threads(server: ServerProcess) -> None:
    assert "model 'mlp' version 1: TensorFlow 2.21.0; signature 'serving_default'; threads: " in (
        server.log_text()
    )
