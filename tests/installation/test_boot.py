# SPDX-License-Identifier: Apache-2.0
"""The service under a real systemd: `tools/dev boot-check`, which takes more time than CI has."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import raw_http
from support.booted_root import BootedRoot
from support.minimal_root import MinimalRoot, minimal_archive
from support.ports import free_port
from support.stage import EXAMPLE_MODELS

pytestmark = [
    pytest.mark.skipif("NEREID_BOOT" not in os.environ, reason="tools/dev boot-check runs it"),
    pytest.mark.timeout(600),
]

INSTALLED = (
    "nereid",
    "libtritonserver",
    "nereid-backend-onnxruntime",
    "nereid-backend-python",
)
# A container has no devices to make.
IN_CONTAINER = "[Service]\nPrivateDevices=no\n"


# A model that says what its process may do.
MODEL = """
import os
import numpy as np
import triton_python_backend_utils as pb


def may_write(folder):
    return os.access(folder, os.W_OK)


class TritonPythonModel:
    def execute(self, requests):
        found = [may_write(folder) for folder in ("/usr", "/home", "/etc", "/tmp")]
        return [pb.InferenceResponse([pb.Tensor("MAY_WRITE", np.array(found))]) for _ in requests]
"""


def write_python_model(model: Path) -> None:
    (model / "1").mkdir(parents=True)
    (model / "1/model.py").write_text(MODEL)
    (model / "config.pbtxt").write_text(
        'backend: "python"\ninput { name: "IN" data_type: TYPE_BOOL dims: 1 }\n'
        'output { name: "MAY_WRITE" data_type: TYPE_BOOL dims: 4 }\n'
        "instance_group { count: 2 kind: KIND_CPU }\n"
    )


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def booted(
    tmp_path_factory: pytest.TempPathFactory, packages: dict[str, Path], port: int
) -> Iterator[BootedRoot]:
    archive = minimal_archive("--include=systemd,systemd-sysv,dbus")
    root = MinimalRoot(tmp_path_factory.mktemp("boot"), archive)
    root.path.chmod(0o755)
    root.install([packages[name] for name in INSTALLED])
    models = root.path / "var/lib/nereid/models"
    shutil.copytree(EXAMPLE_MODELS / "digits", models / "digits")
    write_python_model(models / "sandboxed")
    settings = root.path / "etc/default/nereid"
    options = f"\\g<0> --http-port={port} --allow-grpc=false --allow-metrics=false"
    text = re.sub("^NEREID_OPTIONS=.*", options, settings.read_text(), flags=re.MULTILINE)
    settings.write_text(text)
    override = root.path / "etc/systemd/system/nereid.service.d/container.conf"
    override.parent.mkdir()
    override.write_text(IN_CONTAINER)
    try:
        running = BootedRoot(root)
    except RuntimeError as error:
        pytest.skip(str(error))
    yield running
    running.stop()


def properties(booted: BootedRoot, *names: str) -> dict[str, str]:
    shown = booted.run("systemctl", "show", "nereid", *(f"--property={name}" for name in names))
    return dict(line.split("=", 1) for line in shown.stdout.splitlines())


def test_the_boot_has_started_the_service(booted: BootedRoot, port: int) -> None:
    log = booted.run("journalctl", "--unit=nereid", "--no-pager").stdout
    assert properties(booted, "ActiveState", "SubState", "StatusText") == {
        "ActiveState": "active",
        "SubState": "running",
        "StatusText": "Serving",
    }, log
    image = {"name": "image", "datatype": "FP32", "shape": [1, 64], "data": [0.0] * 64}
    answer = raw_http.post_json(
        f"127.0.0.1:{port}", "/v2/models/digits/infer", {"inputs": [image]}
    )
    assert answer.status == 200


def test_a_model_in_python_runs_in_the_sandbox(booted: BootedRoot, port: int) -> None:
    """The sandbox of the unit lets the server start processes, which are in it, too."""
    one = {"name": "IN", "datatype": "BOOL", "shape": [1], "data": [True]}
    answer = raw_http.post_json(
        f"127.0.0.1:{port}", "/v2/models/sandboxed/infer", {"inputs": [one]}
    )
    assert answer.status == 200, booted.run("journalctl", "--unit=nereid", "--no-pager").stdout
    (output,) = json.loads(answer.body)["outputs"]
    assert output["data"] == [False, False, False, True]
    count = "cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -cxe '--fork-serve[r]'"
    prepared = booted.run("bash", "-c", count)
    assert prepared.stdout.strip() == "1", "processes are forked from a prepared one, too"


def test_an_upgrade_starts_it_again(
    booted: BootedRoot, packages: dict[str, Path], port: int
) -> None:
    before = properties(booted, "MainPID")
    done = booted.run("dpkg", "--install", f"/packages/{packages['nereid'].name}")
    assert done.returncode == 0, done.stdout
    assert properties(booted, "ActiveState", "StatusText") == {
        "ActiveState": "active",
        "StatusText": "Serving",
    }
    assert properties(booted, "MainPID") != before
    assert raw_http.get(f"127.0.0.1:{port}", "/v2/health/ready").status == 200


def test_a_stop_is_graceful(booted: BootedRoot) -> None:
    assert booted.run("systemctl", "stop", "nereid").returncode == 0
    assert properties(booted, "ActiveState", "Result", "ExecMainStatus") == {
        "ActiveState": "inactive",
        "Result": "success",
        "ExecMainStatus": "0",
    }
    log = booted.run("journalctl", "--unit=nereid", "--no-pager", "--output=cat").stdout
    assert "successfully unloaded 'digits' version 1" in log


def test_a_removal_ends_it(booted: BootedRoot, port: int) -> None:
    booted.run("systemctl", "start", "nereid")
    done = booted.run("apt-get", "-qq", "purge", "--yes", "nereid")
    assert done.returncode == 0, done.stdout
    with pytest.raises(ConnectionRefusedError):
        raw_http.get(f"127.0.0.1:{port}", "/v2/health/live")
    assert "could not be found" in booted.run("systemctl", "status", "nereid").stdout
