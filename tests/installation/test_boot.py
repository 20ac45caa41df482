"""The service under a real systemd: `make boot-check`, which takes more time than CI has."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from differential.original_server import free_ports
from support import raw_http
from support.booted_root import BootedRoot
from support.minimal_root import MinimalRoot, minimal_archive
from support.stage import EXAMPLE_MODELS

pytestmark = [
    pytest.mark.skipif("NEREID_BOOT" not in os.environ, reason="make boot-check runs it"),
    pytest.mark.timeout(600),
]

INSTALLED = ("nereid", "libtritonserver", "nereid-backend-onnxruntime")
# A container has no devices to make.
IN_CONTAINER = "[Service]\nPrivateDevices=no\n"


@pytest.fixture(scope="module")
def port() -> int:
    return free_ports(1)[0]


@pytest.fixture(scope="module")
def booted(
    tmp_path_factory: pytest.TempPathFactory, packages: dict[str, Path], port: int
) -> Iterator[BootedRoot]:
    archive = minimal_archive("--include=systemd,systemd-sysv,dbus")
    root = MinimalRoot(tmp_path_factory.mktemp("boot"), archive)
    root.path.chmod(0o755)
    root.install([packages[name] for name in INSTALLED])
    shutil.copytree(EXAMPLE_MODELS / "digits", root.path / "var/lib/nereid/models/digits")
    settings = root.path / "etc/default/nereid"
    options = f"\\g<0> --http-port={port} --allow-grpc=false --allow-metrics=false"
    text = re.sub("^NEREID_OPTIONS=.*", options, settings.read_text(), flags=re.MULTILINE)
    settings.write_text(text)
    override = root.path / "etc/systemd/system/nereid.service.d/container.conf"
    override.parent.mkdir()
    override.write_text(IN_CONTAINER)
    running = BootedRoot(root)
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
