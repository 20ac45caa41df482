# SPDX-License-Identifier: Apache-2.0
"""The original project's load generator, with tensors in shared memory."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path

import pytest

from conftest import ServerFactory
from racetrack import perf_analyzer
from support.metrics import metric
from support.repository import ModelRepository
from support.server_process import LOOPBACK

SECONDS = 120
VALUES = 1024  # FP32


@pytest.mark.timeout(SECONDS + 30)
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_system_shared_memory(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    tmp_path: Path,
    protocol: str,
) -> None:
    try:
        binary, environment = perf_analyzer.prepare(tmp_path)
    except perf_analyzer.NotAvailable as error:
        pytest.skip(str(error))
    model_repository.add_identity("echo")
    server = server_factory(model_repository, "--allow-client-shm=true")
    report = tmp_path / "report.csv"
    command = [
        str(binary),
        *("-m", "echo", "-i", protocol, "-u", f"{LOOPBACK}:{server.port(protocol)}"),
        *("--shape", f"INPUT0:{VALUES}", "--shared-memory=system"),
        *("--output-shared-memory-size", str(4 * VALUES), "-f", str(report)),
        *("--measurement-mode=count_windows", "--measurement-request-count=50"),
        *("--max-trials=10", "--stability-percentage=999"),
    ]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert report.exists(), (done.stdout + done.stderr)[-2000:]
    with report.open(newline="") as file:
        assert float(next(csv.DictReader(file))["Inferences/Second"]) > 0
    assert metric(server.metrics_url, "nv_inference_request_success", model="echo") >= 50
    assert metric(server.metrics_url, "nv_inference_request_failure", model="echo") == 0
