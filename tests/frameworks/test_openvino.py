# SPDX-License-Identifier: Apache-2.0
"""Models with OpenVINO give the same answers as the runtime alone."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest

from frameworks import openvino_networks as networks
from frameworks import tensorflow_files
from frameworks.openvino_support import F32, Alone, Client, add_ir, config_text
from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "openvino").is_dir() or not networks.WHEEL.is_dir(),
    reason="the backend openvino is not staged: make stage BACKENDS=openvino",
)

PROTOCOLS = ("http", "grpc")
TYPES: dict[str, Any] = {
    "boolean": np.bool_, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16,
    "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "string": np.object_,
}  # fmt: skip
UNSHARED = ("u4", "i4", "u2", "nf4", "f8e4m3", "f8e5m2")
WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)
BIAS = np.array([1, 2, 3], np.float32)
ADDEND = np.array([1, 2, 3, 4], np.float32)


def inputs_of(name: str, rows: int, seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)

    def values(*shape: int) -> np.ndarray:
        return random.standard_normal((rows, *shape)).astype(np.float32)

    if name == "transformer":
        return {"TOKENS": random.integers(0, 100, (rows, 12))}
    return {
        "mlp": lambda: {"X": values(64)},
        "resnet18": lambda: {"IMAGE": values(3, 224, 224)},
        "lstm": lambda: {"X": values(8), "H_IN": values(16), "C_IN": values(16)},
    }[name]()


def add_formats(repository: ModelRepository, files: Path) -> None:
    """The formats that are no IR, by their usual names and by one of their own."""
    networks.save_mlp(repository.add("onnx", config_text()) / "1" / "model.onnx")
    named = repository.add("named", config_text('default_model_filename: "network.onnx"'))
    networks.save_mlp(named / "1" / "network.onnx")
    saved = repository.add("savedmodel", config_text()) / "1" / "model.savedmodel"
    tensorflow_files.save_savedmodel(saved, WEIGHT, BIAS)
    older = repository.add("saved_model", config_text('default_model_filename: "model.saved_model"'))
    tensorflow_files.save_savedmodel(older / "1" / "model.saved_model", WEIGHT, BIAS)
    tensorflow_files.save_tflite(repository.add("tflite", None) / "1" / "model.tflite", ADDEND)
    networks.onnx_to_ir(files / "mlp.onnx", repository.add("bare", None) / "1" / "model.xml")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ONNX files of the networks."""
    folder = tmp_path_factory.mktemp("networks")
    networks.save_mlp(folder / "mlp.onnx")
    networks.save_mlp(folder / "fixed.onnx", batch=1)
    networks.save_resnet18(folder / "resnet18.onnx")
    networks.save_transformer(folder / "transformer.onnx")
    networks.save_lstm(folder / "lstm.onnx")
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, files: Path) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("openvino")
    repository = ModelRepository(folder / "models")
    for name in ("mlp", "resnet18", "transformer", "lstm"):
        add_ir(repository, name, files / f"{name}.onnx", "max_batch_size: 8")
    add_formats(repository, files)
    add_ir(repository, "text", networks.text_lengths())
    add_ir(repository, "length_alone", networks.text_lengths(), 'output { name: "LENGTH" }')
    for name in TYPES:
        add_ir(repository, f"same_{name}", networks.identity(name))
    for name in UNSHARED:
        add_ir(repository, f"same_{name}", networks.identity(name))
    add_ir(repository, "streams", files / "mlp.onnx", "max_batch_size: 8", {**F32, "NUM_STREAMS": "2"})
    add_ir(repository, "throughput", files / "mlp.onnx", "max_batch_size: 8",
           {**F32, "PERFORMANCE_HINT": "THROUGHPUT"})  # fmt: skip
    add_ir(repository, "sizes", files / "mlp.onnx", "max_batch_size: 8",
           {**F32, "FIXED_BATCH_SIZES": "3,8"})  # fmt: skip
    add_ir(repository, "too_large", files / "mlp.onnx", "max_batch_size: 8",
           {**F32, "FIXED_BATCH_SIZES": "16"})  # fmt: skip
    add_ir(repository, "fixed", files / "fixed.onnx")
    add_ir(repository, "opened", files / "fixed.onnx", "max_batch_size: 8")
    listed = 'input { name: "X" data_type: TYPE_FP32 dims: [ 1, 64 ] }'
    add_ir(repository, "reshaped", files / "mlp.onnx", listed, {**F32, "RESHAPE_IO_LAYERS": "YES"})
    server = start_nereid(repository.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


@pytest.fixture(params=PROTOCOLS)
def client(request: pytest.FixtureRequest, server: ServerProcess) -> Iterator[Client]:
    with Client(server, request.param) as made:
        yield made


def reason(server: ServerProcess, model: str) -> str:
    for entry in raw_http.post(server.http_url, "/v2/repository/index").json():
        if entry["name"] == model:
            return str(entry.get("reason", ""))
    raise AssertionError(f"{model} is not in the index")


def config_of(server: ServerProcess, model: str) -> Any:
    return raw_http.get(server.http_url, f"/v2/models/{model}/config").json()


@pytest.mark.parametrize("name", ["mlp", "resnet18", "transformer", "lstm"])
def test_networks_answer_as_the_runtime_alone(client: Client, files: Path, name: str) -> None:
    alone = Alone(files / f"{name}.onnx")
    other = onnxruntime.InferenceSession(str(files / f"{name}.onnx"))
    for rows in (1, 3, 8):
        inputs = inputs_of(name, rows, seed=rows)
        answer, expected = client.infer(name, inputs), alone(inputs)
        assert answer.keys() == expected.keys()
        for output, value in expected.items():
            # The order of a sum depends on the number of threads.
            np.testing.assert_allclose(answer[output], value, rtol=1e-4, atol=1e-5)
        for output, value in zip((one.name for one in other.get_outputs()), other.run(None, inputs)):
            np.testing.assert_allclose(answer[output], value, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("model", ["mlp", "streams", "throughput", "sizes"])
def test_batches_of_many_clients(
    server: ServerProcess, files: Path, model: str, protocol: str
) -> None:
    alone = Alone(files / "mlp.onnx")

    def some(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
        with Client(server, protocol) as own:
            inputs = [inputs_of("mlp", 1 + seed % 3, seed) for seed in range(first, first + 25)]
            return [(own.infer(model, one)["Y"], one["X"]) for one in inputs]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(some, range(0, 200, 25)))
    for answer, inputs in (pair for part in answers for pair in part):
        np.testing.assert_allclose(answer, alone({"X": inputs})["Y"], rtol=1e-4, atol=1e-5)
    (statistics,) = raw_http.get(server.http_url, f"/v2/models/{model}/stats").json()["model_stats"]
    assert statistics["inference_stats"]["fail"]["count"] == 0
    assert statistics["inference_stats"]["success"]["count"] >= 200


def test_streams_are_told(server: ServerProcess) -> None:
    log = server.log_text()
    assert "model 'mlp' version 1: threads: " in log
    assert "one batch at a time in each instance; FP32 is computed in f32; states: 0" in log
    assert "Configuring 'NUM_STREAMS' to '2'" in log


def test_fixed_batch_sizes_are_told(server: ServerProcess) -> None:
    server.wait_for_log("states: 0; fixed batch sizes: 1,8")
    server.wait_for_log("states: 0; fixed batch sizes: 3,8")
    assert "'FIXED_BATCH_SIZES' asks for 16, but max_batch_size is 8" in reason(server, "too_large")


@pytest.mark.parametrize("name", TYPES)
def test_every_type(client: Client, name: str) -> None:
    if name == "string":
        value = np.array([[b"", b"a\0b", "Ä".encode()], [b"x" * 5000, b"1", b"2"]], np.object_)
    elif name == "boolean":
        value = np.array([[True, False, True], [False, False, True]])
    else:
        value = np.array([[1, 2, 3], [100, 0, 7]]).astype(TYPES[name])
    (answer,) = client.infer(f"same_{name}", {"INPUT": value}).values()
    assert answer.shape == value.shape
    assert answer.tolist() == value.tolist()


@pytest.mark.parametrize("name", UNSHARED)
def test_types_that_are_not_shared_are_named(server: ServerProcess, name: str) -> None:
    assert f"has a data type that can not be served ({name})" in reason(server, f"same_{name}")


def test_strings(client: Client) -> None:
    text = np.array([[b"", b"four"], ["ä".encode(), b"a\0b"]], np.object_)
    answer = client.infer("text", {"TEXT": text})
    assert answer["SAME"].tolist() == text.tolist()
    assert answer["LENGTH"].tolist() == [[0, 4], [2, 3]]


def test_an_output_that_is_left_out_is_not_served(server: ServerProcess, client: Client) -> None:
    outputs = config_of(server, "length_alone")["output"]
    assert [(t["name"], t["data_type"], t["dims"]) for t in outputs] == [("LENGTH", "TYPE_INT32", [2])]
    answer = client.infer("length_alone", {"TEXT": np.array([[b"", b"four"]], np.object_)})
    assert {name: value.tolist() for name, value in answer.items()} == {"LENGTH": [[0, 4]]}


def test_formats(client: Client, files: Path) -> None:
    inputs = inputs_of("mlp", 2)
    expected = Alone(files / "mlp.onnx")(inputs)["Y"]
    for model in ("onnx", "named", "opened"):
        np.testing.assert_allclose(client.infer(model, inputs)["Y"], expected, rtol=1e-4, atol=1e-5)
    # Computed in what OpenVINO chooses for this processor.
    np.testing.assert_allclose(client.infer("bare", inputs)["Y"], expected, rtol=0.05, atol=0.1)
    four = np.ones((2, 4), np.float32)
    for model in ("savedmodel", "saved_model"):
        assert client.infer(model, {"input": four})["result"].tolist() == [[19, 24, 29]] * 2
    assert client.infer("tflite", {"x": four})["y"].tolist() == [[2, 3, 4, 5]] * 2


def test_configurations_are_completed(server: ServerProcess, client: Client) -> None:
    bare = config_of(server, "bare")
    assert (bare["max_batch_size"], bare["input"][0]["dims"]) == (4, [64])
    assert "dynamic_batching" in bare
    text = config_of(server, "text")
    assert [output["data_type"] for output in text["output"]] == ["TYPE_STRING", "TYPE_INT32"]
    fixed = config_of(server, "fixed")
    assert (fixed["max_batch_size"], fixed["input"][0]["dims"]) == (0, [1, 64])
    assert client.infer("fixed", inputs_of("mlp", 1))["Y"].shape == (1, 10)
    assert config_of(server, "opened")["input"][0]["dims"] == [64]


def test_reshape(server: ServerProcess, client: Client) -> None:
    assert config_of(server, "reshaped")["output"][0]["dims"] == [1, 10]
    assert client.infer("reshaped", inputs_of("mlp", 1))["Y"].shape == (1, 10)


def test_wrong_requests_are_told(server: ServerProcess) -> None:
    with Client(server, "http") as http:
        with pytest.raises(Exception, match=r"unexpected shape for input 'X'"):
            http.infer("mlp", {"X": np.ones((1, 63), np.float32)})
        assert http.infer("mlp", inputs_of("mlp", 1))["Y"].shape == (1, 10)
