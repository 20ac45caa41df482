# SPDX-License-Identifier: Apache-2.0
"""All four frameworks in one server and in one ensemble, while models are reloaded."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.http

from support.nereid import start_nereid
from support.repository import ModelRepository, tensor_text
from support.server_process import ServerProcess
from support.stage import PROJECT_ROOT, backend_directory

sys.path.insert(0, str(PROJECT_ROOT / "bench"))  # the networks are those of the race

FRAMEWORKS = ("onnxruntime", "openvino", "pytorch", "tensorflow")
# `tools/dev frameworks-test` gives it a minute.
SECONDS = float(os.environ.get("NEREID_SIDE_BY_SIDE_SECONDS", "10"))
SHAPE = (16, 64)
NETWORKS = ("mlp", "transformer")

pytestmark = pytest.mark.skipif(
    any(not (backend_directory() / name).is_dir() for name in FRAMEWORKS),
    reason="not all backends are staged: make stage BACKENDS='openvino pytorch tensorflow'",
)


@dataclass(frozen=True)
class Asked:
    """A model with the names of its input and output, and the shape of a row."""

    model: str
    given: str
    taken: str
    shape: tuple[int, ...]

    def ask(self, client: tritonclient.grpc.InferenceServerClient, values: np.ndarray) -> np.ndarray:
        tensor = tritonclient.grpc.InferInput(self.given, list(values.shape), "FP32")
        tensor.set_data_from_numpy(values)
        return client.infer(self.model, [tensor]).as_numpy(self.taken)

    def inputs(self, count: int) -> list[np.ndarray]:
        random = np.random.default_rng(len(self.model))
        return [random.standard_normal((1, *self.shape), np.float32) for _ in range(count)]


def ensemble_text(steps: list[Asked]) -> str:
    """x goes through the models in turn; y is what the last one gives."""
    names = ["x", *(f"step{i}" for i in range(1, len(steps))), "y"]
    lines = ", ".join(
        f'{{ model_name: "{step.model}" model_version: -1 '
        f'input_map {{ key: "{step.given}" value: "{before}" }} '
        f'output_map {{ key: "{step.taken}" value: "{after}" }} }}'
        for step, before, after in zip(steps, names, names[1:])
    )
    return (
        'platform: "ensemble"\nmax_batch_size: 8\n'
        f'input [ {tensor_text("x", "FP32", SHAPE)} ]\noutput [ {tensor_text("y", "FP32", SHAPE)} ]\n'
        f"ensemble_scheduling {{ step [ {lines} ] }}\n"
    )


@dataclass(frozen=True)
class Repository:
    """Two networks of each framework, and an ensemble of the transformers."""

    root: Path
    steps: list[Asked]
    models: list[Asked]  # all, the ensemble last

    def change(self, model: str) -> None:
        """So that the next load of the model is a load."""
        for path in (self.root / model / "1").rglob("*"):
            os.utime(path)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    from racetrack.entrants import Builder

    folder = tmp_path_factory.mktemp("side_by_side")
    builder = Builder(folder / "models", folder / "work", instances=2)
    models = [
        Asked(
            entrant.model.name,
            entrant.model.input_name,
            entrant.model.output_name,
            entrant.model.shape[1:],
        )
        for name in FRAMEWORKS
        for entrant in builder.build(name)
        if entrant.network in NETWORKS
    ]
    steps = [asked for asked in models if asked.model.endswith("transformer")]
    assert len(steps) == len(FRAMEWORKS)
    ModelRepository(folder / "models").add("all_of_them", ensemble_text(steps))
    return Repository(folder / "models", steps, [*models, Asked("all_of_them", "x", "y", SHAPE)])


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, repository: Repository
) -> Iterator[ServerProcess]:
    options = ["--model-control-mode=explicit"]
    options += [f"--load-model={asked.model}" for asked in repository.models]
    running = start_nereid(repository.root, tmp_path_factory.mktemp("log"), options)
    try:
        running.wait_for(seconds=180)
        yield running
    finally:
        running.stop()


def test_the_ensemble_is_what_its_members_are(
    server: ServerProcess, repository: Repository
) -> None:
    whole = repository.models[-1]
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        for values in whole.inputs(4):
            flow = values
            for step in repository.steps:
                flow = step.ask(client, flow)
            assert np.ptp(flow) > 0.5
            np.testing.assert_allclose(whole.ask(client, values), flow, rtol=1e-4, atol=1e-4)


def test_all_under_load_while_models_are_loaded_anew(
    server: ServerProcess, repository: Repository
) -> None:
    """Every answer is right; in batches of other sizes the last digits differ."""
    expected = {}
    with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
        for asked in repository.models:
            expected[asked.model] = [(v, asked.ask(client, v)) for v in asked.inputs(4)]
    end = time.monotonic() + SECONDS
    stop = threading.Event()

    def ask(asked: Asked) -> int:
        count = 0
        with tritonclient.grpc.InferenceServerClient(server.grpc_url) as client:
            while time.monotonic() < end:
                values, answer = expected[asked.model][count % 4]
                np.testing.assert_allclose(
                    asked.ask(client, values), answer, rtol=1e-3, atol=1e-3
                )
                count += 1
        return count

    def load_anew() -> int:
        count = 0
        with tritonclient.http.InferenceServerClient(
            server.http_url, network_timeout=120
        ) as client:
            while not stop.is_set():
                model = repository.models[count % len(repository.models)].model
                repository.change(model)
                client.load_model(model)
                count += 1
        return count

    with ThreadPoolExecutor(len(repository.models) + 1) as pool:
        loads = pool.submit(load_anew)
        asking = [pool.submit(ask, asked) for asked in repository.models]
        try:
            counts = [one.result() for one in asking]
        finally:
            stop.set()
        assert loads.result() > 0
    assert min(counts) > 0
