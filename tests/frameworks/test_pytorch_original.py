# SPDX-License-Identifier: Apache-2.0
"""The PyTorch backend gives the same answers in Triton as in ours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from differential.original_server import OriginalMissing, prepare, start_original
from frameworks import pytorch_networks as networks
from frameworks.pytorch_networks import add_model, config_text
from frameworks.test_pytorch import SHAPES, Client, floats, sample
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "pytorch").exists() or not networks.PROGRAM.exists(),
    reason="the PyTorch backend is not staged: tools/dev frameworks-test",
)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ServerProcess]]:
    """Triton, and ours."""
    folder = tmp_path_factory.mktemp("pytorch_original")
    try:
        layout = prepare(folder / "original")
    except OriginalMissing as missing:
        pytest.skip(str(missing))
    models = ModelRepository(folder / "models")
    networks.add_networks(models)
    keys = [("difference", "FP32", (-1,)), ("twice", "FP32", (-1,))]
    values = [("left", "FP32", (-1,)), ("right", "FP32", (-1,))]
    add_model(models, "dictionary", "dictionary", config_text(values, keys))
    add_model(models, "raises", "raises", config_text([("x", "FP32", (-1,))],
                                                      [("OUTPUT__0", "FP32", (-1,))]))
    original = start_original(layout, models.root, folder / "original-log", backend_directory())
    try:
        original.wait_for()
        ours = start_nereid(models.root, folder / "log")
        try:
            ours.wait_for()
            yield [original, ours]
        finally:
            ours.stop()
    finally:
        original.stop()
        networks.remove_model_files()


@pytest.fixture(params=["http", "grpc"])
def clients(servers: list[ServerProcess], request: pytest.FixtureRequest) -> Iterator[list[Client]]:
    made = [Client(server, request.param) for server in servers]
    yield made
    for client in made:
        client.client.close()


@pytest.mark.parametrize("network", SHAPES)
def test_networks(clients: list[Client], network: str) -> None:
    x = sample((2, *SHAPES[network]))
    theirs, ours = (client.one(network, {"x": x}) for client in clients)
    np.testing.assert_array_equal(theirs, ours)


def test_sequences(clients: list[Client]) -> None:
    for i in range(3):
        x = sample((1, 16), i)
        theirs, ours = (
            client.one("lstm", {"X__0": x}, "Y__0", sequence_id=7, sequence_start=i == 0)
            for client in clients
        )
        np.testing.assert_array_equal(theirs, ours)


def test_strings_and_dictionaries(clients: list[Client]) -> None:
    texts = np.array([b"a", b"", b"Bee"], np.object_)
    for client in clients:
        assert client.one("strings", {"texts": texts}).tolist() == [b"A", b"", b"BEE"]
        values = {"left": floats(5), "right": floats(2)}
        assert client.one("dictionary", values, "difference").tolist() == [3]


def test_failures(clients: list[Client]) -> None:
    texts = set()
    for client in clients:
        with pytest.raises(Exception, match="the sum is too large") as caught:
            client.one("raises", {"x": floats(200)})
        texts.add(str(caught.value))
    assert len(texts) == 1
