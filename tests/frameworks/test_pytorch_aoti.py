# SPDX-License-Identifier: Apache-2.0
"""AOTInductor packages give the same answers in the PyTorch backend as in PyTorch.

tests/frameworks/aoti_setup.sh creates the packages; not every machine can run it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import numpy as np
import pytest

from frameworks.pytorch_networks import config_text
from frameworks.test_pytorch import Client, floats
from support.model_control import index
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT, backend_directory

PACKAGES = PROJECT_ROOT / "build" / "deps" / "pytorch-python" / "packages"
pytestmark = pytest.mark.skipif(
    not (backend_directory() / "pytorch").exists() or not (PACKAGES / "nested.pt2").exists(),
    reason="there are no AOTInductor packages: tests/frameworks/aoti_setup.sh makes them",
)
FIVE, ONE = ("FP32", (5,)), ("FP32", (1,))
RESULTS = [("RESULT[0]", *FIVE), ("RESULT[1][0]", *FIVE)]
# name: package, configuration
MODELS = {
    "keys": ("mlp", [("INPUT__0", "FP32", (64,))],
             [("double", "FP32", (10,)), ("logits", "FP32", (10,))], 8),
    "paths": ("mlp", [("ARGS[0]", "FP32", (64,))], [("RESULT[logits]", "FP32", (10,))], 8),
    "indices": ("mlp", [("INPUT__0", "FP32", (64,))], [("OUTPUT__1", "FP32", (10,))], 8),
    "nested": ("nested", [("scale", *ONE), ("ARGS[0][right]", *FIVE), ("ARGS[0][left]", *FIVE)],
               RESULTS, 0),
    "wrong_count": ("nested", [("scale", *ONE)], RESULTS, 0),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folder = tmp_path_factory.mktemp("pytorch_aoti")
    models = ModelRepository(folder / "models")
    for name, (package, inputs, outputs, most) in MODELS.items():
        config = config_text(inputs, outputs, most, platform="torch_aoti", instances=2)
        shutil.copy(PACKAGES / f"{package}.pt2", models.add(name, config) / "1" / "model.pt2")
    models.add("bare", None)
    shutil.copy(PACKAGES / "mlp.pt2", models.root / "bare" / "1" / "model.pt2")
    process = start_nereid(models.root, folder / "log", ["--exit-on-error=false"])
    try:
        process.wait_for("/v2/health/live")
        yield process
    finally:
        process.stop()


@pytest.fixture(params=["http", "grpc"])
def client(server: ServerProcess, request: pytest.FixtureRequest) -> Iterator[Client]:
    client = Client(server, request.param)
    yield client
    client.client.close()


@pytest.mark.parametrize(
    ("model", "given", "taken", "key"),
    [
        ("keys", "INPUT__0", "logits", "logits"),
        ("keys", "INPUT__0", "double", "double"),
        ("paths", "ARGS[0]", "RESULT[logits]", "logits"),
        ("indices", "INPUT__0", "OUTPUT__1", "double"),
    ],
)
def test_answers_are_pytorchs(
    client: Client, model: str, given: str, taken: str, key: str
) -> None:
    run = np.load(PACKAGES / "mlp.npz")
    np.testing.assert_array_equal(client.one(model, {given: run["x"]}, taken), run[key])


def test_nested_arguments(client: Client) -> None:
    inputs = {
        "scale": floats(3),
        "ARGS[0][left]": floats(5, 4, 3, 2, 1),
        "ARGS[0][right]": floats(1, 1, 1, 1, 1),
    }
    result = client.infer("nested", inputs)
    assert result.as_numpy("RESULT[0]").tolist() == [4, 3, 2, 1, 0]
    assert result.as_numpy("RESULT[1][0]").tolist() == [15, 12, 9, 6, 3]


@pytest.mark.parametrize(
    ("model", "text"),
    [
        ("wrong_count", "configuration expects 1 inputs, model provides 3"),
        ("bare", "forward(ARGS[0]) -> logits, double, but neither types nor shapes"),
    ],
)
def test_what_does_not_fit_is_refused(server: ServerProcess, model: str, text: str) -> None:
    reasons = {name: reason for (name, _), (_, reason) in index(server).items()}
    assert text in reasons[model]
