#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loading 500 small models: how long, and how the server answers meanwhile. `tools/dev bench-load`.

    bench/loading.py [--quick] [--models=500] [--rounds=5] [--out=DIR] [--nereid-option=OPTION ...]

Needs build/stage (NEREID_STAGE names another) and tools/setup.sh --bench. Writes
load-DATE-HOST.json and .md into build/bench-results. Exit code 1: Nereid missed an aim.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import loading, machine, small_models  # noqa: E402
from racetrack.contestants import NAMES, Contestant, start  # noqa: E402
from racetrack.probes import (  # noqa: E402
    READY_INDEX,
    HttpConnection,
    Probes,
    Sample,
    between,
    http_request,
)
from racetrack.results import RESULTS  # noqa: E402
from support.stage import PROJECT_ROOT  # noqa: E402

REQUESTS_AT_A_TIME = 64
IDLE_SECONDS = 1.0
WATCH_SECONDS = 0.02
PATIENCE_SECONDS = 300.0
POLLING = ("--model-control-mode=poll", "--repository-poll-secs=1")
EXPLICIT = ("--model-control-mode=explicit", f"--load-model={small_models.RESIDENT}")


def say(text: str) -> None:
    print(f"bench: {text}", flush=True)


class LoadRace:
    """One run: the models, the folders, and the measurements."""

    def __init__(self, work: Path, count: int, nereid_options: Sequence[str]) -> None:
        self.work = work
        self.count = count
        self.options = {"nereid": tuple(nereid_options), "original": ()}
        self.placement = machine.placements()["unpinned"]
        self.models = small_models.write(work / "models", count)
        self.seconds: dict[str, dict[str, list[float]]] = {
            way: {name: [] for name in NAMES} for way in loading.WAYS
        }
        self.hurried = True
        self.memory: dict[str, list[float]] = {name: [] for name in NAMES}
        self.samples: dict[str, dict[str, list[Sample]]] = {
            name: {when: [] for when in loading.TIMES} for name in NAMES
        }

    @contextmanager
    def server(self, name: str, repository: Path, *options: str) -> Iterator[Contestant]:
        every = [*options, *self.options[name]]
        server = start(name, repository, self.work, self.placement, every)
        try:
            yield server
        finally:
            # Unloading is not measured, and Triton may hang while it unloads.
            server.process.kill()

    def check_answers(self, server: Contestant) -> None:
        numbers = sorted({0, self.count // 2, self.count - 1})
        small_models.check_answers(server.http, numbers)

    def start(self, name: str) -> None:
        """Measures the time from the start of the process until it is ready."""
        with self.server(name, self.models) as server:
            self.memory[name].append(machine.memory_mib(server.pid)["rss"])
            self.check_answers(server)
        self._note(name, "start", server.seconds_to_ready)

    def explicit(self, name: str) -> None:
        """Measures the time from the first load request to the answer to the last one."""
        resident = small_models.write_resident(self.work / "resident")
        with self.server(
            name, resident, f"--model-repository={self.models}", *EXPLICIT
        ) as server, Probes(server.http, server.grpc, small_models.RESIDENT) as probes:
            self.hurried &= probes.hurried
            idle = time.perf_counter()
            time.sleep(IDLE_SECONDS)
            began = time.perf_counter()
            request_loads(server.http, self.count)
            ended = time.perf_counter()
            samples = probes.stop()
            self.check_answers(server)
        self._note(name, "explicit", ended - began)
        self.samples[name][loading.IDLE] += between(samples, idle, began)
        self.samples[name]["explicit"] += between(samples, began, ended)

    def poll(self, name: str) -> None:
        """Measures the time from when the models are in the repository until the index reports all
        as ready. The checks count from when the first model is ready."""
        repository = self.work / f"polled-{name}"
        shutil.rmtree(repository, ignore_errors=True)
        small_models.write_resident(repository)
        # A copy on the same file system can be moved: each model appears at once and complete.
        copies = self.work / "copies"
        shutil.copytree(self.models, copies)
        with self.server(name, repository, *POLLING) as server, Probes(
            server.http, server.grpc, small_models.RESIDENT
        ) as probes:
            for model in sorted(copies.iterdir()):
                model.rename(repository / model.name)
            there = time.perf_counter()
            first, ended = watch(server.http, self.count)
            samples = probes.stop()
            self.check_answers(server)
        copies.rmdir()
        self._note(name, "poll", ended - there)
        self.samples[name]["poll"] += between(samples, first, ended)

    def _note(self, name: str, way: str, seconds: float) -> None:
        self.seconds[way][name].append(seconds)
        say(f"{name}: {loading.WAYS[way]}: {seconds:.2f} s")

    def result(self) -> dict[str, Any]:
        return {
            "models": self.count,
            "checks_first": self.hurried,
            "file_bytes": (self.models / small_models.name_of(0) / "1" / "model.onnx").stat().st_size,
            "seconds": self.seconds,
            "memory_mib": {name: statistics.median(self.memory[name]) for name in NAMES},
            "latency_us": {
                name: {
                    when: {
                        check: loading.latencies(measured)
                        for check, measured in loading.group(samples).items()
                    }
                    for when, samples in whens.items()
                }
                for name, whens in self.samples.items()
            },
        }


def request_loads(address: str, count: int) -> None:
    """Loads all models, REQUESTS_AT_A_TIME at a time. Raises RuntimeError if one is refused."""
    connections: list[HttpConnection] = []
    free = [HttpConnection(address) for _ in range(min(count, REQUESTS_AT_A_TIME))]
    connections += free

    def load(number: int) -> None:
        name = small_models.name_of(number)
        connection = free.pop()
        path = f"/v2/repository/models/{name}/load"
        status, answer = connection.ask(http_request("POST", path, b"{}"))
        free.append(connection)
        if status != 200:
            raise RuntimeError(f"loading {name}: {status} {answer[:200]!r}")

    try:
        with ThreadPoolExecutor(len(connections)) as pool:
            list(pool.map(load, range(count)))
    finally:
        for connection in connections:
            connection.close()


def watch(address: str, count: int) -> tuple[float, float]:
    """Waits for the new models; returns when the first one and when all were ready."""
    connection = HttpConnection(address)
    first: float | None = None
    deadline = time.perf_counter() + PATIENCE_SECONDS
    try:
        while True:
            _, index = connection.ask(READY_INDEX)
            now = time.perf_counter()
            ready = index.count(b'"READY"') - 1  # the resident model does not count
            if ready > 0 and first is None:
                first = now
            if ready >= count:
                return first or now, now
            if now > deadline:
                raise RuntimeError(f"{ready} of {count} models are ready")
            time.sleep(WATCH_SECONDS)
    finally:
        connection.close()


def write(result: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    stem = folder / f"load-{result['when']}-{result['host']['kind']}"
    Path(f"{stem}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    page = loading.render(result)
    Path(f"{stem}.md").write_text(page, encoding="utf-8")
    print(f"\n{page}")
    say(f"wrote {stem.name}.json, {stem.name}.md")


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--models", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--nereid-option", action="append", default=[], help="may be repeated")
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.rounds = 1
    if arguments.models < 1 or arguments.rounds < 1:
        parser.error("--models and --rounds: at least 1")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    host = machine.describe()
    with tempfile.TemporaryDirectory(prefix="nereid-load-") as work:
        race = LoadRace(Path(work), arguments.models, arguments.nereid_option)
        for _ in range(arguments.rounds):
            for measure in (race.start, race.explicit, race.poll):
                for name in NAMES:
                    measure(name)
        measured = race.result()
    host["load_average_after"] = list(os.getloadavg())
    result: dict[str, Any] = {
        "format": 1,
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": machine.commit(PROJECT_ROOT),
        "host": host,
        "rounds": arguments.rounds,
        "nereid_options": arguments.nereid_option,
        **measured,
    }
    write(result, arguments.out)
    wrong = loading.failures(result)
    for sentence in wrong:
        print(f"bench: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
