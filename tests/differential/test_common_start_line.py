# SPDX-License-Identifier: Apache-2.0
"""Triton takes the line of tests/e2e/test_common_start_line.py, and does the same with it."""

from __future__ import annotations

import os
from pathlib import Path

from differential.original_server import prepare
from support import start_line
from support.ports import free_ports
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory, stage_root
from support.start_line import Places
from support.start_line_checks import add_models, check_all, check_traces, wait_until_ready

# Options of later releases than 2.51.
NEWER = {
    "allow-client-shm",
    "grpc-infer-thread-count",
    "grpc-max-response-pool-size",
    "http-max-input-size",
}


def test_original(tmp_path: Path, model_repository: ModelRepository) -> None:
    add_models(model_repository)
    layout = prepare(tmp_path / "original")
    places = Places(
        model_repository.root,
        backend_directory(),
        stage_root() / "caches",
        stage_root() / "repoagents",
        tmp_path / "server.log",
        tmp_path / "traces.json",
        *free_ports(3),
    )
    inherited = os.environ.get("LD_LIBRARY_PATH")
    path = layout.library_path + (os.pathsep + inherited if inherited else "")
    line = [(name, value) for name, value in start_line.whole_line(places) if name not in NEWER]
    words = start_line.with_equals_signs(line)
    server = ServerProcess([layout.binary, *words], tmp_path / "log", {"LD_LIBRARY_PATH": path})
    try:
        wait_until_ready(server, places)
        check_all(places)
        server.stop()
    finally:
        server.kill()
    check_traces(places)
