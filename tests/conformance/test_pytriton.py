# SPDX-License-Identifier: Apache-2.0
"""nvidia-pytriton serves with Nereid in place of the server that it brings.

The package is the one that Triton comes in. Only the folders of its server are replaced, as
an operator would do it; its Python code, which starts the server by its own command line and loads
its models over HTTP with files, is unchanged.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.ends import left_in
from support.poll import poll_until
from support.ports import free_ports
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT, stage_root

DEPS = PROJECT_ROOT / "build" / "deps"
PACKAGE = DEPS / "original" / "pytriton"
# The package asks for a numpy below 2.
NEEDED = (DEPS / "pytriton", DEPS / "original-numpy")
PROGRAM = Path(__file__).with_name("pytriton_program.py")
START_SECONDS = 90.0
ASK_SECONDS = 90.0
END_SECONDS = 60.0
ERROR = re.compile(r"E\d{4} ")
COMPLAINT = "negative numbers cannot be doubled"  # of the program's callable

if not all((folder / "nereid.stamp").exists() for folder in (*NEEDED, PACKAGE.parent)):
    pytest.skip(
        "nvidia-pytriton is not installed: tools/setup.sh --conformance", allow_module_level=True
    )


@dataclass(frozen=True)
class Installation:
    """Folders of one test. `marker` is in the environment of each process that it starts."""

    home: Path
    temporary: Path
    environment: Mapping[str, str]
    marker: str


@pytest.fixture
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The package with Nereid's folders, by links. Names are short, as paths of sockets must be."""
    root = tmp_path_factory.mktemp("pyt")
    server = root / "lib" / "pytriton" / "tritonserver"
    server.mkdir(parents=True)
    for entry in PACKAGE.iterdir():
        if entry.name not in (server.name, "__pycache__"):
            (server.parent / entry.name).symlink_to(entry)
    for name in ("bin", "lib", "backends", "caches"):
        (server / name).symlink_to(stage_root() / name)
    # The package copies the program for its Python version beside the backend, which ignores it.
    stubs = "python_backend_stubs"
    (server / stubs).symlink_to(PACKAGE / server.name / stubs)

    home, temporary = root / "home", root / "tmp"
    temporary.mkdir()
    packages = [root / "lib", *NEEDED]
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, packages)),
        # As the package sets it where pip has installed it for all programs.
        "LD_LIBRARY_PATH": str(PACKAGE.parent / "nvidia_pytriton.libs"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTRITON_HOME": str(home),
        "XDG_CACHE_HOME": str(root / "cache"),
        "TMPDIR": str(temporary),
    }
    return Installation(home, temporary, environment, f"PYTRITON_HOME={home}")


def processes(marker: str) -> list[str]:
    """Command lines of the processes with `marker` in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:  # it has ended, or is another user's
            continue
    return found


def wait_until_none_runs(marker: str, program: ServerProcess) -> None:
    poll_until(
        "all processes to end",
        lambda: not processes(marker),
        END_SECONDS,
        lambda: f"left: {processes(marker)}\n{program.log_text()[-4000:]}",
    )


@dataclass(frozen=True)
class Serving:
    """The running program, and its ports."""

    program: ServerProcess
    http_port: int
    grpc_port: int


@pytest.fixture
def serving(installation: Installation, tmp_path: Path) -> Iterator[Serving]:
    ports = free_ports(3)
    command = [sys.executable, PROGRAM, "serve", *map(str, ports)]
    program = ServerProcess(command, tmp_path / "log", installation.environment)

    def serves() -> bool:
        assert program.is_alive(), program.log_text()[-4000:]
        return "serving" in program.stderr_text().splitlines()

    try:
        poll_until("the program to serve", serves, START_SECONDS, program.log_text)
        yield Serving(program, ports[0], ports[1])
    finally:
        program.kill()
        # The package has the kernel send SIGTERM to the server when its parent dies.
        wait_until_none_runs(installation.marker, program)


def ask(installation: Installation, serving: Serving) -> None:
    done = subprocess.run(
        [sys.executable, PROGRAM, "ask", str(serving.http_port), str(serving.grpc_port)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=ASK_SECONDS,
        env={**os.environ, **installation.environment},
    )
    said = f"{done.stdout}\n{done.stderr}\n{serving.program.log_text()}"
    assert done.returncode == 0, f"ended with {done.returncode}: {said[-6000:]}"
    assert "all answers are right" in done.stdout


def exit_code(program: ServerProcess) -> int:
    """Waits for the end of the program. If it does not come, the error says what its threads do."""
    try:
        return program.wait_exit(END_SECONDS)
    except AssertionError:
        program.send_signal(signal.SIGUSR1)
        time.sleep(1)
        raise AssertionError(f"the program does not end:\n{program.stderr_text()[-8000:]}") from None


def assert_nereid(installation: Installation) -> None:
    """Checks that the server under test runs, and not the one that the package brings."""
    (server,) = [line for line in processes(installation.marker) if "/bin/tritonserver " in line]
    used = server.split()[0]
    assert Path(used).read_bytes() == (stage_root() / "bin" / "tritonserver").read_bytes()


@pytest.mark.timeout(START_SECONDS + ASK_SECONDS + 2 * END_SECONDS)
def test_serves_and_ends(installation: Installation, serving: Serving) -> None:
    assert_nereid(installation)
    ask(installation, serving)
    serving.program.send_signal(signal.SIGINT)
    assert exit_code(serving.program) == 0
    assert "the server ended with 0" in serving.program.stderr_text().splitlines()
    # The package writes the server's log to its own standard output.
    errors = [line for line in serving.program.stdout_text().split("\n") if ERROR.match(line)]
    assert errors and all(COMPLAINT in line for line in errors), errors
    wait_until_none_runs(installation.marker, serving.program)
    assert left_in(installation.home) == []
    assert left_in(installation.temporary) == []


@pytest.mark.timeout(START_SECONDS + 2 * END_SECONDS)
def test_nothing_runs_on_after_the_program_is_killed(
    installation: Installation, serving: Serving
) -> None:
    """The models are in use until the end: their callables are in the program that dies."""
    assert len(processes(installation.marker)) > 2
    serving.program.kill()
    wait_until_none_runs(installation.marker, serving.program)
    assert left_in(installation.temporary) == []
