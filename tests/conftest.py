# SPDX-License-Identifier: Apache-2.0
"""Fixtures for tests that need a running server."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.nereid import start_nereid  # noqa: E402
from support.repository import ModelRepository  # noqa: E402
from support.server_process import ServerProcess  # noqa: E402
from support.stage import EXAMPLE_MODELS  # noqa: E402

# Jobs that a shell runs in the background inherit that Ctrl-C is ignored, and so would the programs
# of tests that are about it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

ServerFactory = Callable[..., ServerProcess]


@pytest.fixture
def model_repository(tmp_path: Path) -> ModelRepository:
    """An empty model repository in the test's own folder."""
    return ModelRepository(tmp_path / "models")


@pytest.fixture(scope="session")
def example_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server on examples/models for the whole run. Tests must not change its state."""
    server = start_nereid(EXAMPLE_MODELS, tmp_path_factory.mktemp("example_server"))
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


@pytest.fixture
def server_factory(tmp_path: Path) -> Iterator[ServerFactory]:
    """Starts servers for one test. Afterwards each is stopped by SIGTERM and has to exit with 0.

    The call returns when the path `wait_for` answers with 200; with None it does not wait.
    A server that the test has ended itself is not checked again.
    """
    started: list[ServerProcess] = []

    def start(
        repositories: Path | ModelRepository | Sequence[Path],
        *options: str,
        env: Mapping[str, str] | None = None,
        wait_for: str | None = "/v2/health/ready",
        binary: str = "nereid",
    ) -> ServerProcess:
        folders = repositories.root if isinstance(repositories, ModelRepository) else repositories
        logs = tmp_path / f"server-{len(started)}"
        server = start_nereid(folders, logs, options, env, binary)
        started.append(server)
        if wait_for is not None:
            server.wait_for(wait_for)
        return server

    yield start
    failures = []
    for server in started:
        try:
            server.stop()
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\n".join(failures)
