# SPDX-License-Identifier: Apache-2.0
"""Finds, in /proc, what a server and its models' processes hold. A mark of the test in the
environment identifies these processes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

MARK = "NEREID_TEST_MARK"
_MEMORY_FILE = re.compile(r"/memfd:nereid-")


@dataclass(frozen=True)
class MemoryFile:
    """A memory file, identified by its number, which is unique among existing files."""

    inode: int
    name: str


def _processes() -> list[Path]:
    return [folder for folder in Path("/proc").iterdir() if folder.name.isdigit()]


def _state_and_parent(process: Path) -> tuple[str, int]:
    fields = (process / "stat").read_text().rpartition(")")[2].split()
    return fields[0], int(fields[1])


def marked(mark: str) -> list[int]:
    """Running processes with this mark: a server, its models' processes, and their children."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for process in _processes():
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            if wanted in environment and _state_and_parent(process)[0] not in "ZX":
                found.append(int(process.name))
        except OSError:  # it has ended meanwhile, or belongs to another user
            continue
    return found


def zombies(parent: int) -> list[int]:
    """Children that have ended, but have not been reaped."""
    found = []
    for process in _processes():
        try:
            if _state_and_parent(process) == ("Z", parent):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def memory_files(pids: list[int] | None = None) -> set[MemoryFile]:
    """Our memory files that these processes (all, by default) have open or mapped."""
    folders = _processes() if pids is None else [Path(f"/proc/{pid}") for pid in pids]
    found: set[MemoryFile] = set()
    for folder in folders:
        try:
            for descriptor in (folder / "fd").iterdir():
                name = os.readlink(descriptor)
                if _MEMORY_FILE.match(name):
                    found.add(MemoryFile(descriptor.stat().st_ino, name))
            for line in (folder / "maps").read_text().splitlines():
                fields = line.split(maxsplit=5)
                if len(fields) == 6 and _MEMORY_FILE.match(fields[5]):
                    found.add(MemoryFile(int(fields[4]), fields[5]))
        except OSError:
            continue
    return found


def shared_memory_names() -> set[str]:
    """Names of segments, except those of load generators, which other tests may run meanwhile."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("nereid_bench_")}
