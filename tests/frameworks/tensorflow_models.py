# SPDX-License-Identifier: Apache-2.0
"""The models of tensorflow_networks.py in a repository, with their configurations and examples."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.grpc
import tritonclient.http

from support.repository import ModelRepository, parameters_text
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT

DEPENDENCIES = PROJECT_ROOT / "build" / "deps"
PACKAGES = (DEPENDENCIES / "tensorflow-python", DEPENDENCIES / "tensorflow")
NETWORKS = Path(__file__).with_name("tensorflow_networks.py")
BACKEND = 'backend: "tensorflow"\n'


@functools.cache
def networks() -> Path:
    """The folder with all models. Making them takes about ten seconds, in a process with
    TensorFlow's Python package."""
    folder = tempfile.mkdtemp(prefix="tensorflow-networks-")
    atexit.register(shutil.rmtree, folder)
    paths = os.pathsep.join(str(path) for path in PACKAGES)
    made = subprocess.run(
        [sys.executable, NETWORKS, folder],
        env={**os.environ, "PYTHONPATH": paths, "TF_CPP_MIN_LOG_LEVEL": "2"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr[-4000:]
    return Path(folder)


class TensorflowRepository(ModelRepository):
    """Models, with or without configuration."""

    def add_network(
        self,
        network: str,
        config: str | None = None,
        parameters: Mapping[str, str] | None = None,
        name: str | None = None,
    ) -> Path:
        """Adds a network; returns the folder of the version."""
        text = config
        if parameters:
            text = (config or BACKEND) + parameters_text(parameters)
        version = self.add(name or network, text) / "1"
        for source in (networks() / network).iterdir():
            if source.name != "examples.npz":
                copy = shutil.copytree if source.is_dir() else shutil.copy
                copy(source, version / source.name)
        return version

    def examples(self, network: str) -> dict[str, np.ndarray]:
        with np.load(networks() / network / "examples.npz") as arrays:
            return dict(arrays)


class Client:
    """One of the official clients, with the same interface for both. Not thread-safe."""

    def __init__(self, server: ServerProcess, protocol: str) -> None:
        self._module: Any = tritonclient.http if protocol == "http" else tritonclient.grpc
        url = server.http_url if protocol == "http" else server.grpc_url
        self.client: Any = self._module.InferenceServerClient(url)

    def infer(
        self,
        model: str,
        inputs: Mapping[str, np.ndarray],
        outputs: tuple[str, ...] = (),
        **options: Any,
    ) -> dict[str, np.ndarray]:
        sent = []
        for name, value in inputs.items():
            sent.append(self._module.InferInput(name, list(value.shape), data_type_of(value)))
            sent[-1].set_data_from_numpy(value)
        wanted = [self._module.InferRequestedOutput(name) for name in outputs] or None
        answer = self.client.infer(model, sent, outputs=wanted, **options)
        response = answer.get_response()
        names = (
            [output["name"] for output in response["outputs"]]
            if isinstance(response, dict)
            else [output.name for output in response.outputs]
        )
        return {name: answer.as_numpy(name) for name in names}

    def close(self) -> None:
        self.client.close()


def data_type_of(value: np.ndarray) -> str:
    if value.dtype.kind in "OSU":
        return "BYTES"
    name = value.dtype.name
    return name.replace("bfloat", "BF").replace("float", "FP").upper()


def worker_pids(server: ServerProcess, state: str = "") -> list[int]:
    """Processes that the server started; with `state`, only those in it ("Z")."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text(encoding="ascii").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == server.process.pid and state in ("", fields[0]):
            found.append(int(entry.name))
    return sorted(found)


def worker_of(server: ServerProcess, model: str) -> int:
    """The worker of `model`, which it names among its arguments."""
    candidates = [pid for pid in worker_pids(server) if model.encode() in command_line(pid)]
    assert len(candidates) == 1, f"{model}: {candidates}"
    return candidates[0]


def command_line(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def threads_of(pid: int) -> dict[int, tuple[str, str]]:
    """Name and state of each thread."""
    found = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            text = (task / "stat").read_text(encoding="ascii")
        except (FileNotFoundError, ProcessLookupError):
            continue
        head, _, rest = text.rpartition(")")
        found[int(task.name)] = (head.partition("(")[2], rest.split()[0])
    return found
