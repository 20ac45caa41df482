# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/workloads.py: the bytes that the load generator sends and expects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from tritonclient.grpc import service_pb2

from racetrack import networks, workloads
from racetrack.workloads import (
    DIGITS,
    GROUPS,
    IDENTITY_SMALL,
    MLP,
    MLP_TWO,
    REPEAT,
    RESNET,
    Model,
    Row,
    write_files,
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workloads.write_repository(tmp_path_factory.mktemp("bench") / "models")


def test_rows_have_names_of_their_own() -> None:
    keys = [row.key for group in GROUPS.values() for row in group.rows]
    assert len(set(keys)) == len(keys)


@pytest.fixture(scope="module")
def scheduling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workloads.write_scheduling_repository(tmp_path_factory.mktemp("scheduling") / "models")


def assert_has_models(repository: Path, models: Sequence[Model]) -> None:
    for model in models:
        assert (repository / model.name / "1").is_dir()
        assert model.onnx_file is None or (repository / model.onnx_file).is_file()


def test_every_model_is_in_the_repository(
    repository: Path, scheduling: Path, tmp_path: Path
) -> None:
    assert_has_models(repository, workloads.MODELS)
    assert_has_models(scheduling, workloads.SCHEDULING_MODELS)
    assert_has_models(
        workloads.write_streams_repository(tmp_path / "streams"), [IDENTITY_SMALL, REPEAT]
    )
    assert_has_models(
        workloads.write_sequences_repository(tmp_path / "sequences"),
        [IDENTITY_SMALL, *workloads.SEQUENCE_MODELS],
    )
    assert_has_models(
        workloads.write_ensembles_repository(tmp_path / "ensembles"),
        [IDENTITY_SMALL, *workloads.ENSEMBLE_MODELS],
    )


def test_what_an_ensemble_answers_is_what_its_steps_do(tmp_path: Path) -> None:
    repository = workloads.write_ensembles_repository(tmp_path / "models")

    def ask(step: str, tensors: dict[str, np.ndarray]) -> np.ndarray:
        session = onnxruntime.InferenceSession(str(repository / step / "1" / "model.onnx"))
        return session.run(None, tensors)[0]

    files = write_files(tmp_path, repository, Row(workloads.DIAMOND, "http", "binary", 1))
    body = files.body.read_bytes()[files.header_length :]
    x = np.frombuffer(body, np.float32).reshape(workloads.DIAMOND.shape)
    source = ask("diamond_source", {"x": x})
    branches = {name[0]: ask(f"diamond_{name}", {"s": source}) for name in ("left", "right")}
    assert not np.array_equal(branches["l"], branches["r"])
    expected = np.frombuffer(files.expect.read_bytes(), np.float32)
    np.testing.assert_allclose(ask("diamond_join", branches).ravel(), expected, rtol=1e-5)
    assert expected.std() > 0.1

    config = (repository / "diamond" / "config.pbtxt").read_text()
    assert config.count("step {") == 4
    assert "dynamic_batching" in (repository / "diamond_left" / "config.pbtxt").read_text()


def test_the_network_of_the_sequences_gives_back_what_it_keeps() -> None:
    session = onnxruntime.InferenceSession(networks.keeper(2).SerializeToString())
    x, kept = np.array([[1, 2], [3, 4]], np.float32), np.array([[5, 6], [7, 8]], np.float32)
    start = np.array([[1], [0]], np.int32)
    y, kept_on = session.run(["y", "kept_on"], {"x": x, "kept": kept, "START": start})
    np.testing.assert_array_equal(y, [[1, 2], [7, 8]])
    np.testing.assert_array_equal(kept_on, y)


def test_the_network_with_two_instances_has_priorities(scheduling: Path) -> None:
    config = (scheduling / "mlp_two" / "config.pbtxt").read_text()
    assert "priority_levels: 2 default_priority_level: 2" in config
    assert "count: 2" in config


def test_rows_over_tls_say_so_and_have_no_echo(tmp_path: Path) -> None:
    group = workloads.GROUPS["tls"]
    assert group.tls and not workloads.GROUPS["race"].tls
    repository = group.write_repository(tmp_path / "models")
    for row in group.rows:
        assert row.title.endswith("over TLS") and row.key.endswith("/tls")
        assert write_files(tmp_path, repository, row).echo_head is None


def test_a_request_for_many_responses(tmp_path: Path, repository: Path) -> None:
    files = write_files(tmp_path, repository, Row(REPEAT, "grpc", "binary", 16, responses=3))
    request = service_pb2.ModelInferRequest.FromString(files.body.read_bytes())
    assert [(tensor.name, list(tensor.shape)) for tensor in request.inputs] == [
        ("DELAY", [3]),
        ("WAIT", [1]),
        ("IN", [3]),
    ]
    expected = np.frombuffer(files.expect.read_bytes(), np.float32)
    assert len(set(expected)) == 3
    assert request.raw_input_contents[2] == expected.tobytes()
    assert not np.frombuffer(request.raw_input_contents[0], np.uint32).any()


def test_the_echo_of_a_stream_is_a_response_for_each_value(
    tmp_path: Path, repository: Path
) -> None:
    files = write_files(tmp_path, repository, Row(REPEAT, "grpc", "binary", 1, responses=3))
    assert files.echo_head is not None
    assert files.tensor_bytes == 12
    expected = files.expect.read_bytes()
    assert files.body.read_bytes().endswith(expected)
    for at in range(0, files.tensor_bytes, 4):
        answer = files.echo_head.read_bytes() + expected[at : at + 4]
        response = service_pb2.ModelStreamInferResponse.FromString(answer).infer_response
        assert response.raw_output_contents == [expected[at : at + 4]]
        assert (response.outputs[0].datatype, response.outputs[0].shape) == ("INT32", [1])


def test_sequences_have_no_echo(tmp_path: Path, repository: Path) -> None:
    row = Row(workloads.SEQUENCE_MODELS[0], "grpc", "binary", 8, sequence_length=16)
    assert write_files(tmp_path, repository, row).echo_head is None


def test_a_request_of_many_rows(tmp_path: Path, scheduling: Path) -> None:
    one = write_files(tmp_path, scheduling, Row(MLP_TWO, "http", "binary", 1))
    many = write_files(tmp_path, scheduling, Row(MLP_TWO, "http", "binary", 1, batch=16))
    assert many.tensor_bytes == 16 * one.tensor_bytes
    assert len(many.expect.read_bytes()) == 16 * len(one.expect.read_bytes())
    # The rows have different values; the first row is the same as in the small request.
    expected = np.frombuffer(many.expect.read_bytes(), np.float32).reshape(16, -1)
    first = np.frombuffer(one.expect.read_bytes(), np.float32)
    np.testing.assert_allclose(expected[0], first, rtol=1e-5)
    assert not np.allclose(expected[1], first)


def test_the_large_network(tmp_path: Path, scheduling: Path) -> None:
    """The network has ResNet-18's size; its outputs are finite and not all the same."""
    assert (scheduling / str(RESNET.onnx_file)).stat().st_size == pytest.approx(46.7e6, rel=0.01)
    files = write_files(tmp_path, scheduling, Row(RESNET, "grpc", "binary", 1))
    answer = np.frombuffer(files.expect.read_bytes(), np.float32)
    assert answer.shape == (1000,)
    assert np.isfinite(answer).all()
    assert 0.01 < answer.std() < 10


def test_two_instances_serve_the_same_network(
    tmp_path: Path, repository: Path, scheduling: Path
) -> None:
    one = write_files(tmp_path / "one", repository, Row(MLP, "http", "binary", 1))
    two = write_files(tmp_path / "two", scheduling, Row(MLP_TWO, "http", "binary", 1))
    assert one.expect.read_bytes() == two.expect.read_bytes()


def test_the_binary_request(tmp_path: Path, repository: Path) -> None:
    files = write_files(tmp_path, repository, Row(IDENTITY_SMALL, "http", "binary", 1))
    body = files.body.read_bytes()
    assert files.header_length is not None
    head = json.loads(body[: files.header_length])
    tail = body[files.header_length :]
    assert head["inputs"][0]["parameters"]["binary_data_size"] == len(tail) == 64
    assert tail == files.expect.read_bytes()


def test_the_json_request_holds_the_same_values(tmp_path: Path, repository: Path) -> None:
    files = write_files(tmp_path, repository, Row(IDENTITY_SMALL, "http", "json", 1))
    assert files.header_length is None
    assert files.echo_head is None
    data = json.loads(files.body.read_text())["inputs"][0]["data"]
    assert np.array(data, np.float32).tobytes() == files.expect.read_bytes()


def test_an_echo_of_the_grpc_request_is_an_answer(tmp_path: Path, repository: Path) -> None:
    files = write_files(tmp_path, repository, Row(IDENTITY_SMALL, "grpc", "binary", 1))
    assert files.echo_head is not None
    body = files.body.read_bytes()
    answer = files.echo_head.read_bytes() + body[-files.tensor_bytes :]
    response = service_pb2.ModelInferResponse.FromString(answer)
    assert response.raw_output_contents[0] == files.expect.read_bytes()
    assert list(response.outputs[0].shape) == [16]


def test_the_network_answers_what_is_expected(tmp_path: Path, repository: Path) -> None:
    for model in (DIGITS, MLP):
        files = write_files(tmp_path, repository, Row(model, "http", "binary", 1))
        assert files.echo_head is None
        expected = np.frombuffer(files.expect.read_bytes(), np.float32)
        body = files.body.read_bytes()
        values = np.frombuffer(body[files.header_length :], np.float32).reshape(model.shape)
        session = onnxruntime.InferenceSession(str(repository / str(model.onnx_file)))
        batch = np.repeat(values, 3, axis=0)
        (found,) = session.run([model.output_name], {model.input_name: batch})
        assert found.shape == (3, 10)
        np.testing.assert_allclose(found[1], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("number", "text"), [(0, "00"), (127, "7f"), (128, "8001"), (64, "40")])
def test_varint(number: int, text: str) -> None:
    assert workloads.varint(number).hex() == text
