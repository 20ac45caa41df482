# SPDX-License-Identifier: Apache-2.0
"""Ports for servers that cannot choose one themselves and print it."""

from __future__ import annotations

import random
import socket
from pathlib import Path

_LOOPBACK = "127.0.0.1"
_FIRST = 10000
_EPHEMERAL = Path("/proc/sys/net/ipv4/ip_local_port_range")
_claims: list[socket.socket] = []  # open until this process ends


def _claim(port: int) -> bool:
    """Whether the port is now this process's, among all processes that ask here: the first to bind
    an abstract Unix socket of its name has it."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0nereid-tests-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as one:
        try:
            one.bind((_LOOPBACK, port))
        except OSError:
            return False
        return True


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, and that no other call gives away while this process runs. The
    kernel does not give them to connections or to servers that ask it for a port either."""
    end = int(_EPHEMERAL.read_text().split()[0])
    ports = random.sample(range(_FIRST, end), end - _FIRST)
    free = (port for port in ports if _claim(port) and _is_free(port))
    return [next(free) for _ in range(count)]


def free_port() -> int:
    """One of free_ports."""
    return free_ports(1)[0]
