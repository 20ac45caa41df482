# SPDX-License-Identifier: Apache-2.0
"""`make install`: the layout, the server at its new place, and projects that build against it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import raw_http
from support.nereid import FREE_PORTS
from support.repository import ModelRepository
from support.server_process import ServerProcess
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT

FILES = (
    "bin/nereid",
    "bin/tritonserver",
    "etc/default/nereid",
    "include/nereid/backends/sdk/batch.h",
    "include/triton/core/tritonbackend.h",
    "include/triton/core/tritonserver.h",
    "lib/cmake/Nereid/NereidConfig.cmake",
    "lib/cmake/Nereid/NereidConfigVersion.cmake",
    "lib/libnereid_backend_sdk.a",
    "lib/libtritonserver.so",
    "lib/nereid/backends/fil/libtriton_fil.so",
    "lib/nereid/backends/identity/libtriton_identity.so",
    "lib/nereid/backends/onnxruntime/libonnxruntime.so.1",
    "lib/nereid/backends/onnxruntime/libtriton_onnxruntime.so",
    "lib/nereid/backends/python/libtriton_python.so",
    "lib/nereid/backends/python/runtime/_nereid_native.abi3.so",
    "lib/nereid/backends/python/runtime/worker_main.py",
    "lib/nereid/caches/local/libtritoncache_local.so",
    "lib/nereid/caches/redis/libtritoncache_redis.so",
    "lib/nereid/repoagents/checksum/libtritonrepoagent_checksum.so",
    "lib/pkgconfig/nereid.pc",
    "lib/systemd/system/nereid.service",
    "lib/sysusers.d/nereid.conf",
    "share/bash-completion/completions/nereid",
    "share/fish/vendor_completions.d/nereid.fish",
    "share/man/man1/nereid-check.1.gz",
    "share/man/man1/nereid.1.gz",
    "share/man/man1/tritonserver.1.gz",
    "share/zsh/site-functions/_nereid",
)

CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C CXX)
find_package(Nereid 0.1 REQUIRED)
add_executable(embeds embeds.c)
target_link_libraries(embeds PRIVATE Nereid::tritonserver)
add_library(triton_ours SHARED backend.cc)
target_link_libraries(triton_ours PRIVATE Nereid::backend_sdk)
file(WRITE ${CMAKE_BINARY_DIR}/found "${Nereid_BACKEND_DIR}\\n${Nereid_EXECUTABLE}\\n")
"""
# A server of two lines needs no options but the repository: it finds the backends by itself.
EMBEDS = """
#include <stdio.h>
#include "triton/core/tritonserver.h"

static int failed(TRITONSERVER_Error* error) {
  if (error != NULL) printf("%s\\n", TRITONSERVER_ErrorMessage(error));
  return error != NULL;
}

int main(int argc, char** argv) {
  TRITONSERVER_ServerOptions* options = NULL;
  TRITONSERVER_Server* server = NULL;
  bool ready = false;
  if (argc != 2 || failed(TRITONSERVER_ServerOptionsNew(&options)) ||
      failed(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, argv[1])) ||
      failed(TRITONSERVER_ServerNew(&server, options)) ||
      failed(TRITONSERVER_ServerIsReady(server, &ready))) {
    return 1;
  }
  printf("%s\\n", ready ? "ready" : "not ready");
  return failed(TRITONSERVER_ServerDelete(server));
}
"""
BACKEND = """
#include "backends/sdk/batch.h"
#include "backends/sdk/echo.h"

extern "C" TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests, const uint32_t count) {
  using namespace nereid_backend;
  return RunBatch(instance, requests, count, [](Batch&) { return Error(); });
}
"""


@pytest.fixture
def installed_server(installation: Path, tmp_path: Path) -> Iterator[ServerProcess]:
    """The installed server with the examples, and without any option that names a folder of its
    own."""
    command = [
        installation / "bin" / "nereid",
        f"--model-repository={EXAMPLE_MODELS}",
        "--cache-config=local,size=1048576",
        *FREE_PORTS,
    ]
    server = ServerProcess(command, tmp_path / "log")
    try:
        server.wait_for()
        yield server
    finally:
        server.stop()


def test_files(installation: Path) -> None:
    missing = [name for name in FILES if not (installation / name).exists()]
    assert missing == []
    plugins = {path.name for path in installation.glob("lib/nereid/*/*")}
    assert plugins.isdisjoint({"testing", "repeat"})
    empty = [path for path in installation.rglob("*") if path.is_dir() and not any(path.iterdir())]
    assert empty == []


def test_the_server_finds_its_parts(installed_server: ServerProcess) -> None:
    image = {"name": "image", "datatype": "FP32", "shape": [1, 64], "data": [0.0] * 64}
    answer = raw_http.post_json(
        installed_server.http_url, "/v2/models/digits/infer", {"inputs": [image]}
    )
    assert answer.status == 200


def test_an_installation_may_be_moved(
    installation: Path, tmp_path: Path, model_repository: ModelRepository
) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(installation, moved, symlinks=True)
    model_repository.add_identity("echo")
    done = subprocess.run(
        [moved / "bin" / "tritonserver", "run-model", model_repository.root / "echo"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def consumer(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of somebody else, built with find_package(Nereid)."""
    folder = tmp_path_factory.mktemp("consumer")
    for name, text in (("CMakeLists.txt", CONSUMER), ("embeds.c", EMBEDS), ("backend.cc", BACKEND)):
        (folder / name).write_text(text)
    build = folder / "build"
    for command in (
        ["cmake", "-G", "Ninja", "-S", folder, "-B", build, f"-DCMAKE_PREFIX_PATH={installation}"],
        ["cmake", "--build", build],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return build


def test_a_program_that_embeds_the_server(
    consumer: Path, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    done = subprocess.run(
        [consumer / "embeds", model_repository.root], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1:] == ["ready"], done.stdout + done.stderr


def test_a_backend_needs_no_server_to_be_built(consumer: Path, installation: Path) -> None:
    symbols = subprocess.run(
        ["nm", "-D", consumer / "libtriton_ours.so"], capture_output=True, text=True, check=True
    ).stdout
    assert " T TRITONBACKEND_ModelInstanceExecute" in symbols
    assert " U TRITONBACKEND_RequestRelease" in symbols
    backends, executable = (consumer / "found").read_text().splitlines()
    assert Path(backends) == installation / "lib/nereid/backends"
    assert Path(executable) == installation / "bin/nereid"


def test_a_missing_library_is_named(installation: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(installation / "lib/cmake", broken / "lib/cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(x NONE)\nfind_package(Nereid REQUIRED)\n"
    )
    done = subprocess.run(
        ["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={broken}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    text = " ".join(done.stderr.split())
    assert f"the library {broken}/lib/libtritonserver.so is missing" in text


def test_pkg_config(installation: Path, tmp_path: Path, model_repository: ModelRepository) -> None:
    model_repository.add_identity("echo")
    source = tmp_path / "embeds.c"
    source.write_text(EMBEDS)
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "nereid"],
        env={**os.environ, "PKG_CONFIG_PATH": str(installation / "lib/pkgconfig")},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    program = tmp_path / "embeds"
    subprocess.run(["cc", source, "-o", program, *flags], check=True, capture_output=True)
    done = subprocess.run(
        [program, model_repository.root],
        env={**os.environ, "LD_LIBRARY_PATH": str(installation / "lib")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["ready"], done.stdout + done.stderr


def test_configuration_is_left_alone(tmp_path: Path) -> None:
    settings = tmp_path / "usr/local/etc/default/nereid"
    settings.parent.mkdir(parents=True)
    settings.write_text("NEREID_OPTIONS=--log-verbose=1\n")
    subprocess.run(
        ["make", "install", f"DESTDIR={tmp_path}"],
        cwd=PROJECT_ROOT,
        env={**os.environ, "MAKEFLAGS": ""},
        check=True,
        capture_output=True,
    )
    assert settings.read_text() == "NEREID_OPTIONS=--log-verbose=1\n"
    unit = (tmp_path / "usr/local/lib/systemd/system/nereid.service").read_text()
    assert "ExecStart=/usr/local/bin/nereid " in unit
    assert "EnvironmentFile=-/usr/local/etc/default/nereid" in unit


def test_the_unit_is_sound(installation: Path, tmp_path: Path) -> None:
    unit = (installation / "lib/systemd/system/nereid.service").read_text()
    assert "ExecStart=/opt/nereid/bin/nereid " in unit
    # Where the program is before DESTDIR becomes a root.
    copy = tmp_path / "nereid.service"
    copy.write_text(unit.replace("/opt/nereid/bin", f"{installation}/bin"))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", copy], capture_output=True, text=True, check=False
    )
    about = [line for line in (done.stdout + done.stderr).splitlines() if "nereid" in line]
    assert done.returncode == 0 and about == [], done.stderr


def test_a_relative_prefix_is_refused() -> None:
    done = subprocess.run(
        ["make", "install", "PREFIX=here"],
        cwd=PROJECT_ROOT,
        env={**os.environ, "MAKEFLAGS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "PREFIX is 'here'; it has to be an absolute path" in done.stderr
