# SPDX-License-Identifier: Apache-2.0
"""`nereid top` and `nereid explain` of the user who runs a server need no option of the server."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.ports import free_port
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.stage import server_binary

NOBODY = 65534
# Prints what it gets for a request over the socket in its folder.
ASK = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
try:
    client.sendall(b"GET /v2/nereid/models HTTP/1.0\\r\\nhost: here\\r\\n\\r\\n")
    print(client.recv(12).decode())
except OSError:
    print()
"""


@pytest.fixture
def models(model_repository: ModelRepository) -> ModelRepository:
    model_repository.add_identity("echo", "FP32", [1])
    return model_repository


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """XDG_RUNTIME_DIR of the test's servers and commands."""
    folder = tmp_path / "run"
    folder.mkdir()
    return folder


def environment(run_folder: Path) -> dict[str, str]:
    return {"XDG_RUNTIME_DIR": str(run_folder)}


def socket_of(server: ServerProcess, run_folder: Path) -> Path:
    return run_folder / "nereid" / f"http-{server.port('http')}.sock"


def run(
    server: ServerProcess, run_folder: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), *words, f"--url=http://{server.http_url}"]
    env = {**os.environ, **environment(run_folder), "COLUMNS": ""}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)


def ask(path: Path, request: str) -> str:
    """The first line of the answer to a request over the socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(f"{request} HTTP/1.0\r\nhost: here\r\ncontent-length: 0\r\n\r\n".encode())
        return client.makefile().readline().strip()


def infer_once(server: ServerProcess) -> None:
    tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [1], "data": [1]}
    document = {"id": "mine", "inputs": [tensor]}
    assert raw_http.post_json(server.http_url, "/v2/models/echo/infer", document).status == 200


def test_top_and_explain_need_no_option(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(models, env=environment(run_folder))
    infer_once(server)
    top = run(server, run_folder, "top", "--once", "--interval=0.5")
    assert (top.returncode, top.stderr) == (0, "")
    assert "echo" in top.stdout
    for words in (("explain", "mine"), ("explain", "echo")):
        explained = run(server, run_folder, *words)
        assert (explained.returncode, explained.stderr) == (0, "")
        assert "model echo" in explained.stdout.lower()
    # Others see as little as before.
    assert raw_http.get(server.http_url, "/v2/nereid/models").status == 403


def test_without_a_folder_for_the_session(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(models, env=environment(run_folder / "missing" / "folder"))
    assert run(server, run_folder, "top", "--once", "--interval=0.5").returncode == 0
    assert not any(run_folder.iterdir())


def test_nobody_else_may_use_it_and_it_goes_with_the_server(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(models, env=environment(run_folder))
    path = socket_of(server, run_folder)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    server.stop()
    assert not path.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can run a program as another user")
def test_the_kernel_tells_who_asks(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(models, env=environment(run_folder))
    path = socket_of(server, run_folder)
    path.parent.chmod(0o711)
    path.chmod(0o666)
    command = [sys.executable, "-I", "-c", ASK, path.name]
    heard = [
        subprocess.check_output(command, cwd=path.parent, user=user, text=True, timeout=60).strip()
        for user in (os.geteuid(), NOBODY)
    ]
    assert heard == ["HTTP/1.1 200", ""]


def test_it_shows_what_the_server_remembers_and_nothing_else(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(models, env=environment(run_folder))
    path = socket_of(server, run_folder)
    assert ask(path, "GET /v2/nereid/models") == "HTTP/1.1 200 OK"
    for request in (
        "GET /v2/models/echo",
        "GET /v2/models/echo/config",
        "POST /v2/models/echo/infer",
        "POST /v2/repository/index",
        "POST /v2/repository/models/echo/unload",
        "POST /v2/systemsharedmemory/unregister",
        "POST /v2/logging",
    ):
        assert ask(path, request) == "HTTP/1.1 403 Forbidden", request


def test_one_that_a_killed_server_left_is_replaced(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    option = f"--http-port={free_port()}"
    killed = server_factory(models, option, env=environment(run_folder))
    path = socket_of(killed, run_folder)
    killed.kill()
    assert path.exists()
    server = server_factory(models, option, env=environment(run_folder))
    assert run(server, run_folder, "top", "--once", "--interval=0.5").returncode == 0
    server.stop()
    assert not path.exists()


def test_that_of_a_server_that_runs_is_left_alone(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    options = (f"--http-port={free_port()}", "--reuse-http-port=true")
    first = server_factory(models, *options, env=environment(run_folder))
    path = socket_of(first, run_folder)
    second = server_factory(models, *options, env=environment(run_folder))
    second.wait_for_log(f"another server has the socket '{path}'")
    second.stop()
    assert ask(path, "GET /v2/nereid/models") == "HTTP/1.1 200 OK"


def test_folder_that_others_may_write_to(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    (run_folder / "nereid").mkdir()
    (run_folder / "nereid").chmod(0o777)
    server = server_factory(models, env=environment(run_folder))
    assert not any((run_folder / "nereid").iterdir())
    # And a command does not trust what lies there.
    with socket.socket(socket.AF_UNIX) as trap:
        trap.bind(str(socket_of(server, run_folder)))
        trap.listen()
        assert run(server, run_folder, "top", "--once", "--interval=0.5").returncode == 0


def test_switched_off(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(models, "--owner-socket=false", env=environment(run_folder))
    assert not any(run_folder.iterdir())
    done = run(server, run_folder, "top", "--once")
    assert (done.returncode, done.stdout) == (1, "")
    assert "start the server with --allow-nereid-api=true" in done.stderr


def test_a_header_asks_the_port(
    server_factory: ServerFactory, models: ModelRepository, run_folder: Path
) -> None:
    server = server_factory(
        models, "--http-restricted-api=nereid:key=sesame", env=environment(run_folder)
    )
    for value, code in (("sesame", 0), ("wrong", 1)):
        done = run(
            server, run_folder, "top", "--once", "--interval=0.5", f"--header=key:{value}"
        )
        assert done.returncode == code
    assert f"http://{LOOPBACK}:{server.port('http')}" in done.stderr
