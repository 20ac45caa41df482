# SPDX-License-Identifier: Apache-2.0
"""The example models give the same answers as ONNX Runtime, bit for bit, with every official
client.

The reference is onnxruntime in this process with one intra-op thread. The network's sums are exact
in float32 (examples/digits/train.py says why), so there is one right answer per image, whatever its
batch.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http
import tritonclient.http.aio
from sklearn.datasets import load_digits

from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

EXAMPLES = PROJECT_ROOT / "examples"
MODEL_FILE = EXAMPLES / "models" / "digits" / "1" / "model.onnx"
TRAIN = EXAMPLES / "digits" / "train.py"
PYTHON_CLIENT = EXAMPLES / "clients" / "python" / "digits_client.py"
CURL_CLIENT = EXAMPLES / "clients" / "curl" / "digits.sh"

IMAGE_COUNT = 1797
# The number of requests that an asyncio client sends at a time; enough to form batches.
CONCURRENCY = 32
# A loopback port where nothing listens (tcpmux, which only root can bind).
NOBODY = "127.0.0.1:1"
LABELS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


@dataclass(frozen=True)
class Answers:
    """The model's outputs, one row per image."""

    probabilities: np.ndarray
    digit: np.ndarray

    @staticmethod
    def join(parts: Sequence[Answers]) -> Answers:
        return Answers(
            np.concatenate([part.probabilities for part in parts]),
            np.concatenate([part.digit for part in parts]),
        )


@dataclass(frozen=True)
class Dataset:
    images: np.ndarray
    labels: np.ndarray

    def batches(self, size: int) -> list[np.ndarray]:
        return [self.images[i : i + size] for i in range(0, len(self.images), size)]


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    images, labels = load_digits(return_X_y=True)
    assert images.shape == (IMAGE_COUNT, 64)
    return Dataset(images.astype(np.float32), labels)


def run_in_process(batches: Sequence[np.ndarray]) -> Answers:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        MODEL_FILE, options, providers=["CPUExecutionProvider"]
    )
    outputs = ["probabilities", "digit"]
    return Answers.join([Answers(*session.run(outputs, {"image": batch})) for batch in batches])


@pytest.fixture(scope="module")
def reference(dataset: Dataset) -> Answers:
    return run_in_process(dataset.batches(1))


def assert_same_bits(actual: Answers, expected: Answers) -> None:
    for name in ("probabilities", "digit"):
        got, wanted = getattr(actual, name), getattr(expected, name)
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), name
        rows = [i for i in range(len(wanted)) if got[i].tobytes() != wanted[i].tobytes()]
        assert not rows, f"{name} differs for {len(rows)} images, first: {rows[:5]}"


# -- the official clients ----------------------------------------------------------------------


def image_input(module, batch: np.ndarray, **how):
    tensor = module.InferInput("image", list(batch.shape), "FP32")
    tensor.set_data_from_numpy(batch, **how)
    return tensor


def answers_of(result) -> Answers:
    return Answers(result.as_numpy("probabilities"), result.as_numpy("digit"))


def over_http(server: ServerProcess, model: str, batches: Sequence[np.ndarray]) -> Answers:
    module = tritonclient.http
    with module.InferenceServerClient(server.http_url) as client:
        results = [client.infer(model, [image_input(module, batch)]) for batch in batches]
        return Answers.join([answers_of(result) for result in results])


def over_grpc(server: ServerProcess, model: str, batches: Sequence[np.ndarray]) -> Answers:
    module = tritonclient.grpc
    with module.InferenceServerClient(server.grpc_url) as client:
        results = [client.infer(model, [image_input(module, batch)]) for batch in batches]
        return Answers.join([answers_of(result) for result in results])


async def ask_concurrently(module, url: str, model: str, batches: Sequence[np.ndarray]) -> Answers:
    room = asyncio.Semaphore(CONCURRENCY)
    async with module.InferenceServerClient(url) as client:

        async def ask(batch: np.ndarray) -> Answers:
            async with room:
                return answers_of(await client.infer(model, [image_input(module, batch)]))

        return Answers.join(await asyncio.gather(*(ask(batch) for batch in batches)))


def over_http_aio(server: ServerProcess, model: str, batches: Sequence[np.ndarray]) -> Answers:
    return asyncio.run(ask_concurrently(tritonclient.http.aio, server.http_url, model, batches))


def over_grpc_aio(server: ServerProcess, model: str, batches: Sequence[np.ndarray]) -> Answers:
    return asyncio.run(ask_concurrently(tritonclient.grpc.aio, server.grpc_url, model, batches))


TRANSPORTS: dict[str, Callable[[ServerProcess, str, Sequence[np.ndarray]], Answers]] = {
    "http": over_http,
    "http.aio": over_http_aio,
    "grpc": over_grpc,
    "grpc.aio": over_grpc_aio,
}


# -- same bits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("batch_size", [2, 7, 64, IMAGE_COUNT])
def test_the_reference_does_not_depend_on_the_batch(
    batch_size: int, dataset: Dataset, reference: Answers
) -> None:
    assert_same_bits(run_in_process(dataset.batches(batch_size)), reference)


def test_the_reference_knows_the_digits(dataset: Dataset, reference: Answers) -> None:
    assert np.mean(reference.digit[:, 0] == dataset.labels) > 0.96
    assert np.array_equal(reference.probabilities.argmax(axis=1), reference.digit[:, 0])


# Batch sizes: the model's largest one, 1, and one that does not divide 1,797.
@pytest.mark.parametrize(
    ("model", "batch_size"),
    [
        ("digits", 1),
        ("digits", 4),
        ("digits_batched", 1),
        ("digits_batched", 5),
        ("digits_batched", 64),
    ],
)
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_every_image_gives_the_same_bits(
    transport: str,
    model: str,
    batch_size: int,
    dataset: Dataset,
    reference: Answers,
    example_server: ServerProcess,
) -> None:
    actual = TRANSPORTS[transport](example_server, model, dataset.batches(batch_size))
    assert_same_bits(actual, reference)


@pytest.mark.parametrize("model", ["digits", "digits_batched"])
def test_json_tensors_give_the_same_bits(
    model: str, dataset: Dataset, reference: Answers, example_server: ServerProcess
) -> None:
    module = tritonclient.http
    outputs = [
        module.InferRequestedOutput(name, binary_data=False) for name in ("probabilities", "digit")
    ]
    parts = []
    with module.InferenceServerClient(example_server.http_url) as client:
        for batch in dataset.batches(4):
            tensor = image_input(module, batch, binary_data=False)
            result = client.infer(model, [tensor], outputs=outputs)
            assert "data" in result.get_output("probabilities"), "the answer is not JSON"
            parts.append(answers_of(result))
    assert_same_bits(Answers.join(parts), reference)


@pytest.mark.parametrize("compression", ["gzip", "deflate"])
def test_compressed_bodies_give_the_same_bits(
    compression: str, dataset: Dataset, reference: Answers, example_server: ServerProcess
) -> None:
    module = tritonclient.http
    with module.InferenceServerClient(example_server.http_url) as client:
        parts = [
            answers_of(
                client.infer(
                    "digits_batched",
                    [image_input(module, batch)],
                    request_compression_algorithm=compression,
                    response_compression_algorithm=compression,
                )
            )
            for batch in dataset.batches(64)
        ]
    assert_same_bits(Answers.join(parts), reference)


# -- metadata and configuration of the models --------------------------------------------------

TENSORS = {
    "inputs": [{"name": "image", "datatype": "FP32", "shape": [-1, 64]}],
    "outputs": [
        {"name": "digit", "datatype": "INT64", "shape": [-1, 1]},
        {"name": "probabilities", "datatype": "FP32", "shape": [-1, 10]},
    ],
}


@pytest.mark.parametrize("model", ["digits", "digits_batched"])
def test_metadata_names_the_tensors(model: str, example_server: ServerProcess) -> None:
    with tritonclient.http.InferenceServerClient(example_server.http_url) as client:
        metadata = client.get_model_metadata(model)
    assert metadata["versions"] == ["1"]
    for side, expected in TENSORS.items():
        assert sorted(metadata[side], key=lambda tensor: tensor["name"]) == expected


def test_a_model_without_configuration_batches(example_server: ServerProcess) -> None:
    with tritonclient.http.InferenceServerClient(example_server.http_url) as client:
        config = client.get_model_config("digits")
    assert (config["backend"], config["max_batch_size"]) == ("onnxruntime", 4)
    assert "dynamic_batching" in config


def test_the_configuration_is_taken_over(example_server: ServerProcess) -> None:
    with tritonclient.http.InferenceServerClient(example_server.http_url) as client:
        config = client.get_model_config("digits_batched")
    assert config["max_batch_size"] == 64
    assert config["dynamic_batching"]["preferred_batch_size"] == [16, 32, 64]
    assert [(group["count"], group["kind"]) for group in config["instance_group"]] == [
        (2, "KIND_CPU")
    ]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_classification_names_the_digits(
    protocol: str, dataset: Dataset, reference: Answers, example_server: ServerProcess
) -> None:
    module = {"http": tritonclient.http, "grpc": tritonclient.grpc}[protocol]
    url = {"http": example_server.http_url, "grpc": example_server.grpc_url}[protocol]
    batch, count = dataset.images[:4], 3
    with module.InferenceServerClient(url) as client:
        result = client.infer(
            "digits_batched",
            [image_input(module, batch)],
            outputs=[module.InferRequestedOutput("probabilities", class_count=count)],
        )
    classes = result.as_numpy("probabilities")
    assert classes.shape == (4, count)
    for row, probabilities in zip(classes, reference.probabilities):
        best = np.argsort(-probabilities, kind="stable")[:count]
        expected = [f"{probabilities[i]:.6f}:{i}:{LABELS[i]}" for i in best]
        assert [text.decode() for text in row] == expected


# -- the clients under examples/ ---------------------------------------------------------------


def run_program(*command: str | Path) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("model", ["digits", "digits_batched"])
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_python_client_prints_the_digit(
    protocol: str, model: str, example_server: ServerProcess
) -> None:
    url = {"http": example_server.http_url, "grpc": example_server.grpc_url}[protocol]
    done = run_program(
        sys.executable, PYTHON_CLIENT, "--protocol", protocol, "--url", url, "--model", model
    )
    assert done.returncode == 0, done.stderr
    assert f"{model} over {protocol}: this is a 3 (probability 99.7%)" in done.stdout
    assert "right: image 3 is labelled 3" in done.stdout


def test_python_client_says_when_the_answer_is_wrong(
    dataset: Dataset, reference: Answers, example_server: ServerProcess
) -> None:
    index = int(np.flatnonzero(reference.digit[:, 0] != dataset.labels)[0])
    done = run_program(
        sys.executable, PYTHON_CLIENT, "--url", example_server.http_url, "--index", str(index)
    )
    assert done.returncode == 1, done.stderr
    assert f"wrong: image {index} shows a {dataset.labels[index]}" in done.stdout


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_python_client_says_which_model_is_missing(
    protocol: str, example_server: ServerProcess
) -> None:
    url = {"http": example_server.http_url, "grpc": example_server.grpc_url}[protocol]
    done = run_program(
        sys.executable, PYTHON_CLIENT, "--protocol", protocol, "--url", url, "--model", "letters"
    )
    assert done.returncode == 1
    assert "the server refused the request" in done.stderr and "letters" in done.stderr


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_python_client_says_when_no_server_is_there(protocol: str) -> None:
    done = run_program(sys.executable, PYTHON_CLIENT, "--protocol", protocol, "--url", NOBODY)
    assert done.returncode == 2
    assert f"no server answers {protocol} at {NOBODY}" in done.stderr
    assert "Traceback" not in done.stderr


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@needs_curl
def test_curl_client_prints_the_digit(example_server: ServerProcess) -> None:
    done = run_program("sh", CURL_CLIENT, example_server.http_url)
    assert done.returncode == 0, done.stderr
    assert '"data":[3]' in done.stdout.replace(" ", "")


@needs_curl
def test_curl_client_fails_when_the_model_is_missing(example_server: ServerProcess) -> None:
    done = run_program("sh", CURL_CLIENT, example_server.http_url, "letters")
    assert done.returncode == 1
    assert "HTTP status 404" in done.stderr and "letters" in done.stdout


@needs_curl
def test_curl_client_says_when_no_server_is_there() -> None:
    done = run_program("sh", CURL_CLIENT, NOBODY)
    assert done.returncode == 2
    assert f"no server answers at http://{NOBODY}" in done.stderr


# -- the model files ---------------------------------------------------------------------------


def test_the_script_makes_the_committed_model_files() -> None:
    done = run_program(sys.executable, TRAIN, "--check")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("identical") == 2


def test_the_model_files_are_small() -> None:
    for path in (EXAMPLES / "models").glob("*/*/model.onnx"):
        assert path.stat().st_size < 200_000, path
