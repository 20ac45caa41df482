# SPDX-License-Identifier: Apache-2.0
"""The process environment of backends (docs/adr/0013)."""

from __future__ import annotations

import contextlib
import signal
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import echo_document
from support.metrics import read_metrics
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

SHUTDOWN = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def server(model_repository: ModelRepository, server_factory: ServerFactory) -> ServerProcess:
    model_repository.add_identity(
        "environment", backend="testing", parameters={"behaviour": "environment"}
    )
    model_repository.add_identity("echo")
    # A shell starts background processes with some signals ignored, which they would inherit.
    for number in (signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    return server_factory(model_repository.root)


def signals(status: Path, field: str) -> set[int]:
    """The signals of one line of /proc/PID/status."""
    for line in status.read_text().splitlines():
        if line.startswith(f"{field}:"):
            bits = int(line.split()[1], 16)
            return {number for number in range(1, 65) if bits >> (number - 1) & 1}
    raise AssertionError(f"no {field} in {status}")


def test_processes_that_a_backend_starts_are_ended_by_signals(server: ServerProcess) -> None:
    """The backend also uses most of the stack."""
    answer = raw_http.post_json(
        server.http_url, "/v2/models/environment/infer", echo_document((1.0,))
    )
    assert answer.status == 200, answer.body


def test_no_thread_that_may_call_a_backend_blocks_signals(server: ServerProcess) -> None:
    """A program inherits the blocked and ignored signals of the thread that starts it."""
    process = Path(f"/proc/{server.process.pid}")
    assert not signals(process / "status", "SigIgn") & {*SHUTDOWN, signal.SIGPIPE}

    def blocking() -> set[str]:
        found = set()
        for thread in (process / "task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                if signals(thread / "status", "SigBlk") & set(SHUTDOWN):
                    found.add((thread / "comm").read_text().strip())
        return found

    # A thread that is being made, and whoever makes it, block them for a moment.
    poll_until(
        "no thread blocks signals",
        lambda: blocking() <= {"jemalloc_bg_thd"},
        explain=lambda: f"these do: {blocking()}",
    )


def test_a_locale_that_a_backend_sets_is_not_seen_by_clients(server: ServerProcess) -> None:
    values = (1234567.0, 0.5)
    before = raw_http.post_json(server.http_url, "/v2/models/echo/infer", echo_document(values))
    names = {name for name, _ in read_metrics(server.metrics_url)}
    raw_http.post_json(server.http_url, "/v2/models/environment/infer", echo_document((1.0,)))
    after = raw_http.post_json(server.http_url, "/v2/models/echo/infer", echo_document(values))
    assert after.body == before.body
    assert after.header("content-length") == str(len(after.body))
    assert {name for name, _ in read_metrics(server.metrics_url)} >= names
