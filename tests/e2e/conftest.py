# SPDX-License-Identifier: Apache-2.0
"""One server with identity models, for tests without special needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.nereid import start_nereid
from support.otlp_collector import OtlpCollector
from support.repository import ModelRepository
from support.server_process import ServerProcess

SLOW_MILLISECONDS = 2500


@pytest.fixture(scope="session")
def identity_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """Has the models echo (FP32, any length), text (BYTES), pair, batched, and slow (one request at
    a time)."""
    folder = tmp_path_factory.mktemp("identity_server")
    models = ModelRepository(folder / "models")
    models.add_identity("echo", "FP32")
    models.add_identity("bytes", "UINT8")
    models.add_identity("text", "STRING")
    models.add_identity("half", "FP16")
    models.add_identity("pair", "INT32", (2,), tensors=2)
    models.add_identity("batched", "FP32", (2,), max_batch_size=4)
    models.add_identity("slow", parameters={"execute_delay_ms": str(SLOW_MILLISECONDS)})
    server = start_nereid(models.root, folder / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    """Of spans."""
    started = OtlpCollector()
    yield started
    started.stop()
