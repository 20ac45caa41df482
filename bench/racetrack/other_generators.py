# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer, wrk and h2load beside `nereid bench`: each loads one server, and says what it
measured. Times are microseconds."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from racetrack import perf_analyzer
from racetrack.machine import Placement, on_cores
from support.stage import server_binary

MODEL_PATH = "/v2/models/{model}/infer"
GRPC_PATH = "/inference.GRPCInferenceService/ModelInfer"
PERCENTILES = (50, 90, 99)
# wrk prints no percentiles that a program could read, so its script does.
WRK_SCRIPT = """
wrk.method = "POST"
local file = io.open("{body}", "rb")
wrk.body = file:read("*a")
file:close()
wrk.headers["Content-Type"] = "application/octet-stream"
wrk.headers["Inference-Header-Content-Length"] = "{header_length}"
done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format("RESULT %f %f %f %f %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(50), latency:percentile(90), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
"""


class Failed(Exception):
    """A generator measured nothing, or had errors."""


@dataclass(frozen=True)
class Measured:
    throughput: float  # requests per second
    percentiles: tuple[float, ...]  # of PERCENTILES


@dataclass(frozen=True)
class Load:
    """What is sent to which server: `concurrency` requests in flight, or `rate` per second."""

    protocol: str
    model: str
    address: str  # host:port
    concurrency: int = 0
    rate: int = 0
    seconds: int = 5


@dataclass(frozen=True)
class Request:
    """The same request for generators that know nothing of models: with its prefix for gRPC."""

    body: Path
    header_length: int


def run(command: list[str], placement: Placement, seconds: int, **options: Any) -> str:
    with on_cores(placement.client):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + 120, **options
        )
    if done.returncode != 0:
        raise Failed(f"{command[0]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def nereid(load: Load, placement: Placement) -> Measured:
    size = (
        [f"--rate={load.rate}"] if load.rate else [f"--concurrency={load.concurrency}"]
    )
    command = [
        str(server_binary()),
        "bench",
        f"--url={load.protocol}://{load.address}",
        f"--model={load.model}",
        *size,
        f"--seconds={load.seconds}",
        "--warm-up-seconds=0.5",
        "--stability=0",
        "--json",
    ]
    (row,) = json.loads(run(command, placement, load.seconds))["rows"]
    if row["errors"]:
        raise Failed(f"nereid bench: {row['errors_by_text']}")
    latencies = row["latency_us"]
    return Measured(row["throughput"], tuple(latencies[f"p{p}"] for p in PERCENTILES))


def wrk(load: Load, request: Request, work: Path, placement: Placement) -> Measured:
    script = work / "request.lua"
    script.write_text(
        WRK_SCRIPT.format(body=request.body, header_length=request.header_length), encoding="utf-8"
    )
    url = f"http://{load.address}{MODEL_PATH.format(model=load.model)}"
    threads = ["--threads=1", f"--connections={load.concurrency}", f"--duration={load.seconds}s"]
    output = run(["wrk", *threads, f"--script={script}", url], placement, load.seconds)
    found = re.search(r"RESULT (\S+) (\S+) (\S+) (\S+) (\d+)", output)
    if found is None or found[5] != "0":
        raise Failed(f"wrk: {output[-300:]}")
    return Measured(float(found[1]), tuple(float(found[i]) for i in (2, 3, 4)))


def h2load(load: Load, request: Request, work: Path, placement: Placement) -> Measured:
    """HTTP/1.1 on a connection for each request in flight; gRPC with all of them on one."""
    log = work / "h2load.log"
    log.unlink(missing_ok=True)
    if load.protocol == "http":
        shape = ["--h1", f"--clients={load.concurrency}"]
        headers = [
            "content-type: application/octet-stream",
            f"inference-header-content-length: {request.header_length}",
        ]
        path = MODEL_PATH.format(model=load.model)
    else:
        shape = ["--clients=1", f"--max-concurrent-streams={load.concurrency}"]
        # No window for which the server would have to wait.
        shape += ["--window-bits=24", "--connection-window-bits=28"]
        headers = ["content-type: application/grpc", "te: trailers"]
        path = GRPC_PATH
    command = [
        "h2load",
        *shape,
        f"--duration={load.seconds}",
        f"--data={request.body}",
        f"--log-file={log}",
        *(f"--header={header}" for header in headers),
        f"http://{load.address}{path}",
    ]
    output = run(command, placement, load.seconds)
    # Start in microseconds of the epoch, status, duration.
    columns = np.loadtxt(log, dtype=np.int64, ndmin=2)
    if not len(columns) or (columns[:, 1] != 200).any():
        raise Failed(f"h2load: {output[-300:]}")
    percentiles = np.percentile(columns[:, 2], PERCENTILES)
    return Measured(len(columns) / load.seconds, tuple(float(value) for value in percentiles))


def perf(load: Load, work: Path, placement: Placement) -> Measured:
    """perf_analyzer at a fixed rate. Its latencies count from when a request was sent."""
    binary, environment = perf_analyzer.prepare(work)
    report = work / "perf_analyzer-rate.csv"
    report.unlink(missing_ok=True)
    command = [
        str(binary),
        *("-m", load.model, "-u", load.address, "-i", load.protocol),
        *("--request-rate-range", str(load.rate)),
        *("--measurement-interval", str(load.seconds * 1000)),
        # One measurement, whatever it shows, as the others do.
        *("--stability-percentage", "999", "--max-trials", "3"),
        *("-f", str(report)),
    ]
    run(command, placement, load.seconds * 4, env=environment)
    with report.open(newline="") as file:
        row = next(csv.DictReader(file))
    return Measured(
        float(row["Inferences/Second"]), tuple(float(row[f"p{p} latency"]) for p in PERCENTILES)
    )
