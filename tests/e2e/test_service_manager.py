# SPDX-License-Identifier: Apache-2.0
"""What a service manager is told: ready when clients are served, stopping when the end begins."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.notify_socket import NotifySocket
from support.repository import ModelRepository, tensor_text

# What follows --exit-timeout-secs: ports, models, the last steps.
GRACE_SECONDS = 10


@pytest.mark.parametrize("abstract", [False, True])
def test_ready_and_stopping(
    server_factory: ServerFactory,
    model_repository: ModelRepository,
    tmp_path: Path,
    abstract: bool,
) -> None:
    model_repository.add_identity("echo")
    address = f"@nereid-test-{os.getpid()}" if abstract else tmp_path / "notify"
    with NotifySocket(address) as manager:
        server = server_factory(
            model_repository,
            "--exit-timeout-secs=7",
            "--lame-duck-secs=1",
            env=manager.environment,
            wait_for=None,
        )
        assert manager.receive() == {"STATUS": "Loading models"}
        assert manager.receive() == {"READY": "1", "STATUS": "Serving"}
        # Nothing was said too early: the first request finds everything there.
        assert raw_http.get(server.http_url, "/v2/health/ready").status == 200
        assert server.port("metrics") > 0
        server.send_signal(signal.SIGTERM)
        stopping = manager.receive()
        assert stopping["STOPPING"] == "1"
        assert int(stopping["EXTEND_TIMEOUT_USEC"]) == (1 + 7 + GRACE_SECONDS) * 1_000_000
        assert server.wait_exit() == 0


def test_a_start_that_fails_is_never_ready(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    model_repository.add_identity("orphan", backend="nonesuch")
    with NotifySocket(tmp_path / "notify") as manager:
        server = server_factory(model_repository, env=manager.environment, wait_for=None)
        assert server.wait_exit() == 1
        assert manager.receive() == {"STATUS": "Loading models"}
        manager.expect_nothing_more()


SILENT_MODEL = """
import os


class TritonPythonModel:
    def initialize(self, args):
        if "NOTIFY_SOCKET" in os.environ:
            raise RuntimeError("this process could speak for the server")

    def execute(self, requests):
        return []
"""


def test_children_do_not_speak_for_the_server(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    model = model_repository.add(
        "silent",
        f'backend: "python"\n'
        f"input [ {tensor_text('INPUT0', 'INT32', (1,))} ]\n"
        f"output [ {tensor_text('OUTPUT0', 'INT32', (1,))} ]\n",
    )
    (model / "1" / "model.py").write_text(SILENT_MODEL)
    with NotifySocket(tmp_path / "notify") as manager:
        server = server_factory(
            model_repository,
            INTERPRETER,
            env=manager.environment,
        )
        assert raw_http.get(server.http_url, "/v2/models/silent/ready").status == 200
