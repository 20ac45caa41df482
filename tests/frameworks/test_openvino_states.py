# SPDX-License-Identifier: Apache-2.0
"""States of sequences: in the network (ReadValue, Assign), and as inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tritonclient.utils import InferenceServerException

from frameworks import openvino_networks as networks
from frameworks.openvino_support import F32, Alone, Client, add_ir
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.sequences import state_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "openvino").is_dir() or not networks.WHEEL.is_dir(),
    reason="the backend openvino is not staged: make stage BACKENDS=openvino",
)

IDLE = "max_sequence_idle_microseconds: 30000000 "
SCHEDULING = {
    "oldest": f"max_batch_size: 8\nsequence_batching {{ {IDLE} oldest {{ max_candidate_sequences: 64 }} }}",
    "direct": f"max_batch_size: 8\nsequence_batching {{ {IDLE} direct {{ }} }}\n"
    "instance_group { kind: KIND_CPU count: 2 }",
    "alone": "sequence_batching { " + IDLE + "oldest { max_candidate_sequences: 64 } }",
}
STEPS, SEQUENCES = 6, 12


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("openvino_states")
    repository = ModelRepository(folder / "models")
    for name, text in SCHEDULING.items():
        batch = 1 if name == "alone" else -1
        add_ir(repository, f"lstm_{name}", networks.stateful_lstm(batch=batch), text)
        add_ir(repository, f"sum_{name}", networks.accumulator(batch), text)
    add_ir(repository, "no_sequences", networks.accumulator())
    few = {**F32, "MAX_SEQUENCE_STATES": "2"}
    add_ir(repository, "few", networks.accumulator(), SCHEDULING["oldest"], few)
    networks.save_lstm(folder / "lstm.onnx")
    states = "".join(
        state_text(f"{name}_IN", f"{name}_OUT", (16,), data_type="FP32") for name in "HC"
    )
    implicit = f"max_batch_size: 8\nsequence_batching {{ {IDLE} oldest {{ }} {states} }}"
    add_ir(repository, "implicit", folder / "lstm.onnx", implicit)
    server = start_nereid(repository.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


def steps_of(sequence: int) -> list[np.ndarray]:
    random = np.random.default_rng(sequence)
    return [random.standard_normal((1, 8)).astype(np.float32) for _ in range(STEPS)]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
@pytest.mark.parametrize("name", SCHEDULING)
def test_the_lstm_goes_on_where_it_was(
    server: ServerProcess, tmp_path: Path, name: str, protocol: str
) -> None:
    networks.save_ir(networks.stateful_lstm(batch=1), tmp_path / "model.xml")

    def run(sequence: int) -> list[np.ndarray]:
        with Client(server, protocol) as client:
            return [
                client.infer(
                    f"lstm_{name}",
                    {"X": x},
                    sequence_id=sequence,
                    sequence_start=step == 0,
                    sequence_end=step == STEPS - 1,
                )["Y"]
                for step, x in enumerate(steps_of(sequence))
            ]

    count = SEQUENCES if name == "oldest" else 2
    with ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(run, range(1, count + 1)))
    for sequence, answer in enumerate(answers, 1):
        alone = Alone(tmp_path / "model.xml")  # with its state
        for step, x in enumerate(steps_of(sequence)):
            np.testing.assert_allclose(answer[step], alone({"X": x})["Y"], rtol=1e-4, atol=1e-5)


def sums(client: Client, model: str, sequence: int | str, values: list[int], **flags: bool) -> list[int]:
    return [
        int(
            client.infer(
                model, {"INPUT": np.array([[value]], np.int32)}, sequence_id=sequence, **flags
            )["OUTPUT"].item()
        )
        for value in values
    ]


@pytest.mark.parametrize("name", SCHEDULING)
def test_a_start_begins_anew_and_names_are_sequences(server: ServerProcess, name: str) -> None:
    model = f"sum_{name}"
    with Client(server, "grpc") as client:
        assert sums(client, model, 7, [1], sequence_start=True) == [101]
        assert sums(client, model, "seven", [10], sequence_start=True) == [110]
        assert sums(client, model, 7, [2, 3]) == [103, 106]
        assert sums(client, model, "seven", [20]) == [130]
        assert sums(client, model, 7, [5], sequence_start=True) == [105]
        assert sums(client, model, 7, [1], sequence_end=True) == [106]
        assert sums(client, model, "seven", [0], sequence_end=True) == [130]
        with pytest.raises(InferenceServerException):
            sums(client, model, 7, [1])


def test_without_sequences_each_request_begins_anew(server: ServerProcess) -> None:
    with Client(server, "grpc") as client:
        assert sums(client, "no_sequences", 0, [1, 2, 3]) == [101, 102, 103]


def test_the_longest_idle_state_goes_first(server: ServerProcess) -> None:
    with Client(server, "http") as client:
        for sequence in (1, 2, 3):
            sums(client, "few", sequence, [sequence], sequence_start=True)
        with pytest.raises(InferenceServerException, match="state of sequence 1 is not held"):
            sums(client, "few", 1, [1])
        # All of them end: a server waits for sequences that go on.
        assert sums(client, "few", 3, [1], sequence_end=True) == [104]
        assert sums(client, "few", 2, [1], sequence_end=True) == [103]
        sums(client, "few", 1, [1], sequence_start=True, sequence_end=True)


def test_states_in_the_tensors_are_the_servers(server: ServerProcess, tmp_path: Path) -> None:
    networks.save_lstm(tmp_path / "lstm.onnx")
    alone = Alone(tmp_path / "lstm.onnx")
    h = c = np.zeros((1, 16), np.float32)
    with Client(server, "grpc") as client:
        for step, x in enumerate(steps_of(1)):
            flags = {"sequence_start": step == 0, "sequence_end": step == STEPS - 1}
            answer = client.infer("implicit", {"X": x}, sequence_id=9, **flags)
            result = alone({"X": x, "H_IN": h, "C_IN": c})
            h, c = result["H_OUT"], result["C_OUT"]
            np.testing.assert_allclose(answer["Y"], result["Y"], rtol=1e-4, atol=1e-5)
