# SPDX-License-Identifier: Apache-2.0
"""The PyTorch backend in a running server gives the same answers as PyTorch alone.

They are equal bit for bit if a request is executed alone. Rows of a batch may differ from the same
rows alone in the last bits, because PyTorch then multiplies matrices of another size: by at most
1e-5, relative to the largest value.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from tritonclient.utils import InferenceServerException

from frameworks import pytorch_networks as networks
from frameworks.pytorch_networks import add_model, config_text
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "pytorch").exists() or not networks.PROGRAM.exists(),
    reason="the PyTorch backend is not staged: tools/dev frameworks-test",
)
CLIENTS = {"http": tritonclient.http, "grpc": tritonclient.grpc}
NUMPY_TYPES = {
    "BOOL": np.bool_, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32,
    "UINT64": np.uint64, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32,
    "INT64": np.int64, "FP16": np.float16, "FP32": np.float32, "FP64": np.float64,
    "BF16": ml_dtypes.bfloat16,
}  # fmt: skip
TYPES = [*NUMPY_TYPES, "STRING"]
TOLERANCE = 1e-5
KEEP_OWN = {"ENABLE_WEIGHT_SHARING": "false"}


def add_models(models: ModelRepository) -> None:
    x, out = ("x", "FP32", (-1,)), ("OUTPUT__0", "FP32", (-1,))
    networks.add_networks(models)
    for name in TYPES:
        network = "echo_strings" if name == "STRING" else "identity"
        tensor = (name, (-1,))
        add_model(
            models, f"type_{name}", network,
            config_text([("INPUT__0", *tensor)], [("OUTPUT__0", *tensor)]),
        )  # fmt: skip
    row = ("FP32", (2,))
    add_model(models, "by_index", "minus",
              config_text([("X__1", *row), ("Y__0", *row)], [("D__0", *row)], 4))
    add_model(models, "by_argument", "minus",
              config_text([("b", *row), ("a", *row)], [("D", *row)], 4))
    add_model(models, "by_order", "minus",
              config_text([("left", *row), ("right__x", *row)], [("D", *row)], 4))
    dictionary = [("difference", "FP32", (-1,)), ("twice", "FP32", (-1,))]
    add_model(models, "dictionary", "dictionary",
              config_text([("left", "FP32", (-1,))], dictionary).replace(
                  "input [ ",
                  'input [ { name: "right" data_type: TYPE_FP32 dims: [-1] optional: true }, '))
    add_model(models, "missing_key", "dictionary",
              config_text([("left", "FP32", (-1,))], [("other", "FP32", (-1,))]))
    add_model(models, "defaults", "optional", config_text([x], [out]).replace(
        "input [ ", 'input [ { name: "bias" data_type: TYPE_FP32 dims: [-1] optional: true }, '))
    add_model(models, "defaults_unlisted", "optional", config_text([x], [out]))
    add_model(models, "keeper", "keeper", config_text([x], [out]))
    add_model(models, "keeper_shared", "keeper",
              config_text([x], [out], parameters={"ENABLE_WEIGHT_SHARING": "on"}, instances=2))
    add_model(models, "in_place", "in_place", config_text([x], [out]))
    add_model(models, "difference", "minus",
              config_text([("a", "FP32", (-1,)), ("b", "FP32", (-1,))], [out]))
    models.add("twice_read", """platform: "ensemble"
input { name: "RAW" data_type: TYPE_FP32 dims: [-1] }
output { name: "DIFFERENCE" data_type: TYPE_FP32 dims: [-1] }
ensemble_scheduling { step [
  { model_name: "in_place" model_version: -1 input_map { key: "x" value: "RAW" }
    output_map { key: "OUTPUT__0" value: "more" } },
  { model_name: "difference" model_version: -1 input_map { key: "a" value: "more" }
    input_map { key: "b" value: "RAW" } output_map { key: "OUTPUT__0" value: "DIFFERENCE" } } ] }
""")
    add_model(models, "transposed", "transposed",
              config_text([("x", "FP32", (-1, -1))], [("OUTPUT__0", "FP32", (-1, -1))]))
    add_model(models, "scalar", "scalar", config_text([x], [("OUTPUT__0", "FP32", (1,))]))
    add_model(models, "argmax", "argmax", config_text([x], [("OUTPUT__0", "INT32", (1,))]))
    add_model(models, "raises", "raises", config_text([x], [out]))
    add_model(models, "forks", "forks",
              config_text([("x", "FP32", (-1, -1))], [("OUTPUT__0", "FP32", (-1, -1))],
                          parameters={"INTER_OP_THREAD_COUNT": "1"}))
    add_model(models, "modes", "mlp",
              config_text(*networks.NETWORKS["mlp"][:2], 32, parameters={
                  "INFERENCE_MODE": "false", "DISABLE_OPTIMIZED_EXECUTION": "true",
                  "ENABLE_CACHE_CLEANING": "true", "ENABLE_JIT_PROFILING": "true",
                  "ENABLE_TENSOR_FUSER": "true", "INTRA_OP_THREAD_COUNT": "2"}))
    add_model(models, "text_batch", "echo_strings",
              config_text([("texts", "STRING", (1,))], [("OUTPUT__0", "STRING", (1,))], 8,
                          networks.BATCHED).replace("dims: [ 1 ]",
                                                    "dims: [ 1 ] reshape { shape: [] }"))
    start = ('control_input [ { name: "START" control [ { kind: CONTROL_SEQUENCE_START '
             "fp32_false_true: [ 0, 1 ] } ] } ]")
    state = 'state [ {{ input_name: "{}" output_name: "{}" data_type: {} dims: [ 1 ] {} }} ]'
    add_model(models, "sequence", "sequence",
              config_text([("INPUT", "FP32", (1,))], [("SUM__0", "FP32", (1,))], 4,
                          "sequence_batching { " + start
                          + state.format("total", "SUM_STATE__1", "TYPE_FP32", "") + " }"))
    add_model(models, "history", "history",
              config_text([("word", "STRING", (1,))], [("SEEN__0", "STRING", (1,))], 0,
                          "sequence_batching { oldest { max_candidate_sequences: 4 } "
                          + state.format("seen", "SEEN_STATE__1", "TYPE_STRING",
                                         'initial_state { name: "none" data_type: TYPE_STRING '
                                         "dims: [ 1 ] zero_data: true }") + " }"))
    folder = models.add("completed", None)
    (folder / "1" / "model.pt").write_bytes(
        (networks.model_files() / "echo_strings.pt").read_bytes())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("pytorch")
    models = ModelRepository(folder / "models")
    add_models(models)
    process = start_nereid(models.root, folder / "log")
    try:
        process.wait_for()
        yield process
    finally:
        process.stop()
        networks.remove_model_files()


class Client:
    def __init__(self, server: ServerProcess, protocol: str) -> None:
        self.module = CLIENTS[protocol]
        url = server.http_url if protocol == "http" else server.grpc_url
        self.client = self.module.InferenceServerClient(url)

    def infer(self, model: str, inputs: dict[str, np.ndarray], types: str | None = None, **more):
        tensors = []
        for name, value in inputs.items():
            type_name = types or tritonclient.utils.np_to_triton_dtype(value.dtype)
            tensor = self.module.InferInput(name, list(value.shape), type_name)
            tensor.set_data_from_numpy(value)
            tensors.append(tensor)
        return self.client.infer(model, tensors, **more)

    def one(self, model: str, inputs: dict[str, np.ndarray], output: str = "OUTPUT__0", **more):
        return self.infer(model, inputs, **more).as_numpy(output)


@pytest.fixture(params=["http", "grpc"])
def client(server: ServerProcess, request: pytest.FixtureRequest) -> Iterator[Client]:
    client = Client(server, request.param)
    yield client
    client.client.close()


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def sample(shape: tuple[int, ...], seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def assert_close(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= TOLERANCE * max(1.0, np.abs(expected).max())


SHAPES = {"mlp": (64,), "resnet18": (3, 224, 224), "transformer": (16, 64)}


@pytest.mark.parametrize("network", SHAPES)
def test_networks_answer_as_pytorch_does(client: Client, network: str) -> None:
    for rows in (1, 4):
        x = sample((rows, *SHAPES[network]))
        (expected,) = networks.reference(network, [x])
        for _ in range(3):  # PyTorch compiles anew in the second run
            found = client.one(network, {"x": x})
        if network == "resnet18":  # its convolutions are cut by the number of threads
            assert_close(found, expected)
        else:
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("network", SHAPES)
def test_rows_of_a_batch_answer_as_alone(server: ServerProcess, network: str) -> None:
    count = 8
    x = sample((count, *SHAPES[network]))
    (expected,) = networks.reference(network, [x])

    def ask(i: int) -> np.ndarray:
        own = Client(server, "grpc")
        try:
            return own.one(network, {"x": x[i : i + 1]})
        finally:
            own.client.close()

    with ThreadPoolExecutor(count) as pool:
        found = list(pool.map(ask, range(count)))
    assert_close(np.concatenate(found), expected)
    statistics = Client(server, "http").client.get_inference_statistics(network)["model_stats"][0]
    assert any(entry["batch_size"] > 1 for entry in statistics["batch_stats"])


def test_lstm_keeps_its_state(client: Client) -> None:
    h, c = np.zeros((1, 32), np.float32), np.zeros((1, 32), np.float32)
    steps = [sample((1, 16), seed) for seed in range(4)]
    sequence = 100 + (client.module is tritonclient.grpc)
    expected = []
    for x in steps:  # before the sequence begins, which must not stand still for long
        y, h, c = networks.reference("lstm", [x, h, c])
        expected.append(y)
    for i, x in enumerate(steps):
        found = client.one(
            "lstm", {"X__0": x}, "Y__0",
            sequence_id=sequence, sequence_start=i == 0, sequence_end=i == len(steps) - 1,
        )  # fmt: skip
        np.testing.assert_array_equal(found, expected[i])


def test_sequence_control_and_state(client: Client) -> None:
    sequence = 200 + (client.module is tritonclient.grpc)
    for i, total in enumerate((1.0, 3.0, 6.0)):
        found = client.one("sequence", {"INPUT": floats(i + 1).reshape(1, 1)}, "SUM__0",
                           sequence_id=sequence, sequence_start=i == 0, sequence_end=i == 2)
        assert found.tolist() == [[total]]


def test_strings_are_a_state_too(client: Client) -> None:
    sequence = 300 + (client.module is tritonclient.grpc)
    for i, (word, seen) in enumerate(((b"a", b"a"), (b"bc", b"abc"), (b"", b"abc"))):
        found = client.one("history", {"word": np.array([word], np.object_)}, "SEEN__0",
                           sequence_id=sequence, sequence_start=i == 0, sequence_end=i == 2)
        assert found.tolist() == [seen]


def test_strings(client: Client) -> None:
    texts = np.array([b"a", b"", b"Bee"], np.object_)
    result = client.infer("strings", {"texts": texts})
    assert result.as_numpy("OUTPUT__0").tolist() == [b"A", b"", b"BEE"]
    assert result.as_numpy("OUTPUT__1").tolist() == [1, 0, 3]


def test_strings_of_several_requests_are_kept_apart(server: ServerProcess) -> None:
    def ask(i: int) -> list[list[bytes]]:
        own = Client(server, "http")
        try:
            words = np.array([[b"%d" % i], [b"x" * i]], np.object_)
            return own.one("text_batch", {"texts": words}).tolist()
        finally:
            own.client.close()

    with ThreadPoolExecutor(8) as pool:
        for i, found in enumerate(pool.map(ask, range(16))):
            # The model has no dimension of one element: see reshape.
            assert np.ravel(found).tolist() == [b"%d" % i, b"x" * i]


@pytest.mark.parametrize("name", TYPES)
def test_types(client: Client, name: str) -> None:
    if name == "STRING":
        values = np.array([b"\0nul", "ü".encode(), b""], np.object_)
    else:
        values = np.array([1, 0, 100]).astype(NUMPY_TYPES[name])
    model = f"type_{name}"
    found = client.one(model, {"INPUT__0": values}, types=name if name == "BF16" else None)
    np.testing.assert_array_equal(found, values)
    if name != "STRING":
        empty = client.one(model, {"INPUT__0": values[:0]}, types=name)
        assert empty.shape == (0,)


def test_names(client: Client) -> None:
    two, five = floats(2, 2).reshape(1, 2), floats(5, 7).reshape(1, 2)
    assert client.one("by_index", {"X__1": two, "Y__0": five}, "D__0").tolist() == [[3, 5]]
    assert client.one("by_argument", {"b": two, "a": five}, "D").tolist() == [[3, 5]]
    assert client.one("by_order", {"right__x": two, "left": five}, "D").tolist() == [[3, 5]]


def test_order_is_warned_of(server: ServerProcess) -> None:
    server.wait_for_log("Falling back to enforcing strict ordering from model configuration")


def test_dictionary(client: Client) -> None:
    both = client.infer("dictionary", {"left": floats(5), "right": floats(2)})
    assert both.as_numpy("difference").tolist() == [3]
    assert both.as_numpy("twice").tolist() == [6]
    assert client.one("dictionary", {"left": floats(5)}, "twice").tolist() == [10]


def test_defaults(client: Client) -> None:
    assert client.one("defaults", {"x": floats(1, 2)}).tolist() == [3, 6]
    assert client.one("defaults", {"x": floats(1, 2), "bias": floats(1, 1)}).tolist() == [4, 7]
    assert client.one("defaults_unlisted", {"x": floats(1, 2)}).tolist() == [3, 6]


@pytest.mark.parametrize("model", ["keeper", "keeper_shared"])
def test_a_kept_input_outlives_its_request(client: Client, model: str) -> None:
    """The model returns its previous input, which was in memory of the previous request."""
    size = 200_000
    client.one(model, {"x": np.full(size, 1, np.float32)})
    for i in range(2, 8):
        found = client.one(model, {"x": np.full(size, i, np.float32)})
        client.one("type_FP32", {"INPUT__0": np.full(size, -1, np.float32)})
        np.testing.assert_array_equal(found, np.full(size, i - 1, np.float32))


def test_a_request_is_not_written_to(client: Client) -> None:
    """Tested with an ensemble whose second step uses the same tensor: (x + 1) - x."""
    assert client.one("twice_read", {"RAW": floats(1, 2)}, "DIFFERENCE").tolist() == [1, 1]


def test_results_need_not_be_contiguous(client: Client) -> None:
    x = sample((3, 5))
    np.testing.assert_array_equal(client.one("transposed", {"x": x}), x.T)


def test_a_scalar_is_one_element(client: Client) -> None:
    assert client.one("scalar", {"x": floats(1, 2)}).tolist() == [3]


def test_fork(client: Client) -> None:
    x = np.eye(3, dtype=np.float32)
    np.testing.assert_array_equal(client.one("forks", {"x": x}), x @ x + (x + 1) @ (x + 1))


def test_other_modes_answer_the_same(server: ServerProcess, client: Client) -> None:
    x = sample((4, 64))
    np.testing.assert_array_equal(client.one("modes", {"x": x}), networks.reference("mlp", [x])[0])
    log = server.log_text()
    assert "a run of an instance uses 2 of" in log
    assert "parameter 'ENABLE_CACHE_CLEANING' has no effect: it is for GPUs" in log


@pytest.mark.parametrize(
    ("model", "inputs", "text"),
    [
        ("raises", {"x": floats(200)}, "PyTorch execute failure: AssertionError: the sum is too"),
        ("transformer", {"x": np.zeros((1, 0, 64), np.float32)}, None),
        ("argmax", {"x": floats(1, 2)},
         "configuration expects datatype TYPE_INT32 for output 'OUTPUT__0', model provides "
         "TYPE_INT64"),
        ("missing_key", {"left": floats(1)}, "'other' is not in the dictionary that the model gives"),
        ("by_order", {"left": floats(1, 2).reshape(1, 2)}, "right__x"),
    ],
)  # fmt: skip
def test_a_failure_stays_in_its_request(
    client: Client, model: str, inputs: dict[str, np.ndarray], text: str | None
) -> None:
    if text is None:
        client.infer(model, inputs)
    else:
        with pytest.raises(InferenceServerException) as caught:
            client.infer(model, inputs)
        assert text in str(caught.value)
        assert "Exception raised from" not in str(caught.value)
        assert len(str(caught.value)) < 500
    assert client.one("type_FP32", {"INPUT__0": floats(4)}).tolist() == [4]


def test_strings_complete_their_configuration(client: Client) -> None:
    assert client.one("completed", {"texts": np.array([b"a"], np.object_)}).tolist() == [b"a"]
