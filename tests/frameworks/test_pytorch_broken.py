# SPDX-License-Identifier: Apache-2.0
"""Broken models of the PyTorch backend: a clear error each, and the server keeps serving."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Iterator

import pytest

from frameworks import pytorch_networks as networks
from frameworks.pytorch_networks import add_model, config_text
from support import raw_http
from support.infer import assert_serving
from support.model_control import index
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "pytorch").exists() or not networks.PROGRAM.exists(),
    reason="the PyTorch backend is not staged: tools/dev frameworks-test",
)

X = [("x", "FP32", (-1,))]
OUT = [("OUTPUT__0", "FP32", (-1,))]
GOOD = config_text(X, OUT)
PACKAGE = config_text(X, OUT, platform="torch_aoti")


def network_bytes(name: str = "mlp") -> bytes:
    return (networks.model_files() / f"{name}.pt").read_bytes()


def rewritten(change: Callable[[str, bytes], bytes | None], network: str = "mlp") -> bytes:
    """The archive with each member as `change(name, bytes)` gives it; None leaves it out."""
    result = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(network_bytes(network)))
    with source, zipfile.ZipFile(result, "w", zipfile.ZIP_STORED) as target:
        for member in source.namelist():
            data = change(member, source.read(member))
            if data is not None:
                target.writestr(member, data)
    return result.getvalue()


def without(part: str) -> bytes:
    return rewritten(lambda name, data: None if part in name else data)


def code_with(old: bytes, new: bytes, network: str = "minus") -> bytes:
    changed = []

    def change(name: str, data: bytes) -> bytes:
        if name.endswith(".py") and old in data:
            changed.append(name)
            return data.replace(old, new)
        return data

    archive = rewritten(change, network)
    assert changed, f"{old!r} is not in the code of {network}"
    return archive


def flipped(data: bytes) -> bytes:
    """The archive with its directory, which is at its end, turned over."""
    return data[:-400] + bytes(byte ^ 0xFF for byte in data[-400:])


def huge_constant() -> bytes:
    """The first weight is said to have 2 GiB; its bytes are as they were."""
    announced = []

    def change(name: str, data: bytes) -> bytes:
        count = b"M" + (256 * 64).to_bytes(2, "little")  # BININT2 of the pickle protocol
        if name.endswith("/data.pkl") and count in data:
            announced.append(name)
            return data.replace(count, b"J" + (1 << 29).to_bytes(4, "little"))
        return data

    archive = rewritten(change)
    assert announced
    return archive


def add_broken(models: ModelRepository) -> dict[str, str]:
    """Adds the models; what each one's reason has to hold."""
    expected: dict[str, str] = {}

    def add(name: str, config: str | None, data: bytes, reason: str, file: str = "model.pt") -> None:
        folder = models.add(name, config)
        (folder / "1" / file).write_bytes(data)
        expected[name] = reason

    load = "failed to load model '{}'"
    add("empty", GOOD, b"", load)
    add("garbage", GOOD, os.urandom(5000), load)
    add("text", GOOD, b"import torch\n" * 100, load)
    add("truncated", GOOD, network_bytes()[:-2000], load)
    add("half", GOOD, network_bytes()[: len(network_bytes()) // 2], load)
    add("flipped", GOOD, flipped(network_bytes()), load)
    add("no_code", GOOD, without("/code/"), load)
    add("no_data", GOOD, without("/data.pkl"), load)
    add("no_weight", GOOD, without("/data/0"), load)
    add("no_version", GOOD, without("version"), load)
    add("huge", GOOD, huge_constant(), "the file announces tensors of 2147")
    add("onnx", GOOD, b"\x08\x08\x12\x07pytorch" * 50, load)
    add("wrong_op", GOOD, code_with(b"torch.sub", b"torch.no_such_operator"), load)
    add("wrong_opset", GOOD, rewritten(
        lambda name, data: b"9999\n" if name.endswith("/version") else data), load)
    add("bad_syntax", GOOD, code_with(b"return", b"retrun ("), load)
    add("package_garbage", PACKAGE, os.urandom(5000), load, "model.pt2")
    add("package_is_script", PACKAGE, network_bytes(), load, "model.pt2")
    add("package_empty", PACKAGE, b"", load, "model.pt2")
    folder = models.add("folder", GOOD)
    (folder / "1" / "model.pt").mkdir()
    expected["folder"] = "is a folder, and has to be a TorchScript file"
    models.add("missing", GOOD)
    expected["missing"] = "unable to find "

    for name, network, config, reason in [
        ("no_forward", "no_forward", GOOD, "the module has no method 'forward'"),
        ("nested_output", "nested", GOOD, "is neither a Tensor nor a List[str]"),
        ("list_input", "list_argument", GOOD, "An input of type 'List[Tensor]' was detected"),
        ("other_names", "minus", config_text([("a", "FP32", (-1,))], OUT),
         "configuration expects 1 inputs, model provides 2: no input for argument 'b'"),
        ("too_many", "identity", config_text([*X, ("y", "FP32", (-1,))], OUT),
         "input 'y' is argument 1 of the model, which has 1"),
        ("index_too_large", "identity", config_text([("X__3", "FP32", (-1,))], OUT),
         "input 'X__3' is argument 3"),
        ("output_index", "pair", config_text(X, [("OUT__2", "FP32", (-1,))]),
         "refers to an output index which doesn't exist. This model has 2 outputs"),
        ("strings_for_tensor", "identity", config_text([("x", "STRING", (-1,))], OUT),
         "is configured as TYPE_STRING, but argument 'x' (Tensor) of the model is a Tensor"),
        ("strings_2d", "echo_strings", config_text([("texts", "STRING", (2, 2))],
                                                   [("OUTPUT__0", "STRING", (-1,))]),
         "Triton only supports 1 dimensional List of String as input for 'texts'"),
        ("bad_parameter", "identity", config_text(X, OUT, parameters={"INFERENCE_MODE": "maybe"}),
         "'INFERENCE_MODE' of model 'bad_parameter' must be"),
        ("nothing_given", "identity", None, "write them into config.pbtxt, for instance: input [ {"),
    ]:  # fmt: skip
        add_model(models, name, network, config)
        expected[name] = reason
    return expected


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServerProcess, dict]]:
    folder = tmp_path_factory.mktemp("pytorch_broken")
    models = ModelRepository(folder / "models")
    expected = add_broken(models)
    models.add_identity("echo")
    add_model(models, "good", "identity", GOOD)
    server = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        server.wait_for("/v2/health/live")
        yield server, expected
    finally:
        server.stop()
        networks.remove_model_files()


def test_each_has_a_clear_reason(broken: tuple[ServerProcess, dict]) -> None:
    server, expected = broken
    reasons = {model: reason for (model, _), (_, reason) in index(server).items()}
    problems = []
    for name, reason in expected.items():
        found = reasons[name]
        if reason.replace("{}", name) not in found or "Exception raised from" in found or len(found) > 1500:
            problems.append(f"{name}: {found}")
    assert not problems, "\n".join(problems)
    assert len(expected) >= 20


def test_the_rest_is_served(broken: tuple[ServerProcess, dict]) -> None:
    server, _ = broken
    assert_serving(server.http_url)
    document = {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [2.5]}]}
    answer = raw_http.post_json(server.http_url, "/v2/models/good/infer", document)
    assert answer.json()["outputs"][0]["data"] == [2.5]
