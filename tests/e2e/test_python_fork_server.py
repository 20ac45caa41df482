# SPDX-License-Identifier: Apache-2.0
"""Processes of Python models that are forked from a prepared one: that they are separate, have their
own number of threads, outlive the prepared process, and end with the server."""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import ServerFactory
from support import raw_http
from support.nereid import INTERPRETER
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "python" / "libtriton_python.so").exists(),
    reason="the Python backend is not staged",
)

# Tells about its process. Waits until as many requests run as X says, so that several instances have
# to work at a time.
MODEL = """
import json
import os
import random
import time
from pathlib import Path

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        self.marks = Path(args["model_repository"]) / "marks"
        self.marks.mkdir(exist_ok=True)

    def execute(self, requests):
        (request,) = requests
        wanted = int(pb_utils.get_input_tensor_by_name(request, "X").as_numpy()[0])
        (self.marks / str(os.getpid())).touch()
        deadline = time.monotonic() + 20
        while len(list(self.marks.iterdir())) < wanted:
            if time.monotonic() > deadline:
                raise RuntimeError("the other instances do not work")
            time.sleep(0.001)
        square = np.ones((400, 400))
        told = {
            "pid": os.getpid(),
            "numpy random": np.random.rand(),
            "random": random.random(),
            "right": bool((square @ square == 400).all()),
            "variables": {name: os.environ.get(name) for name in %s},
            "threads": len(os.listdir("/proc/self/task")),
            "command": Path("/proc/self/cmdline").read_bytes().split(b"\\0")[3].decode(),
        }
        tensor = pb_utils.Tensor("TOLD", np.array([json.dumps(told)], dtype=np.object_))
        return [pb_utils.InferenceResponse([tensor])]
"""
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
TENSORS = """
input { name: "X" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "TOLD" data_type: TYPE_STRING dims: [ 1 ] }
"""
SECONDS = 60.0


def add_model(models: ModelRepository, name: str, instances: int) -> None:
    group = f"instance_group {{ kind: KIND_CPU count: {instances} }}\n"
    folder = models.add(name, 'backend: "python"\n' + TENSORS + group)
    (folder / "1" / "model.py").write_text(MODEL % (VARIABLES,), encoding="utf-8")


def ask(server: ServerProcess, model: str, at_once: int = 1) -> list[dict[str, Any]]:
    """What `at_once` instances tell, which work at the same time."""
    tensor = {"name": "X", "shape": [1], "datatype": "INT32", "data": [at_once]}
    path = f"/v2/models/{model}/infer"

    def one(_: int) -> dict[str, Any]:
        body = json.dumps({"inputs": [tensor]}).encode()
        answer = raw_http.request(server.http_url, "POST", path, body, timeout=SECONDS)
        assert answer.status == 200, answer.body
        told: dict[str, Any] = json.loads(answer.json()["outputs"][0]["data"][0])
        return told

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(one, range(at_once)))


def unload(server: ServerProcess, model: str, times: int = 1) -> None:
    """Unloads a model, for the `times`-th time in the life of the server."""
    raw_http.post_json(server.http_url, f"/v2/repository/models/{model}/unload", {})
    poll_until(
        "the model to be unloaded",
        lambda: server.log_text().count(f"successfully unloaded '{model}'") == times,
        SECONDS,
        server.log_text,
    )


def forget_processes(models: ModelRepository, name: str) -> None:
    """Makes the next requests wait for each other again."""
    for mark in (models.root / name / "marks").iterdir():
        mark.unlink()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def fork_servers(server: ServerProcess) -> list[int]:
    """The prepared processes of a server."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = parent_of(int(folder.name))
        except (OSError, ValueError):
            continue
        if parent == server.process.pid and b"--fork-server" in words:
            found.append(int(folder.name))
    return found


def test_instances_are_processes_of_their_own(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 4)
    server = server_factory(model_repository, INTERPRETER)
    told = ask(server, "m", 4)
    assert len(fork_servers(server)) == 1
    for what in ("pid", "numpy random", "random"):
        assert len({one[what] for one in told}) == 4, what
    assert all(one["right"] for one in told)
    # One is the process that completed the configuration.
    titles = sorted(one["command"] for one in told)
    assert titles[0] == "m"
    assert set(titles[1:]) < {"m_0_0", "m_0_1", "m_0_2", "m_0_3"}


def test_processes_have_their_own_number_of_threads(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    cpus = len(os.sched_getaffinity(0))
    add_model(model_repository, "alone", 1)
    add_model(model_repository, "crowd", 2 * cpus)
    server = server_factory(
        model_repository, INTERPRETER, "--model-control-mode=explicit", "--load-model=crowd"
    )
    raw_http.post_json(server.http_url, "/v2/repository/models/alone/load", {})
    assert len(fork_servers(server)) == 1
    (alone,) = ask(server, "alone")
    crowd = ask(server, "crowd", 2 * cpus)
    assert alone["variables"] == dict.fromkeys(VARIABLES, str(cpus))
    assert alone["threads"] == cpus, "OpenBLAS has the threads of the share"
    for one in crowd:
        assert one["variables"] == dict.fromkeys(VARIABLES, "1")
        assert one["threads"] == 1


def test_processes_outlive_the_prepared_one(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 3)
    server = server_factory(model_repository, INTERPRETER)
    before = {one["pid"] for one in ask(server, "m", 3)}
    (prepared,) = fork_servers(server)
    os.kill(prepared, signal.SIGKILL)
    poll_until(
        "another fork server",
        lambda: fork_servers(server) not in ([], [prepared]),
        SECONDS,
        server.log_text,
    )
    forget_processes(model_repository, "m")
    assert {one["pid"] for one in ask(server, "m", 3)} == before
    # A process that ends is replaced by one that is forked from the new one.
    os.kill(max(before), signal.SIGKILL)
    forget_processes(model_repository, "m")
    poll_until(
        "the end to be noticed",
        lambda: "the process of Python model 'm' ended by signal 9" in server.log_text(),
        SECONDS,
        server.log_text,
    )
    assert len({one["pid"] for one in ask(server, "m", 3)} - before) == 1


def test_a_python_that_starts_threads_is_not_forked(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    threads = "import threading, time\nthreading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()\n"
    (tmp_path / "sitecustomize.py").write_text(threads, encoding="utf-8")
    add_model(model_repository, "m", 3)
    server = server_factory(model_repository, INTERPRETER, env={"PYTHONPATH": str(tmp_path)})
    assert len({one["pid"] for one in ask(server, "m", 3)}) == 3
    assert fork_servers(server) == []
    assert (
        "processes are started one by one: 2 threads run after numpy is imported"
        in server.log_text()
    )


def test_forking_can_be_turned_off(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 3)
    server = server_factory(
        model_repository, INTERPRETER, "--backend-config=python,fork-server=false"
    )
    assert len({one["pid"] for one in ask(server, "m", 3)}) == 3
    assert fork_servers(server) == []
    assert "fork server" not in server.log_text()


def test_processes_exit_by_themselves_when_their_model_is_unloaded(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 3)
    server = server_factory(
        model_repository,
        INTERPRETER,
        "--model-control-mode=explicit",
        "--load-model=m",
        "--log-verbose=1",
        "--backend-config=python,fork-server-keep-seconds=0",
    )
    ask(server, "m", 3)
    unload(server, "m")
    log = server.log_text()
    assert log.count("the process exited with status 0") == 3, log
    assert fork_servers(server) == []


def test_a_model_that_is_loaded_again_is_forked(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 1)
    server = server_factory(
        model_repository, INTERPRETER, "--model-control-mode=explicit", "--load-model=m"
    )
    ask(server, "m")
    assert fork_servers(server) == [], "one instance needs no prepared process"
    unload(server, "m")
    pids = set()
    for times in (2, 3):
        raw_http.post_json(server.http_url, "/v2/repository/models/m/load", {})
        (prepared,) = fork_servers(server)
        (told,) = ask(server, "m")
        assert parent_of(told["pid"]) == server.process.pid
        unload(server, "m", times)
        assert not Path(f"/proc/{told['pid']}").exists()
        pids.add(prepared)
    assert len(pids) == 1, "the prepared process has stayed"
    server.stop()
    assert not Path(f"/proc/{pids.pop()}").exists()


def test_a_kept_process_ends_with_a_killed_server(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 2)
    server = server_factory(
        model_repository, INTERPRETER, "--model-control-mode=explicit", "--load-model=m"
    )
    unload(server, "m")
    (prepared,) = fork_servers(server)
    server.process.kill()
    poll_until("its end", lambda: not Path(f"/proc/{prepared}").exists(), SECONDS)


def test_a_kept_process_ends_after_its_time(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    add_model(model_repository, "m", 2)
    server = server_factory(
        model_repository,
        INTERPRETER,
        "--model-control-mode=explicit",
        "--load-model=m",
        "--backend-config=python,fork-server-keep-seconds=1",
    )
    (prepared,) = fork_servers(server)
    unload(server, "m")
    poll_until("its end", lambda: not Path(f"/proc/{prepared}").exists(), SECONDS, server.log_text)
    # Nothing is wrong with another start.
    raw_http.post_json(server.http_url, "/v2/repository/models/m/load", {})
    assert len({one["pid"] for one in ask(server, "m", 2)}) == 2
    assert len(fork_servers(server)) == 1
