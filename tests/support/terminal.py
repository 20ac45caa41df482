# SPDX-License-Identifier: Apache-2.0
"""A command at a pseudo-terminal: what it shows, and what is typed."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

CTRL_C = b"\x03"
# How long any one wait may take; generous, since other tests may have the processors.
LIMIT_SECONDS = 60


class Terminal:
    """A command at a terminal of its own."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        *,
        columns: int = 80,
        lines: int = 24,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Starts `command` at once, in `folder`. `env`: variables added to those of this
        process."""
        self.text = ""
        self._fd, command_side = pty.openpty()
        try:
            termios.tcsetwinsize(command_side, (lines, columns))
            # `setsid` makes the terminal that of the command. Without it this process would have to
            # be forked, which is not safe: it has the threads of gRPC's clients.
            self._process = subprocess.Popen(
                ["setsid", "--ctty", *command],
                cwd=folder,
                env={**os.environ, **(env or {})},
                stdin=command_side,
                stdout=command_side,
                stderr=command_side,
            )
        finally:
            os.close(command_side)

    def terminate(self) -> None:
        """Asks the command to end, if it has not ended."""
        self._process.terminate()

    def resize(self, columns: int, lines: int) -> None:
        termios.tcsetwinsize(self._fd, (lines, columns))

    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, as a shell leaves it."""
        return bool(termios.tcgetattr(self._fd)[3] & termios.ECHO)

    def type(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def read_until(self, pattern: str) -> None:
        """Reads on until the output holds the pattern."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"no '{pattern}' in:\n{self.text}"
            if not self._read_some():
                code = self._process.wait(LIMIT_SECONDS)
                raise AssertionError(f"ended with {code} without '{pattern}':\n{self.text}")

    def exit_code(self) -> int:
        """Reads to the end and returns how the command ended."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while self._read_some():
            assert time.monotonic() < deadline, f"did not end:\n{self.text}"
        os.close(self._fd)
        return self._process.wait(LIMIT_SECONDS)

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
