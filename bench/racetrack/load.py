"""Running the project's own programs: the load generator, the echo servers, the ONNX loop."""

from __future__ import annotations

import json
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from differential.original_server import free_ports
from racetrack.machine import Placement, on_cores
from racetrack.workloads import MAX_BATCH, Files, Row
from support.poll import poll_until
from support.server_process import LOOPBACK


@dataclass(frozen=True)
class Tools:
    """Where the programs lie, and how long a run takes."""

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

    Errors: RuntimeError with what it wrote to stderr.
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
    """nereid_loadgen as the row wants it."""
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
        f"--seconds={max(tools.seconds, row.seconds)}",
        f"--warmup={tools.warmup}",
        *more,
    ]
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
    """A load that goes on while others do. A context manager: it has ended when the block has."""

    def __init__(self, name: str, command: Sequence[str | Path], cores: frozenset[int]) -> None:
        self._name = name
        # Files and not pipes: nobody has to read while it runs.
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

    def running(self) -> bool:
        """Errors: RuntimeError with what it wrote to stderr when it failed."""
        code = self._process.poll()
        if code:
            self._err.seek(0)
            said = self._err.read().strip() or f"it ended with {code}"
            raise RuntimeError(f"the load {self._name}: {said}")
        return code is None

    def results(self) -> list[dict[str, Any]]:
        """One for each measurement. REQUIRES: no longer running."""
        self._out.seek(0)
        return [json.loads(line) for line in self._out]


def start_load(
    tools: Tools, row: Row, files: Files, address: str, placement: Placement, measurements: int
) -> RunningLoad:
    """Many measurements one after the other, over the same connections."""
    command = loadgen_command(tools, row, files, address, f"--repeat={measurements}")
    return RunningLoad(row.key, command, placement.client)


def measure_limit(
    tools: Tools, row: Row, files: Files, repository: Path, placement: Placement, runs: int
) -> dict[str, Any] | None:
    """How fast the row could be at all; None where there is nothing to compare with: JSON, and loads
    at a fixed rate."""
    if row.model.onnx_file is not None:
        batch = min(row.concurrency, MAX_BATCH) if row.model.batched else 1
        us_per_run = onnx_us_per_run(tools, row, batch, repository, placement)
        return {
            "what": f"ONNX Runtime in a loop, batch {batch}",
            "throughput": 1e6 * batch / us_per_run,
            "cpu_us": us_per_run / batch,
        }
    if files.echo_head is None or row.rate:
        return None
    with _echo_server(tools, row, files, placement) as (address, pid):
        results = [load(tools, row, files, address, pid, placement) for _ in range(runs)]
    return {"what": f"bare {row.protocol} echo", "runs": results}


@contextmanager
def _echo_server(
    tools: Tools, row: Row, files: Files, placement: Placement
) -> Iterator[tuple[str, int]]:
    (port,) = free_ports(1)
    command = [
        str(tools.program(f"{row.protocol}_echo")),
        f"--port={port}",
        f"--head={files.echo_head}",
        f"--tail-bytes={files.tensor_bytes}",
    ]
    with on_cores(placement.server):
        process = subprocess.Popen(command)
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
    """The model in a loop in the same ONNX Runtime, with one thread, `batch` rows a run. With a pause
    after each run, which does not count, it finds caches as cold as a server does that waits."""
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
