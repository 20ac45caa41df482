# SPDX-License-Identifier: Apache-2.0
"""Ensembles with the official clients: an image pipeline of ONNX models whose two branches run at
the same time; errors, cancellations, streams, batches, the cache, and reloads."""

from __future__ import annotations

import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http
from onnx import TensorProto, helper, numpy_helper
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

from conftest import ServerFactory
from support import raw_http
from support.ensembles import add_ensemble, step_text
from support.infer import echo
from support.metrics import metric
from support.nereid import start_nereid
from support.onnx_models import FLOAT, save_model
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.streaming import DECOUPLED, add_testing

WAIT_SECONDS = 30.0
WAITS_LINE = "testing backend: waits for a cancellation"
CANCELLED_LINE = "testing backend: saw the cancellation"
SIDE = 8
CLASSES = 10
IMAGE = tensor_text("IMAGE", "UINT8", (SIDE, SIDE, 3))
CLASSIFICATION = tensor_text("CLASSIFICATION", "FP32", (CLASSES,))
SEGMENTATION = tensor_text("SEGMENTATION", "FP32", (SIDE, SIDE))

RANDOM = np.random.default_rng(7)
WEIGHTS = RANDOM.integers(-3, 4, (3 * SIDE * SIDE, CLASSES)).astype(np.float32)
CHANNELS = np.array([1, 2, 4], np.float32).reshape(3, 1, 1)


def onnx_config(inputs: str, outputs: str) -> str:
    return (
        f'backend: "onnxruntime"\nmax_batch_size: 4\ninput [ {inputs} ]\noutput [ {outputs} ]\n'
        "dynamic_batching { }\n"
    )


def add_image_models(models: ModelRepository) -> None:
    """Models whose sums are exact in float32, so that there is one right answer."""
    raw, formatted = ("RAW_IMAGE", TensorProto.UINT8), ("FORMATTED_IMAGE", FLOAT)
    channels_first = ("N", 3, SIDE, SIDE)
    folder = models.add(
        "image_preprocess_model",
        onnx_config(
            tensor_text("RAW_IMAGE", "UINT8", (SIDE, SIDE, 3)),
            tensor_text("PREPROCESSED_OUTPUT", "FP32", (3, SIDE, SIDE)),
        ),
    )
    save_model(
        folder,
        [
            helper.make_node("Cast", ["RAW_IMAGE"], ["floats"], to=FLOAT),
            helper.make_node("Transpose", ["floats"], ["PREPROCESSED_OUTPUT"], perm=[0, 3, 1, 2]),
        ],
        [(*raw, ("N", SIDE, SIDE, 3))],
        [("PREPROCESSED_OUTPUT", FLOAT, channels_first)],
    )
    folder = models.add(
        "classification_model",
        onnx_config(
            tensor_text("FORMATTED_IMAGE", "FP32", (3, SIDE, SIDE)),
            tensor_text("CLASSIFICATION_OUTPUT", "FP32", (CLASSES,)),
        ),
    )
    save_model(
        folder,
        [
            helper.make_node("Flatten", ["FORMATTED_IMAGE"], ["row"]),
            helper.make_node("MatMul", ["row", "weights"], ["CLASSIFICATION_OUTPUT"]),
        ],
        [(*formatted, channels_first)],
        [("CLASSIFICATION_OUTPUT", FLOAT, ("N", CLASSES))],
        [numpy_helper.from_array(WEIGHTS, "weights")],
    )
    folder = models.add(
        "segmentation_model",
        onnx_config(
            tensor_text("FORMATTED_IMAGE", "FP32", (3, SIDE, SIDE)),
            tensor_text("SEGMENTATION_OUTPUT", "FP32", (SIDE, SIDE)),
        ),
    )
    save_model(
        folder,
        [
            helper.make_node("Mul", ["FORMATTED_IMAGE", "channels"], ["scaled"]),
            helper.make_node("ReduceSum", ["scaled", "axes"], ["SEGMENTATION_OUTPUT"], keepdims=0),
        ],
        [(*formatted, channels_first)],
        [("SEGMENTATION_OUTPUT", FLOAT, ("N", SIDE, SIDE))],
        [
            numpy_helper.from_array(CHANNELS, "channels"),
            numpy_helper.from_array(np.array([1], np.int64), "axes"),
        ],
    )


def add_image_ensembles(models: ModelRepository) -> None:
    pre = step_text(
        "image_preprocess_model", {"RAW_IMAGE": "IMAGE"}, {"PREPROCESSED_OUTPUT": "preprocessed_image"}
    )

    def branches(for_classes: str, for_segments: str) -> list[str]:
        return [
            step_text(
                "classification_model",
                {"FORMATTED_IMAGE": for_classes},
                {"CLASSIFICATION_OUTPUT": "CLASSIFICATION"},
            ),
            step_text(
                "segmentation_model",
                {"FORMATTED_IMAGE": for_segments},
                {"SEGMENTATION_OUTPUT": "SEGMENTATION"},
            ),
        ]

    outputs = [CLASSIFICATION, SEGMENTATION]
    image = "preprocessed_image"
    add_ensemble(models, "ensemble_model", [IMAGE], outputs, [pre, *branches(image, image)], 4)
    # Each branch begins with a model that returns only while that of the other branch executes.
    for name in ("meet_left", "meet_right"):
        models.add_identity(
            name,
            "FP32",
            (3, SIDE, SIDE),
            4,
            parameters={"behaviour": "meet", "times": "2", "delay_ms": "20000"},
            backend="testing",
        )
    left = step_text("meet_left", {"INPUT0": image}, {"OUTPUT0": "left"})
    right = step_text("meet_right", {"INPUT0": image}, {"OUTPUT0": "right"})
    add_ensemble(
        models, "meeting_model", [IMAGE], outputs, [pre, left, right, *branches("left", "right")], 4
    )


def test_an_output_that_a_member_leaves_out(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    tensors = [tensor_text(f"INPUT{i}", "INT32", (-1,), "optional: true") for i in range(2)]
    outputs = [tensor_text(f"OUTPUT{i}", "INT32", (-1,)) for i in range(2)]
    model_repository.add(
        "maybe",
        f'backend: "identity"\ninput [ {", ".join(tensors)} ]\noutput [ {", ".join(outputs)} ]\n',
    )
    step = step_text("maybe", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0", "OUTPUT1": "OUTPUT1"})
    add_ensemble(model_repository, "ensemble", tensors[:1], outputs, [step])
    server = server_factory(model_repository)
    document = {"inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [1], "data": [7]}]}
    for _ in range(2):
        answer = raw_http.post_json(server.http_url, "/v2/models/ensemble/infer", document)
        assert answer.status == 200, answer.body
        assert [output["name"] for output in answer.json()["outputs"]] == ["OUTPUT0"]
    line = (
        "Composing models did not output tensor OUTPUT1: "
        "ensemble 'ensemble' has answered without output 'OUTPUT1'"
    )
    assert server.log_text().count(line) == 1


def vector_ensemble(
    models: ModelRepository,
    name: str,
    members: Sequence[str],
    data_type: str = "INT32",
    **options: Any,
) -> None:
    """A chain of models with INPUT0 and OUTPUT0, of any length."""
    tensors = ["INPUT0", *(f"t{i}" for i in range(1, len(members))), "OUTPUT0"]
    steps = [
        step_text(member, {"INPUT0": tensors[i]}, {"OUTPUT0": tensors[i + 1]})
        for i, member in enumerate(members)
    ]
    add_ensemble(
        models,
        name,
        [tensor_text("INPUT0", data_type, (-1,))],
        [tensor_text("OUTPUT0", data_type, (-1,))],
        steps,
        **options,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("ensembles")
    models = ModelRepository(folder / "models")
    add_image_models(models)
    add_image_ensembles(models)
    models.add_identity("echo", "INT32")
    models.add_identity("floats", "FP32")
    models.add_identity(
        "batched",
        "INT32",
        (1,),
        4,
        extra="dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 20000000 }",
    )
    add_testing(models, "fails_some", "fails_some")
    add_testing(models, "three", "decoupled", DECOUPLED, responses="3")
    add_testing(models, "waits", "wait_for_cancel", delay_ms="20000")
    vector_ensemble(models, "chain", ["echo", "echo"])
    vector_ensemble(models, "nested", ["chain", "echo"])
    vector_ensemble(models, "long", ["echo"] * 10)
    vector_ensemble(models, "failing", ["echo", "fails_some", "echo"])
    vector_ensemble(models, "waiting", ["echo", "waits", "echo"])
    vector_ensemble(models, "stream", ["echo", "three", "echo"], scheduling="max_inflight_requests: 1")
    vector_ensemble(
        models, "cached", ["floats"], "FP32", extra="response_cache { enable: true }"
    )
    add_ensemble(
        models,
        "batching",
        [tensor_text("INPUT0", "INT32", (1,))],
        [tensor_text("OUTPUT0", "INT32", (1,))],
        [step_text("batched", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        4,
    )
    started = start_nereid(models.root, folder / "log", ["--cache-config=local,size=1000000"])
    try:
        started.wait_for()
        yield started
    finally:
        started.stop()


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Checks after each test that no memory for tensors between steps is in use."""
    yield
    if "server" in request.fixturenames:
        url = request.getfixturevalue("server").metrics_url
        poll_until("all bytes given back", lambda: metric(url, "nereid_in_flight_bytes") == 0)


def given(client: Any, name: str, array: np.ndarray) -> Any:
    tensor = client.InferInput(name, array.shape, np_to_triton_dtype(array.dtype))
    tensor.set_data_from_numpy(array)
    return tensor


def infer_ints(server: ServerProcess, model: str, values: Sequence[int], **options: Any) -> list[int]:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        inputs = [given(tritonclient.grpc, "INPUT0", np.array(values, np.int32))]
        return client.infer(model, inputs, **options).as_numpy("OUTPUT0").ravel().tolist()


def statistics(server: ServerProcess, model: str) -> dict[str, Any]:
    return raw_http.get(server.http_url, f"/v2/models/{model}/stats").json()["model_stats"][0]


def infer_images(server: ServerProcess, protocol: str, model: str, images: np.ndarray) -> Any:
    module = {"http": tritonclient.http, "grpc": tritonclient.grpc}[protocol]
    url = server.http_url.removeprefix("http://") if protocol == "http" else server.grpc_url
    with module.InferenceServerClient(url) as client:
        return client.infer(model, [given(module, "IMAGE", images)])


def check_images(images: np.ndarray, result: Any) -> None:
    floats = images.astype(np.float32).transpose(0, 3, 1, 2)
    expected = floats.reshape(len(images), -1) @ WEIGHTS
    np.testing.assert_array_equal(result.as_numpy("CLASSIFICATION"), expected)
    np.testing.assert_array_equal(
        result.as_numpy("SEGMENTATION"), (floats * CHANNELS).sum(axis=1)
    )


def images_of(count: int) -> np.ndarray:
    return RANDOM.integers(0, 256, (count, SIDE, SIDE, 3), np.uint8)


@pytest.mark.parametrize("protocol", ["http", "grpc"])
@pytest.mark.parametrize("count", [1, 3])
def test_image_pipeline(server: ServerProcess, protocol: str, count: int) -> None:
    images = images_of(count)
    check_images(images, infer_images(server, protocol, "ensemble_model", images))


def test_both_branches_run_at_the_same_time(server: ServerProcess) -> None:
    """The first models of the branches end only if they run at the same time."""
    images = images_of(2)
    check_images(images, infer_images(server, "grpc", "meeting_model", images))


def test_only_wanted_outputs_are_computed(server: ServerProcess) -> None:
    before = statistics(server, "segmentation_model")["inference_count"]
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        result = client.infer(
            "ensemble_model",
            [given(tritonclient.grpc, "IMAGE", images_of(1))],
            outputs=[tritonclient.grpc.InferRequestedOutput("CLASSIFICATION")],
        )
    assert result.as_numpy("CLASSIFICATION").shape == (1, CLASSES)
    assert result.as_numpy("SEGMENTATION") is None
    assert statistics(server, "segmentation_model")["inference_count"] == before


def test_requests_batch_inside_a_member(server: ServerProcess) -> None:
    """The member waits for a batch of four rows, which come in four requests to the ensemble."""
    with ThreadPoolExecutor(4) as threads:
        answers = threads.map(
            lambda i: infer_batched(server, i), range(4), timeout=WAIT_SECONDS
        )
        assert list(answers) == [[0], [1], [2], [3]]
    found = poll_until(
        "the execution counted", lambda: statistics(server, "batched")["batch_stats"]
    )
    assert [(batch["batch_size"], batch["compute_infer"]["count"]) for batch in found] == [(4, 1)]


def infer_batched(server: ServerProcess, value: int) -> list[int]:
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        inputs = [given(tritonclient.grpc, "INPUT0", np.array([[value]], np.int32))]
        return client.infer("batching", inputs).as_numpy("OUTPUT0").ravel().tolist()


def test_ensembles_in_ensembles_and_their_statistics(server: ServerProcess) -> None:
    def count(model: str) -> int:
        return statistics(server, model)["inference_stats"]["success"]["count"]

    before = [count(model) for model in ("nested", "chain", "echo")]
    assert infer_ints(server, "nested", [4, 5, 6]) == [4, 5, 6]
    poll_until(
        "each step counted",
        lambda: [count(m) for m in ("nested", "chain", "echo")]
        == [before[0] + 1, before[1] + 1, before[2] + 3],
    )
    stats = statistics(server, "nested")["inference_stats"]
    assert stats["compute_infer"]["ns"] > 0
    assert statistics(server, "nested")["execution_count"] == before[0] + 1


def test_tensors_between_steps_are_freed_at_their_last_use(server: ServerProcess) -> None:
    """Of the nine tensors of 1 MB between ten steps, at most two exist at any time."""
    values = list(range(250_000))
    assert infer_ints(server, "long", values) == values
    poll_until(
        "the peak",
        lambda: metric(server.metrics_url, "nereid_ensemble_peak_bytes", model="long")
        == 2 * 4 * len(values),
    )


def test_errors_name_the_step(server: ServerProcess) -> None:
    with pytest.raises(InferenceServerException) as caught:
        infer_ints(server, "failing", [-1])
    assert caught.value.message() == (
        "in ensemble 'failing', testing backend: refused the value -1 on purpose "
        "(step 1, model 'fails_some')"
    )
    assert infer_ints(server, "failing", [1]) == [1]


def test_a_client_that_leaves_cancels_the_step(server: ServerProcess) -> None:
    answers: queue.Queue[Any] = queue.Queue()
    echoes = statistics(server, "echo")["inference_stats"]["success"]["count"]
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        call = client.async_infer(
            "waiting",
            [given(tritonclient.grpc, "INPUT0", np.array([1], np.int32))],
            callback=lambda result, error: answers.put(error),
        )
        poll_until("the second step runs", lambda: WAITS_LINE in server.log_text())
        call.cancel()
        assert "CANCELLED" in str(answers.get(timeout=WAIT_SECONDS)).upper()
    poll_until("the step saw it", lambda: CANCELLED_LINE in server.log_text())
    failures = poll_until(
        "the failure counted",
        lambda: statistics(server, "waiting")["inference_stats"]["fail"]["count"],
    )
    assert failures == 1
    assert statistics(server, "echo")["inference_stats"]["success"]["count"] == echoes + 1


def test_each_response_of_a_decoupled_member_goes_on(server: ServerProcess) -> None:
    config = raw_http.get(server.http_url, "/v2/models/stream/config").json()
    assert config["model_transaction_policy"]["decoupled"] is True
    refused = raw_http.post_json(
        server.http_url,
        "/v2/models/stream/infer",
        raw_http.infer_document(
            [{"name": "INPUT0", "shape": [1], "datatype": "INT32", "data": [1]}]
        ),
    )
    assert refused.status != 200
    answers: queue.Queue[tuple[Any, Any]] = queue.Queue()
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        client.start_stream(callback=lambda result, error: answers.put((result, error)))
        client.async_stream_infer(
            "stream",
            [given(tritonclient.grpc, "INPUT0", np.array([7, 8], np.int32))],
            enable_empty_final_response=True,
        )
        tensors, final = [], False
        while not final:
            result, error = answers.get(timeout=WAIT_SECONDS)
            assert error is None
            final = result.get_response().parameters["triton_final_response"].bool_param
            # The final flag may come with the last response, or after it.
            if result.as_numpy("OUTPUT0") is not None:
                tensors.append(result.as_numpy("OUTPUT0").tolist())
        assert tensors == [[7, 8]] * 3
        client.stop_stream()


def test_the_cache_answers_without_the_members(server: ServerProcess) -> None:
    for expected in ([1.5, 2.5], [1.5, 2.5]):
        assert echo(server.http_url, "cached", expected).json()["outputs"][0]["data"] == expected
    stats = poll_until(
        "hit and miss counted",
        lambda: (
            found := statistics(server, "cached")["inference_stats"],
            found["cache_miss"]["count"] == 1 and found,
        )[1],
    )
    assert stats["cache_hit"]["count"] == 1
    assert statistics(server, "floats")["inference_stats"]["success"]["count"] == 1


def test_metadata_and_index(server: ServerProcess) -> None:
    metadata = raw_http.get(server.http_url, "/v2/models/ensemble_model").json()
    assert metadata["platform"] == "ensemble"
    assert metadata["inputs"] == [
        {"name": "IMAGE", "datatype": "UINT8", "shape": [-1, SIDE, SIDE, 3]}
    ]
    server.wait_for_log("Ensemble model 'stream' configured with max_inflight_requests: 1")


BAD_ENSEMBLES = {
    "no_member": (
        [step_text("nowhere", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        "ensemble no_member contains models that are not available or ambiguous: nowhere",
    ),
    "no_tensor": (
        [step_text("echo", {"INPUT1": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        "in ensemble no_tensor, ensemble tensor INPUT0 is mapping to non-existing input INPUT1 in "
        "model echo",
    ),
    "wrong_type": (
        [step_text("floats", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        "in ensemble wrong_type, ensemble tensor INPUT0: inconsistent data type: TYPE_INT32 is "
        "inferred from model wrong_type while TYPE_FP32 is inferred from model floats",
    ),
    "cached_state": (
        [step_text("sums", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        "Response Cache does not currently support model cached_state with sequence batching "
        "scheduler. Please disable the response cache.",
    ),
    "two_streams": (
        [
            step_text("streams", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"}),
            step_text("streams", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT1"}),
        ],
        "in ensemble two_streams, step of model 'two_streams' receives inputs originated from "
        "different decoupled models",
    ),
    "circle_a": (
        [step_text("circle_b", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        "circular dependency between ensembles: circle_a -> ... -> circle_b -> circle_a",
    ),
    "circle_b": (
        [step_text("circle_a", {"INPUT0": "INPUT0"}, {"OUTPUT0": "OUTPUT0"})],
        "circular dependency between ensembles: circle_b -> ... -> circle_a -> circle_b",
    ),
}


def test_bad_ensembles_say_why(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo", "INT32")
    model_repository.add_identity("floats", "FP32")
    model_repository.add_identity("sums", "INT32", extra="sequence_batching { }\n")
    model_repository.add_identity("streams", "INT32", extra=DECOUPLED)
    inputs = [tensor_text("INPUT0", "INT32", (-1,))]
    for name, (steps, _) in BAD_ENSEMBLES.items():
        outputs = [
            tensor_text(f"OUTPUT{i}", "INT32", (-1,)) for i in range(1 + (name == "two_streams"))
        ]
        extra = "response_cache { enable: true }" if name == "cached_state" else ""
        add_ensemble(model_repository, name, inputs, outputs, steps, extra=extra)
    server = server_factory(
        model_repository, "--exit-on-error=false", "--strict-readiness=false"
    )
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    reasons = {entry["name"]: entry.get("reason", "") for entry in index}
    for name, (_, expected) in BAD_ENSEMBLES.items():
        assert expected in reasons[name], name
    assert not reasons["echo"]


def test_a_stop_lets_requests_finish(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    """The second step begins when the server no longer accepts new requests."""
    model_repository.add_identity("slow", "INT32", parameters={"execute_delay_ms": "1500"})
    model_repository.add_identity("echo", "INT32")
    vector_ensemble(model_repository, "ensemble", ["slow", "echo"])
    server = server_factory(model_repository)
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(infer_ints, server, "ensemble", [3])
        poll_until(
            "the request under way",
            lambda: metric(server.metrics_url, "nereid_in_flight_bytes") > 0,
        )
        server.stop()
        assert answer.result(WAIT_SECONDS) == [3]
