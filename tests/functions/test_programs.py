# SPDX-License-Identifier: Apache-2.0
"""Programs that serve functions: how they start, what they say, and how they end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from support.poll import poll_until
from support.stage import PROJECT_ROOT, python_package

PAGE = PROJECT_ROOT / "docs" / "models" / "functions.md"
SERVING = re.compile(r"nereid: serving '(\w+)': http://127\.0\.0\.1:(\d+)/v2/models/\w+/(\w+)")
FREE_PORTS = "host='127.0.0.1', http_port=0, grpc_port=0, metrics_port=0"
SECONDS = 60
ECHO = "import nereid_server\ndef echo(text: str) -> str:\n    return text\n"


class Program:
    """A Python program that serves functions, in a folder of its own."""

    def __init__(self, folder: Path, arguments: Sequence[str], stdin: str | None = None) -> None:
        environment = {**os.environ, "PYTHONPATH": str(python_package()), "TMPDIR": str(folder)}
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.said: list[str] = []
        if stdin is not None:
            self.process.stdin.write(stdin)
            self.process.stdin.flush()

    def wait_until_serving(self) -> int:
        """Returns the HTTP port."""
        for line in self.process.stderr:
            self.said.append(line)
            if match := SERVING.search(line):
                return int(match[2])
        raise AssertionError(f"the program does not serve: {''.join(self.said)}")

    def server(self) -> int:
        """The process of the server."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        assert len(children) == 1
        return int(children[0])

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        self.process.stderr.read()
        return self.process.wait(SECONDS)


@pytest.fixture
def run(tmp_path: Path) -> Iterator:
    started = []

    def start(*arguments: str, stdin: str | None = None) -> Program:
        started.append(Program(tmp_path, arguments, stdin))
        return started[-1]

    yield start
    for program in started:
        if program.process.poll() is None:
            program.process.kill()
        program.process.stderr.close()
        program.process.wait()


def infer(port: int, model: str, name: str, datatype: str, shape: list[int], data: list) -> list:
    body = {"inputs": [{"name": name, "datatype": datatype, "shape": shape, "data": data}]}
    url = f"http://127.0.0.1:{port}/v2/models/{model}/infer"
    with urllib.request.urlopen(url, json.dumps(body).encode(), timeout=SECONDS) as answer:
        return json.load(answer)["outputs"][0]["data"]


def example() -> str:
    """The first program of the page, on free ports."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]
    assert code.count("nereid_server.serve(double)") == 1
    return code.replace("nereid_server.serve(double)", f"nereid_server.serve(double, {FREE_PORTS})")


def is_gone(process: int) -> bool:
    return not Path(f"/proc/{process}").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_example_serves_until_a_signal(run, tmp_path: Path, number) -> None:
    (tmp_path / "program.py").write_text(example() + "\nprint('ended', file=__import__('sys').stderr)\n")
    program = run("program.py")
    port = program.wait_until_serving()
    server = program.server()
    assert infer(port, "double", "x", "FP32", [1, 4], [1, 2, 3, 4]) == [2, 4, 6, 8]
    assert program.end(number) == 0
    assert is_gone(server)
    assert not list(tmp_path.glob("nereid-functions-*"))


def test_a_signal_ends_it_from_the_moment_when_it_says_that_it_serves(run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import os, signal, sys\n"
        "class Eager:\n"
        "    def write(self, text):\n"
        "        sys.__stderr__.write(text)\n"
        "        if 'serving ' in text:\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "    def flush(self):\n"
        "        sys.__stderr__.flush()\n"
        "sys.stderr = Eager()\n" + example()
    )
    program = run("program.py")
    program.wait_until_serving()
    program.process.stderr.read()
    assert program.process.wait(SECONDS) == 0
    assert not list(tmp_path.glob("nereid-functions-*"))


def test_a_prompt(run) -> None:
    """Functions that no file has."""
    program = run("-i", "-q", stdin=f"{ECHO}\nnereid_server.serve(echo, {FREE_PORTS})\n")
    assert infer(program.wait_until_serving(), "echo", "text", "BYTES", [1], ["hi"]) == ["hi"]


def test_the_command(run, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(ECHO)
    options = ["--host=127.0.0.1", "--http-port=0", "--grpc-port=none", "--metrics-port=none", "--log-verbose=1"]
    for module in ("app", "app.py"):
        program = run("-m", "nereid_server", "serve", f"{module}:echo", *options)
        assert infer(program.wait_until_serving(), "echo", "text", "BYTES", [1], ["hi"]) == ["hi"]
        assert program.end() == 0


@pytest.mark.parametrize(
    ("arguments", "status", "expected"),
    [
        (["app:other"], 1, "nereid serve: 'app' has no 'other'"),
        (["none:echo"], 1, "nereid serve: there is no module 'none'"),
        (["none.py:echo"], 1, "nereid serve: there is no file 'none.py'"),
        (["app"], 1, "nereid serve: 'app' is not of the form MODULE:FUNCTION"),
        (["app:echo", "--http-port=x"], 2, "argument --http-port"),
    ],
)
def test_a_wrong_command(run, tmp_path: Path, arguments, status, expected) -> None:
    (tmp_path / "app.py").write_text(ECHO)
    program = run("-m", "nereid_server", "serve", *arguments)
    said = program.process.stderr.read()
    assert (program.process.wait(SECONDS), expected in said) == (status, True), said


def test_the_command_serves_models_too(run, tmp_path: Path) -> None:
    """As the server's own `serve` does."""
    (tmp_path / "net.onnx").write_bytes(b"no model")
    options = ["--http-port=0", "--grpc-port=0", "--metrics-port=0", "--http-address=127.0.0.1"]
    program = run("-m", "nereid_server", "serve", "net.onnx", *options)
    assert program.process.wait(SECONDS) == 1
    said = program.process.stderr.read()
    assert "failed to load all models: net" in said, said


def test_the_server_ends_with_its_program(run, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(example())
    program = run("program.py")
    program.wait_until_serving()
    server = program.server()
    program.process.kill()
    poll_until("the end of the server", lambda: is_gone(server), SECONDS)
    folders = "the end of the functions' folder"
    poll_until(folders, lambda: not list(tmp_path.glob("nereid-functions-*")), SECONDS)


def test_a_port_in_use(run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        serve = f"nereid_server.serve(echo, host='127.0.0.1', http_port={port}, grpc_port=None, metrics_port=None)"
        (tmp_path / "program.py").write_text(f"{ECHO}\n{serve}\n")
        program = run("program.py")
        said = program.process.stderr.read()
        assert program.process.wait(SECONDS) == 1
    last = said[said.index("nereid_server.functions.errors.ServingError: the server did not start") :]
    assert f"127.0.0.1:{port}" in last and "in use" in last, said


def test_a_setup_that_fails(run, tmp_path: Path) -> None:
    code = "class Model:\n  def setup(self): raise OSError('no weights')\n"
    code += "  def __call__(self, x: int) -> int: return x\n"
    (tmp_path / "program.py").write_text(f"import nereid_server\n{code}nereid_server.serve(Model, {FREE_PORTS})\n")
    program = run("program.py")
    said = program.process.stderr.read()
    assert program.process.wait(SECONDS) == 1
    assert "no weights" in said[said.index("ServingError: the server did not start") :], said


def test_a_module_that_serves_when_it_is_imported(run, tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(f"{ECHO}\nnereid_server.serve(echo, {FREE_PORTS})\n")
    expected = (
        "the module 'app' calls nereid_server.serve when it is imported: put the call under "
        '`if __name__ == "__main__":`, or run the module as a program'
    )
    by_command = run("-m", "nereid_server", "serve", "app:echo")
    assert by_command.process.stderr.read() == f"nereid serve: {expected}\n"
    assert by_command.process.wait(SECONDS) == 1
    by_import = run("-c", "import app")
    said = by_import.process.stderr.read()
    assert by_import.process.wait(SECONDS) == 1
    in_the_log = expected.replace('"', '\\"')
    assert in_the_log in said[said.index("ServingError: the server did not start") :], said
    assert run("app.py").wait_until_serving() > 0


def test_without_a_server(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(python_package()), "NEREID_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "nereid_server", "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 1
    assert done.stderr == (
        f"nereid: NEREID_HOME='{tmp_path}' holds no server (bin/nereid): install the wheel nereid-server, "
        "or set NEREID_HOME to an installation\n"
    )
