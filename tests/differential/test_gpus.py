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
    UUIDS,
    add_groups,
    add_testing,
    places_in,
    simulated_gpus,
)
from support.infer import echo
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory


def start(
    models: ModelRepository, folder: Path, gpus: int, *options: str, visible: str | None = None
) -> ServerProcess:
    """Triton with that many GPUs, with the models of our backend testing. `visible`: which of them the
    driver shows."""
    layout = prepare(folder / "triton")
    simulate_gpus(layout, backend_directory() / "testing" / "simulated_cuda")
    environment = simulated_gpus(gpus, mb="128")
    if visible is not None:
        environment["CUDA_VISIBLE_DEVICES"] = visible
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


@pytest.mark.parametrize("visible", ["2,0", UUIDS[1]])
def test_the_driver_shows_some_gpus(tmp_path: Path, visible: str) -> None:
    """Their numbers are those that remain, in both servers."""
    models = ModelRepository(tmp_path / "models")
    add_testing(models, "all", "places")
    add_testing(models, "first", "places", "instance_group { gpus: [ 0 ] }")
    theirs = start(models, tmp_path / "triton", 3, visible=visible)
    ours = start_nereid(
        models.root, tmp_path / "nereid", env={**simulated_gpus(3), "CUDA_VISIBLE_DEVICES": visible}
    )
    try:
        ours.wait_for("/v2/health/ready")
        theirs.wait_for("/v2/health/ready")
        places = places_in(ours.log_text())
        shown = range(len(visible.split(",")))
        assert sorted(places["all"]) == [f"all_0 on GPU {gpu}" for gpu in shown]
        assert places["first"] == ["first_0_0 on GPU 0"]
        assert {name: sorted(each) for name, each in places_in(theirs.log_text()).items()} == {
            name: sorted(each) for name, each in places.items()
        }
    finally:
        ours.stop()
        theirs.kill()


def test_gpus_that_are_too_old(tmp_path: Path) -> None:
    """What may be anywhere is on the CPU, and what has to be on a GPU is refused."""
    models = ModelRepository(tmp_path / "models")
    add_testing(models, "any", "places")
    add_testing(models, "must", "places", "instance_group { kind: KIND_GPU gpus: [ 0 ] }")
    option = "--min-supported-compute-capability=900.0"
    theirs = start(models, tmp_path / "triton", 2, option)
    ours = start_nereid(
        models.root, tmp_path / "nereid", ["--exit-on-error=false", option], simulated_gpus(2)
    )
    try:
        ours.wait_for("/v2/health/live")
        for server in (ours, theirs):
            server.wait_for_log("any_0 is on CPU 0")
            assert "must" not in places_in(server.log_text())
        theirs.wait_for_log("must_0 of model must specifies invalid or unsupported gpu id 0")
        assert f"must_0 of model must {NONE_AVAILABLE}" in ours.log_text()
    finally:
        ours.stop()
        theirs.kill()


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
