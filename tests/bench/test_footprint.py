# SPDX-License-Identifier: Apache-2.0
"""How bench/footprint.py weighs servers."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import pytest
from racetrack.footprint import MEBIBYTE, Entrant, Question, Weight, size_mib, table, weigh

from support.ports import free_port

# A server of two processes, which answers b"good".
PROGRAM = textwrap.dedent(
    """
    import http.server, subprocess, sys

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"good")

    subprocess.Popen([sys.executable, "-c", "import time; x = b'x' * (64 << 20); time.sleep(600)"])
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
    """
)


def entrant(expected: bytes) -> Entrant:
    port = free_port()
    command = [sys.executable, "-c", PROGRAM, str(port)]
    return Entrant("x", [], command, port, Question("/", b"{}", expected))


def command_of(pid: str) -> bytes:
    """Nothing if the process has ended, as those of other tests may at any time."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def test_all_processes_are_weighed_and_ended(tmp_path: Path) -> None:
    before = set(os.listdir("/proc"))
    weight = weigh(entrant(b"good"), 1, tmp_path)
    assert weight.start_seconds > 0
    assert weight.memory_mib > 64
    left = [
        pid
        for pid in set(os.listdir("/proc")) - before
        if pid.isdigit() and b"64 << 20" in command_of(pid)
    ]
    assert left == []


def test_a_wrong_answer_is_no_answer(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="a wrong answer from port"):
        weigh(entrant(b"better"), 1, tmp_path)


def test_what_ends_has_its_output_shown(tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-c", "raise SystemExit('no licence')"]
    with pytest.raises(RuntimeError, match="no licence"):
        weigh(Entrant("x", [], command, port, Question("/", b"", b"")), 1, tmp_path)


def test_sizes_count_a_file_once(tmp_path: Path) -> None:
    folder = tmp_path / "part"
    folder.mkdir()
    (folder / "file").write_bytes(bytes(MEBIBYTE))
    os.link(folder / "file", folder / "again")
    (folder / "link").symlink_to("file")
    (tmp_path / "other").write_bytes(bytes(2 * MEBIBYTE))
    assert size_mib([folder, tmp_path / "other"]) == 3


def test_the_table() -> None:
    assert table([Weight("a", "all of it", 1.4, 0.125, 7.6)]).splitlines()[-1] == (
        "| a | all of it | 1 | 0.12 | 8 |"
    )
