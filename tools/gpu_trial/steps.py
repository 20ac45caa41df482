# SPDX-License-Identifier: Apache-2.0
"""The five steps of a trial: what each checks."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from machine import TrialMachine, ask_nvidia, need_module
from outcomes import Cannot, Check

from support import raw_http
from support.cuda_memory import CudaMemory
from support.gpus import GROUPS, add_testing
from support.infer import echo
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory, server_binary

VALUES = [1.5, -2.0, 3.25]
LARGE = 4 << 20

TORCH_MODEL = """import numpy
import torch
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            values = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            there = torch.from_numpy(numpy.array(values)).to("cuda") * 2 + 1
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", there.cpu().numpy())]))
        return answers
"""


class Steps:
    """`triton`: an unpacked Triton with bin/tritonserver, or none. `seconds`: of each measurement."""

    def __init__(self, machine: TrialMachine, triton: Path | None, seconds: float) -> None:
        self.machine = machine
        self.triton = triton
        self.seconds = seconds
        self._repositories = 0

    def repository(self) -> ModelRepository:
        self._repositories += 1
        return ModelRepository(self.machine.folder / f"models{self._repositories}")

    # -- contract: the driver is as the tests take it to be --------------------------------------
    def driver_contract(self) -> Mapping[str, float]:
        program = self.machine.stage / "trial" / "driver_contract_test"
        if not program.exists():
            raise Cannot(f"there is no {program}: `trial.py pack` puts it there")
        env = {**os.environ, **self.machine.environment(), "NEREID_CUDA_LIBRARY": self.machine.library()}
        done = subprocess.run([program], capture_output=True, text=True, timeout=300, env=env)
        (self.machine.folder / "driver_contract.txt").write_text(done.stdout + done.stderr)
        if "[  SKIPPED ]" in done.stdout:
            raise Cannot(f"no driver: {done.stdout[-2000:]}")
        assert done.returncode == 0, done.stdout[-6000:]
        passed = re.search(r"\[  PASSED  \] (\d+) tests?", done.stdout)
        assert passed is not None, done.stdout[-2000:]
        return {"tests": float(passed.group(1))}

    def tensors(self) -> None:
        models = self.repository()
        for behaviour in ("gpu_identity", "gpu_batches"):
            add_testing(models, behaviour, behaviour, "instance_group { kind: KIND_GPU gpus: [ 0 ] }")
        with self.machine.server(models.root) as server:
            for behaviour in ("gpu_identity", "gpu_batches"):
                for _ in range(20):
                    answer = echo(server.http_url, behaviour, VALUES)
                    assert answer.status == 200, answer.body
                    assert answer.json()["outputs"][0]["data"] == VALUES

    def measurements(self) -> Mapping[str, float]:
        models = self.repository()
        models.add_identity("echo")
        with self.machine.server(models.root, "--metrics-interval-ms=100") as server:
            page = raw_http.get(server.metrics_url, "/metrics").body.decode()
            found = re.findall(r"^(nv_gpu_\w+)\{gpu_uuid=\"[^\"]+\"\} (\S+)", page, re.MULTILINE)
            if not found:
                raise Cannot("the server measures no GPU: " + _warnings(server))
        numbers = {name: float(value) for name, value in found}
        if not self.machine.simulated:
            told = float(ask_nvidia("memory.total")) * 2**20
            shown = numbers["nv_gpu_memory_total_bytes"]
            assert abs(shown - told) < 0.02 * told, f"nvidia-smi says {told}, the server {shown}"
        return numbers

    # -- triton: the same as Triton on the same GPU -----------------------------------------------
    def placement_like_triton(self) -> Mapping[str, float]:
        if self.triton is None:
            raise Cannot("Triton is not in the kit: give --triton=FOLDER, which has bin/tritonserver")
        models = self.repository()
        for name, groups in GROUPS.items():
            folder = models.add_identity(name, extra=groups, backend="python")
            source = "class TritonPythonModel:\n    def execute(self, requests):\n        return []\n"
            (folder / "1" / "model.py").write_text(source)
        command = [self.triton / "bin" / "tritonserver"]
        ours, theirs = (self._placed(models.root, words) for words in ([], command))
        different = {name: (ours[name], theirs[name]) for name in GROUPS if ours[name] != theirs[name]}
        assert not different, json.dumps(different, indent=1)
        return {"models": float(len(GROUPS))}

    def _placed(self, models: Path, command: Sequence[Path]) -> dict[str, Any]:
        """Of each model its instance groups; null for one that is not served."""
        python = f"--backend-config=python,python={sys.executable}"  # Triton's knows no such setting
        with self.machine.server(models, python, command=command) as server:
            placed = {}
            for name in GROUPS:
                answer = raw_http.get(server.http_url, f"/v2/models/{name}/config")
                groups = answer.json()["instance_group"] if answer.status == 200 else None
                placed[name] = groups and [
                    (each["kind"], each["count"], each.get("gpus", [])) for each in groups
                ]
            return placed

    # -- models: answers on the GPU are those of the CPU ------------------------------------------
    def python_with_torch(self) -> None:
        need_module("numpy")
        need_module("torch")
        import torch

        if not torch.cuda.is_available():
            raise Cannot("torch finds no GPU")
        models = self.repository()
        groups = "instance_group { kind: KIND_GPU }"
        folder = models.add_identity("m", extra=groups, backend="python")
        (folder / "1" / "model.py").write_text(TORCH_MODEL)
        python = f"--backend-config=python,python={sys.executable}"
        with self.machine.server(models.root, python) as server:
            answer = echo(server.http_url, "m", VALUES)
            assert answer.status == 200, answer.body
            assert answer.json()["outputs"][0]["data"] == [value * 2 + 1 for value in VALUES]

    def framework(self, backend: str) -> None:
        """A backend that has no code for GPUs says so when a model wants to be on one."""
        if not (backend_directory() / backend / f"libtriton_{backend}.so").exists():
            raise Cannot(f"the backend {backend} is not staged")
        models = self.repository()
        models.add_identity("m", extra="instance_group { kind: KIND_GPU }", backend=backend)
        with self.machine.server(models.root) as server:
            index = raw_http.post(server.http_url, "/v2/repository/index").json()
            reason = index[0].get("reason", "")
        if "computes on CPUs" in reason:
            raise Cannot(reason)
        raise AssertionError(f"the backend may compute on GPUs now, and this step has no model: {reason}")

    # -- memory: CUDA shared memory, and how busy the GPU is --------------------------------------
    def regions(self) -> Mapping[str, float]:
        with self.machine.driver() as driver, self._with_regions(driver) as (server, memory):
            for start in (0, 7):
                data = bytes((i * 31 + start) % 251 for i in range(4096)) * (LARGE // 4096)
                memory[0].write(data)
                self._infer_regions(server)
                assert memory[1].read() == data
        return {"bytes": float(LARGE)}

    def official_client(self) -> None:
        for name in ("numpy", "tritonclient.http", "cuda"):
            need_module(name)
        import numpy
        import tritonclient.http
        import tritonclient.utils.cuda_shared_memory as shared

        models = self.repository()
        add_testing(models, "m", "gpu_identity", "instance_group { gpus: [ 0 ] }")
        values = numpy.arange(1024, dtype=numpy.float32)
        with self.machine.server(models.root, "--allow-client-shm=true") as server:
            client = tritonclient.http.InferenceServerClient(server.http_url.removeprefix("http://"))
            region = shared.create_shared_memory_region("in", values.nbytes, 0)
            shared.set_shared_memory_region(region, [values])
            handle = shared.get_raw_handle(region)
            client.register_cuda_shared_memory("in", handle, 0, values.nbytes)
            tensor = tritonclient.http.InferInput("INPUT0", [1024], "FP32")
            tensor.set_shared_memory("in", values.nbytes)
            result = client.infer("m", [tensor])
            client.unregister_cuda_shared_memory()
            shared.destroy_shared_memory_region(region)
        assert (result.as_numpy("OUTPUT0") == values).all()

    def race(self) -> Mapping[str, float]:
        """Requests with 4 MiB each way that stay on the GPU, and for how much of the time it computed."""
        numbers: dict[str, float] = {}
        with self.machine.driver() as driver, self._with_regions(driver) as (server, _):
            for clients in (1, 2, 4):
                before = _computed_ns(server)
                began = time.monotonic()
                count = _repeat(lambda: self._infer_regions(server), clients, self.seconds)
                took = time.monotonic() - began
                numbers[f"requests_per_s_{clients}"] = count / took
                numbers[f"gpu_busy_{clients}"] = (_computed_ns(server) - before) / 1e9 / took
        return numbers

    def _with_regions(self, driver: Any) -> Any:
        return _Regions(self, driver)

    def _infer_regions(self, server: ServerProcess) -> None:
        def at(name: str) -> dict[str, Any]:
            return {"shared_memory_region": name, "shared_memory_byte_size": LARGE}

        tensor = {"name": "INPUT0", "datatype": "FP32", "shape": [LARGE // 4], "parameters": at("in")}
        output = {"name": "OUTPUT0", "parameters": at("out")}
        document = {"inputs": [tensor], "outputs": [output]}
        answer = raw_http.post_json(server.http_url, "/v2/models/m/infer", document)
        assert answer.status == 200, answer.body

    # -- cores: how small models on CPUs grow -----------------------------------------------------
    def cores(self) -> Mapping[str, float]:
        cpus = sorted(os.sched_getaffinity(0))
        models = self.repository()
        models.add_identity("echo", "FP32", (16,), extra="instance_group { count: 4 }")
        numbers: dict[str, float] = {}
        for count in (n for n in (1, 2, 4, 8, 16) if n <= len(cpus)):
            mine, others = cpus[:count], cpus[count:] or cpus
            with self.machine.server(models.root, cpus=mine) as server:
                numbers[f"requests_per_s_{count}"] = self._bench(server, others, 8 * count)
        numbers["cpus_of_the_machine"] = float(len(cpus))
        return numbers

    def _bench(self, server: ServerProcess, cpus: Sequence[int], concurrency: int) -> float:
        """The load comes from other CPUs as long as there are some."""
        command = [
            server_binary(),
            "bench",
            "echo",
            f"--url=grpc://{server.grpc_url}",
            f"--concurrency={concurrency}",
            f"--seconds={self.seconds}",
            "--warm-up-seconds=0.2",
            "--stability=0",
            "--json",
        ]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=60 + 10 * self.seconds,
            preexec_fn=lambda: os.sched_setaffinity(0, set(cpus)),
        )
        assert done.returncode == 0, done.stderr
        return float(json.loads(done.stdout)["rows"][0]["throughput"])

    def checks(self, step: str) -> list[tuple[str, Check]]:
        return self.all_checks()[step]

    def all_checks(self) -> dict[str, list[tuple[str, Check]]]:
        return {
            "contract": [
                ("driver contract", self.driver_contract),
                ("tensors through the GPU", self.tensors),
                ("measurements", self.measurements),
            ],
            "triton": [("placement like Triton", self.placement_like_triton)],
            "models": [
                ("python with torch", self.python_with_torch),
                ("onnxruntime", lambda: self.framework("onnxruntime")),
                ("pytorch", lambda: self.framework("pytorch")),
            ],
            "memory": [
                ("regions", self.regions),
                ("official client", self.official_client),
                ("race", self.race),
            ],
            "cores": [("cores", self.cores)],
        }


class _Regions:
    """A server with the model m and the regions in and out, of LARGE bytes each."""

    def __init__(self, steps: Steps, driver: Any) -> None:
        self._steps = steps
        self._driver = driver

    def __enter__(self) -> tuple[ServerProcess, list[CudaMemory]]:
        models = self._steps.repository()
        add_testing(models, "m", "gpu_batches", "instance_group { gpus: [ 0 ] }")
        self._memory = [CudaMemory(self._driver, LARGE) for _ in range(2)]
        self._context = self._steps.machine.server(models.root, "--allow-client-shm=true")
        server = self._context.__enter__()
        for name, memory in zip(("in", "out"), self._memory, strict=True):
            handle = {"raw_handle": {"b64": memory.handle.decode()}, "device_id": 0, "byte_size": LARGE}
            path = f"/v2/cudasharedmemory/region/{name}/register"
            answer = raw_http.post_json(server.http_url, path, handle)
            assert answer.status == 200, answer.body
        return server, self._memory

    def __exit__(self, *error: Any) -> None:
        self._context.__exit__(*error)  # before the memory, whose handles the server has open
        for memory in self._memory:
            memory.free()


def _computed_ns(server: ServerProcess) -> int:
    stats = raw_http.get(server.http_url, "/v2/models/m/stats").json()["model_stats"][0]
    return int(stats["inference_stats"]["compute_infer"]["ns"])


def _repeat(ask: Callable[[], None], clients: int, seconds: float) -> int:
    """How many calls `clients` threads made in that time."""
    until = time.monotonic() + seconds
    counts = [0] * clients
    errors: list[BaseException] = []

    def client(number: int) -> None:
        try:
            while time.monotonic() < until:
                ask()
                counts[number] += 1
        except BaseException as error:  # handed to the caller's thread
            errors.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return sum(counts)


def _warnings(server: ServerProcess) -> str:
    lines = [line for line in server.log_text().splitlines() if "GPU" in line]
    return "; ".join(lines) or "its log does not say why"
