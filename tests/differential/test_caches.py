# SPDX-License-Identifier: Apache-2.0
"""Caches of one server in the other: ours in Triton, and Triton's in ours."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from differential.original_server import INSTALL_FOLDER, prepare, start_original
from support import raw_http
from support.infer import echo
from support.metrics import metric
from support.nereid import start_nereid
from support.poll import poll_until
from support.redis import RedisServer
from support.repository import ModelRepository
from support.server_process import LOOPBACK, ServerProcess
from support.stage import backend_directory, stage_root


@pytest.fixture
def models(tmp_path: Path) -> ModelRepository:
    repository = ModelRepository(tmp_path / "models")
    repository.add_identity("echo", extra="response_cache { enable: true }")
    return repository


def assert_answers_from_the_cache(server: ServerProcess) -> None:
    """Checks that the first request is executed and the others are hits, with right answers."""

    def hits() -> int:
        answer = raw_http.get(server.http_url, "/v2/models/echo/stats").json()["model_stats"][0]
        return int(answer["inference_stats"]["cache_hit"]["count"])

    def is_kept() -> bool:
        assert echo(server.http_url, values=(1.0, 2.0)).json()["outputs"][0]["data"] == [1.0, 2.0]
        return hits() > 0

    poll_until("a hit", is_kept)
    before = hits()
    for _ in range(5):
        answer = echo(server.http_url, values=(1.0, 2.0)).json()
        assert answer["outputs"][0]["data"] == [1.0, 2.0]
        assert answer["outputs"][0]["shape"] == [2]
    assert hits() == before + 5
    assert echo(server.http_url, values=(3.0,)).json()["outputs"][0]["data"] == [3.0]
    assert metric(server.metrics_url, "nv_cache_num_hits_per_model", model="echo") == hits()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    started = RedisServer(tmp_path / "redis")
    yield started
    started.stop()


def original_with_our_caches(tmp_path: Path, models: ModelRepository, *options: str) -> None:
    server = start_original(
        prepare(tmp_path / "original"),
        models.root,
        tmp_path / "log",
        backend_directory(),
        None,
        [f"--cache-directory={stage_root() / 'caches'}", *options],
    )
    try:
        server.wait_for()
        assert_answers_from_the_cache(server)
    finally:
        server.kill()


def test_our_local_cache_in_the_original(tmp_path: Path, models: ModelRepository) -> None:
    original_with_our_caches(tmp_path, models, "--cache-config=local,size=1000000")


def test_our_redis_cache_in_the_original(
    tmp_path: Path, models: ModelRepository, redis: RedisServer
) -> None:
    original_with_our_caches(
        tmp_path,
        models,
        f"--cache-config=redis,host={LOOPBACK}",
        f"--cache-config=redis,port={redis.port}",
    )


def test_the_originals_local_cache_in_ours(tmp_path: Path, models: ModelRepository) -> None:
    """The cache needs the server's library under its name in the wheel."""
    library = "libtritoncache_local.so"
    found = list(INSTALL_FOLDER.glob(f"pytriton/tritonserver/caches/local/{library}"))
    assert found, "Triton is not installed: tools/setup.sh --test"
    caches = tmp_path / "caches"
    (caches / "local").mkdir(parents=True)
    # A copy, because in its own folder it would find Triton's library first.
    shutil.copyfile(found[0], caches / "local" / library)
    names = tmp_path / "lib"
    names.mkdir()
    (wheel_library,) = (INSTALL_FOLDER / "nvidia_pytriton.libs").glob("libtritonserver*.so")
    (names / wheel_library.name).symlink_to(stage_root() / "lib" / "libtritonserver.so")
    server = start_nereid(
        models.root,
        tmp_path / "log",
        [f"--cache-directory={caches}", "--cache-config=local,size=1000000"],
        {"LD_LIBRARY_PATH": str(names)},
    )
    try:
        server.wait_for()
        assert_answers_from_the_cache(server)
        poll_until(
            "the gauges of Triton's cache",
            lambda: metric(server.metrics_url, "nv_cache_num_entries") > 0,
        )
    finally:
        server.stop()
