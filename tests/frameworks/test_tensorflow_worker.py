# SPDX-License-Identifier: Apache-2.0
"""The worker processes of TensorFlow: they start and end with their models, and are restarted."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from tritonclient.utils import InferenceServerException

from conftest import ServerFactory
from frameworks.tensorflow_models import (
    BACKEND,
    PACKAGES,
    Client,
    TensorflowRepository,
    threads_of,
    worker_of,
    worker_pids,
)
from support import huge_pages, raw_http
from support.metrics import metric
from support.model_control import EXPLICIT
from support.poll import poll_until
from support.processors import only_one_processor
from support.repository import tensor_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = [
    pytest.mark.skipif(
        not (backend_directory() / "tensorflow").is_dir(),
        reason="the backend tensorflow is not staged: make stage BACKENDS=tensorflow",
    ),
    pytest.mark.skipif(
        not all(package.is_dir() for package in PACKAGES),
        reason="TensorFlow's Python package is not in build/deps: make stage BACKENDS=tensorflow",
    ),
]

X = {"x": np.ones((1, 64), np.float32)}
MANY_ROUNDS = {"rounds": np.array([10**12])}
ONE_INSTANCE = BACKEND + "instance_group { count: 1 kind: KIND_CPU }\n"
FOUR_INSTANCES = BACKEND + "instance_group { count: 4 kind: KIND_CPU }\n"
GRAPHDEF = (
    f"platform: \"tensorflow_graphdef\"\noutput [ {tensor_text('total', 'FP32', (-1, 3))} ]\n"
)
MIB = 1 << 20


@pytest.fixture
def repository(tmp_path: Path) -> TensorflowRepository:
    return TensorflowRepository(tmp_path / "models")


@pytest.fixture
def server(
    repository: TensorflowRepository, server_factory: ServerFactory
) -> Iterator[ServerProcess]:
    repository.add_network("mlp", ONE_INSTANCE)
    repository.add_network("slow", ONE_INSTANCE)
    return server_factory(repository)


def is_running(pid: int) -> bool:
    """Whether TensorFlow computes in it."""
    return any(name == "tf-run" and state == "R" for name, state in threads_of(pid).values())


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def answers(server: ServerProcess, model: str = "mlp") -> bool:
    try:
        Client(server, "http").infer(model, X)
    except InferenceServerException:
        return False
    return True


def test_only_the_requests_in_a_process_that_ends_fail(server: ServerProcess) -> None:
    old = worker_of(server, "slow")
    others = worker_of(server, "mlp")
    with ThreadPoolExecutor(1) as pool:
        doomed = pool.submit(lambda: Client(server, "grpc").infer("slow", MANY_ROUNDS))
        poll_until("the computation", lambda: is_running(old), 30)
        os.kill(old, signal.SIGABRT)
        with pytest.raises(InferenceServerException) as failed:
            doomed.result(30)
    assert "the TensorFlow process of model 'slow' ended by signal 6 (Aborted)" in str(failed.value)
    assert Client(server, "grpc").infer("slow", {"rounds": np.array([2])})["last"].shape == (64, 64)
    assert worker_of(server, "slow") != old
    assert worker_of(server, "mlp") == others
    assert answers(server)
    assert worker_pids(server, "Z") == []


def test_a_process_has_the_allocator_and_its_settings(server: ServerProcess) -> None:
    # The thread runs only where jemalloc serves the process and has read the worker's settings.
    names = {name for name, _ in threads_of(worker_of(server, "mlp")).values()}
    assert "jemalloc_bg_thd" in names


def test_a_process_that_ends_again_and_again_is_started_less_often(server: ServerProcess) -> None:
    os.kill(worker_of(server, "mlp"), signal.SIGKILL)
    poll_until("its end in the log", lambda: "is started again in 0 s" in server.log_text(), 10)
    poll_until("the next one", lambda: answers(server), 30)
    os.kill(worker_of(server, "mlp"), signal.SIGKILL)
    poll_until("its end in the log", lambda: "is started again in 1 s" in server.log_text(), 10)
    with pytest.raises(InferenceServerException) as failed:
        Client(server, "http").infer("mlp", X)
    assert "'mlp' ended by signal 9 (Killed) and is started again in 1 s" in str(failed.value)
    poll_until("the one after that", lambda: answers(server), 30)
    assert worker_pids(server, "Z") == []


def test_a_process_that_ends_while_nobody_asks_is_not_missed(server: ServerProcess) -> None:
    old = worker_of(server, "mlp")
    os.kill(old, signal.SIGKILL)
    poll_until("its end in the log", lambda: "ended by signal 9" in server.log_text(), 10)
    assert answers(server)


def executed_inline(server: ServerProcess) -> int:
    return int(metric(server.metrics_url, "nereid_inline_execution_count", model="mlp"))


# The highest limit, so that a slow machine does not matter.
INLINE = "--inline-execution-max-us=10000"


def test_on_one_processor_threads_that_serve_connections_wait_for_the_process(
    repository: TensorflowRepository, server_factory: ServerFactory
) -> None:
    repository.add_network("mlp", ONE_INSTANCE)
    with only_one_processor():
        server = server_factory(repository, INLINE)
    for _ in range(200):
        assert answers(server)
    before = executed_inline(server)
    assert before > 0
    os.kill(worker_of(server, "mlp"), signal.SIGKILL)
    poll_until("its end in the log", lambda: "ended by signal 9" in server.log_text(), 10)
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(answers, server)
        # The next process starts meanwhile, for which these threads must not wait.
        served = 0
        while not waits.done():
            assert raw_http.get(server.http_url, "/v2/health/live").status == 200
            served += 1
        assert waits.result()
    assert served > 5
    for _ in range(200):
        assert answers(server)
    assert executed_inline(server) > before + 50


@pytest.mark.skipif(len(os.sched_getaffinity(0)) == 1, reason="needs two processors")
def test_on_more_processors_they_do_not(
    repository: TensorflowRepository, server_factory: ServerFactory
) -> None:
    repository.add_network("mlp", ONE_INSTANCE)
    server = server_factory(repository, INLINE)
    for _ in range(200):
        assert answers(server)
    assert executed_inline(server) == 0


def test_other_files_do_not_take_the_place_of_the_models(
    server: ServerProcess, repository: TensorflowRepository
) -> None:
    version = repository.root / "mlp" / "1" / "model.savedmodel"
    version.rename(version.with_name("mlp"))
    (repository.root / "slow" / "1" / "model.savedmodel").rename(version)
    os.kill(worker_of(server, "mlp"), signal.SIGKILL)
    text = "could not load the model: its files have been replaced by others"
    poll_until("the refusal in the log", lambda: text in server.log_text(), 30)
    assert not answers(server)


def test_processes_end_with_their_models(
    repository: TensorflowRepository, server_factory: ServerFactory
) -> None:
    repository.add_network("mlp")
    server = server_factory(repository, EXPLICIT)
    assert worker_pids(server) == []
    client = Client(server, "http").client
    for _ in range(3):
        client.load_model("mlp")
        assert answers(server)
        (worker,) = worker_pids(server)
        client.unload_model("mlp")
        poll_until("its end", lambda pid=worker: not is_there(pid), 20)
    assert "ended by signal" not in server.log_text()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_server(server: ServerProcess, how: signal.Signals) -> None:
    workers = worker_pids(server)
    assert len(workers) == 2
    server.send_signal(how)
    server.process.wait(30)
    poll_until("their end", lambda: not any(map(is_there, workers)), 20)


def test_a_process_that_computes_ends_with_a_server_that_is_killed(server: ServerProcess) -> None:
    worker = worker_of(server, "slow")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(lambda: Client(server, "grpc").infer("slow", MANY_ROUNDS))
        poll_until("the computation", lambda: is_running(worker), 30)
        server.kill()
        with pytest.raises(InferenceServerException):
            asked.result(30)
    poll_until("its end", lambda: not is_there(worker), 20)


def test_signals_to_all_processes_are_for_the_server(server: ServerProcess) -> None:
    worker = worker_of(server, "mlp")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(worker, number)
    assert answers(server)
    assert worker_of(server, "mlp") == worker
    assert os.getpgid(worker) != os.getpgid(server.process.pid)


def test_a_process_gets_no_descriptors_of_the_server(server: ServerProcess) -> None:
    folder = Path(f"/proc/{worker_of(server, 'mlp')}/fd")
    assert all(int(fd.name) < 4 or "memfd:nereid" in os.readlink(fd) for fd in folder.iterdir())


def pool_threads(pid: int) -> int:
    return sum(name.startswith("tf_") for name, _ in threads_of(pid).values())


def resident(pid: int) -> int:
    (line,) = (
        line
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
        if line.startswith("Private_Dirty:")
    )
    return int(line.split()[1]) * 1024


def test_instances_share_threads_and_weights(
    repository: TensorflowRepository, server_factory: ServerFactory
) -> None:
    """Four instances have a thread each that waits for work; the pool, and the model, are one."""
    repository.add_network("mlp", ONE_INSTANCE)
    repository.add_network("mlp", FOUR_INSTANCES, name="four")
    server = server_factory(repository)

    def ask(model: str) -> None:
        client = Client(server, "http")
        for _ in range(50):
            client.infer(model, X)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(ask, ["mlp", "four"] * 4))
    one, four = worker_of(server, "mlp"), worker_of(server, "four")
    assert pool_threads(four) == pool_threads(one)
    assert len(threads_of(four)) == len(threads_of(one)) + 3
    names = [name for name, _ in threads_of(four).values()]
    budget = len(os.sched_getaffinity(0))
    assert names.count("tf-run") == 4
    assert sum(name == "tf_Compute" for name in names) <= budget
    assert resident(four) <= 1.3 * resident(one) + 4 * MIB


def test_threads_as_told(repository: TensorflowRepository, server_factory: ServerFactory) -> None:
    threads = {"TF_NUM_INTRA_THREADS": "3", "TF_NUM_INTER_THREADS": "2"}
    repository.add_network("mlp", ONE_INSTANCE, threads)
    server = server_factory(repository)
    server.wait_for_log("threads: within an operator 3; operators in parallel on 2 ")
    assert answers(server)


def test_operators_run_in_a_fixed_order_where_the_graph_allows(
    repository: TensorflowRepository, server_factory: ServerFactory
) -> None:
    """Not with control flow, nor where operators are to run in parallel."""
    repository.add_network("mlp")
    repository.add_network("text")
    repository.add_network("graph", GRAPHDEF)
    repository.add_network("slow")
    repository.add_network("mlp", None, {"TF_NUM_INTER_THREADS": "2"}, "pool")
    server = server_factory(repository)
    plans = dict(re.findall(r"model '(\w+)' version 1: TensorFlow .*threads: (.*)\"", server.log_text()))
    assert {name: plan.endswith(", in a fixed order") for name, plan in plans.items()} == {
        "mlp": True, "text": True, "graph": True, "slow": False, "pool": False
    }  # fmt: skip
    assert answers(server) and answers(server, "pool")
    assert Client(server, "grpc").infer("slow", {"rounds": np.array([2])})["last"].shape == (64, 64)


def huge_bytes(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return int(re.search(r"AnonHugePages:\s*(\d+) kB", rollup).group(1)) << 10


@pytest.mark.skipif(
    not huge_pages.allowed(), reason="this system gives programs no huge pages"
)
@pytest.mark.parametrize("allowed", [True, False])
def test_it_has_huge_pages_unless_they_are_turned_off(
    repository: TensorflowRepository, server_factory: ServerFactory, allowed: bool
) -> None:
    repository.add_network("mlp", ONE_INSTANCE)
    server = server_factory(repository, *([] if allowed else ["--huge-pages=false"]))
    Client(server, "http").infer("mlp", X)
    assert (huge_bytes(worker_of(server, "mlp")) > 0) == allowed
