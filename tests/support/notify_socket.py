# SPDX-License-Identifier: Apache-2.0
"""The service manager's end of the protocol of sd_notify: a socket of the test's own."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

MESSAGE_SECONDS = 60.0


class NotifySocket:
    """Receives what a service says. Give the service `environment`."""

    def __init__(self, address: Path | str, seen_as: Path | str | None = None) -> None:
        """`address`: a path, or '@' and an abstract name; `seen_as`: the service's name for it."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(MESSAGE_SECONDS)
        name = str(address)
        self._socket.bind("\0" + name[1:] if name.startswith("@") else name)
        self.environment: Mapping[str, str] = {"NOTIFY_SOCKET": str(seen_as or address)}

    def receive(self) -> dict[str, str]:
        """The next message as a dictionary; waits for it."""
        lines = self._socket.recv(4096).decode().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def wait_for(self, key: str) -> dict[str, str]:
        """The next message that has `key`; those before it are dropped."""
        while key not in (message := self.receive()):
            pass
        return message

    def expect_nothing_more(self) -> None:
        """Fails if there is a message that nobody has received."""
        self._socket.setblocking(False)
        try:
            message = self._socket.recv(4096)
        except BlockingIOError:
            return
        raise AssertionError(f"unexpected message: {message!r}")

    def __enter__(self) -> NotifySocket:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.close()
