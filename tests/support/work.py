"""How much a server works: processor time of its threads, which other processes do not change as
they change the time on the clock."""

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
        except FileNotFoundError:  # it ended between the two
            continue
    return total


def least_work(server: ServerProcess, act: Callable[[], None], times: int = 3) -> int:
    """Processor time of the cheapest of some runs of `act`, on a server that does nothing else."""
    costs = []
    for _ in range(times):
        before = processor_ns(server)
        act()
        costs.append(processor_ns(server) - before)
    return min(costs)
