# SPDX-License-Identifier: Apache-2.0
"""The interpreter and the packages of a Python model: packed environments, requirements.txt.

Needs no network, because the tests make their wheels. Uses the interpreters of this machine.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from conftest import ServerFactory
from support import raw_http
from support.poll import poll_until
from support.repository import ModelRepository, parameters_text
from support.server_process import ServerProcess
from support.stage import backend_directory

pytestmark = pytest.mark.skipif(
    not (backend_directory() / "python" / "libtriton_python.so").exists(),
    reason="the Python backend is not staged",
)

# Returns where it runs, and the answers of the packages that it can import.
MODEL = """
import importlib
import json
import os
import sys

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "PACKAGE", "data_type": "TYPE_STRING", "dims": [1]})
        config.add_output({"name": "TOLD", "data_type": "TYPE_STRING", "dims": [1]})
        config.set_max_batch_size(0)
        return config

    def execute(self, requests):
        return [self.tell(request) for request in requests]

    def tell(self, request):
        package = pb_utils.get_input_tensor_by_name(request, "PACKAGE").as_numpy()[0].decode()
        told = {
            "prefix": sys.prefix,
            "version": list(sys.version_info[:2]),
            "threads": os.environ.get("OMP_NUM_THREADS"),
            "virtual_env": os.environ.get("VIRTUAL_ENV"),
        }
        try:
            told["answer"] = importlib.import_module(package).ANSWER
        except ImportError as error:
            told["answer"] = str(error)
        tensor = pb_utils.Tensor("TOLD", np.array([json.dumps(told)], dtype=np.object_))
        return pb_utils.InferenceResponse([tensor])
"""


def add_model(models: ModelRepository, name: str, environment: str = "") -> Path:
    parameters = {"EXECUTION_ENV_PATH": environment} if environment else {}
    folder = models.add(name, 'backend: "python"\n' + parameters_text(parameters))
    (folder / "1" / "model.py").write_text(MODEL, encoding="utf-8")
    return folder


def ask(server: ServerProcess, model: str) -> dict[str, Any]:
    tensor = {"name": "PACKAGE", "shape": [1], "datatype": "BYTES", "data": ["tiny_package"]}
    path = f"/v2/models/{model}/infer"
    answer = raw_http.post_json(server.http_url, path, {"inputs": [tensor]})
    assert answer.status == 200, answer.body
    told: dict[str, Any] = json.loads(answer.json()["outputs"][0]["data"][0])
    return told


def settings(cache: Path, *others: str) -> list[str]:
    values = [f"python={sys.executable}", f"requirements-cache={cache}", *others]
    return [f"--backend-config=python,{value}" for value in values]


def make_environment(folder: Path, answer: int) -> Path:
    """A virtual environment with `tiny_package`, and with the numpy of the tests."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next((folder / "lib").glob("python*")) / "site-packages"
    (packages / "tiny_package.py").write_text(f"ANSWER = {answer}\n", encoding="utf-8")
    (packages / "borrowed.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n", encoding="utf-8")
    return folder


def make_wheel(wheels: Path, answer: int) -> None:
    wheels.mkdir(exist_ok=True)
    info = "tiny_package-1.0.dist-info"
    files = {
        "tiny_package.py": f"ANSWER = {answer}\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: tiny-package\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(wheels / "tiny_package-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            wheel.writestr(name, text)


def test_an_environment_is_used_where_it_is(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    folder = add_model(model_repository, "own", "$$TRITON_MODEL_DIRECTORY/venv")
    environment = make_environment(folder / "venv", 7)
    add_model(model_repository, "default")
    server = server_factory(model_repository, *settings(tmp_path / "cache"))
    told = ask(server, "own")
    assert (told["prefix"], told["answer"]) == (str(environment), 7)
    assert told["virtual_env"] == str(environment)
    assert told["threads"] is not None
    assert ask(server, "default")["answer"] == "No module named 'tiny_package'"
    log = server.log_text()
    assert f"Using Python execution env {environment}" in log
    assert f"(EXECUTION_ENV_PATH '{environment}')" in log
    assert not (tmp_path / "cache").exists()


def test_an_archive_is_unpacked_once_for_all_models_and_servers(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    environment = make_environment(tmp_path / "made here", 11)
    archive = tmp_path / "models" / "env.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(environment, arcname=".")
    for name in ("one", "two"):
        add_model(model_repository, name, "$$TRITON_MODEL_DIRECTORY/../env.tar.gz")
    options = settings(tmp_path / "cache")
    servers = [server_factory(model_repository, *options, wait_for=None) for _ in range(2)]
    prefixes = set()
    for server in servers:
        server.wait_for()
        for name in ("one", "two"):
            told = ask(server, name)
            assert told["answer"] == 11
            prefixes.add(told["prefix"])
    assert len(prefixes) == 1
    assert Path(prefixes.pop()).parent == tmp_path / "cache"
    logs = "".join(server.log_text() for server in servers)
    assert logs.count(f"unpacking '{archive}'") == 1
    assert logs.count(f"unpacked '{archive}' in ") == 1


def test_what_is_wrong_with_an_environment_is_said(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    add_model(model_repository, "lost", "$$TRITON_MODEL_DIRECTORY/missing")
    add_model(model_repository, "empty", "$$TRITON_MODEL_DIRECTORY")
    evil = tmp_path / "evil.tar"
    with tarfile.open(evil, "w") as tar:
        tar.addfile(tarfile.TarInfo("../outside"))
    add_model(model_repository, "evil", str(evil))
    server = server_factory(
        model_repository, "--exit-on-error=false", *settings(tmp_path / "cache"), wait_for=None
    )
    server.wait_for("/v2/health/live")
    index = raw_http.post_json(server.http_url, "/v2/repository/index", {}).json()
    reasons = {model["name"]: model["reason"] for model in index}
    assert "Failed to get the canonical path for " in reasons["lost"]
    assert "holds no bin/python3 that can be run" in reasons["empty"]
    assert "holds '../outside', which leads out of the folder" in reasons["evil"]
    assert not (tmp_path / "cache" / "outside").exists()


def test_requirements_are_not_installed_unasked(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    folder = add_model(model_repository, "needs")
    (folder / "1" / "requirements.txt").write_text("tiny_package\n", encoding="utf-8")
    server = server_factory(model_repository, *settings(tmp_path / "cache"))
    assert ask(server, "needs")["answer"] == "No module named 'tiny_package'"
    server.wait_for_log("--backend-config=python,install-requirements=true has it installed")


@pytest.mark.skipif(
    subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0,
    reason="this Python has no pip",
)
def test_requirements_are_installed_from_a_folder_of_wheels(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    make_wheel(tmp_path / "wheels", 42)
    for name in ("one", "two"):
        folder = add_model(model_repository, name)
        (folder / "requirements.txt").write_text("tiny_package==1.0\n", encoding="utf-8")
    options = settings(
        tmp_path / "cache", "install-requirements=true", f"wheelhouse={tmp_path / 'wheels'}"
    )
    # Without uv, which would need a setting for its cache; its arguments are tested elsewhere.
    path = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if not (Path(part) / "uv").exists()
    )
    server = server_factory(model_repository, *options, env={"PATH": path})
    first, second = ask(server, "one"), ask(server, "two")
    assert first["answer"] == second["answer"] == 42
    assert first["prefix"] == second["prefix"]
    assert server.log_text().count("Successfully installed tiny_package-1.0") == 1


def write_uv(folder: Path, lines: Sequence[str]) -> dict[str, str]:
    """Writes a program in place of uv; returns the environment with it on the PATH."""
    folder.mkdir(exist_ok=True)
    script = folder / "uv"
    script.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    script.chmod(0o755)
    return {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_a_killed_server_leaves_no_installer_and_no_half_environment(
    server_factory: ServerFactory, model_repository: ModelRepository, tmp_path: Path
) -> None:
    folder = add_model(model_repository, "needs")
    (folder / "requirements.txt").write_text("tiny_package\n", encoding="utf-8")
    options = settings(tmp_path / "cache", "install-requirements=true")
    note = tmp_path / "pid"
    hang = ['[ "$1" = venv ] && mkdir "$4/half"', f"echo $$ > {note}.new; mv {note}.new {note}"]
    env = write_uv(tmp_path / "bin", [*hang, "exec sleep 1000"])
    server = server_factory(model_repository, *options, env=env, wait_for=None)
    poll_until("the installer", note.exists, explain=server.log_text)
    installer = os.pidfd_open(int(note.read_text(encoding="utf-8")))
    server.kill()
    # A process descriptor becomes readable when the process has ended.
    assert select.select([installer], [], [], 30.0)[0], "the installer lives on"
    os.close(installer)
    assert list((tmp_path / "cache").glob("installed-*/half"))

    packages = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    install = [
        'if [ "$1" = venv ]; then',
        f'[ ! -e "$4/half" ] && exec {sys.executable} -m venv --without-pip "$4"; exit 1',
        "fi",
        f'echo "ANSWER = 5" > "$(dirname "$4")/../{packages}/tiny_package.py"',
    ]
    env = write_uv(tmp_path / "bin", install)
    server = server_factory(model_repository, *options, env=env)
    told = ask(server, "needs")
    assert told["answer"] == 5
    assert Path(told["prefix"]).parent == tmp_path / "cache"
