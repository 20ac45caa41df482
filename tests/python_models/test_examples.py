# SPDX-License-Identifier: Apache-2.0
"""The models of examples/python and their client, with each kind of server."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from python_models.servers import BINARY, ORIGINAL, OURS, start, why_not
from support.stage import PROJECT_ROOT

EXAMPLES = PROJECT_ROOT / "examples" / "python"
# Triton's backend ends its server now and then.
TRIES = {OURS: 1, BINARY: 3, ORIGINAL: 3}


def ask(kind: str, folder: Path) -> subprocess.CompletedProcess[str]:
    repository = folder / "models"
    shutil.copytree(EXAMPLES / "models", repository)
    names = sorted(path.name for path in repository.iterdir())
    loads = [f"--load-model={name}" for name in names]
    server, _ = start(kind, repository, folder, loads)
    try:
        server.wait_for()
        addresses = [
            f"--http={server.http_url}",
            f"--grpc={server.grpc_url}",
            f"--metrics={server.metrics_url}",
        ]
        return subprocess.run(
            [sys.executable, EXAMPLES / "ask.py", *addresses],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        server.stop()


@pytest.mark.parametrize("kind", [OURS, BINARY, ORIGINAL])
def test_the_examples_answer_right(kind: str, tmp_path: Path) -> None:
    if reason := why_not(kind):
        pytest.skip(reason)
    for number in range(TRIES[kind]):
        asked = ask(kind, tmp_path / str(number))
        if asked.returncode == 0:
            break
    assert asked.returncode == 0, asked.stdout + asked.stderr
    models = {line.split(":")[0] for line in asked.stdout.splitlines()}
    assert models == {path.name for path in (EXAMPLES / "models").iterdir()}
