# SPDX-License-Identifier: Apache-2.0
"""Measures a server's work as the processor time of its threads. Other processes affect it less
than the elapsed time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from support.server_process import ServerProcess


def processor_ns(server: ServerProcess) -> int:
    """Nanoseconds that the server's threads have run so far."""
    total = 0
    for thread in Path(f"/proc/{server.process.pid}/task").iterdir():
        try:
            total += int((thread / "schedstat").read_text().split()[0])
        except FileNotFoundError:  # the thread has ended meanwhile
            continue
    return total


def least_work(server: ServerProcess, act: Callable[[], None], times: int = 3) -> int:
    """The least processor time among some runs of `act`, on a server that does nothing else."""
    costs = []
    for _ in range(times):
        before = processor_ns(server)
        act()
        costs.append(processor_ns(server) - before)
    return min(costs)
