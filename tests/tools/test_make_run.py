"""`make run` on a built tree, in a terminal: it is soon ready, answers right, and ends by
Ctrl-C."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import socket
import time
from pathlib import Path

import pytest

PROJECT_ROOT = Path(__file__).resolve().parents[2]
CTRL_C = b"\x03"
READY_SECONDS = 5
# How long any one wait may take; generous, since other tests may have the processors.
LIMIT_SECONDS = 60

pytestmark = pytest.mark.skipif(
    "NEREID_STAGE" not in os.environ
    or Path(os.environ["NEREID_STAGE"]).resolve() != PROJECT_ROOT / "build" / "stage",
    reason="runs in `make test`, which has just staged the server",
)


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


class Terminal:
    """A command at a terminal of its own."""

    def __init__(self, command: list[str]) -> None:
        self.text = ""
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(PROJECT_ROOT)
            os.execvp(command[0], command)

    def type(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def read_until(self, pattern: str) -> None:
        """Reads on until the output holds the pattern."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"no '{pattern}' in:\n{self.text}"
            assert self._read_some(), f"ended without '{pattern}':\n{self.text}"

    def exit_code(self) -> int:
        """Reads to the end and returns how the command ended."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while self._read_some():
            assert time.monotonic() < deadline, f"did not end:\n{self.text}"
        os.close(self._fd)
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def _read_some(self) -> bool:
        """Takes in what there is within a second; False at the end of the output."""
        if not select.select([self._fd], [], [], 1)[0]:
            return True
        try:
            data = os.read(self._fd, 65536)
        except OSError:  # How Linux reports that the other side is closed.
            return False
        self.text += data.decode(errors="replace")
        return bool(data)


def test_make_run_serves_until_ctrl_c() -> None:
    http, grpc, metrics = free_ports(3)
    options = [f"HTTP_PORT={http}", f"GRPC_PORT={grpc}", f"METRICS_PORT={metrics}"]
    terminal = Terminal(["make", "run", *options])
    try:
        terminal.read_until(r"Ctrl-C ends the server")
        assert "right: image 3 is labelled 3" in terminal.text
        ready = re.search(r"ready after ([\d.]+) s", terminal.text)
        assert ready and float(ready[1]) < READY_SECONDS
        with socket.create_connection(("127.0.0.1", http), timeout=5):
            pass
        terminal.type(CTRL_C)
        assert terminal.exit_code() == 0, terminal.text
    except BaseException:
        try:
            os.kill(terminal.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        raise
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", http), timeout=5)
