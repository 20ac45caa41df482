# SPDX-License-Identifier: Apache-2.0
"""The program `nereid`, as the checks of its predictions use it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.nereid import start_nereid
from support.server_process import ServerProcess
from support.stage import server_binary


def program(*arguments: object) -> str:
    """What a command prints. Ends this process if the command fails."""
    command = [str(server_binary()), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


@contextmanager
def servers(count: int, repository: Path, work: Path) -> Iterator[list[ServerProcess]]:
    """Servers of one model repository; their logs are in `work`."""
    started: list[ServerProcess] = []
    try:
        for _ in range(count):
            started.append(start_nereid(repository, work / f"log_{len(started)}"))
            started[-1].wait_for("/v2/health/ready")
        yield started
    finally:
        for server in started:
            server.stop()
