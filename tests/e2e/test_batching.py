# SPDX-License-Identifier: Apache-2.0
"""Which requests share a batch, and what models learn about it: ragged batches, batch_input,
batch_output, optional inputs, requests of several rows, custom batching. Answers are compared with
numpy; the statistics show which batches were run."""

from __future__ import annotations

import queue
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as triton
from onnx import helper, numpy_helper
from tritonclient.utils import np_to_triton_dtype

from support import raw_http
from support.nereid import start_nereid
from support.onnx_models import FLOAT, INT32, INT64, save_model
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.stage import backend_directory

ANSWER_SECONDS = 30.0
# For batches that are closed by their size: longer than any stall of the machine.
LONG = 20_000_000
# For batches that are closed by the delay.
SHORT = 200_000

Arrays = Mapping[str, np.ndarray]


def batching(size: int, delay: int) -> str:
    return (
        f"dynamic_batching {{ preferred_batch_size: [ {size} ] "
        f"max_queue_delay_microseconds: {delay} }}"
    )


def batch_input(kind: str, target: str, data_type: str) -> str:
    return (
        f'batch_input {{ kind: {kind} target_name: "{target}" data_type: TYPE_{data_type} '
        'source_input: "X" }\n'
    )


SCATTER = 'batch_output { target_name: "Y" source_input: "X" }\n'


def unsqueezed(name: str, out: str) -> list:
    """Nodes that turn a one-dimensional tensor into a column of floats."""
    return [
        helper.make_node("Cast", [name], [f"{name}_float"], to=FLOAT),
        helper.make_node("Unsqueeze", [f"{name}_float", "one"], [out]),
    ]


def add_ragged(models: ModelRepository) -> None:
    """Y: X doubled, divided among the requests. INFO: the value of each kind of batch input per
    row."""
    inputs = tensor_text("X", "FP32", (-1,), "allow_ragged_batch: true")
    outputs = f"{tensor_text('Y', 'FP32', (-1,))}, {tensor_text('INFO', 'FP32', (7,))}"
    folder = models.add(
        "ragged",
        f'backend: "onnxruntime"\nmax_batch_size: 8\ninput [ {inputs} ]\noutput [ {outputs} ]\n'
        + batch_input("BATCH_ELEMENT_COUNT", "COUNT", "FP32")
        + batch_input("BATCH_ACCUMULATED_ELEMENT_COUNT", "SUM", "INT32")
        + batch_input("BATCH_ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "OFFSETS", "INT32")
        + batch_input("BATCH_MAX_ELEMENT_COUNT_AS_SHAPE", "MOST", "FP32")
        + batch_input("BATCH_ITEM_SHAPE", "SHAPE", "INT32")
        + batch_input("BATCH_ITEM_SHAPE_FLATTEN", "FLAT", "FP32")
        + SCATTER
        + batching(4, LONG),
    )
    columns = ["count", "sum", "begin", "end", "most", "shape", "flat"]
    nodes = [
        helper.make_node("Add", ["X", "X"], ["Y"]),
        helper.make_node("Slice", ["OFFSETS", "zero", "minus_one"], ["BEGIN"]),
        helper.make_node("Slice", ["OFFSETS", "one", "far"], ["END"]),
        *unsqueezed("COUNT", "count"),
        *unsqueezed("SUM", "sum"),
        *unsqueezed("BEGIN", "begin"),
        *unsqueezed("END", "end"),
        *unsqueezed("FLAT", "flat"),
        helper.make_node("Cast", ["SHAPE"], ["shape"], to=FLOAT),
        # Each row contains the shape of MOST, and its sum, which is 0.
        helper.make_node("Shape", ["MOST"], ["most_shape"]),
        helper.make_node("Cast", ["most_shape"], ["most_float"], to=FLOAT),
        helper.make_node("ReduceSum", ["MOST"], ["most_content"], keepdims=0),
        helper.make_node("Add", ["most_float", "most_content"], ["most_value"]),
        helper.make_node("Shape", ["count"], ["info_shape"]),
        helper.make_node("Expand", ["most_value", "info_shape"], ["most"]),
        helper.make_node("Concat", columns, ["INFO"], axis=1),
    ]
    save_model(
        folder,
        nodes,
        [
            ("X", FLOAT, ["n"]),
            ("COUNT", FLOAT, ["r"]),
            ("SUM", INT32, ["r"]),
            ("OFFSETS", INT32, ["z"]),
            ("MOST", FLOAT, ["m"]),
            ("SHAPE", INT32, ["r", 1]),
            ("FLAT", FLOAT, ["r"]),
        ],
        [("Y", FLOAT, ["n"]), ("INFO", FLOAT, ["r", 7])],
        [
            numpy_helper.from_array(np.array([0], np.int64), "zero"),
            numpy_helper.from_array(np.array([1], np.int64), "one"),
            numpy_helper.from_array(np.array([-1], np.int64), "minus_one"),
            numpy_helper.from_array(np.array([2**31], np.int64), "far"),
        ],
    )


def add_ragged_rows(models: ModelRepository) -> None:
    """Requests of several rows of two variable dimensions. SIZES: dims of each row; Y: as X."""
    inputs = tensor_text("X", "INT64", (-1, -1), "allow_ragged_batch: true")
    outputs = f"{tensor_text('Y', 'INT64', (-1, -1))}, {tensor_text('SIZES', 'INT32', (2,))}"
    folder = models.add(
        "ragged_rows",
        f'backend: "onnxruntime"\nmax_batch_size: 8\ninput [ {inputs} ]\noutput [ {outputs} ]\n'
        + batch_input("BATCH_ITEM_SHAPE", "SHAPE", "INT32")
        + SCATTER
        + batching(6, LONG),
    )
    save_model(
        folder,
        [
            helper.make_node("Add", ["X", "X"], ["Y"]),
            helper.make_node("Identity", ["SHAPE"], ["SIZES"]),
        ],
        [("X", INT64, ["n"]), ("SHAPE", INT32, ["r", 2])],
        [("Y", INT64, ["n"]), ("SIZES", INT32, ["r", 2])],
    )


def add_optional(models: ModelRepository) -> None:
    """Y = X + D, where D is 100 for requests that omit it."""
    inputs = f"{tensor_text('X', 'FP32', (2,))}, {tensor_text('D', 'FP32', (2,), 'optional: true')}"
    folder = models.add(
        "optional",
        f'backend: "onnxruntime"\nmax_batch_size: 4\ninput [ {inputs} ]\n'
        f"output [ {tensor_text('Y', 'FP32', (2,))} ]\n{batching(4, SHORT)}",
    )
    save_model(
        folder,
        [helper.make_node("Add", ["X", "D"], ["Y"])],
        [("X", FLOAT, ["batch", 2]), ("D", FLOAT, ["rows", 2])],
        [("Y", FLOAT, ["batch", 2])],
        [numpy_helper.from_array(np.full((1, 2), 100, np.float32), "D")],
    )


def add_custom_batching(models: ModelRepository, name: str, path: str | None) -> Path:
    """A model with the testing batcher: the sum of the values in a batch is at most 10."""
    parameters = {"batch_sum_limit": "10"}
    if path is not None:
        parameters["TRITON_BATCH_STRATEGY_PATH"] = path
    folder = models.add_identity(
        name, "INT32", (1,), max_batch_size=8, extra=batching(8, SHORT), parameters=parameters
    )
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("batching")
    models = ModelRepository(folder / "models")
    add_ragged(models)
    add_ragged_rows(models)
    add_optional(models)
    models.add_identity("rows", "INT32", (2,), 8, tensors=2, extra=batching(6, LONG))
    models.add_identity("shapes", "INT32", (-1,), 8, extra=batching(8, SHORT))
    models.add_identity("never_split", "INT32", (2,), max_batch_size=8, extra=batching(8, SHORT))
    library = backend_directory() / "testing" / "libtriton_testing_batcher.so"
    for name, path, place in (
        ("library_found", None, "batchstrategy.so"),
        ("library_given", "lib/by_sum.so", "lib/by_sum.so"),
    ):
        target = add_custom_batching(models, name, path) / place
        target.parent.mkdir(exist_ok=True)
        shutil.copy(library, target)
    add_custom_batching(models, "library_outside", str(library))
    add_custom_batching(models, "library_missing", "none.so")
    server = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


def ask_together(
    server: ServerProcess,
    model: str,
    requests: Sequence[Arrays],
    outputs: Sequence[Sequence[str]] | None = None,
) -> list[triton.InferResult]:
    """Sends all requests one after another without waiting. Returns the answers in the same order.

    `outputs`: the outputs that each request asks for; without it, all requests ask for all outputs.
    """
    answers: queue.Queue[tuple[int, object, object]] = queue.Queue()

    def keep(index: int) -> Callable[[object, object], None]:
        return lambda result, error: answers.put((index, result, error))

    with triton.InferenceServerClient(server.grpc_url) as client:
        for index, arrays in enumerate(requests):
            tensors = []
            for name, array in arrays.items():
                tensor = triton.InferInput(name, array.shape, np_to_triton_dtype(array.dtype))
                tensor.set_data_from_numpy(array)
                tensors.append(tensor)
            wanted = outputs and [triton.InferRequestedOutput(name) for name in outputs[index]]
            client.async_infer(model, tensors, keep(index), outputs=wanted)
        found: dict[int, triton.InferResult] = {}
        for _ in requests:
            index, result, error = answers.get(timeout=ANSWER_SECONDS)
            assert error is None, error
            found[index] = result
    return [found[index] for index in range(len(requests))]


def batches_of(server: ServerProcess, model: str) -> dict[int, int]:
    """The number of batches of each size that were run so far."""
    statistics = raw_http.get(server.http_url, f"/v2/models/{model}/stats").json()["model_stats"][0]
    return {
        int(batch["batch_size"]): int(batch["compute_infer"]["count"])
        for batch in statistics["batch_stats"]
    }


def test_ragged_requests_share_a_batch(server: ServerProcess) -> None:
    lengths = [3, 1, 7, 4]
    arrays = [np.arange(length, dtype=np.float32)[None] + 10 * length for length in lengths]
    answers = ask_together(server, "ragged", [{"X": array} for array in arrays])
    info = np.concatenate([answer.as_numpy("INFO") for answer in answers])
    for array, answer in zip(arrays, answers):
        np.testing.assert_array_equal(answer.as_numpy("Y"), 2 * array)
    counts = np.array(lengths, np.float32)
    order = np.argsort(info[:, 2])  # by the offset of each request in the batch
    ends = np.empty(4, np.float32)
    ends[order] = np.cumsum(counts[order])
    expected = np.stack(
        [counts, ends, ends - counts, ends, np.full(4, 7, np.float32), counts, counts], axis=1
    )
    np.testing.assert_array_equal(info, expected)
    assert batches_of(server, "ragged") == {4: 1}


def test_ragged_requests_of_several_rows(server: ServerProcess) -> None:
    shapes = [(1, 2, 3), (3, 1, 4), (2, 2, 1)]
    arrays = [np.arange(np.prod(shape), dtype=np.int64).reshape(shape) for shape in shapes]
    answers = ask_together(server, "ragged_rows", [{"X": array} for array in arrays])
    for array, answer in zip(arrays, answers):
        np.testing.assert_array_equal(answer.as_numpy("Y"), 2 * array)
        rows = np.tile(np.array(array.shape[1:], np.int32), (array.shape[0], 1))
        np.testing.assert_array_equal(answer.as_numpy("SIZES"), rows)
    assert batches_of(server, "ragged_rows") == {6: 1}


def test_optional_inputs(server: ServerProcess) -> None:
    """All requests of a batch have the same set of inputs."""
    x = np.ones((1, 2), np.float32)
    requests: list[Arrays] = [
        {"X": x},
        {"X": 2 * x},
        {"X": 3 * x, "D": 4 * x},
        {"D": 5 * x, "X": 6 * x},
    ]
    answers = ask_together(server, "optional", requests)
    sums = [float(answer.as_numpy("Y")[0, 0]) for answer in answers]
    assert sums == [101, 102, 7, 11]
    # At most two requests have the same set of inputs.
    assert set(batches_of(server, "optional")) <= {1, 2}


def test_an_optional_input_does_not_make_up_for_a_required_one(server: ServerProcess) -> None:
    tensor = {"name": "D", "shape": [1, 2], "datatype": "FP32", "data": [1, 2]}
    path = "/v2/models/optional/infer"
    answer = raw_http.post_json(server.http_url, path, {"inputs": [tensor]})
    assert answer.status == 400
    assert "missing required input(s) ['X']" in answer.error()


def test_requests_of_several_rows_are_packed(server: ServerProcess) -> None:
    """Requests with different requested outputs may share a batch."""
    arrays = [np.arange(2 * rows, dtype=np.int32).reshape(rows, 2) for rows in (1, 2, 3)]
    outputs = [["OUTPUT0"], ["OUTPUT1", "OUTPUT0"], ["OUTPUT1"]]
    requests = [{"INPUT0": array, "INPUT1": -array} for array in arrays]
    answers = ask_together(server, "rows", requests, outputs)
    for array, wanted, answer in zip(arrays, outputs, answers):
        assert {output.name for output in answer.get_response().outputs} == set(wanted)
        for name in wanted:
            sent = array if name == "OUTPUT0" else -array
            np.testing.assert_array_equal(answer.as_numpy(name), sent)
    assert batches_of(server, "rows") == {6: 1}


def test_requests_are_never_split(server: ServerProcess) -> None:
    arrays = [np.full((rows, 2), rows, np.int32) for rows in (5, 5)]
    answers = ask_together(server, "never_split", [{"INPUT0": array} for array in arrays])
    for array, answer in zip(arrays, answers):
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), array)
    assert batches_of(server, "never_split") == {5: 2}


def test_other_shapes_are_another_batch(server: ServerProcess) -> None:
    arrays = [np.full((1, length), length, np.int32) for length in (2, 3)]
    answers = ask_together(server, "shapes", [{"INPUT0": array} for array in arrays])
    for array, answer in zip(arrays, answers):
        np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), array)
    assert batches_of(server, "shapes") == {1: 2}


@pytest.mark.parametrize("model", ["library_found", "library_given"])
def test_custom_batching(server: ServerProcess, model: str) -> None:
    """4 + 4 fit into a batch; a third 4 would exceed the limit of 10."""
    arrays = [np.array([[4]], np.int32)] * 3
    answers = ask_together(server, model, [{"INPUT0": array} for array in arrays])
    assert [answer.as_numpy("OUTPUT0").item() for answer in answers] == [4, 4, 4]
    assert batches_of(server, model) == {2: 1, 1: 1}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("library_outside", "Batching library path escapes model repository."),
        ("library_missing", "Batching library path not found: "),
    ],
)
def test_batching_libraries_that_can_not_be_used(
    server: ServerProcess, model: str, words: str
) -> None:
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    (entry,) = [entry for entry in index if entry["name"] == model]
    assert words in entry["reason"]
