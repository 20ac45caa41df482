# SPDX-License-Identifier: Apache-2.0
"""Python models that call a decoupled model and give the call up, when that model has released it."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.streaming import CANCELLED_LINE, add_repeat

# `repeat` releases the request at once, sends one response, and would go on for ten hours.
CALLER = """
import os

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        (request,) = requests
        how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
        responses = pb_utils.InferenceRequest(
            model_name="repeat",
            requested_output_names=["OUT"],
            inputs=[
                pb_utils.Tensor("IN", np.arange(600, dtype=np.int32)),
                pb_utils.Tensor("DELAY", np.array([0] + [60_000] * 599, np.uint32)),
                pb_utils.Tensor("WAIT", np.zeros(1, np.uint32)),
            ],
        ).exec(decoupled=True)
        said = [self.shown(next(responses))]
        if how == "exit":
            os._exit(3)
        responses.cancel()
        said += [self.shown(response) for response in responses]
        text = np.array([" ".join(said)], dtype=object)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("SAID", text)])]

    def shown(self, response):
        if response.has_error():
            return "CANCELLED" if response.error().code() == pb_utils.TritonError.CANCELLED else "?"
        return str([int(tensor.as_numpy()[0]) for tensor in response.output_tensors()])
"""


@pytest.fixture
def server(server_factory: ServerFactory, tmp_path: Path) -> ServerProcess:
    models = ModelRepository(tmp_path / "models")
    add_repeat(models)
    tensors = tensor_text("HOW", "STRING", [1]), tensor_text("SAID", "STRING", [1])
    folder = models.add(
        "caller", f'backend: "python"\ninput [ {tensors[0]} ]\noutput [ {tensors[1]} ]\n'
    )
    (folder / "1" / "model.py").write_text(CALLER, encoding="utf-8")
    return server_factory(models.root, INTERPRETER)


def ask(server: ServerProcess, how: str) -> raw_http.HttpAnswer:
    tensor = {"name": "HOW", "shape": [1], "datatype": "BYTES", "data": [how]}
    return raw_http.post_json(server.http_url, "/v2/models/caller/infer", {"inputs": [tensor]})


def test_a_call_is_cancelled_after_its_first_response(server: ServerProcess) -> None:
    answer = ask(server, "cancel")
    assert answer.status == 200, answer.body
    assert answer.json()["outputs"][0]["data"] == ["[0] CANCELLED"]


def test_the_calls_of_a_process_that_ends_are_cancelled(server: ServerProcess) -> None:
    answer = ask(server, "exit")
    assert "exited with status 3" in answer.json()["error"]
    poll_until("the called model saw it", lambda: CANCELLED_LINE in server.log_text())
