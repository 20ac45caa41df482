# SPDX-License-Identifier: Apache-2.0
"""ONNX models with operators of a library of their own (model_operations.op_library_filename)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
import tritonclient.http
from onnx import TensorProto, helper

from conftest import ServerFactory
from support.repository import ModelRepository, tensor_text
from support.stage import PROJECT_ROOT

HEADERS = PROJECT_ROOT / "build" / "deps" / "onnxruntime" / "include" / "onnxruntime"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("custom_op") / "libcustom_op.so"
    source = Path(__file__).with_name("custom_op.cc")
    command = ["c++", "-std=c++20", "-shared", "-fPIC", f"-isystem{HEADERS}", "-o"]
    subprocess.run([*command, made, source], check=True, timeout=120)
    return made


def save_model(file: Path) -> None:
    """OUTPUT0 = test.Twice(INPUT0)"""
    value = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"])
        for name in ("INPUT0", "OUTPUT0")
    ]
    node = helper.make_node("Twice", ["INPUT0"], ["OUTPUT0"], domain="test")
    graph = helper.make_graph([node], "twice", value[:1], value[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("test", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(file))


LISTS = (
    f"input [ {tensor_text('INPUT0', 'FP32', (-1,))} ]\n"
    f"output [ {tensor_text('OUTPUT0', 'FP32', (-1,))} ]\n"
)


def add_model(models: ModelRepository, filename: str, lists: str = LISTS) -> Path:
    folder = models.add(
        "twice",
        f'backend: "onnxruntime"\n{lists}'
        f'model_operations {{ op_library_filename: "{filename}" }}\n',
    )
    save_model(folder / "1" / "model.onnx")
    return folder


@pytest.mark.parametrize("beside_the_model", [False, True])
def test_operators_of_a_library(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    library: Path,
    beside_the_model: bool,
) -> None:
    folder = add_model(model_repository, library.name if beside_the_model else str(library))
    if beside_the_model:
        (folder / library.name).write_bytes(library.read_bytes())
    server = server_factory(model_repository)
    tensor = tritonclient.http.InferInput("INPUT0", [3], "FP32")
    tensor.set_data_from_numpy(np.array([1, 2.5, -3], dtype=np.float32))
    with tritonclient.http.InferenceServerClient(server.http_url) as client:
        answer = client.infer("twice", [tensor]).as_numpy("OUTPUT0")
    assert answer.tolist() == [2, 5, -6]


@pytest.mark.parametrize(
    ("lists", "options"),
    [
        ("", []),
        (LISTS, []),
        ("max_batch_size: 4\n", []),
        ("", ["--backend-config=onnxruntime,default-max-batch-size=0"]),
    ],
)
def test_a_model_is_loaded_once(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    library: Path,
    lists: str,
    options: list[str],
) -> None:
    """Whatever is open: the batch, or a dimension of each row."""
    add_model(model_repository, str(library), lists)
    server = server_factory(model_repository, *options)
    assert server.log_text().count("custom_op: registered") == 1


def test_a_library_that_is_not_there(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "libnothing.so")
    server = server_factory(model_repository, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("libnothing.so")
