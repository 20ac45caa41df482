# SPDX-License-Identifier: Apache-2.0
"""What servers weigh: the size of an installation, the time until the first answer, and memory at
rest."""

from __future__ import annotations

import http.client
import os
import statistics
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from racetrack.machine import pss_mib
from support.server_process import LOOPBACK

MEBIBYTE = 1 << 20
PATIENCE_SECONDS = 120.0
POLL_SECONDS = 0.001
REST_SECONDS = 2.0


@dataclass(frozen=True)
class Question:
    """A request whose answer shows that a model serves."""

    path: str
    body: bytes
    expected: bytes  # has to be part of the answer


@dataclass(frozen=True)
class Entrant:
    """A server that can be weighed. `parts`: files and folders that its installation consists of.
    `command`: starts it on the HTTP port `port`, in the foreground or not; all that it starts has to
    stay in its process group."""

    name: str
    parts: Sequence[Path]
    command: Sequence[str | Path]
    port: int
    question: Question
    environment: Mapping[str, str] = field(default_factory=dict)
    note: str = ""  # what the parts are


@dataclass(frozen=True)
class Weight:
    name: str
    note: str
    installed_mib: float
    start_seconds: float  # from the start of the process to the first answer
    memory_mib: float  # of all its processes, each page counted once


def size_mib(parts: Iterable[Path]) -> float:
    """What files take on disk; a file of several names counts once, a link to another place not at
    all."""
    seen: dict[tuple[int, int], int] = {}
    for part in parts:
        for path in [part, *part.rglob("*")]:
            if path.is_symlink() or not path.is_file():
                continue
            stat = path.stat()
            seen[stat.st_dev, stat.st_ino] = stat.st_size
    return sum(seen.values()) / MEBIBYTE


def processes_of(group: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(folder.name)) == group:
                found.append(int(folder.name))
        except ProcessLookupError:
            continue
    return found


def memory_mib(pids: Iterable[int]) -> float:
    """The proportional set sizes of the processes together."""
    return sum(map(pss_mib, pids))


def answers(port: int, question: Question) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=10)
    try:
        headers = {"Content-Type": "application/json"}
        connection.request("POST", question.path, question.body, headers)
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 200 and question.expected not in body:
            raise RuntimeError(f"a wrong answer from port {port}: {body[:300]!r}")
        return answer.status == 200
    except OSError:
        return False
    except http.client.HTTPException:
        return False
    finally:
        connection.close()


def start_once(entrant: Entrant, logs: Path) -> tuple[float, float]:
    """Starts the server, waits for an answer and ends it. Returns seconds and memory."""
    logs.mkdir(parents=True, exist_ok=True)
    with (logs / f"{entrant.port}.log").open("wb") as log:
        begun = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in entrant.command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **entrant.environment},
            start_new_session=True,
        )
    try:
        while not answers(entrant.port, entrant.question):
            if process.poll() is not None or time.perf_counter() - begun > PATIENCE_SECONDS:
                text = Path(log.name).read_text(errors="replace")[-3000:]
                raise RuntimeError(f"{entrant.name} does not answer:\n{text}")
            time.sleep(POLL_SECONDS)
        seconds = time.perf_counter() - begun
        time.sleep(REST_SECONDS)
        return seconds, memory_mib(processes_of(process.pid))
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Asks the group to end, and after a while makes it."""
    for signal_number, seconds in ((15, 30.0), (9, 30.0)):
        try:
            os.killpg(process.pid, signal_number)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and processes_of(process.pid):
            process.poll()  # so that the first process does not stay as a zombie
            time.sleep(0.05)
    process.wait()


def weigh(entrant: Entrant, rounds: int, logs: Path) -> Weight:
    """Medians of so many starts, after one that fills the caches."""
    start_once(entrant, logs)
    starts = [start_once(entrant, logs) for _ in range(rounds)]
    return Weight(
        entrant.name,
        entrant.note,
        size_mib(entrant.parts),
        statistics.median(seconds for seconds, _ in starts),
        statistics.median(memory for _, memory in starts),
    )


def table(weights: Sequence[Weight]) -> str:
    """The page's table, in Markdown."""
    lines = [
        "| server | installation | MiB installed | seconds to the first answer | MiB of memory at rest |",
        "|---|---|--:|--:|--:|",
    ]
    lines += [
        f"| {weight.name} | {weight.note} | {weight.installed_mib:.0f} "
        f"| {weight.start_seconds:.2f} | {weight.memory_mib:.0f} |"
        for weight in weights
    ]
    return "\n".join(lines) + "\n"
