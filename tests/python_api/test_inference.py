# SPDX-License-Identifier: Apache-2.0
"""One request, one response: options, errors, time-outs, sequences, threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import nereid_server
import numpy as np
import pytest


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_a_response_is_a_mapping(server: nereid_server.Server) -> None:
    inputs = {f"INPUT{i}": np.full(2, i, np.float32) for i in range(2)}
    response = server.model("two", 1).infer(inputs, request_id="seven")
    assert sorted(response) == ["OUTPUT0", "OUTPUT1"]
    assert len(response) == 2
    assert "OUTPUT2" not in response
    with pytest.raises(KeyError):
        response["OUTPUT2"]
    assert (response.model_name, response.model_version) == ("two", 1)
    assert response.request_id == "seven"
    assert response.parameters == {}
    assert "'OUTPUT0': Tensor(FP32, (2,))" in repr(response)


def test_outputs_can_be_chosen(server: nereid_server.Server) -> None:
    inputs = {f"INPUT{i}": np.full(2, i, np.float32) for i in range(2)}
    assert list(server.model("two").infer(inputs, ["OUTPUT1"])) == ["OUTPUT1"]


def test_an_error_of_the_model_is_raised(server: nereid_server.Server) -> None:
    model = server.model("fails_some")
    with pytest.raises(nereid_server.InvalidArgumentError) as raised:
        model.infer({"INPUT0": ints(-1)})
    assert isinstance(raised.value, nereid_server.Error)
    assert model.infer({"INPUT0": ints(1)})["OUTPUT0"].tolist() == [1]


def test_a_timeout_cancels_the_request(server: nereid_server.Server) -> None:
    model = server.model("wait_for_cancel")
    with pytest.raises(TimeoutError):
        model.infer({"INPUT0": ints(1)}, timeout=0.01)
    # Its only instance is free again long before the 20 seconds that an execution takes.
    with pytest.raises(TimeoutError):
        next(model.stream({"INPUT0": ints(1)}, timeout=0.01))


def test_infer_is_for_one_response(server: nereid_server.Server) -> None:
    model = server.model("decoupled")
    assert model.infer({"INPUT0": ints(1)})["OUTPUT0"].tolist() == [1]
    with pytest.raises(nereid_server.InvalidArgumentError, match="answered with 3 responses.*stream"):
        model.infer({"INPUT0": ints(3)})
    with pytest.raises(nereid_server.InvalidArgumentError, match="answered with 0 responses"):
        server.model("silent").infer({"INPUT0": ints(3)})


def test_sequences_keep_their_state(server: nereid_server.Server) -> None:
    model = server.model("sums")

    def step(sequence: "int | str", value: int, **flags: bool) -> int:
        inputs = {"INPUT0": np.array([[value]], np.int32)}
        return int(model.infer(inputs, sequence_id=sequence, **flags)["OUTPUT0"][0, 0])

    assert step(7, 1, sequence_start=True) == 1
    assert step("other", 10, sequence_start=True) == 10
    assert step(7, 2) == 3
    assert step("other", 20, sequence_end=True) == 30
    assert step(7, 3, sequence_end=True) == 6
    with pytest.raises(nereid_server.InvalidArgumentError, match="must specify the START flag"):
        step(7, 1)


def test_threads_share_a_server(server: nereid_server.Server) -> None:
    model = server.model("batched")

    def ask(number: int) -> bool:
        value = np.full((1, 3), number, np.float32)
        return bool((model.infer({"INPUT0": value})["OUTPUT0"] == number).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))


def test_other_threads_run_while_one_waits(server: nereid_server.Server) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(server.model("slow").infer, {"INPUT0": ints(1)})
        rounds = 0
        while not waiting.done():
            rounds += 1
        assert waiting.result()["OUTPUT0"].tolist() == [1]
    assert rounds > 100


def test_reports_of_a_model(server: nereid_server.Server) -> None:
    model = server.model("two")
    assert model.is_ready()
    assert [tensor["name"] for tensor in model.metadata()["inputs"]] == ["INPUT0", "INPUT1"]
    assert model.config()["backend"] == "identity"
    before = model.statistics()[0]["inference_count"]
    model.infer({f"INPUT{i}": np.zeros(1, np.float32) for i in range(2)})
    assert model.statistics()[0]["inference_count"] == before + 1
    assert repr(model) == "Model('two', version=-1)"
    with pytest.raises(nereid_server.NotFoundError):
        server.model("two", 9).metadata()
