# SPDX-License-Identifier: Apache-2.0
"""Where Triton places instances on simulated GPUs: as tests/e2e/test_gpus.py wants it of Nereid."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from differential.original_server import prepare, simulate_gpus, start_original
from support.gpus import (
    GROUPS,
    NONE_AVAILABLE,
    PLACES,
    add_groups,
    add_testing,
    places_in,
    simulated_gpus,
)
from support.infer import echo
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory


def start(models: ModelRepository, folder: Path, gpus: int, *options: str) -> ServerProcess:
    """Triton with that many GPUs, with the models of our backend testing."""
    layout = prepare(folder / "triton")
    simulate_gpus(layout, backend_directory() / "testing" / "simulated_cuda")
    environment = simulated_gpus(gpus, mb="128")
    server = start_original(
        layout,
        models.root,
        folder / "log",
        backend_directory(),
        options=["--exit-on-error=false", "--allow-gpu-metrics=false", *options],
        environment=environment,
    )
    server.wait_for("/v2/health/live")
    return server


@pytest.fixture(scope="module", params=PLACES)
def placed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[int, ServerProcess]]:
    gpus: int = request.param
    folder = tmp_path_factory.mktemp(f"gpus{gpus}")
    models = ModelRepository(folder / "models")
    add_groups(models)
    server = start(models, folder, gpus)
    yield gpus, server
    server.kill()


@pytest.mark.parametrize("model", PLACES[3])
def test_places(placed: tuple[int, ServerProcess], model: str) -> None:
    """Without any GPU, Triton names those that the configuration names; Nereid says that there is none."""
    gpus, server = placed
    expected = PLACES[gpus][model]
    found = places_in(server.log_text()).get(model, [])
    if expected == NONE_AVAILABLE and "gpus" in GROUPS[model]:
        assert f"of model {model} specifies invalid or unsupported gpu id" in server.log_text()
        assert not found
    elif isinstance(expected, str):
        assert f"of model {model} {expected}" in server.log_text()
        assert not found
    else:
        assert sorted(found) == sorted(expected)


def test_the_testing_backend_computes_on_a_gpu_there_too(tmp_path: Path) -> None:
    models = ModelRepository(tmp_path / "models")
    add_testing(models, "m", "gpu_identity", "instance_group { gpus: [ 1 ] }")
    server = start(models, tmp_path, 2)
    try:
        answer = echo(server.http_url, "m", (1.5, -2.0))
        assert answer.status == 200, answer.body
        assert answer.json()["outputs"][0]["data"] == [1.5, -2.0]
        assert answer.json()["parameters"]["gpu"] == 1
    finally:
        server.kill()


def test_the_limit_for_loading(tmp_path: Path) -> None:
    """The pool of Triton, taken at the start, is half of the GPU."""
    models = ModelRepository(tmp_path / "models")
    add_testing(models, "second", "places")
    limit = "--model-load-gpu-limit=0:0.3"
    try:
        server = start(models, tmp_path / "first", 1, limit)
    except AssertionError as ended:
        # On a loaded machine, Triton has crashed while it took the rejected instance down.
        if f"exit code {-signal.SIGSEGV}" not in str(ended):
            raise
        server = start(models, tmp_path / "second", 1, limit)
    try:
        server.wait_for_log(
            "can not create model 'second_0': memory limit set for GPU 0 has exceeded, "
            "model loading is rejected."
        )
    finally:
        server.kill()
