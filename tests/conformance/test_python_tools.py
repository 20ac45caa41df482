# SPDX-License-Identifier: Apache-2.0
"""Python programs of others against the server: schemathesis reads the OpenAPI document and tries
what it describes; the clients of KServe."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.infer import assert_serving
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

INSTALLED = PROJECT_ROOT / "build" / "deps" / "conformance" / "python"
SECONDS = 300.0
EXAMPLES = 50  # for each operation

# Statuses, content types and bodies must be those of the document. So 500 is never right, 501 only
# where the document has it. What the schemas cannot say, such as which inputs a model has, is
# refused, so "valid" requests may be.
CHECKS = "content_type_conformance,response_schema_conformance,status_code_conformance"
# Names of things that exist.
PARAMETERS = """
[parameters]
model = "echo"
version = "1"
"""

if not (INSTALLED / "nereid.stamp").exists():
    pytest.skip(
        "the programs of others are not installed: tools/setup.sh --conformance (1.7 GB)",
        allow_module_level=True,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server with the model echo. It has to be well when everything is over."""
    models = ModelRepository(tmp_path_factory.mktemp("python_tools") / "models")
    models.add_identity("echo")
    options = ["--allow-client-shm=true", "--allow-nereid-api=true"]
    options += ["--model-control-mode=explicit", "--load-model=echo"]
    server = start_nereid(models.root, tmp_path_factory.mktemp("python_tools_server"), options)
    try:
        server.wait_for()
        yield server
        assert server.is_alive(), server.log_text()[-2000:]
        assert_serving(server.http_url)
    finally:
        server.stop()


def run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env={**os.environ, "PYTHONPATH": str(INSTALLED), "PYTHONDONTWRITEBYTECODE": "1"},
    )
    said = f"{done.stdout}\n{done.stderr}".strip()
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {said[-4000:]}"
    return done.stdout


@pytest.mark.timeout(SECONDS + 60)
def test_schemathesis(server: ServerProcess, tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(PARAMETERS)
    said = run(
        tmp_path,
        INSTALLED / "bin" / "schemathesis",
        "run",
        f"http://{server.http_url}/v2/openapi.json",
        "--exclude-path-regex=/(un)?load$",
        f"--checks={CHECKS}",
        f"--max-examples={EXAMPLES}",
        "--seed=1",
    )
    assert " passed" in said and "failed" not in said


@pytest.mark.timeout(SECONDS + 60)
def test_kserve_clients(server: ServerProcess, tmp_path: Path) -> None:
    run(
        tmp_path,
        Path(__file__).with_name("kserve_client.py"),
        server.http_url,
        server.grpc_url,
    )
