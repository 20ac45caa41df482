# SPDX-License-Identifier: Apache-2.0
"""The machine: its cores, their use by processes, and the memory of a process."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def exit_at_sigterm() -> None:
    """From now on SIGTERM ends the program as an error would: servers are stopped, and what
    was written for them is removed."""

    def leave(number: int, _: object) -> None:
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, leave)


@dataclass(frozen=True)
class Placement:
    """The cores that the server and the client may use."""

    name: str
    server: frozenset[int]
    client: frozenset[int]


def placements() -> dict[str, Placement]:
    """`pinned`: one core each; `unpinned`: all cores for both.

    Raises RuntimeError on a machine with one core.
    """
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise RuntimeError("the race needs two cores: one for the server, one for the client")
    everything = frozenset(cores)
    return {
        "pinned": Placement("pinned", frozenset({cores[0]}), frozenset({cores[1]})),
        "unpinned": Placement("unpinned", everything, everything),
    }


@contextmanager
def on_cores(cores: frozenset[int]) -> Iterator[None]:
    """Processes started inside the block run on these cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def memory_mib(pid: int) -> dict[str, float]:
    """Resident memory now (`rss`) and at its highest so far (`peak`)."""
    text = Path(f"/proc/{pid}/status").read_text()
    fields = {"rss": "VmRSS", "peak": "VmHWM"}
    return {
        name: int(re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)[1]) / 1024  # type: ignore[index]
        for name, field in fields.items()
    }


def busy_seconds() -> float:
    """Processor time on all cores since the machine was started: of all processes, and of the
    hypervisor's other guests."""
    first = Path("/proc/stat").read_text().splitlines()[0].split()
    user, nice, system, _, _, irq, softirq, steal = (int(word) for word in first[1:9])
    ticks = user + nice + system + irq + softirq + steal
    return ticks / os.sysconf("SC_CLK_TCK")


def stolen_seconds() -> float:
    """Time since the machine was started in which its cores had work, but the hypervisor ran other guests."""
    first = Path("/proc/stat").read_text().splitlines()[0].split()
    return int(first[8]) / os.sysconf("SC_CLK_TCK")


class Interference:
    """How much of the processor time the hypervisor has given to others since this was made."""

    def __init__(self) -> None:
        self._busy = busy_seconds()
        self._stolen = stolen_seconds()

    def share(self) -> float:
        """Of the time that something here wanted to run, 0 to 1."""
        stolen = stolen_seconds() - self._stolen
        return stolen / max(busy_seconds() - self._busy, stolen, 1)


def cpu_seconds(pid: int) -> float:
    """Processor time of one process so far."""
    # The name, in parentheses, may contain spaces.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def host_kind() -> str:
    """A short name for machines of this kind, for file names."""
    name = re.sub(r"[^a-z0-9]+", "-", processor().lower()).strip("-")
    return f"{len(os.sched_getaffinity(0))}x-{name}"


def describe() -> dict[str, Any]:
    """The description of the machine in a result file."""
    return {
        "kind": host_kind(),
        "cores": len(os.sched_getaffinity(0)),
        "processor": processor(),
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "load_average_before": list(os.getloadavg()),
    }


def commit(root: Path) -> str:
    """The commit, followed by `+` if files differ from it; `unknown` without git."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    name = git("rev-parse", "--short", "HEAD")
    if not name:
        return "unknown"
    return name + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")


def tree(pid: int) -> list[int]:
    """A process and its descendants, but those that end meanwhile."""
    found = [pid]
    for each in found:
        with suppress(FileNotFoundError, ProcessLookupError):
            for thread in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


def pss_mib(pid: int) -> float:
    """The proportional set size of a process, in which a page that processes share counts once
    among them."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    match = re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) / 1024 if match else 0.0


def tree_mib(pid: int) -> float:
    """Memory of a process and of its descendants: the sum of their proportional set sizes."""
    return sum(map(pss_mib, tree(pid)))
