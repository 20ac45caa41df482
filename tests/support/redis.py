# SPDX-License-Identifier: Apache-2.0
"""A real Redis server on a free loopback port, for tests of the Redis cache."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path

from support.poll import poll_until
from support.ports import free_port
from support.server_process import LOOPBACK


def _binary() -> str:
    """The server's path. In Debian's package redis-tools the same binary has another name."""
    found = shutil.which("redis-server") or shutil.which("redis-check-rdb")
    if found is None:
        raise AssertionError("There is no Redis server: install the package redis-tools.")
    return found


class RedisServer:
    """A Redis server that stores nothing on disk. Owned by the test that started it."""

    def __init__(self, folder: Path, password: str = "", port: int = 0) -> None:
        """Starts the server and waits until it answers. Port 0: a free port."""
        folder.mkdir(parents=True, exist_ok=True)
        self.port = port or free_port()
        options = ["--port", str(self.port), "--bind", LOOPBACK, "--save", "", "--dir", str(folder)]
        if password:
            options += ["--requirepass", password]
        with (folder / "redis.log").open("ab") as log:
            self.process = subprocess.Popen(
                ["redis-server", *options],
                executable=_binary(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        poll_until("an answer of Redis", lambda: self._answers("PING"), 20)

    def _answers(self, command: str) -> bool:
        assert self.process.poll() is None, "Redis has ended"
        try:
            return bool(self.command(command))
        except OSError:
            return False

    def command(self, line: str) -> str:
        """The first line of the answer to one command, as the protocol writes it."""
        with socket.create_connection((LOOPBACK, self.port), timeout=5) as connection:
            connection.sendall(line.encode() + b"\r\n")
            return connection.makefile("rb").readline().decode().strip()

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(timeout=20)
