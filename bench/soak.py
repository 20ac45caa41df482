#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A long mixed load on Nereid alone: latency must not rise, memory must come back. `tools/dev soak`.

    bench/soak.py [--minutes=10] [--tools=BUILD] [--out=DIR] [--nereid-option=OPTION ...]

Needs build/stage (NEREID_STAGE names another) and the target bench_tools. Writes
soak-DATE-HOST.json and .md into build/bench-results. Exit code 1: it failed.
"""

from __future__ import annotations

import argparse
import datetime
import json
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import machine, soak  # noqa: E402
from racetrack.contestants import Contestant, start  # noqa: E402
from racetrack.load import RunningLoad, Tools, start_load  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.workloads import (  # noqa: E402
    IDENTITY_LARGE,
    IDENTITY_SMALL,
    MLP,
    Row,
    write_files,
    write_repository,
)
from support.stage import PROJECT_ROOT  # noqa: E402

# Open loops: the load is the same whatever the server does, and far below the capacity of a core.
STREAMS = (
    Row(IDENTITY_SMALL, "http", "binary", 32, rate=1500),
    Row(IDENTITY_SMALL, "grpc", "binary", 32, rate=1500),
    Row(IDENTITY_LARGE, "http", "binary", 2, rate=4),
    Row(IDENTITY_LARGE, "grpc", "binary", 2, rate=4),
    Row(MLP, "http", "binary", 16, rate=500),
    Row(MLP, "grpc", "binary", 16, rate=500),
)
WINDOW_SECONDS = 10.0
WARMUP_SECONDS = 20.0
IDLE_SECONDS = 30.0
POLL_SECONDS = 1.0


def say(text: str) -> None:
    print(f"soak: {text}", flush=True)


class Soak:
    """One run against one server."""

    def __init__(self, work: Path, build: Path) -> None:
        self.work = work
        self.build = build
        self.repository = write_repository(work / "models")
        self.placement = machine.placements()["pinned"]
        self.files = [write_files(work / "requests", self.repository, row) for row in STREAMS]

    @contextmanager
    def server(self, options: Sequence[str]) -> Iterator[Contestant]:
        server = start("nereid", self.repository, self.work, self.placement, options)
        try:
            yield server
        finally:
            server.stop()

    def load(self, server: Contestant, windows: int, seconds: float) -> list[list[dict[str, Any]]]:
        """Runs all streams at once; returns the windows that each has measured."""
        tools = Tools(self.build, seconds, warmup=0)
        with ExitStack() as stack:
            running: list[RunningLoad] = []
            for row, files in zip(STREAMS, self.files):
                address = server.address(row.protocol)
                load = start_load(tools, row, files, address, self.placement, windows)
                running.append(stack.enter_context(load))
            try:
                _await(running, windows * seconds + 120)
            except RuntimeError as error:
                log = server.process.log_text()[-4000:]
                raise RuntimeError(f"{error}\nThe server's log ends with:\n{log}") from error
            return [one.results() for one in running]

    def run(self, server: Contestant, windows: int) -> dict[str, Any]:
        def resident() -> float:
            return machine.memory_mib(server.pid)["rss"]

        memory = {"idle": resident()}
        say(f"idle {memory['idle']:.1f} MiB; warming up")
        self.load(server, 1, WARMUP_SECONDS)
        time.sleep(IDLE_SECONDS)
        memory["base"] = resident()
        say(f"base {memory['base']:.1f} MiB; loading for {windows * WINDOW_SECONDS / 60:g} minutes")
        measured = self.load(server, windows, WINDOW_SECONDS)
        time.sleep(IDLE_SECONDS)
        found = machine.memory_mib(server.pid)
        memory |= {"peak": found["peak"], "end": found["rss"]}
        say(f"{IDLE_SECONDS:g} s after the load {memory['end']:.1f} MiB")
        streams = [
            {"key": row.key, "title": f"{row.protocol.upper()} {row.model.title}", "rate": row.rate}
            | {"windows": list(results)}
            for row, results in zip(STREAMS, measured)
        ]
        return {"streams": streams, "memory_mib": memory}


def _await(running: Sequence[RunningLoad], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    # A list instead of a generator, so that each load is checked for failure.
    while any([one.running() for one in running]):
        if time.monotonic() > deadline:
            raise RuntimeError("the load does not end")
        time.sleep(POLL_SECONDS)


def write(result: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"soak-{result['when']}-{result['host']['kind']}"
    Path(f"{stem}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    page = soak.render(result)
    Path(f"{stem}.md").write_text(page, encoding="utf-8")
    print(f"\n{page}")
    say(f"wrote {stem.name}.json, {stem.name}.md")


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--nereid-option", action="append", default=[], help="may be repeated")
    arguments = parser.parse_args(words)
    if windows_of(arguments.minutes) < soak.MIN_WINDOWS:
        parser.error(f"--minutes: {soak.MIN_WINDOWS} windows of {WINDOW_SECONDS:g} s at least")
    return arguments


def windows_of(minutes: float) -> int:
    return int(minutes * 60 / WINDOW_SECONDS)


def main() -> int:
    arguments = parse_arguments()
    # SIGTERM ends the soak, and with it the server and the loads.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    result: dict[str, Any] = {
        "format": 1,
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": machine.commit(PROJECT_ROOT),
        "host": machine.describe(),
        "minutes": arguments.minutes,
        "window_seconds": WINDOW_SECONDS,
    }
    with tempfile.TemporaryDirectory(prefix="nereid-soak-") as work:
        run = Soak(Path(work), arguments.tools)
        with run.server(arguments.nereid_option) as server:
            result |= run.run(server, windows_of(arguments.minutes))
    write(result, arguments.out)
    wrong = soak.failures(result)
    for sentence in wrong:
        print(f"soak: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
