# SPDX-License-Identifier: Apache-2.0
"""The entrants of the race against light frameworks: how each is started on the MLP, and what it weighs."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from differential.original_server import prepare
from racetrack.machine import Placement, on_cores, tree, tree_mib
from support.poll import poll_until
from support.ports import free_port, free_ports
from support.server_process import LOOPBACK, ServerProcess
from support.stage import PROJECT_ROOT, backend_directory, python_package, stage_root

PROGRAMS = PROJECT_ROOT / "bench" / "light"
DEPENDENCIES = PROJECT_ROOT / "build" / "deps"
START_SECONDS = 120.0
INFER = "/v2/models/mlp/infer"


@dataclass(frozen=True)
class Light:
    """A running server."""

    name: str
    process: ServerProcess
    address: str
    path: str
    body: Path
    seconds_to_answer: float  # from the start of the process to its first answer

    def memory_mib(self) -> float:
        """Of the process and all that it has started; what they share counts once."""
        return tree_mib(self.process.process.pid)

    def kill(self) -> None:
        """The process and all that it has started, which may outlive it."""
        _kill(self.process)


@dataclass(frozen=True)
class Entrant:
    """How a server is started: its command, given the model's file, a port and a folder of its own."""

    name: str
    title: str
    command: Callable[[Path, int, Path], Sequence[str | Path]]
    python_path: Sequence[Path] = ()
    path: str = INFER
    plain_body: bool = False  # {"data": [...]} in place of the v2 protocol

    def start(self, network: Path, work: Path, placement: Placement, values: np.ndarray) -> Light:
        port = free_port()
        body = work / "body.json"
        work.mkdir(parents=True)
        body.write_text(json.dumps(self._request(values)))
        environment = {"PYTHONPATH": os.pathsep.join(map(str, self.python_path))}
        begun = time.perf_counter()
        with on_cores(placement.server):
            process = ServerProcess(self.command(network, port, work), work / "log", environment)
        try:
            answers = lambda: _answers(process, port, self.path, body.read_bytes())  # noqa: E731
            poll_until(f"an answer of {self.name}", answers, START_SECONDS, process.log_text)
        except BaseException:
            _kill(process)
            raise
        return Light(self.name, process, f"{LOOPBACK}:{port}", self.path, body, time.perf_counter() - begun)

    def _request(self, values: np.ndarray) -> dict:
        if self.plain_body:
            return {"data": values.tolist()}
        tensor = {"name": "x", "datatype": "FP32", "shape": [1, values.size], "data": values.tolist()}
        return {"inputs": [tensor]}


def _kill(server: ServerProcess) -> None:
    for pid in reversed(tree(server.process.pid) if server.is_alive() else []):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    server.kill()


def _answers(process: ServerProcess, port: int, path: str, body: bytes) -> bool:
    if not process.is_alive():
        raise AssertionError(f"the server has ended: {process.log_text()[-2000:]}")
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    try:
        connection.request("POST", path, body, {"Content-Type": "application/json"})
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


# --- Commands.


def _options(network: Path, port: int) -> Sequence[str]:
    address = [f"--http-address={LOOPBACK}", f"--http-port={port}", "--allow-grpc=false", "--allow-metrics=false"]
    return [f"--model-repository={network.parents[2]}", *address]


def _nereid(network: Path, port: int, work: Path) -> Sequence[str | Path]:
    return [stage_root() / "bin" / "nereid", *_options(network, port)]


def _original(network: Path, port: int, work: Path) -> Sequence[str | Path]:
    """With our ONNX backend, because its wheel has none."""
    layout = prepare(work / "original")
    libraries = os.pathsep.join(filter(None, [layout.library_path, os.environ.get("LD_LIBRARY_PATH")]))
    options = [*_options(network, port), f"--backend-directory={backend_directory()}"]
    return ["env", f"LD_LIBRARY_PATH={libraries}", layout.binary, *options]


def _nereid_function(network: Path, port: int, work: Path) -> Sequence[str | Path]:
    return [sys.executable, PROGRAMS / "nereid_mlp.py", network, str(port)]


def _litserve(batch: int) -> Callable[[Path, int, Path], Sequence[str | Path]]:
    return lambda network, port, work: [sys.executable, PROGRAMS / "litserve_mlp.py", network, str(port), str(batch)]


def _mlserver(**batching: float) -> Callable[[Path, int, Path], Sequence[str | Path]]:
    def command(network: Path, port: int, work: Path) -> Sequence[str | Path]:
        others = free_ports(2)
        settings = {
            "host": LOOPBACK,
            "http_port": port,
            "grpc_port": others[0],
            "metrics_port": others[1],
            "parallel_workers": 0,
            "debug": False,
        }
        model = {"name": "mlp", "implementation": "mlserver_mlp.Mlp", "parameters": {"uri": str(network)}, **batching}
        (work / "settings.json").write_text(json.dumps(settings))
        (work / "model-settings.json").write_text(json.dumps(model))
        return [sys.executable, "-c", "from mlserver.cli import main; main()", "start", work]

    return command


_LITSERVE = (DEPENDENCIES / "litserve",)
_MLSERVER = (DEPENDENCIES / "mlserver", PROGRAMS)
MAX_BATCH = 64
ENTRANTS = (
    Entrant("nereid", "Nereid, ONNX model", _nereid),
    Entrant("function", "Nereid, Python function", _nereid_function, (python_package(),)),
    Entrant("original", "Triton, 2.51", _original),
    Entrant("litserve", "LitServe", _litserve(1), _LITSERVE, "/predict", plain_body=True),
    Entrant("litserve-batching", "LitServe, batching", _litserve(MAX_BATCH), _LITSERVE, "/predict", plain_body=True),
    Entrant("mlserver", "MLServer", _mlserver(), _MLSERVER),
    Entrant(
        "mlserver-batching",
        "MLServer, batching",
        _mlserver(max_batch_size=MAX_BATCH, max_batch_time=0.001),
        _MLSERVER,
    ),
)


# --- What they weigh.


def installed_mib() -> dict[str, tuple[float, float]]:
    """By product: its package alone, and with all that it needs, ONNX Runtime and numpy included."""
    site = Path(np.__file__).parents[1]
    runtime = sum(_folder_mib(site / name) for name in ("numpy", "numpy.libs", "onnxruntime", "flatbuffers"))
    needed = runtime + sum(_folder_mib(site / name) for name in ("cloudpickle", "packaging", "google/protobuf"))
    found = {}
    for wheel in (PROJECT_ROOT / "build" / "packages").glob("nereid_server-*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            own = sum(entry.file_size for entry in archive.infolist()) / 2**20
        found["Nereid"] = (own, own + needed)
    for name, folder in (("LitServe", "litserve"), ("MLServer", "mlserver")):
        whole = _folder_mib(DEPENDENCIES / folder)
        numpy = _folder_mib(DEPENDENCIES / folder / "numpy")
        found[name] = (_folder_mib(DEPENDENCIES / folder / folder), whole - numpy + runtime)
    original = DEPENDENCIES / "original"
    if original.is_dir():
        found["Triton (nvidia-pytriton)"] = (_folder_mib(original), _folder_mib(original) + runtime)
    return found


def _folder_mib(folder: Path) -> float:
    return sum(file.lstat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20
