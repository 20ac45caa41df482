# SPDX-License-Identifier: Apache-2.0
"""Backends that are written in Python: backends/NAME/model.py, run by the Python backend's library.

The same backend runs with Triton's library, which only needs the server, and with ours, if it
is staged.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from differential.original_server import OriginalMissing, prepare

from support import raw_http
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import backend_directory, server_binary, stage_root

# It answers with an error text, because Triton's build returns no tensors under numpy 2.
BACKEND = """
import json
import os
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "IN", "data_type": "TYPE_INT32", "dims": [1]})
        config.add_output({"name": "OUT", "data_type": "TYPE_INT32", "dims": [1]})
        config.set_max_batch_size(0)
        return config

    def initialize(self, args):
        config = json.loads(args["model_config"])
        with open(os.path.join(pb_utils.get_model_dir(), "greeting.txt")) as file:
            self.greeting = file.read()
        self.said = [args["model_name"], config["runtime"], config["backend"]]

    def execute(self, requests):
        text = " ".join([self.greeting, *self.said, os.path.basename(os.path.dirname(__file__))])
        error = pb_utils.TritonError(text)
        return [pb_utils.InferenceResponse(output_tensors=[], error=error) for _ in requests]
"""
REQUEST = {"inputs": [{"name": "IN", "shape": [1], "datatype": "INT32", "data": [1]}]}


def add_model(models: ModelRepository, name: str, greeting: str, config: str) -> None:
    folder = models.add(name, config)
    (folder / "1" / "greeting.txt").write_text(greeting, encoding="utf-8")


@dataclass(frozen=True)
class Backends:
    """A backend directory with the Python backend and `greeter`, and its server's environment."""

    directory: Path
    env: dict[str, str]

    def start(self, models: ModelRepository, logs: Path, directory: str = "") -> ServerProcess:
        option = f"--backend-directory={directory or self.directory}"
        # The Python that runs the tests has numpy.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        server = start_nereid(models.root, logs, [option], {**self.env, "PATH": path})
        try:
            server.wait_for()
        except BaseException:
            server.kill()
            raise
        return server


def original_backends(folder: Path) -> Backends:
    """Triton's library needs the server's library under its name in the wheel."""
    try:
        layout = prepare(folder)
    except OriginalMissing as missing:
        pytest.skip(str(missing))
    wheels_name = (folder / "lib" / "libtritonserver.so").resolve().name
    ours = folder / "ours"
    ours.mkdir()
    (ours / wheels_name).symlink_to(stage_root() / "lib" / "libtritonserver.so")
    libraries = layout.library_path.split(os.pathsep)[-1]
    return Backends(layout.backends, {"LD_LIBRARY_PATH": f"{ours}{os.pathsep}{libraries}"})


def own_backends(folder: Path) -> Backends:
    staged = backend_directory() / "python"
    if not (staged / "libtriton_python.so").exists():
        pytest.skip("our Python backend is not staged")
    shutil.copytree(staged, folder / "backends" / "python", symlinks=True)
    return Backends(folder / "backends", {})


@pytest.fixture(scope="module", params=["original", "own"])
def greeter_backends(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Backends:
    make = {"original": original_backends, "own": own_backends}[request.param]
    backends = make(tmp_path_factory.mktemp("backends"))
    (backends.directory / "greeter").mkdir()
    (backends.directory / "greeter" / "model.py").write_text(BACKEND, encoding="utf-8")
    return backends


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> ModelRepository:
    models = ModelRepository(tmp_path_factory.mktemp("greeters") / "models")
    add_model(models, "found", "hello", 'backend: "greeter"')
    add_model(models, "named", "welcome", 'backend: "greeter" runtime: "model.py"')
    return models


@pytest.fixture(scope="module")
def greeter_server(
    greeter_backends: Backends, models: ModelRepository, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    server = greeter_backends.start(models, tmp_path_factory.mktemp("log"))
    yield server
    server.stop()


def error_of(url: str, model: str) -> str:
    return str(raw_http.post_json(url, f"/v2/models/{model}/infer", REQUEST).json()["error"])


def test_all_its_models_run_the_same_file(greeter_server: ServerProcess) -> None:
    url = greeter_server.http_url
    assert error_of(url, "found") == "hello found model.py greeter greeter"
    assert error_of(url, "named") == "welcome named model.py greeter greeter"


def test_what_runs_a_model_is_told(
    greeter_server: ServerProcess, greeter_backends: Backends
) -> None:
    config = raw_http.get(greeter_server.http_url, "/v2/models/found/config").json()
    assert (config["backend"], config["runtime"]) == ("greeter", "model.py")
    assert [tensor["name"] for tensor in config["input"]] == ["IN"]
    line = f"greeter  {greeter_backends.directory}/greeter/model.py"
    greeter_server.wait_for_log(line)


@pytest.mark.parametrize("spelled", ["{0}/", "{0}/../backends", "{parent}//backends", "{link}"])
def test_the_backend_directory_may_be_spelled_in_many_ways(
    spelled: str, greeter_backends: Backends, models: ModelRepository, tmp_path: Path
) -> None:
    directory = greeter_backends.directory
    link = tmp_path / "link"
    link.symlink_to(directory)
    text = spelled.format(directory, parent=directory.parent, link=link)
    server = greeter_backends.start(models, tmp_path / "log", text)
    try:
        assert error_of(server.http_url, "found") == "hello found model.py greeter greeter"
    finally:
        server.stop()


def test_check_knows_them(greeter_backends: Backends, models: ModelRepository) -> None:
    directory = greeter_backends.directory
    command = [server_binary(), "check", f"--backend-directory={directory}", models.root]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 0, checked.stdout
    file = f"{directory}/greeter/model.py"
    reason = f"there is no library of the backend, but '{file}'"
    assert f'  runtime: "model.py"  # {reason}\n' in checked.stdout
    library = f"{directory}/python/libtriton_python.so"
    assert f"note: backend 'greeter' is '{file}', run by '{library}'\n" in checked.stdout


def test_check_names_a_backend_that_is_missing(models: ModelRepository, tmp_path: Path) -> None:
    command = [server_binary(), "check", f"--backend-directory={tmp_path}", models.root]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert checked.returncode == 1
    assert "unable to find backend library for backend 'greeter'" in checked.stdout
    missing = "unable to find backend library 'libtriton_python.so' for model 'named'"
    assert missing in checked.stdout
