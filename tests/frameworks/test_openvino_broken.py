# SPDX-License-Identifier: Apache-2.0
"""Model files that cannot be served: one clear sentence each, and the other models are served."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from frameworks import openvino_networks as networks
from frameworks import tensorflow_files
from frameworks.openvino_support import Client, add_ir, config_text
from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "openvino").is_dir() or not networks.WHEEL.is_dir(),
    reason="the backend openvino is not staged: make stage BACKENDS=openvino",
)

# What breaks a good mlp: its version folder with model.xml and model.bin. Then what is said of it.
Break = Callable[[Path], None]


def edit(pattern: str, replacement: str) -> Break:
    def act(folder: Path) -> None:
        text = (folder / "model.xml").read_text(encoding="utf-8")
        changed = re.sub(pattern, replacement, text, count=1)
        assert changed != text, pattern
        (folder / "model.xml").write_text(changed, encoding="utf-8")

    return act


def cut(name: str, size: int) -> Break:
    def act(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[:size] if size >= 0 else data[: len(data) + size])

    return act


def replace(name: str, data: bytes) -> Break:
    def act(folder: Path) -> None:
        for file in ("model.xml", "model.bin"):
            (folder / file).unlink()
        (folder / name).write_bytes(data)

    return act


def folder_instead(folder: Path) -> None:
    replace("unused", b"")(folder)
    (folder / "model.xml").mkdir()


def without(name: str) -> Break:
    return lambda folder: (folder / name).unlink()


def onnx(change: Callable[[bytes], bytes]) -> Break:
    def act(folder: Path) -> None:
        replace("unused", b"")(folder)
        networks.save_mlp(folder / "model.onnx")
        (folder / "model.onnx").write_bytes(change((folder / "model.onnx").read_bytes()))

    return act


def savedmodel(change: Callable[[bytes], bytes]) -> Break:
    def act(folder: Path) -> None:
        replace("unused", b"")(folder)
        saved = folder / "model.savedmodel"
        tensorflow_files.save_savedmodel(saved, np.ones((4, 3), np.float32), np.ones(3, np.float32))
        (saved / "saved_model.pb").write_bytes(change((saved / "saved_model.pb").read_bytes()))

    return act


GARBAGE = bytes(range(256)) * 64
LISTED = "max_batch_size: 8\n"
X = 'input { name: "%s" data_type: TYPE_%s dims: [ %d ] }'
NO_FILE = "unable to find '"
# name: what is done to the file, what else stands in the configuration, what the index says
BROKEN: dict[str, tuple[Break, str, str]] = {
    "empty_xml": (cut("model.xml", 0), "", "failed to load '"),
    "half_xml": (cut("model.xml", 2000), "", "failed to load '"),
    "no_bin": (without("model.bin"), "", "failed to load '"),
    "no_xml": (without("model.xml"), "", NO_FILE),
    "empty_bin": (cut("model.bin", 0), "", "failed to load '"),
    "short_bin": (cut("model.bin", -1), "", "failed to load '"),
    "garbage_xml": (replace("model.xml", GARBAGE), "", "failed to load '"),
    "other_file": (lambda folder: None, 'default_model_filename: "other.xml"', NO_FILE),
    "a_folder": (folder_instead, "", "is a folder without saved_model.pb"),
    "opset": (edit('version="opset1"', 'version="opset99"'), "", "failed to load '"),
    "operator": (edit('type="MatMul"', 'type="MatMulti"'), "", "failed to load '"),
    "two_gib": (edit(r'(offset="\d+" size=")\d+', r"\g<1>2147483648"), "", "failed to load '"),
    "huge_shape": (edit('shape="64, 256"', 'shape="64, 99999999"'), "", "failed to load '"),
    "edges": (edit(r'from-layer="\d+"', 'from-layer="9999"'), "", "failed to load '"),
    "other_name": (lambda folder: None, LISTED + X % ("Z", "FP32", 64),
                   "unexpected inference input 'Z', allowed inputs are: X"),
    "other_type": (lambda folder: None, LISTED + X % ("X", "INT8", 64),
                   "expects datatype TYPE_INT8 for input 'X', model provides TYPE_FP32"),
    "other_shape": (lambda folder: None, LISTED + X % ("X", "FP32", 63),
                    "making complete shape [-1,63]"),
    "onnx_cut": (onnx(lambda data: data[: len(data) // 2]), "", "failed to load '"),
    "onnx_empty": (onnx(lambda data: b""), "", "failed to load '"),
    "onnx_garbage": (onnx(lambda data: GARBAGE), "", "failed to load '"),
    "onnx_operator": (onnx(lambda data: data.replace(b"MatMul", b"MatMal")), "", "failed to load '"),
    "onnx_size": (onnx(lambda data: data.replace(b"\x12\x0aMatMul", b"\x12\xffMatMul")[:-9]), "",
                  "failed to load '"),
    "saved_cut": (savedmodel(lambda data: data[: len(data) // 2]), "", "failed to load '"),
    "saved_empty": (savedmodel(lambda data: b""), "", "failed to load '"),
    "saved_operator": (savedmodel(lambda data: data.replace(b"MatMul", b"MatMal")), "", "failed to load '"),
    "tflite_garbage": (replace("model.tflite", GARBAGE), "", "failed to load '"),
    "tflite_empty": (replace("model.tflite", b""), "", "failed to load '"),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """With the model good alone; the broken ones are loaded by the tests."""
    folder = tmp_path_factory.mktemp("openvino_broken")
    repository = ModelRepository(folder / "models")
    networks.save_mlp(folder / "mlp.onnx")
    add_ir(repository, "good", folder / "mlp.onnx", LISTED)
    for name, (act, text, _) in BROKEN.items():
        act(add_ir(repository, name, folder / "mlp.onnx", text) / "1")
    unknown = {"NUM_STREAMS": "many"}
    add_ir(repository, "bad_parameter", folder / "mlp.onnx", "", unknown)
    repository.add("no_version_file", config_text())
    explicit = ["--model-control-mode=explicit", "--load-model=good"]
    server = start_nereid(repository.root, folder / "log", explicit)
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def load(server: ServerProcess, name: str) -> str:
    """Loads a model and returns what the server says of the failure."""
    answer = raw_http.post(server.http_url, f"/v2/repository/models/{name}/load", b"{}")
    assert answer.status == 400, answer.body
    return answer.error()


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(server: ServerProcess, name: str) -> None:
    said = load(server, name)
    assert BROKEN[name][2] in said
    assert "Exception from" not in said
    with Client(server, "http") as client:
        assert client.infer("good", {"X": np.ones((2, 64), np.float32)})["Y"].shape == (2, 10)


def test_broken_configurations(server: ServerProcess) -> None:
    said = load(server, "bad_parameter")
    assert "expected the parameter 'NUM_STREAMS' to be either AUTO/NUMA/<int_value>, got many" in said
    assert NO_FILE in load(server, "no_version_file")
