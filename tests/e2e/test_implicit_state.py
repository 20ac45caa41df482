# SPDX-License-Identifier: Apache-2.0
"""Implicit state: a model reads in a request what it wrote in the sequence's previous request."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
import tritonclient.grpc
from tritonclient.grpc import service_pb2 as pb
from tritonclient.grpc import service_pb2_grpc

from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository, tensor_text
from support.sequences import (
    DIRECT,
    OLDEST,
    START_CONTROL,
    accumulator_config,
    add_accumulator,
    initial_text,
    numbers,
    save_accumulator,
    save_history,
    save_two_states,
    sequence_request,
    state_text,
)
from support.server_process import ServerProcess

ZERO = initial_text((1,), "zero_data: true")
SAME_BUFFER = "use_same_buffer_for_input_output: true "
CONTROLLED = START_CONTROL + state_text()
# Models that add up their inputs, with their scheduling.
ACCUMULATORS = {
    "direct": (DIRECT + CONTROLLED, 4),
    "oldest": (OLDEST + CONTROLLED, 4),
    "unbatched": (OLDEST + CONTROLLED, 0),
    "zero": (DIRECT + state_text(extra=ZERO), 4),
    "same_buffer": (OLDEST + state_text(extra=ZERO + SAME_BUFFER), 4),
    "variable": (OLDEST + state_text(dims=(-1,), extra=ZERO), 4),
}
# Models that fail to load, with the reasons in the index.
BAD = {
    "no_input": (
        CONTROLLED + state_text("NONE", "OUTPUT"),
        "unexpected inference state input 'NONE', allowed inputs are: INPUT, INPUT_STATE, START",
    ),
    "no_output": (
        START_CONTROL + state_text(output_name="NONE"),
        "unexpected inference state output 'NONE', allowed outputs are: OUTPUT, OUTPUT_STATE",
    ),
    "other_type": (
        START_CONTROL + state_text(data_type="FP32"),
        "expects datatype TYPE_FP32 for state input 'INPUT_STATE', model provides TYPE_INT32",
    ),
    "other_shape": (
        START_CONTROL + state_text(dims=(2,)),
        "tensor 'INPUT_STATE': the model expects 2 dimensions (shape [-1,1]) but",
    ),
    "growable": (
        START_CONTROL + state_text(extra=SAME_BUFFER + "use_growable_memory: true"),
        "'use_growable_memory' can only work with KIND_GPU model instances right now.",
    ),
    "short_file": (
        START_CONTROL + state_text(extra=initial_text((1,), 'data_file: "short"')),
        "initial_state setting expects 4 bytes, but the data provided from shortonly has 3 bytes.",
    ),
    "no_file": (
        START_CONTROL + state_text(extra=initial_text((1,), 'data_file: "gone"')),
        "initial_state/gone",
    ),
}
INITIAL_SUMS = np.array([10, 20], np.int32)


def add_good_models(models: ModelRepository) -> None:
    for name, (scheduling, max_batch_size) in ACCUMULATORS.items():
        add_accumulator(models, name, scheduling, max_batch_size)
    add_accumulator(models, "listed", DIRECT + CONTROLLED, outputs=("OUTPUT", "OUTPUT_STATE"))
    models.add_identity(
        "testing",
        "INT32",
        (1,),
        max_batch_size=4,
        backend="testing",
        parameters={"behaviour": "accumulate_state"},
        extra="sequence_batching { max_sequence_idle_microseconds: 30000000 "
        + DIRECT
        + state_text(extra=ZERO)
        + "}",
    )

    sums = state_text("SUM_IN", "SUM_OUT", (2,), initial_text((2,), 'data_file: "sums"'))
    count = state_text("COUNT_IN", "COUNT_OUT", (1,), ZERO)
    config = accumulator_config(OLDEST + sums + count).replace(
        tensor_text("OUTPUT", "INT32", (1,)), tensor_text("OUTPUT", "INT32", (3,))
    )
    folder = models.add("two_states", config)
    save_two_states(folder)
    (folder / "initial_state").mkdir()
    (folder / "initial_state" / "sums").write_bytes(INITIAL_SUMS.tobytes())

    history = state_text("HISTORY_IN", "HISTORY_OUT", (-1,))
    config = accumulator_config(DIRECT + history).replace(
        tensor_text("OUTPUT", "INT32", (1,)), tensor_text("OUTPUT", "INT32", (-1,))
    )
    save_history(models.add("history", config))


def add_bad_models(models: ModelRepository) -> None:
    for name, (scheduling, _) in BAD.items():
        folder = models.add(name, accumulator_config(scheduling))
        save_accumulator(folder)
        (folder / "initial_state").mkdir()
        (folder / "initial_state" / "short").write_bytes(b"abc")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("implicit_state")
    models = ModelRepository(folder / "models")
    add_good_models(models)
    add_bad_models(models)
    server = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def stub(server: ServerProcess) -> Iterator[service_pb2_grpc.GRPCInferenceServiceStub]:
    with grpc.insecure_channel(server.grpc_url) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


Stub = service_pb2_grpc.GRPCInferenceServiceStub
ids = itertools.count(1)


def step(stub: Stub, model: str, value: int, sequence: int, **rest: bool) -> list[int]:
    return numbers(stub.ModelInfer(sequence_request(model, value, sequence, **rest)))


@pytest.mark.parametrize("model", [*ACCUMULATORS, "testing"])
def test_interleaved_sequences_keep_apart(stub: Stub, model: str) -> None:
    """Six sequences at a time: a direct model has fewer slots, so two wait in the backlog."""
    batched = model != "unbatched"
    output = "OUTPUT0" if model == "testing" else "OUTPUT"
    sequences = [next(ids) for _ in range(6)]
    values = {sequence: [sequence * 100 + i for i in range(5)] for sequence in sequences}

    def walk(sequence: int) -> None:
        for i in range(5):
            request = sequence_request(
                model, values[sequence][i], sequence, i == 0, i == 4, batched=batched
            )
            if model == "testing":
                request.inputs[0].name = "INPUT0"
            answer = stub.ModelInfer(request, timeout=30)
            assert numbers(answer, output) == [sum(values[sequence][: i + 1])], (sequence, i)

    with ThreadPoolExecutor(len(sequences)) as threads:
        list(threads.map(walk, sequences))


def test_start_forgets(stub: Stub) -> None:
    """A sequence that starts again without having ended begins without a state."""
    for model in ("oldest", "zero", "same_buffer"):
        sequence = next(ids)
        assert step(stub, model, 5, sequence, start=True) == [5]
        assert step(stub, model, 6, sequence) == [11]
        assert step(stub, model, 7, sequence, start=True) == [7]
        assert step(stub, model, 1, sequence, end=True) == [8]


def test_several_states_from_a_file_and_from_zero(stub: Stub) -> None:
    first, second = next(ids), next(ids)
    assert step(stub, "two_states", 1, first, start=True) == [11, 21, 1]
    assert step(stub, "two_states", 5, second, start=True) == [15, 25, 1]
    assert step(stub, "two_states", 2, first, end=True) == [13, 23, 2]
    assert step(stub, "two_states", 5, second, end=True) == [20, 30, 2]


def test_a_state_may_grow(stub: Stub) -> None:
    """A batch may contain sequences with states of different lengths, and empty places."""
    sequences = [next(ids) for _ in range(4)]
    for length, sequence in enumerate(sequences, 1):
        for i in range(length):
            assert step(stub, "history", i + 1, sequence, start=i == 0) == list(range(i + 2))
    together = [
        stub.ModelInfer.future(sequence_request("history", 99, sequence, end=True))
        for sequence in sequences
    ]
    for length, answer in enumerate(together, 1):
        assert numbers(answer.result(30)) == [*range(length + 1), 99]


def test_a_state_is_an_output_where_it_is_listed(server: ServerProcess, stub: Stub) -> None:
    sequence = next(ids)
    both = ("OUTPUT", "OUTPUT_STATE")
    answer = stub.ModelInfer(sequence_request("listed", 3, sequence, True, outputs=both))
    assert [numbers(answer, output) for output in both] == [[3], [3]]
    answer = stub.ModelInfer(sequence_request("listed", 4, sequence, outputs=("OUTPUT",)))
    assert [tensor.name for tensor in answer.outputs] == ["OUTPUT"]
    answer = stub.ModelInfer(sequence_request("listed", 5, sequence, end=True))
    assert sorted(tensor.name for tensor in answer.outputs) == ["OUTPUT", "OUTPUT_STATE"]
    assert numbers(answer) == [12]

    for model in ("oldest", "listed"):
        metadata = raw_http.get(server.http_url, f"/v2/models/{model}").json()
        assert [tensor["name"] for tensor in metadata["inputs"]] == ["INPUT"]
        names = [tensor["name"] for tensor in metadata["outputs"]]
        assert names == (["OUTPUT"] if model == "oldest" else ["OUTPUT", "OUTPUT_STATE"])
    with pytest.raises(grpc.RpcError, match="OUTPUT_STATE"):
        stub.ModelInfer(sequence_request("oldest", 1, next(ids), True, True, outputs=both))


def test_clients_do_not_send_states(stub: Stub) -> None:
    request = sequence_request("oldest", 1, next(ids), True, True)
    request.inputs.add(name="INPUT_STATE", datatype="INT32", shape=[1, 1])
    request.raw_input_contents.append(np.int32(7).tobytes())
    with pytest.raises(grpc.RpcError) as error:
        stub.ModelInfer(request)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_a_failed_step_leaves_the_state(stub: Stub) -> None:
    """A refused request does not change the state; the sequence continues."""
    sequence = next(ids)
    assert step(stub, "oldest", 5, sequence, start=True) == [5]
    bad = sequence_request("oldest", 6, sequence)
    bad.inputs[0].shape[:] = [1, 2]
    with pytest.raises(grpc.RpcError):
        stub.ModelInfer(bad)
    assert step(stub, "oldest", 7, sequence, end=True) == [12]


def test_the_official_client(server: ServerProcess) -> None:
    """Uses an id that is a string."""
    value = tritonclient.grpc.InferInput("INPUT", [1, 1], "INT32")
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        total = 0
        for i in range(4):
            value.set_data_from_numpy(np.array([[i]], np.int32))
            answer = client.infer(
                "direct",
                [value],
                sequence_id="a text",
                sequence_start=i == 0,
                sequence_end=i == 3,
            )
            total += i
            assert answer.as_numpy("OUTPUT").tolist() == [[total]]


@pytest.mark.parametrize("model", BAD)
def test_a_model_that_can_not_keep_its_state_does_not_load(
    server: ServerProcess, model: str
) -> None:
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    (entry,) = [entry for entry in index if entry["name"] == model]
    assert entry["state"] == "UNAVAILABLE"
    assert BAD[model][1] in entry["reason"]


def test_the_configuration_is_told_as_it_is(stub: Stub) -> None:
    config = stub.ModelConfig(pb.ModelConfigRequest(name="two_states")).config
    states = config.sequence_batching.state
    assert [state.output_name for state in states] == ["SUM_OUT", "COUNT_OUT"]
    assert states[0].initial_state[0].data_file == "sums"
