# SPDX-License-Identifier: Apache-2.0
"""The TensorFlow backend loads into Triton, and gives the same answers."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import pytest

from differential import original_server
from frameworks.tensorflow_models import (
    BACKEND,
    PACKAGES,
    Client,
    TensorflowRepository,
    worker_of,
    worker_pids,
)
from support.poll import poll_until
from support.stage import backend_directory

pytestmark = [
    pytest.mark.skipif(
        not (backend_directory() / "tensorflow").is_dir(),
        reason="the backend tensorflow is not staged: make stage BACKENDS=tensorflow",
    ),
    pytest.mark.skipif(
        not all(package.is_dir() for package in PACKAGES),
        reason="TensorFlow's Python package is not in build/deps: make stage BACKENDS=tensorflow",
    ),
    pytest.mark.skipif(
        not original_server.INSTALL_FOLDER.is_dir(), reason="Triton is not installed"
    ),
]


def test_the_original_serves_the_same(tmp_path: Path) -> None:
    repository = TensorflowRepository(tmp_path / "models")
    repository.add_network("mlp", BACKEND)
    repository.add_network("text", BACKEND)
    server = original_server.start_original(
        original_server.prepare(tmp_path / "original"),
        repository.root,
        tmp_path / "log",
        backend_directory(),
    )
    try:
        server.wait_for()
        for protocol in ("http", "grpc"):
            client = Client(server, protocol)
            examples = repository.examples("mlp")
            got = client.infer("mlp", {"x": examples["in.x"][:4]})
            np.testing.assert_allclose(got["y"], examples["out.y"][:4], rtol=2e-5, atol=2e-5)
            text = repository.examples("text")["in.text"].astype(object)
            assert client.infer("text", {"text": text})["id"].tolist() == [[1, -1, -1], [3, -1, 2]]
        os.kill(worker_of(server, "mlp"), signal.SIGKILL)
        log = "is started again in 0 s"
        poll_until("its end in the log", lambda: log in server.log_text(), 10)
        zeros = np.zeros((1, 64), np.float32)
        assert Client(server, "http").infer("mlp", {"x": zeros})["y"].shape == (1, 10)
        assert len(worker_pids(server)) == 2
    finally:
        server.stop()
