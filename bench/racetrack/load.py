# SPDX-License-Identifier: Apache-2.0
"""Runs the project's own programs: the load generator, the echo servers, the ONNX loop."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from racetrack.machine import Placement, on_cores
from racetrack.workloads import MAX_BATCH, Files, Row
from support.poll import poll_until
from support.ports import free_port
from support.server_process import LOOPBACK


# Answers on each connection that are compared before a run, one at a time.
CHECKS = 2


@dataclass(frozen=True)
class Tools:
    """The folder of the programs, and the duration of a run."""

    folder: Path
    seconds: float
    warmup: float

    def program(self, name: str) -> Path:
        path = self.folder / "bench" / name
        if not path.exists():
            raise RuntimeError(f"There is no {path}: build the target bench_tools first.")
        return path


def run_json(command: Sequence[str | Path], cores: frozenset[int]) -> Any:
    """Runs a program on these cores and reads the JSON it prints.

    Raises RuntimeError with the program's standard error if it fails.
    """
    with on_cores(cores):
        done = subprocess.run(
            [str(word) for word in command], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return json.loads(done.stdout)


def loadgen_command(
    tools: Tools, row: Row, files: Files, address: str, *more: str
) -> list[str | Path]:
    """The command for nereid_loadgen that creates the row's load."""
    command: list[str | Path] = [
        tools.program("nereid_loadgen"),
        f"--protocol={row.protocol}",
        f"--address={address}",
        f"--path=/v2/models/{row.model.name}/infer",
        f"--body={files.body}",
        f"--expect={files.expect}",
        f"--expect-form={row.form}",
        f"--concurrency={row.concurrency}",
        f"--rate={row.rate}",
        f"--responses={row.responses}",
        f"--sequence-length={row.sequence_length}",
        f"--tls={int(row.tls)}",
        f"--seconds={max(tools.seconds, row.seconds)}",
        f"--warmup={tools.warmup}",
        f"--checks={CHECKS}",
        *more,
    ]
    if files.segments is not None:
        command.append(f"--answer-file={files.segments.answer_file}")
    if files.header_length is not None:
        command.append(f"--header-length={files.header_length}")
    return command


def load(
    tools: Tools, row: Row, files: Files, address: str, pid: int, placement: Placement
) -> dict[str, Any]:
    """One run of one row against one server; its answers are checked first."""
    command = loadgen_command(tools, row, files, address, f"--server-pid={pid}")
    return run_json(command, placement.client)


class RunningLoad:
    """A load in the background, or another program that prints its results line by line. A context
    manager, which ends it with the block."""

    def __init__(self, name: str, command: Sequence[str | Path], cores: frozenset[int]) -> None:
        self._name = name
        # Files instead of pipes, so that the output need not be read while the load runs.
        self._out, self._err = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        with on_cores(cores):
            self._process = subprocess.Popen(
                [str(word) for word in command], stdout=self._out, stderr=self._err
            )

    def __enter__(self) -> RunningLoad:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._err.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def running(self) -> bool:
        """Whether the load still runs. Raises RuntimeError with its standard error if it failed."""
        code = self._process.poll()
        if code:
            self._err.seek(0)
            said = self._err.read().strip() or f"it ended with {code}"
            raise RuntimeError(f"the load {self._name}: {said}")
        return code is None

    def results(self) -> list[Any]:
        """What it has printed so far, one JSON value a line: one result per measurement."""
        # Not by reading on: the program writes where this process's offset is.
        size = os.fstat(self._out.fileno()).st_size
        lines = os.pread(self._out.fileno(), size, 0).splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith(b"\n")]


class FrameworkLoop:
    """A program that runs a framework alone, started with `-` for SECONDS (limits/framework_loop.h):
    it measures when it is asked to, and sleeps meanwhile. A context manager, which ends it."""

    def __init__(self, command: Sequence[str | Path], cores: frozenset[int]) -> None:
        self._name = str(command[0])
        self._err = tempfile.TemporaryFile("w+")  # instead of a pipe, so that it need not be read
        with on_cores(cores):
            self._process = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._err,
                text=True,
            )

    def __enter__(self) -> FrameworkLoop:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()
        self._err.close()

    def us_per_run(self, seconds: float, pause_us: int) -> float:
        """With idle pauses between the runs. Raises RuntimeError with the program's standard error
        if it has ended."""
        return float(self._ask(f"{seconds} {pause_us}")["us_per_run"])

    def us_per_request(self, files: Files, send: Callable[[str, int], Any]) -> float:
        """Behind a bare HTTP server, in the same thread: `send`, given its address and process,
        sends requests over one connection, each of which is a run. Raises like `us_per_run`."""
        assert files.echo_head is not None
        port = self._ask(f"http {files.echo_head} {files.expect}")["port"]
        send(f"{LOOPBACK}:{port}", self._process.pid)
        return float(self._answer()["us_per_run"])

    def _ask(self, line: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            print(line, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            pass  # the answer is missing, too
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._err.seek(0)
            raise RuntimeError(self._err.read().strip() or f"{self._name} ended with {code}")
        found: dict[str, Any] = json.loads(line)
        return found


def start_load(
    tools: Tools, row: Row, files: Files, address: str, placement: Placement, measurements: int
) -> RunningLoad:
    """Starts a load of many measurements, one after the other over the same connections."""
    command = loadgen_command(tools, row, files, address, f"--repeat={measurements}")
    return RunningLoad(row.key, command, placement.client)


@dataclass(frozen=True)
class Echo:
    """An echo server."""

    program: str
    title: str


HTTP_ECHO = Echo("http_echo", "bare http echo")
NGHTTP2_ECHO = Echo("nghttp2_echo", "nghttp2 echo")
GRPC_ECHO = Echo("grpc_echo", "grpc++ echo")  # for unary calls only


def echoes(row: Row) -> tuple[Echo, ...]:
    """The echo servers that answer the requests of this row; the first is its limit."""
    if row.protocol == "http":
        return (HTTP_ECHO,)
    return (NGHTTP2_ECHO,) if row.responses else (NGHTTP2_ECHO, GRPC_ECHO)


def measure_limits(
    tools: Tools, row: Row, files: Files, repository: Path, placement: Placement, runs: int
) -> list[dict[str, Any]]:
    """The highest possible speed of the row, and what others reach that do as little as they can.
    Empty if there is no reference for the row, as for JSON and for loads at a fixed rate."""
    if row.model.onnx_file is not None:
        batch = min(row.concurrency, MAX_BATCH) if row.model.batched else 1
        us_per_run = onnx_us_per_run(tools, row, batch, repository, placement)
        return [
            {
                "what": f"ONNX Runtime in a loop, batch {batch}",
                "throughput": 1e6 * batch / us_per_run,
                "cpu_us": us_per_run / batch,
            }
        ]
    if files.echo_head is None or row.rate:
        return []
    limits = []
    for echo in echoes(row):
        command = echo_command(tools, echo, row, files)
        with _echo_server(command, placement) as (address, pid):
            results = [load(tools, row, files, address, pid, placement) for _ in range(runs)]
        limits.append({"what": echo.title, "runs": results})
    return limits


def echo_command(tools: Tools, echo: Echo, row: Row, files: Files) -> list[str]:
    """The command for an echo server that answers the requests of this row, without its port."""
    assert files.echo_head is not None
    return [
        str(tools.program(echo.program)),
        f"--head={files.echo_head}",
        f"--tail-bytes={files.tensor_bytes}",
        *([f"--responses={row.responses}"] if row.responses else []),
    ]


@contextmanager
def _echo_server(command: Sequence[str], placement: Placement) -> Iterator[tuple[str, int]]:
    port = free_port()
    with on_cores(placement.server):
        process = subprocess.Popen([*command, f"--port={port}"])
    try:
        poll_until("the echo server", lambda: _accepts(port), 10)
        yield f"{LOOPBACK}:{port}", process.pid
    finally:
        process.kill()
        process.wait()


def _accepts(port: int) -> bool:
    try:
        socket.create_connection((LOOPBACK, port), timeout=1).close()
        return True
    except OSError:
        return False


def onnx_us_per_run(
    tools: Tools,
    row: Row,
    batch: int,
    repository: Path,
    placement: Placement,
    pause_us: int = 0,
) -> float:
    """Microseconds per run of the model in a loop in the same ONNX Runtime, with one thread and
    `batch` rows per run. A pause after each run, which is not counted, lets the caches become as
    cold as in a server that waits."""
    model = row.model
    assert model.onnx_file is not None
    found = run_json(
        [
            tools.program("ort_loop"),
            repository / model.onnx_file,
            model.input_name,
            model.output_name,
            ",".join(str(dim) for dim in (batch, *model.shape[1:])),
            str(max(tools.seconds, row.seconds)),
            str(pause_us),
        ],
        placement.server,
    )
    return float(found["us_per_run"])
