# SPDX-License-Identifier: Apache-2.0
"""The folder of one model in the place of a repository, as KServe lays it down."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
import tritonclient.http as triton

from conftest import ServerFactory
from support.infer import assert_serving
from support.repository import ModelRepository
from support.stage import server_binary


@pytest.fixture
def folder(model_repository: ModelRepository, tmp_path: Path) -> Path:
    """What a storage initialiser makes: mnt/models with a model's configuration and version."""
    place = tmp_path / "mnt" / "models"
    shutil.copytree(model_repository.add_identity("echo"), place)
    return place


def served(server_url: str) -> list[str]:
    client = triton.InferenceServerClient(server_url)
    try:
        return [entry["name"] for entry in client.get_model_repository_index()]
    finally:
        client.close()


def test_it_is_served_under_the_name_of_the_folder(
    server_factory: ServerFactory, folder: Path
) -> None:
    server = server_factory(folder)
    assert served(server.http_url) == ["models"]
    assert_serving(server.http_url, "models")
    server.wait_for_log(f"'{folder}' is the folder of one model, which is served as 'models'")


def test_its_configuration_may_name_it(server_factory: ServerFactory, folder: Path) -> None:
    with (folder / "config.pbtxt").open("a", encoding="utf-8") as config:
        config.write('name: "digits"\n')
    server = server_factory(folder)
    assert_serving(server.http_url, "digits")


def test_the_option_wins_over_the_environment_and_that_over_the_configuration(
    server_factory: ServerFactory, folder: Path
) -> None:
    with (folder / "config.pbtxt").open("a", encoding="utf-8") as config:
        config.write('name: "digits"\n')
    named = {"MODEL_NAME": "from-environment"}
    assert_serving(server_factory(folder, env=named).http_url, "from-environment")
    server = server_factory(folder, "--single-model-name=from-option", env=named)
    assert_serving(server.http_url, "from-option")


def test_it_can_be_unloaded_and_loaded_again(server_factory: ServerFactory, folder: Path) -> None:
    server = server_factory(
        folder, "--model-control-mode=explicit", "--load-model=*", "--single-model-name=m"
    )
    client = triton.InferenceServerClient(server.http_url)
    try:
        assert client.is_model_ready("m")
        client.unload_model("m", unload_dependents=False)
        client.load_model("m")
        assert client.is_model_ready("m")
    finally:
        client.close()


def test_a_name_that_no_model_can_have(server_factory: ServerFactory, folder: Path) -> None:
    server = server_factory(folder, "--single-model-name=a/b", wait_for=None)
    assert server.wait_exit() == 1
    server.wait_for_log("invalid model name 'a/b'")


def test_nereid_check_knows_it(folder: Path) -> None:
    command = [server_binary(), "check", "--single-model-name=mine", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("mine  (versions: 1)\n")
    assert 'name: "mine"  # given for this folder\n' in done.stdout
