# SPDX-License-Identifier: Apache-2.0
"""The program of the commands that do not serve: `nereid` finds it, becomes it, and says so if it is missing."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from support.poll import poll_until
from support.server_process import LOOPBACK
from support.stage import server_binary, stage_root

SECONDS = 60
WORKSHOP = ("backend-check", "bench", "capacity", "completion", "explain", "man", "replay", "top", "tune")


def run(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=SECONDS)


@pytest.fixture
def without_workshop(tmp_path: Path) -> Path:
    """The program `nereid` of an installation that lacks the other programs."""
    program = tmp_path / "prefix" / "bin" / "nereid"
    program.parent.mkdir(parents=True)
    shutil.copy(server_binary(), program)
    (tmp_path / "prefix" / "lib").symlink_to(stage_root() / "lib")
    return program


@pytest.mark.parametrize("command", WORKSHOP)
def test_a_missing_program_is_named(without_workshop: Path, command: str) -> None:
    missing = without_workshop.parents[1] / "libexec" / "nereid-workshop"
    expected = (
        f"nereid {command}: cannot start the program {missing}, which does this: No such file or directory; "
        "the package nereid contains it, and `make stage` builds it\n"
    )
    for words in ([command], [command, "--help"], ["help", command]):
        done = run(without_workshop, *words)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", expected)


@pytest.mark.parametrize("words", [["--help"], ["help"], ["--help-all"], ["help", "check"], ["probe", "--help"], ["benhc"]])
def test_the_server_and_its_help_need_no_workshop(without_workshop: Path, words: list[str]) -> None:
    here, whole = run(without_workshop, *words), run(server_binary(), *words)
    assert (here.returncode, here.stdout, here.stderr) == (whole.returncode, whole.stdout, whole.stderr)
    assert "nereid-workshop" not in here.stderr


def test_it_is_found_from_the_real_place_of_the_program(tmp_path: Path) -> None:
    link = tmp_path / "bin" / "nereid"
    link.parent.mkdir()
    link.symlink_to(server_binary())
    assert run(link, "bench", "--help").stdout == run(server_binary(), "bench", "--help").stdout != ""
    found = subprocess.run(
        ["nereid", "man", "top"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{link.parent}:{os.environ['PATH']}"},
    )
    assert found.stdout == run(server_binary(), "man", "top").stdout != ""


def test_it_takes_the_place_of_the_process() -> None:
    """What the caller has started is what it sees and what it signals."""
    with socket.create_server((LOOPBACK, 0)) as mute:
        url = f"--url=http://{LOOPBACK}:{mute.getsockname()[1]}"
        top = subprocess.Popen(
            [server_binary(), "top", "--once", url, f"--timeout-s={SECONDS}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            program = Path(f"/proc/{top.pid}/exe")
            poll_until("the workshop runs", lambda: program.resolve().name == "nereid-workshop")
            assert program.resolve().parent.name == "libexec"
            top.send_signal(signal.SIGTERM)
            assert top.wait(SECONDS) == -signal.SIGTERM
        finally:
            top.kill()
            top.communicate()
