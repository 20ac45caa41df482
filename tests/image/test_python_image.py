# SPDX-License-Identifier: Apache-2.0
"""The image with Python: models in Python answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tritonclient.http

from image.conftest import ContainerFactory
from image.container import Image, run_inside
from support.repository import ModelRepository

MODEL = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "A", "data_type": "TYPE_FP32", "dims": [-1]})
        config.add_output({"name": "SORTED", "data_type": "TYPE_FP32", "dims": [-1]})
        config.set_max_batch_size(0)
        return config

    def execute(self, requests):
        tensors = [pb_utils.get_input_tensor_by_name(request, "A") for request in requests]
        return [
            pb_utils.InferenceResponse([pb_utils.Tensor("SORTED", np.sort(tensor.as_numpy()))])
            for tensor in tensors
        ]
"""


def test_a_python_model_answers(
    python: Image, containers: ContainerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add("sorter", None)
    (folder / "1" / "model.py").write_text(MODEL, encoding="utf-8")
    container = containers(python, {model_repository.root: "/models"})
    container.wait_for()
    values = np.array([3, 1, 2], dtype=np.float32)
    tensor = tritonclient.http.InferInput("A", values.shape, "FP32")
    tensor.set_data_from_numpy(values)
    with tritonclient.http.InferenceServerClient(container.http_url) as client:
        answer = client.infer("sorter", [tensor]).as_numpy("SORTED")
    assert answer.tolist() == [1, 2, 3]


def test_python_is_whole(python: Image, tmp_path: Path) -> None:
    """Modules with libraries of their own, and what models use most."""
    modules = "bz2, ctypes, decimal, hashlib, json, lzma, multiprocessing, sqlite3, ssl, subprocess, uuid"
    program = f"import {modules}, numpy.linalg as l, numpy; print(l.inv(numpy.eye(2) * 2)[0, 0])"
    done = run_inside(python, ["python3", "-c", program], tmp_path)
    assert (done.returncode, done.stdout) == (0, "0.5\n"), done.stderr


def test_its_shell_runs_commands_of_models(python: Image, tmp_path: Path) -> None:
    done = run_inside(python, ["sh", "-c", "exec nereid probe --help"], tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("Usage: nereid probe")
