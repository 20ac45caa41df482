# SPDX-License-Identifier: Apache-2.0
"""A server on the repositories that docs/protocol/inference.md asks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.nereid import INTERPRETER, start_nereid
from support.server_process import ServerProcess
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT


@pytest.fixture(scope="session")
def documented_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    folders = [EXAMPLE_MODELS, PROJECT_ROOT / "examples/python/models"]
    server = start_nereid(folders, tmp_path_factory.mktemp("documented_server"), [INTERPRETER])
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()
