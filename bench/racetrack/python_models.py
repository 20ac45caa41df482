# SPDX-License-Identifier: Apache-2.0
"""Python models: compares our Python backend in our server with Triton's in Triton.
Both use the same interpreter, the same numpy and the same repository. This module measures;
python_page.py writes the page.

The server and the models' processes share one core; the client has another.
"""

from __future__ import annotations

import json
import shutil
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tritonclient.grpc import service_pb2

from differential.original_server import NUMPY_FOLDER, prepare
from racetrack import machine, shared_memory
from racetrack.contestants import NAMES, Contestant, start
from racetrack.load import Tools, load
from racetrack.shared_memory import Segments
from racetrack.workloads import IDENTITY_LARGE, IDENTITY_SMALL, Files, Model, Row, repeat_body, shared_body
from support import raw_http
from support.poll import poll_until
from support.repository import ModelRepository, tensor_text
from support.stage import PROJECT_ROOT, backend_directory

SOURCES = PROJECT_ROOT / "bench" / "python_models"
SMALL, LARGE, RESPONSES = 16, 1 << 20, 1000
INSTANCES = 10
LOADS = 10
ADD_SUB = Model("py_add_sub", "add and subtract 16 floats", "INPUT0", "SUM", (SMALL,))
IDENTITY = Model("py_identity", "identity, 4 MB of FP32", "INPUT0", "OUTPUT0", (LARGE,))
REPEAT = Model("py_repeat", "decoupled", "IN", "OUT", (1,))
BLS = Model("py_bls", "BLS of an identity, 16 floats", "INPUT0", "OUTPUT0", (SMALL,))
# Not loaded while the rows run, because their instances would use part of the core.
STARTED, TEN = "py_started", "py_ten"
NATIVE = {ADD_SUB.name: IDENTITY_SMALL, IDENTITY.name: IDENTITY_LARGE}
SERVED = (ADD_SUB.name, IDENTITY.name, REPEAT.name, BLS.name, *(model.name for model in NATIVE.values()))
ROWS = (
    *(Row(ADD_SUB, protocol, "binary", c) for protocol in ("grpc", "http") for c in (1, 16)),
    *(Row(IDENTITY, "http", "binary", c) for c in (1, 4)),
    *(Row(IDENTITY, p, "binary", c, shared=True) for p in ("grpc", "http") for c in (1, 4)),
    Row(REPEAT, "grpc", "binary", 1, responses=RESPONSES, seconds=3),
    *(Row(BLS, "grpc", "binary", c) for c in (1, 16)),
)
# The same to a model in C++ in Nereid, which copies its input once: what a Python backend behind the same frontend,
# on the same two cores, cannot beat. Not measured where that is no limit: with many small requests in flight, and
# for large tensors in an HTTP body, which a Python backend need not copy into the answer.
BOUNDS = {
    row.key: replace(row, model=NATIVE[row.model.name])
    for row in ROWS
    if row.shared or (row.model is ADD_SUB and row.concurrency == 1)
}
BOUND = "native"  # the name of its runs, besides those of NAMES
# The aims: throughput at least so many times Triton's.
AIMS = {ADD_SUB.name: 3.0, IDENTITY.name: 3.0, REPEAT.name: 3.0, BLS.name: 2.0}
SHARED_AIM = 5.0  # with the tensors in the client's shared memory
# Server options for the two measurements of the start. The models' configurations are complete.
STARTS = {"as usual": (), "without completion": ("--disable-auto-complete-config",)}
# Debian's interpreter; the stub of Triton's backend needs this version.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(NUMPY_FOLDER)}


def write_repository(root: Path) -> Path:
    models = ModelRepository(root)
    for model in NATIVE.values():
        models.add_identity(model.name, "FP32", model.shape)
    small, large, one = (SMALL,), (LARGE,), (1,)
    _add(models, ADD_SUB.name, {"INPUT0": small, "INPUT1": small}, {"SUM": small, "DIFFERENCE": small})
    _add(models, IDENTITY.name, {"INPUT0": large}, {"OUTPUT0": large})
    _add(models, BLS.name, {"INPUT0": small}, {"OUTPUT0": small})
    _add(
        models,
        REPEAT.name,
        {"IN": (-1,), "DELAY": (-1,), "WAIT": one},
        {"OUT": one},
        "model_transaction_policy { decoupled: true }",
        {"IN": "INT32", "DELAY": "UINT32", "WAIT": "UINT32", "OUT": "INT32"},
    )
    for name, count in ((STARTED, 1), (TEN, INSTANCES)):
        extra = f"instance_group [ {{ kind: KIND_CPU count: {count} }} ]"
        _add(models, name, {"INPUT0": small}, {"OUTPUT0": small}, extra, source="py_idle")
    return root


def _add(
    models: ModelRepository,
    name: str,
    inputs: Mapping[str, Sequence[int]],
    outputs: Mapping[str, Sequence[int]],
    extra: str = "",
    types: Mapping[str, str] | None = None,
    source: str = "",
) -> None:
    def listed(tensors: Mapping[str, Sequence[int]]) -> str:
        texts = (tensor_text(t, (types or {}).get(t, "FP32"), dims) for t, dims in tensors.items())
        return f"[ {', '.join(texts)} ]"

    config = f'backend: "python"\ninput {listed(inputs)}\noutput {listed(outputs)}\n{extra}\n'
    folder = models.add(name, config)
    shutil.copy(SOURCES / f"{source or name}.py", folder / "1" / "model.py")


def original_backends(folder: Path) -> Path:
    """Our backends, except for `python`, which is Triton's."""
    for source in backend_directory().iterdir():
        if source.name != "python":
            (folder / source.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / source.name).symlink_to(source)
    (folder / "python").symlink_to(prepare(folder.parent / "original").backends / "python")
    return folder


def write_files(folder: Path, row: Row) -> Files:
    """Writes the row's request and the right answer."""
    folder.mkdir(parents=True, exist_ok=True)
    shape = (row.responses,) if row.responses else row.model.shape
    values = np.arange(int(np.prod(shape)), dtype=np.float32) * np.float32(0.5) - np.float32(3)
    inputs = {row.model.input_name: values}
    wanted = values
    if row.model is ADD_SUB:
        inputs["INPUT1"] = values * 3
        wanted = values + inputs["INPUT1"]
    expect = folder / f"{row.model.name}.expect"
    expect.write_bytes(wanted.tobytes())
    body = folder / f"{row.model.name}-{row.protocol}.body"
    header = segments = None
    if row.shared:
        segments = Segments.of(row.model)
        segments.write(values.tobytes())
        body = folder / f"{row.model.name}-{row.protocol}-shared.body"
        body.write_bytes(shared_body(row, values, segments))
    elif row.responses:
        body.write_bytes(repeat_body(row.model, values))
    elif row.protocol == "grpc":
        body.write_bytes(_grpc_body(row.model, inputs))
    else:
        header = _write_http_body(body, row.model, inputs)
    return Files(body, expect, header, None, values.nbytes, segments)


def _grpc_body(model: Model, inputs: Mapping[str, np.ndarray]) -> bytes:
    request = service_pb2.ModelInferRequest(model_name=model.name)
    for name, array in inputs.items():
        request.inputs.add(name=name, datatype="FP32", shape=array.shape)
        request.raw_input_contents.append(array.tobytes())
    request.outputs.add(name=model.output_name)
    return request.SerializeToString()


def _write_http_body(path: Path, model: Model, inputs: Mapping[str, np.ndarray]) -> int:
    """Writes an HTTP body; returns the length of its JSON part."""
    tensors = [
        {
            "name": name,
            "shape": list(array.shape),
            "datatype": "FP32",
            "parameters": {"binary_data_size": array.nbytes},
        }
        for name, array in inputs.items()
    ]
    output = {"name": model.output_name, "parameters": {"binary_data": True}}
    head = json.dumps({"inputs": tensors, "outputs": [output]}).encode()
    path.write_bytes(head + b"".join(array.tobytes() for array in inputs.values()))
    return len(head)


class Measurement:
    """The settings that all rows of a run share."""

    def __init__(self, work: Path, tools: Tools, turns: int, options: Sequence[str]) -> None:
        self._work = work
        self._tools = tools
        self._turns = turns
        self._options = {
            "nereid": (*options, *shared_memory.OPTIONS["nereid"]),
            "original": shared_memory.OPTIONS["original"],
        }
        self._placement = machine.placements()["pinned"]
        self._repository = write_repository(work / "models")
        self._backends = original_backends(work / "original-backends")

    @contextmanager
    def _servers(self, *options: str) -> Iterator[dict[str, Contestant]]:
        """Both servers at once; the one without requests sleeps."""
        running: dict[str, Contestant] = {}
        try:
            for name in NAMES:
                running[name] = start(
                    name,
                    self._repository,
                    self._work,
                    self._placement,
                    ["--model-control-mode=explicit", *options, *self._options[name]],
                    self._backends,
                    ENVIRONMENT,
                )
            yield running
        finally:
            for server in running.values():
                server.stop()

    def rows(self, wanted: str) -> Iterator[dict[str, Any]]:
        """Measures throughput and latencies of both servers in turns."""
        chosen = [row for row in ROWS if wanted in row.key]
        if not chosen:
            return
        with self._servers(*(f"--load-model={name}" for name in SERVED)) as running:
            for row in chosen:
                yield self._row(row, running)

    def _row(self, row: Row, running: Mapping[str, Contestant]) -> dict[str, Any]:
        entries = {name: (row, running[name]) for name in NAMES}
        if row.key in BOUNDS:
            entries[BOUND] = (BOUNDS[row.key], running["nereid"])
        files = {name: write_files(self._work / "requests", entry[0]) for name, entry in entries.items()}
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in entries}
        for _ in range(self._turns):
            for name, (sent, server) in entries.items():
                segments = files[name].segments
                if segments is not None:
                    segments.register(server.http)
                address = server.address(sent.protocol)
                runs[name].append(
                    load(self._tools, sent, files[name], address, server.pid, self._placement)
                )
        return {
            "key": row.key,
            "model": row.model.name,
            "title": row.title,
            "protocol": row.protocol,
            "concurrency": row.concurrency,
            "runs": runs,
        }

    def starts(self) -> dict[str, dict[str, list[float]]]:
        """Seconds from the request to load a model with one instance to the answer."""
        found: dict[str, dict[str, list[float]]] = {}
        for how, options in STARTS.items():
            found[how] = {name: [] for name in NAMES}
            with self._servers(*options) as running:
                for _ in range(LOADS):
                    for name in NAMES:
                        found[how][name].append(_load_time(running[name].http))
        return found

    def memory(self) -> dict[str, dict[str, float]]:
        """MiB of a server's whole tree of processes, with no model and with ten idle instances."""
        found: dict[str, dict[str, float]] = {}
        with self._servers() as running:
            for name in NAMES:
                found[name] = {"none": machine.tree_mib(running[name].pid)}
                _control(running[name].http, "load", TEN)
                time.sleep(2)  # until work that follows the load is done
                found[name]["ten"] = machine.tree_mib(running[name].pid)
                _control(running[name].http, "unload", TEN)
        return found


def _load_time(address: str) -> float:
    begun = time.perf_counter()
    _control(address, "load", STARTED)
    elapsed = time.perf_counter() - begun
    _control(address, "unload", STARTED)
    poll_until("the model to be unloaded", lambda: _is_unloaded(address))
    return elapsed


def _is_unloaded(address: str) -> bool:
    index = raw_http.post(address, "/v2/repository/index").json()
    return any(one["name"] == STARTED and one.get("reason") == "unloaded" for one in index)


def _control(address: str, what: str, model: str) -> None:
    answer = raw_http.post(address, f"/v2/repository/models/{model}/{what}")
    if answer.status != 200:
        raise RuntimeError(f"{what} of {model}: {answer.error()}")


def aim_of(row: Mapping[str, Any]) -> float:
    """The aim for a measured row."""
    return SHARED_AIM if row["key"].endswith("/shared") else AIMS[row["model"]]


def middle_ratio(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return statistics.median(ours) / statistics.median(theirs)
