#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More models than memory: 200 under a budget of 10, asked by 32 clients. `tools/dev ondemand-storm`.

    bench/on_demand.py [--minutes=10] [--models=200] [--fit=10] [--model-mib=8] [--clients=32] [--pause-ms=20]
                       [--out=DIR] [--nereid-option=OPTION ...]

Needs build/stage (NEREID_STAGE names another). Writes ondemand-DATE-HOST.md into
build/bench-results. Exit code 1: an answer was wrong or lost, or memory exceeded its limit.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

from racetrack import machine  # noqa: E402
from racetrack.on_demand import MIB, PATTERNS, Limits, Phase, accesses, failures, tables  # noqa: E402
from racetrack.pages import Page  # noqa: E402
from racetrack.probes import http_request  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.workloads import ONE_THREAD  # noqa: E402
from support.metrics import metric  # noqa: E402
from support.nereid import start_nereid  # noqa: E402
from support.poll import poll_until  # noqa: E402
from support.ports import free_ports  # noqa: E402
from support.repository import ModelRepository, parameters_text, tensor_text  # noqa: E402
from support.server_process import LOOPBACK, ServerProcess  # noqa: E402

ON_DEMAND = "--model-control-mode=ondemand"
PATIENCE_SECONDS = 120.0  # after which a request is lost
SAMPLE_SECONDS = 0.2
SPARE = 0.5  # of a footprint: footprints are measured, and differ a little


def say(text: str) -> None:
    print(f"storm: {text}", flush=True)


# ---- Models: y = table[x], a table of some megabytes that differs from model to model.


def name_of(number: int) -> str:
    return f"table_{number:03}"


def value_of(number: int, at: int) -> float:
    return float(at * 7919 % 65536 + number)


def write_model(models: ModelRepository, number: int, mib: int) -> None:
    config = f"""
backend: "onnxruntime"
input [ {tensor_text("x", "INT64", (1,))} ]
output [ {tensor_text("y", "FP32", (1,))} ]
instance_group [ {{ count: 1 kind: KIND_CPU }} ]
{parameters_text(ONE_THREAD)}"""
    table = (np.arange(mib * MIB // 4, dtype=np.int64) * 7919 % 65536 + number).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "x"], ["y"])],
        "table",
        [helper.make_tensor_value_info("x", TensorProto.INT64, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(models.add(name_of(number), config) / "1" / "model.onnx"))


def request(number: int, at: int) -> bytes:
    tensor = {"name": "x", "shape": [1], "datatype": "INT64", "data": [at]}
    body = json.dumps({"inputs": [tensor]}).encode()
    return http_request("POST", f"/v2/models/{name_of(number)}/infer", body)


# ---- The server


@dataclass(frozen=True)
class Way:
    """How the server is run."""

    title: str
    wait_seconds: int  # of a request for its model
    loads: int  # at a time

    @property
    def options(self) -> list[str]:
        return [f"--load-wait-secs={self.wait_seconds}", f"--model-load-thread-count={self.loads}"]


WAYS = (
    Way("Requests wait for their model; one load at a time", 60, 1),
    Way("Requests are told to try again; four loads at a time", 0, 4),
)


@contextmanager
def server_of(models: Path, work: Path, options: Sequence[str]) -> Iterator[tuple[ServerProcess, str, str]]:
    """The server, and its addresses of HTTP and of the metrics."""
    ports = free_ports(3)
    flags = [f"--{name}-port={port}" for name, port in zip(("http", "grpc", "metrics"), ports)]
    server = start_nereid(models, work / "log", [*flags, ON_DEMAND, *options])
    http = f"{LOOPBACK}:{ports[0]}"
    try:
        poll_until("the server is ready", lambda: _is_ready(http))
        yield server, http, f"{LOOPBACK}:{ports[2]}"
    finally:
        server.stop()


def _is_ready(http: str) -> bool:
    try:
        return asyncio.run(_ask_once(http, http_request("GET", "/v2/health/ready")))[0] == 200
    except OSError:
        return False


async def _ask_once(http: str, asked: bytes) -> tuple[int, bytes, bytes]:
    connection = await Connection.open(http)
    try:
        return await connection.ask(asked)
    finally:
        connection.close()


def resident(server: ServerProcess) -> int:
    """Bytes of the server and its processes; what they share counts once."""
    return sum(
        int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)[1]) * 1024  # type: ignore[index]
        for text in _rollups(server.process.pid)
    )


def _rollups(pid: int) -> Iterator[str]:
    try:
        yield Path(f"/proc/{pid}/smaps_rollup").read_text()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return
    for child in children:
        yield from _rollups(int(child))


def measure_footprint(models: Path, work: Path) -> int:
    """What one model counts: the largest of a few, without those that bring libraries with them."""
    with server_of(models, work, ["--load-wait-secs=60"]) as (_, http, metrics):
        found = []
        for number in range(4):
            before = metric(metrics, "nereid_on_demand_bytes")
            status, _, body = asyncio.run(_ask_once(http, request(number, 1)))
            if status != 200:
                raise RuntimeError(f"{name_of(number)} answers {status}: {body[:200]!r}")
            poll_until("it is measured", lambda: metric(metrics, "nereid_on_demand_bytes") > before)
            found.append(int(metric(metrics, "nereid_on_demand_bytes") - before))
        return max(found[1:])


# ---- Clients


class Connection:
    """A keep-alive connection of HTTP/1.1."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @staticmethod
    async def open(address: str) -> Connection:
        host, port = address.rsplit(":", 1)
        return Connection(*await asyncio.open_connection(host, int(port)))

    async def ask(self, asked: bytes) -> tuple[int, bytes, bytes]:
        """Status, head and body."""
        self._writer.write(asked)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"\r\ncontent-length:\s*(\d+)", head, re.IGNORECASE)
        body = await self._reader.readexactly(int(length[1]) if length else 0)
        return int(head.split(b" ", 2)[1]), head, body

    def close(self) -> None:
        self._writer.close()


async def ask_until_served(connection: Connection, phase: Phase, number: int, at: int) -> None:
    """Asks as Retry-After says, but sooner. Notes what was answered."""
    begun = time.monotonic()
    asked = request(number, at)
    while True:
        left = PATIENCE_SECONDS - (time.monotonic() - begun)
        status, head, body = await asyncio.wait_for(connection.ask(asked), left)
        if status != 503:
            break
        if b"retry-after:" not in head.lower():
            phase.wrong.append(f"{name_of(number)}: 503 without Retry-After: {body[:200]!r}")
        phase.retries += 1
        await asyncio.sleep(0.05)
    phase.latency_ms.append((time.monotonic() - begun) * 1e3)
    found = json.loads(body)["outputs"][0]["data"] if status == 200 else None
    if found != [value_of(number, at)]:
        phase.wrong.append(f"{name_of(number)}[{at}]: {status} {body[:200]!r}")


async def run_client(http: str, phase: Phase, next_model: Iterator[int], end: float, pause: float) -> None:
    connection = await Connection.open(http)
    try:
        while time.monotonic() < end:
            number = next(next_model)
            phase.order.append(number)
            try:
                await ask_until_served(connection, phase, number, len(phase.order))
            except (OSError, EOFError, asyncio.TimeoutError) as error:
                phase.lost.append(f"{name_of(number)}: {type(error).__name__} {error}")
                connection.close()
                connection = await Connection.open(http)
            await asyncio.sleep(pause)
    finally:
        connection.close()


async def watch(server: ServerProcess, metrics: str, phase: Phase, end: float) -> None:
    while time.monotonic() < end:
        phase.resident.append(resident(server))
        counted = await asyncio.to_thread(metric, metrics, "nereid_on_demand_bytes")
        phase.counted.append(int(counted))
        await asyncio.sleep(SAMPLE_SECONDS)


async def run_phase(
    server: ServerProcess, http: str, metrics: str, phase: Phase, arguments: argparse.Namespace, seconds: float
) -> None:
    begun = time.monotonic()
    end = begun + seconds
    loads = metric(metrics, "nereid_on_demand_loads")
    chosen = accesses(phase.pattern, arguments.models, arguments.fit, seed=1)
    pause = arguments.pause_ms / 1e3
    clients = [run_client(http, phase, chosen, end, pause) for _ in range(arguments.clients)]
    await asyncio.gather(watch(server, metrics, phase, end), *clients)
    phase.seconds = time.monotonic() - begun
    phase.loads = int(metric(metrics, "nereid_on_demand_loads") - loads)


def storm(
    models: Path, work: Path, footprint: int, way: Way, arguments: argparse.Namespace, seconds: float
) -> tuple[list[Phase], Limits]:
    budget = int((arguments.fit + SPARE) * footprint)
    options = [f"--memory-budget={budget}", *way.options, *arguments.nereid_option]
    with server_of(models, work, options) as (server, http, metrics):
        # The first model brings the library of its backend with it. It leaves by itself later.
        asyncio.run(_warm_up(http, arguments.models))
        limits = Limits(
            arguments.models,
            arguments.fit,
            footprint,
            budget,
            base=resident(server) - footprint,
            allowance=arguments.allowance_mib * MIB,
            files=(way.loads - 1) * arguments.model_mib * MIB,
        )
        phases = []
        for pattern in PATTERNS:
            phase = Phase(pattern)
            asyncio.run(run_phase(server, http, metrics, phase, arguments, seconds))
            most = max(phase.resident) / MIB
            say(f"{pattern}: {len(phase.order)} requests, {phase.loads} loads, at most {most:.0f} MiB")
            phases.append(phase)
        if failed := metric(metrics, "nereid_on_demand_failed_loads"):
            phases[-1].lost.append(f"{failed:.0f} loads have failed")
    return phases, limits


async def _warm_up(http: str, number: int) -> None:
    phase = Phase("warm-up")
    connection = await Connection.open(http)
    await ask_until_served(connection, phase, number, 1)
    connection.close()
    if phase.wrong:
        raise RuntimeError(phase.wrong[0])


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--minutes", type=float, default=10, help="of all phases together")
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--fit", type=int, default=10, help="models that fit into the budget")
    parser.add_argument("--model-mib", type=int, default=8, help="the size of a model's file")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--pause-ms", type=float, default=20, help="of a client between two requests")
    parser.add_argument("--allowance-mib", type=int, default=16, help="of memory, for requests and allocators")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--nereid-option", action="append", default=[], help="may be repeated")
    return parser.parse_args(words)


def main() -> int:
    arguments = parse_arguments()
    machine.exit_at_sigterm()
    page = Page("ondemand", "More models than memory")
    wrong: list[str] = []
    parts: list[str] = []
    with tempfile.TemporaryDirectory(prefix="nereid-storm-") as folder:
        work = Path(folder)
        models = ModelRepository(work / "models")
        for number in range(arguments.models + 1):
            write_model(models, number, arguments.model_mib)
        footprint = measure_footprint(models.root, work)
        say(f"a model of {arguments.model_mib} MiB takes {footprint / MIB:.1f} MiB")
        seconds = arguments.minutes * 60 / (len(WAYS) * len(PATTERNS))
        for way in WAYS:
            shutil.rmtree(work / "log", ignore_errors=True)
            phases, limits = storm(models.root, work, footprint, way, arguments, seconds)
            wrong += [f"{way.title}: {sentence}" for sentence in failures(phases, limits)]
            parts += [f"## {way.title}", *tables(phases, limits)]
    about = (
        f"{arguments.models} ONNX models of {arguments.model_mib} MiB, {arguments.fit} of which fit; {arguments.clients} "
        f"clients that pause for {arguments.pause_ms:g} ms after each answer; {seconds:.0f} s for each row. "
        "How to read this: bench/README.md."
    )
    page.write(page.text(about, *parts, misses=wrong), arguments.out)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
