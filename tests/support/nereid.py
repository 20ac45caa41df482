# SPDX-License-Identifier: Apache-2.0
"""Starting the staged server on free loopback ports."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.server_process import LOOPBACK, ServerProcess
from support.stage import server_binary

FREE_PORTS = (
    f"--http-address={LOOPBACK}",
    f"--grpc-address={LOOPBACK}",
    "--http-port=0",
    "--grpc-port=0",
    "--metrics-port=0",
)
# Python models run in the tests' own interpreter, which has NumPy.
INTERPRETER = f"--backend-config=python,python={sys.executable}"


def start_nereid(
    repositories: Path | Sequence[Path],
    log_directory: Path,
    options: Sequence[str] = (),
    env: Mapping[str, str] | None = None,
    binary: str = "nereid",
) -> ServerProcess:
    """Starts the staged server. The given options come last, so they override the free ports."""
    folders = [repositories] if isinstance(repositories, Path) else list(repositories)
    command = [
        server_binary(binary),
        *(f"--model-repository={folder}" for folder in folders),
        *FREE_PORTS,
        *options,
    ]
    return ServerProcess(command, log_directory, env)
