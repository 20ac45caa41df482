# SPDX-License-Identifier: Apache-2.0
"""OpenVINO's effects on the process: threads, memory, the cache, reloads; and Triton
server."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from conftest import ServerFactory
from differential import original_server
from frameworks import openvino_networks as networks
from frameworks.openvino_support import F32, Alone, Client, add_ir
from support import raw_http
from support.metrics import metric
from support.process_memory import resident
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "openvino").is_dir() or not networks.WHEEL.is_dir(),
    reason="the backend openvino is not staged: make stage BACKENDS=openvino",
)

FOUR = "max_batch_size: 8\ninstance_group { kind: KIND_CPU count: 4 }"
IMAGES = {"IMAGE": np.zeros((2, 3, 224, 224), np.float32)}
ROWS = {"X": np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)}
# The backend's own thread, which stops runs whose results nobody waits for.
WATCH = 1


@contextmanager
def load(server: ServerProcess, model: str, inputs: dict[str, np.ndarray]) -> Iterator[None]:
    """Four clients ask for answers all the time; each has had one when the body begins."""
    stop, failures = threading.Event(), []
    answered = threading.Semaphore(0)

    def run() -> None:
        try:
            with Client(server, "grpc") as client:
                while not stop.is_set():
                    client.infer(model, inputs)
                    answered.release()
        except Exception as error:
            failures.append(error)
            answered.release()

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(12):
        answered.acquire()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures, failures


def thread_names(server: ServerProcess) -> list[str]:
    folder = Path(f"/proc/{server.process.pid}/task")
    return [(task / "comm").read_text(encoding="utf-8").strip() for task in folder.iterdir()]


@pytest.mark.parametrize("streams", ["", "2"])
def test_four_instances_run_no_more_threads_than_processors(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path, streams: str
) -> None:
    networks.save_mlp(tmp_path / "mlp.onnx")
    parameters = {**F32, **({"NUM_STREAMS": streams} if streams else {})}
    add_ir(model_repository, "mlp", tmp_path / "mlp.onnx", FOUR, parameters)
    add_ir(model_repository, "other", tmp_path / "mlp.onnx", FOUR, parameters)
    options = ["--model-control-mode=explicit"]
    bare = server_factory(model_repository, *options)
    before = len(thread_names(bare))
    server = server_factory(model_repository, *options, "--load-model=mlp", "--load-model=other")
    with load(server, "mlp", ROWS), load(server, "other", ROWS):
        names = thread_names(server)
    instances = sum(name.startswith(("mlp_", "other_")) for name in names)
    assert instances == 8
    # Workers of TBB, which all models share. Besides, each graph has threads that only wait for
    # callbacks or streams; with one stream, a model has a graph for one row and one for the largest
    # batch as well.
    budget = len(os.sched_getaffinity(0))
    of_runtime = len(names) - before - instances - WATCH
    waiting_per_model = int(streams) + 1 if streams else 3 * 2
    assert of_runtime <= budget + 2 * waiting_per_model, sorted(names)


@pytest.mark.parametrize("streams", [1, 2])
def test_with_one_stream_threads_that_serve_connections_compute(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path, streams: int
) -> None:
    networks.save_mlp(tmp_path / "mlp.onnx")
    parameters = {**F32, "NUM_STREAMS": str(streams)}
    add_ir(model_repository, "mlp", tmp_path / "mlp.onnx", FOUR, parameters)
    # The highest limit, so that a slow machine does not matter.
    server = server_factory(model_repository, "--inline-execution-max-us=10000")
    expected = Alone(tmp_path / "mlp.onnx")(ROWS)["Y"]
    with Client(server, "http") as client:
        for _ in range(200):
            np.testing.assert_allclose(client.infer("mlp", ROWS)["Y"], expected, rtol=1e-4, atol=1e-5)
    inline = metric(server.metrics_url, "nereid_inline_execution_count", model="mlp")
    assert (inline > 0) == (streams == 1)


def test_four_instances_share_the_weights(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    networks.save_resnet18(tmp_path / "resnet18.onnx")
    used = []
    for name, count in (("one", 1), ("four", 4)):
        repository = ModelRepository(model_repository.root / name)
        text = f"max_batch_size: 8\ninstance_group {{ kind: KIND_CPU count: {count} }}"
        add_ir(repository, "resnet18", tmp_path / "resnet18.onnx", text)
        server = server_factory(repository)
        with load(server, "resnet18", IMAGES):
            used.append(resident(server))
        server.stop()
    assert used[1] <= 1.3 * used[0]


def test_a_compiled_model_comes_from_the_cache(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    networks.save_mlp(tmp_path / "mlp.onnx")
    cache = tmp_path / "cache"
    add_ir(model_repository, "mlp", tmp_path / "mlp.onnx")
    option = f"--backend-config=openvino,cache-dir={cache}"
    expected = Alone(tmp_path / "mlp.onnx")(ROWS)["Y"]
    found = []
    for damage in (False, False, True):
        if damage:
            for blob in cache.iterdir():
                blob.write_bytes(blob.read_bytes()[:100])
        server = server_factory(model_repository, option)
        found.append("from the cache" in server.log_text())
        with Client(server, "http") as client:
            np.testing.assert_allclose(client.infer("mlp", ROWS)["Y"], expected, rtol=1e-4, atol=1e-5)
    assert found == [False, True, False]


def test_reloads_under_load(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    networks.save_mlp(tmp_path / "mlp.onnx")
    for name in ("mlp", "other"):
        add_ir(model_repository, name, tmp_path / "mlp.onnx", FOUR, {**F32, "NUM_STREAMS": "2"})
    options = ["--model-control-mode=explicit", "--load-model=*"]
    server = server_factory(model_repository, *options)
    config = model_repository.root / "mlp" / "config.pbtxt"
    with load(server, "mlp", ROWS), load(server, "other", ROWS):
        for turn in range(4):
            config.write_text(config.read_text(encoding="utf-8") + f"# {turn}\n", encoding="utf-8")
            answer = raw_http.post(server.http_url, "/v2/repository/models/mlp/load", b"{}")
            assert answer.status == 200, answer.body


def test_the_original_server_answers_the_same(
    model_repository: ModelRepository, tmp_path: Path
) -> None:
    try:
        layout = original_server.prepare(tmp_path / "original")
    except original_server.OriginalMissing as missing:
        pytest.skip(str(missing))
    networks.save_mlp(tmp_path / "mlp.onnx")
    add_ir(model_repository, "mlp", tmp_path / "mlp.onnx", "max_batch_size: 8")
    add_ir(model_repository, "streams", tmp_path / "mlp.onnx", FOUR, {**F32, "NUM_STREAMS": "2"})
    add_ir(model_repository, "bare", tmp_path / "mlp.onnx")
    sequences = "max_batch_size: 8\nsequence_batching { oldest { max_candidate_sequences: 4 } }"
    add_ir(model_repository, "sums", networks.accumulator(), sequences)
    server = original_server.start_original(
        layout, model_repository.root, tmp_path / "log", backend_directory()
    )
    try:
        server.wait_for()
        expected = Alone(tmp_path / "mlp.onnx")(ROWS)["Y"]
        for protocol in ("http", "grpc"):
            with Client(server, protocol) as client:
                for model in ("mlp", "streams", "bare") * 3:
                    answer = client.infer(model, ROWS)["Y"]
                    np.testing.assert_allclose(answer, expected, rtol=1e-4, atol=1e-5)
                flags = {"sequence_id": 5, "sequence_start": True}
                one = {"INPUT": np.array([[1]], np.int32)}
                assert client.infer("sums", one, **flags)["OUTPUT"].item() == 101
                assert client.infer("sums", one, sequence_id=5)["OUTPUT"].item() == 102
                last = client.infer("sums", one, sequence_id=5, sequence_end=True)
                assert last["OUTPUT"].item() == 103
        with load(server, "streams", ROWS):
            pass
    finally:
        server.stop()
