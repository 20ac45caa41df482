# SPDX-License-Identifier: Apache-2.0
"""Models for OpenAI's routes that tell what they got, or never end."""

from __future__ import annotations

import shutil

from support.repository import ModelRepository, parameters_text, tensor_text
from support.stage import PROJECT_ROOT

EXAMPLE = PROJECT_ROOT / "examples" / "openai"

# Not decoupled: answers with what it got, as JSON.
TELLS = """
import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            got = {}
            for tensor in request.inputs():
                value = tensor.as_numpy()[0]
                got[tensor.name()] = value.decode() if isinstance(value, bytes) else value.item()
            got["parameters"] = json.loads(request.parameters())
            if "fail" in got["text_input"]:
                error = pb_utils.TritonError("asked to fail", pb_utils.TritonError.INTERNAL)
                answers.append(pb_utils.InferenceResponse(error=error))
                continue
            text = np.array([json.dumps(got)], object)
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor("text_output", text)]))
        return answers
"""

# Decoupled: sends text until the client has left, or an error in the middle.
ENDLESS = """
import threading

import numpy as np
import triton_python_backend_utils as pb_utils

PIECE = "x" * 10_000


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            text = pb_utils.get_input_tensor_by_name(request, "text_input").as_numpy()[0].decode()
            sender = request.get_response_sender()
            threading.Thread(target=self.answer, args=(sender, text), daemon=True).start()

    def answer(self, sender, text):
        final = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL
        while not sender.is_cancelled():
            piece = np.array([PIECE], object)
            sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("text_output", piece)]))
            if text == "fail":
                error = pb_utils.TritonError("asked to fail", pb_utils.TritonError.INTERNAL)
                return sender.send(pb_utils.InferenceResponse(error=error), flags=final)
        pb_utils.Logger.log_warn("endless: cancelled")
        sender.send(flags=final)
"""

LEFT_LINE = "endless: cancelled"


def _text(name: str, optional: bool = False) -> str:
    return tensor_text(name, "STRING", [1], "optional: true" if optional else "")


def _flag(name: str) -> str:
    return tensor_text(name, "BOOL", [1], "optional: true")


def add_openai_models(models: ModelRepository) -> None:
    """parrot and letters of the example; tells and endless; one that /v1 does not serve."""
    for name in ("parrot", "letters"):
        shutil.copytree(EXAMPLE / "models" / name, models.root / name)
    inputs = ", ".join(
        [
            _text("text_input"),
            _flag("stream"),
            _text("sampling_parameters", optional=True),
            _flag("exclude_input_in_output"),
        ]
    )
    config = (
        f'backend: "python"\ninput [ {inputs} ]\noutput [ {_text("text_output")} ]\n'
        + parameters_text({"openai.chat_template": "plain", "openai.takes": "top_k"})
    )
    folder = models.add("tells", config)
    (folder / "1" / "model.py").write_text(TELLS, encoding="utf-8")
    config = (
        f'backend: "python"\ninput [ {_text("text_input")} ]\noutput [ {_text("text_output")} ]\n'
        "model_transaction_policy { decoupled: true }\n"
    )
    folder = models.add("endless", config)
    (folder / "1" / "model.py").write_text(ENDLESS, encoding="utf-8")
    models.add_identity("echo")
