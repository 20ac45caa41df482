# SPDX-License-Identifier: Apache-2.0
"""Models that cannot load: the reason is reported, and the other models are served."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving
from support.repository import ModelRepository
from support.server_process import ServerProcess

FIVE_MISTAKES = """
backend: "identity"
max_batch_size: -3
input [ { name: "INPUT0" data_type: TYPE_INVALID dims: [ 0 ] } ]
output [ { name: "" data_type: TYPE_FP32 dims: [ 1 ] }, { name: "OUTPUT1" data_type: TYPE_FP32 } ]
"""


def start_with_good_one(
    server_factory: ServerFactory, repository: ModelRepository
) -> ServerProcess:
    """Adds the model echo and starts a server that runs even if other models fail to load."""
    repository.add_identity("echo")
    server = server_factory(repository, "--exit-on-error=false", wait_for="/v2/health/live")
    assert_serving(server.http_url)
    return server


def reason(server: ServerProcess, model: str) -> str:
    """The reason in the repository index for a model that is not available."""
    for entry in raw_http.post(server.http_url, "/v2/repository/index").json():
        if entry["name"] == model:
            assert entry.get("state") == "UNAVAILABLE", entry
            return entry["reason"]
    raise AssertionError(f"{model} is not in the index")


def assert_not_served(server: ServerProcess, model: str) -> None:
    answer = raw_http.post(server.http_url, f"/v2/models/{model}/infer", b'{"inputs":[]}')
    assert answer.status == 404
    assert f"Request for unknown model: '{model}'" in answer.error()
    assert raw_http.get(server.http_url, f"/v2/models/{model}/ready").status != 200
    assert_serving(server.http_url)


def test_corrupt_onnx_file(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add("damaged", None)
    (folder / "1" / "model.onnx").write_bytes(b"\x08\x07this is no model\xff" * 50)
    server = start_with_good_one(server_factory, model_repository)
    assert "model.onnx" in reason(server, "damaged")
    assert_not_served(server, "damaged")


def test_empty_onnx_file(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    (model_repository.add("empty", None) / "1" / "model.onnx").write_bytes(b"")
    server = start_with_good_one(server_factory, model_repository)
    assert reason(server, "empty")
    assert_not_served(server, "empty")


def test_five_mistakes_are_told_at_once(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add("wrong", FIVE_MISTAKES)
    server = start_with_good_one(server_factory, model_repository)
    log = server.log_text()
    for words in (
        "'max_batch_size' must be non-negative value for wrong",
        "model input 'INPUT0' must specify 'data_type' for wrong",
        "model input 'INPUT0' dimension must be integer >= 1, or -1 to indicate a variable-size",
        "model output must specify 'name' for wrong",
        "model output 'OUTPUT1' must specify 'dims' for wrong",
    ):
        assert words in log, f"{words}\n{log}"
    for field in ("input[0].data_type", "input[0].dims[0]", "output[0].name", "output[1].dims"):
        assert field in log, f"{field}\n{log}"
    assert_not_served(server, "wrong")


def test_syntax_error_has_its_line(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add("typo", 'backend: "identity"\ninput [ { nmae: "INPUT0" } ]\n')
    server = start_with_good_one(server_factory, model_repository)
    log = server.log_text()
    assert re.search(r"config\.pbtxt:2:\d+", log), log
    assert "nmae" in log
    assert_not_served(server, "typo")


def test_backend_missing(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    model_repository.add_identity("orphan", backend="nonesuch")
    server = start_with_good_one(server_factory, model_repository)
    assert "unable to find backend library for backend 'nonesuch'" in reason(server, "orphan")
    assert_not_served(server, "orphan")


def test_backend_that_is_no_library(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("damaged", backend="damaged")
    (folder / "libtriton_damaged.so").write_text("not a shared object")
    server = start_with_good_one(server_factory, model_repository)
    assert "libtriton_damaged.so" in reason(server, "damaged")
    assert_not_served(server, "damaged")


def test_no_version(server_factory: ServerFactory, model_repository: ModelRepository) -> None:
    model_repository.add("empty", 'backend: "identity"\n', versions=())
    server = start_with_good_one(server_factory, model_repository)
    expected = "at least one version must be available under the version policy of model 'empty'"
    server.wait_for_log(expected)
    assert_not_served(server, "empty")


def test_folder_named_otherwise(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add("folder", 'name: "other"\nbackend: "identity"\n')
    server = start_with_good_one(server_factory, model_repository)
    assert (
        "unexpected directory name 'folder' for model 'other', directory name must equal model name"
        in server.log_text()
    )


def test_failed_model_keeps_the_server_from_being_ready(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("orphan", backend="nonesuch")
    server = start_with_good_one(server_factory, model_repository)
    assert raw_http.get(server.http_url, "/v2/health/ready").status == 503
    assert raw_http.get(server.http_url, "/v2/models/echo/ready").status == 200


def test_without_strict_readiness_it_is_ready(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    model_repository.add_identity("orphan", backend="nonesuch")
    server_factory(model_repository, "--exit-on-error=false", "--strict-readiness=false")


def test_failed_model_ends_the_start(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("orphan", backend="nonesuch")
    server = server_factory(model_repository, wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("creating server: Internal - failed to load all models")
    server.wait_for_log("nonesuch")


def test_same_model_in_two_repositories(server_factory: ServerFactory, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        ModelRepository(folder).add_identity("twin")
    ModelRepository(folders[0]).add_identity("echo")
    server = server_factory(folders, "--exit-on-error=false", wait_for="/v2/health/live")
    assert reason(server, "twin") == "model appears in two or more repositories"
    assert_not_served(server, "twin")


@pytest.mark.parametrize("name", ["model folder", "mödel", "a.b", "-x"])
def test_unusual_model_names(
    server_factory: ServerFactory, model_repository: ModelRepository, name: str
) -> None:
    model_repository.add_identity(name)
    server = start_with_good_one(server_factory, model_repository)
    index = raw_http.post(server.http_url, "/v2/repository/index").json()
    assert {"name": name, "version": "1", "state": "READY"} in index
