# SPDX-License-Identifier: Apache-2.0
"""The machine of a trial: a real driver or the simulated one, and servers on it."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.cuda_memory import Machine as Driver  # noqa: E402
from support.cuda_memory import simulated_machine  # noqa: E402
from support.gpus import simulated_gpus  # noqa: E402
from support.nereid import FREE_PORTS  # noqa: E402
from support.server_process import ServerProcess  # noqa: E402
from support.stage import backend_directory, server_binary  # noqa: E402

from outcomes import Cannot  # noqa: E402

DRIVER = "libcuda.so.1"


class TrialMachine:
    """`stage`: an installation, as build/stage is. `simulated`: its simulated driver is used."""

    def __init__(self, stage: Path, folder: Path, simulated: bool) -> None:
        os.environ["NEREID_STAGE"] = str(stage)
        self.stage = stage
        self.folder = folder
        self.simulated = simulated
        self._servers = 0

    def environment(self) -> dict[str, str]:
        if not self.simulated:
            return {}
        measured = self.folder / "nvml"
        measured.write_text("0 memory_total 1073741824\n0 memory_used 1024\n0 utilization 50\n")
        return {**simulated_gpus(1), "SIMULATED_NVML": str(measured)}

    def library(self) -> str:
        folder = backend_directory() / "testing" / "simulated_cuda"
        return str(folder / DRIVER) if self.simulated else DRIVER

    @contextmanager
    def driver(self) -> Iterator[Driver]:
        """This process as a client with memory on the GPU."""
        if self.simulated:
            with simulated_machine(1) as machine:
                yield machine
            return
        try:
            library = ctypes.CDLL(DRIVER)
        except OSError as error:
            raise Cannot(f"there is no driver: {error}") from error
        machine = Driver(library, 1)
        try:
            yield machine
        finally:
            machine.end()

    @contextmanager
    def server(
        self, models: Path, *options: str, command: Sequence[str | Path] = (), cpus: Sequence[int] = ()
    ) -> Iterator[ServerProcess]:
        """`command`: another server's; ours if there is none. `cpus`: those that it may use."""
        words = [
            *(command or [server_binary()]),
            f"--model-repository={models}",
            *FREE_PORTS,
            "--exit-on-error=false",
            *options,
        ]
        if cpus:
            pin = f"import os, sys; os.sched_setaffinity(0, {set(cpus)}); os.execv(sys.argv[1], sys.argv[1:])"
            words = [sys.executable, "-c", pin, *words]
        self._servers += 1
        server = ServerProcess(words, self.folder / f"server{self._servers}", self.environment())
        try:
            server.wait_for("/v2/health/live")
            yield server
        finally:
            server.stop()

    def describe(self) -> dict[str, str]:
        told = {"processor": f"{os.cpu_count()} x {platform.machine()}"}
        if self.simulated:
            return {**told, "GPU": "simulated: nothing here says anything about a real one"}
        try:
            told["GPU"] = ask_nvidia("name,driver_version,memory.total")
        except Cannot as reason:
            told["GPU"] = str(reason)
        return told


def ask_nvidia(fields: str) -> str:
    command = ["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except OSError as error:
        raise Cannot(f"nvidia-smi does not run: {error}") from error
    if done.returncode != 0:
        raise Cannot(f"nvidia-smi: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


def need_module(name: str) -> None:
    try:
        found = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        found = False
    if not found:
        raise Cannot(f"the Python package {name} is not there")
