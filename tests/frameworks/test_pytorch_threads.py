# SPDX-License-Identifier: Apache-2.0
"""A model never runs on more threads than there are processors, unless it is configured to; and its
instances share their weights."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from frameworks import pytorch_networks as networks
from frameworks.pytorch_networks import add_model, config_text
from frameworks.test_pytorch import Client
from support.metrics import metric
from support.nereid import start_nereid
from support.process_memory import resident
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "pytorch").exists() or not networks.PROGRAM.exists(),
    reason="the PyTorch backend is not staged: tools/dev frameworks-test",
)
MATRIX = [("x", "FP32", (-1, -1))]
RESULT = [("OUTPUT__0", "FP32", (-1, -1))]
CPUS = len(os.sched_getaffinity(0))
TOLD = {"INTRA_OP_THREAD_COUNT": str(CPUS + 2)}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    models = ModelRepository(tmp_path / "models")
    add_model(models, "four", "busy", config_text(MATRIX, RESULT, instances=4))
    add_model(models, "one", "busy", config_text(MATRIX, RESULT))
    add_model(models, "told", "busy", config_text(MATRIX, RESULT, parameters=TOLD))
    process = start_nereid(models.root, tmp_path / "log")
    try:
        process.wait_for()
        yield process
    finally:
        process.stop()
        networks.remove_model_files()


def thread_count(server: ServerProcess) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def load(server: ServerProcess, model: str, clients: int = 8, requests: int = 6) -> None:
    # Large enough for PyTorch to use every thread that it may.
    x = np.eye(400, dtype=np.float32)

    def ask(_: int) -> None:
        client = Client(server, "http")
        try:
            for _ in range(requests):
                np.testing.assert_array_equal(client.one(model, {"x": x}), x)
        finally:
            client.client.close()

    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(ask, range(clients)))


def test_threads_keep_to_the_processors(server: ServerProcess) -> None:
    load(server, "four", clients=1, requests=1)
    before = thread_count(server)
    # Four instances: each has its own thread anyway, and a part of the processors.
    load(server, "four")
    assert thread_count(server) <= before + 4 * (max(1, CPUS // 4) - 1)
    before = thread_count(server)
    load(server, "one", clients=2)
    assert thread_count(server) == before + CPUS - 1
    before = thread_count(server)
    load(server, "told", clients=2)
    assert thread_count(server) == before + CPUS + 1
    server.wait_for_log("as INTRA_OP_THREAD_COUNT says")


def test_threads_that_serve_connections_run_models_of_one_thread(tmp_path: Path) -> None:
    models = ModelRepository(tmp_path / "models")
    for threads in (1, 2):
        told = {"INTRA_OP_THREAD_COUNT": str(threads)}
        config = config_text(MATRIX, RESULT, parameters=told)
        add_model(models, f"threads{threads}", "identity", config)
    # The highest limit, so that a slow machine does not matter.
    server = start_nereid(models.root, tmp_path / "log", ["--inline-execution-max-us=10000"])
    try:
        server.wait_for()
        client = Client(server, "http")
        x = np.ones((2, 3), np.float32)
        for threads, runs in ((1, True), (2, False)):
            model = f"threads{threads}"
            for _ in range(200):
                np.testing.assert_array_equal(client.one(model, {"x": x}), x)
            count = metric(server.metrics_url, "nereid_inline_execution_count", model=model)
            assert (count > 0) == runs
        client.client.close()
    finally:
        server.stop()
        networks.remove_model_files()


def memory_of(tmp_path: Path, instances: int) -> int:
    models = ModelRepository(tmp_path / f"models{instances}")
    x, out = networks.NETWORKS["resnet18"][:2]
    add_model(models, "resnet", "resnet18", config_text(x, out, 8, instances=instances))
    add_model(models, "warm", "identity", config_text(MATRIX, RESULT))
    server = start_nereid(models.root, tmp_path / f"log{instances}")
    try:
        server.wait_for()
        client = Client(server, "http")
        client.one("resnet", {"x": np.zeros((1, 3, 224, 224), np.float32)})
        client.client.close()
        return resident(server)
    finally:
        server.stop()


def test_instances_share_their_weights(tmp_path: Path) -> None:
    try:
        assert memory_of(tmp_path, 4) <= 1.3 * memory_of(tmp_path, 1)
    finally:
        networks.remove_model_files()
