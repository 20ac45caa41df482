# SPDX-License-Identifier: Apache-2.0
"""The clients of examples/clients that use nothing but their language."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

CLIENTS = PROJECT_ROOT / "examples/clients"
# A loopback port where nothing listens (tcpmux, which only root can bind).
NOBODY = "http://127.0.0.1:1"
Client = Callable[[str, str], "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def go_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    program = tmp_path_factory.mktemp("go") / "digits"
    command = ["go", "build", "-buildvcs=false", "-o", program, "."]
    subprocess.run(command, cwd=CLIENTS / "go", check=True, timeout=150)
    return program


@pytest.fixture(params=["go", "javascript", "python"])
def client(request: pytest.FixtureRequest) -> Client:
    def ask(url: str, model: str) -> subprocess.CompletedProcess[str]:
        if request.param == "go":
            program = request.getfixturevalue("go_program")
            command = [program, url, model]
        elif request.param == "javascript":
            command = ["node", CLIENTS / "javascript/digits.mjs", url, model]
        else:
            command = [sys.executable, CLIENTS / "python/plain.py", url, model]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    if request.param == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    return ask


@pytest.mark.parametrize("model", ["digits", "digits_batched"])
def test_answer(client: Client, documented_server: ServerProcess, model: str) -> None:
    done = client(documented_server.http_url, model)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{model}: this is a 3 (probability 99.7%)\n"


def test_refusal(client: Client, documented_server: ServerProcess) -> None:
    done = client(f"http://{documented_server.http_url}", "nobody")
    assert (done.returncode, done.stdout) == (1, "")
    assert "Request for unknown model: 'nobody' is not found" in done.stderr


def test_no_server(client: Client) -> None:
    done = client(NOBODY, "digits")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert "127.0.0.1:1" in done.stderr
