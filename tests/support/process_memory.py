# SPDX-License-Identifier: Apache-2.0
"""Memory of a server process, as the kernel counts it."""

from __future__ import annotations

from pathlib import Path

from support.server_process import ServerProcess

MIB = 1 << 20


def _field(server: ServerProcess, name: str) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def resident(server: ServerProcess) -> int:
    """Bytes of resident memory now."""
    return _field(server, "VmRSS")


def peak_resident(server: ServerProcess) -> int:
    """The most bytes of resident memory so far."""
    return _field(server, "VmHWM")


def shared(server: ServerProcess) -> int:
    """Bytes of resident memory that belong to memory files and shared memory now."""
    return _field(server, "RssShmem")
