# SPDX-License-Identifier: Apache-2.0
"""examples/embedding and examples/backend_template, built against the Debian packages and nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import raw_http
from support.server_process import ServerProcess
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT

EMBEDDING = PROJECT_ROOT / "examples" / "embedding"
PACKAGES = (
    "libtritonserver",
    "nereid",
    "nereid-dev",
    "nereid-backend-onnxruntime",
    "nereid-backend-python",
)
TEMPLATE = PROJECT_ROOT / "examples" / "backend_template"
# The program: its repository, and what it prints.
PROGRAMS = {
    "infer": (
        EXAMPLE_MODELS,
        r"this is a 3\n8 of 8 requests in flight were answered\n",
    ),
    "sequence": (EMBEDDING / "models", "after 1: 1 and 10\nafter 2: 2 and 20\nafter 3: 3 and 30\n"),
    "stream": (EMBEDDING / "models", "5 4 3 2 1\n600 599\n"),
    "reports": (
        EXAMPLE_MODELS,
        r'models: \[.*"name":"digits".*\nstatistics: \{"model_stats":\[.*\n'
        r'nv_inference_request_success\{model="digits".*\} 0\nthe server has ended\n',
    ),
}


def run_program(*command: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    # The interpreter of Python models is the first in the path.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **env}
    return subprocess.run(
        words, capture_output=True, text=True, timeout=170, check=False, env=environment
    )


def build(source: Path, folder: Path, prefix: Path) -> Path:
    """Configures and builds a project of CMake without a warning."""
    configured = run_program("cmake", "-S", source, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = run_program("cmake", "--build", folder, "--parallel", "2")
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning:" not in built.stdout + built.stderr
    return folder


@pytest.fixture(scope="module")
def installation(
    packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """PREFIX of what the packages hold."""
    folder = tmp_path_factory.mktemp("unpacked")
    for name in PACKAGES:
        subprocess.run(["dpkg-deb", "--extract", packages[name], folder], check=True)
    yield folder / "usr"
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=["c", "cpp"])
def programs(
    request: pytest.FixtureRequest, installation: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of the programs in one language."""
    return build(EMBEDDING / request.param, tmp_path_factory.mktemp(request.param), installation)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(programs: Path, name: str) -> None:
    repository, expected = PROGRAMS[name]
    done = run_program(programs / name, repository)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(expected, done.stdout), done.stdout


# Releases the request at once and answers from a thread: five numbers, and then one a minute.
SLOW_COUNTDOWN = """
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            first = int(pb_utils.get_input_tensor_by_name(request, "FROM").as_numpy()[0])
            sender = request.get_response_sender()
            threading.Thread(target=self.count, args=(sender, first)).start()

    def count(self, sender, first):
        for number in range(first, 0, -1):
            end = time.monotonic() + (60 if first - number >= 5 else 0)
            while time.monotonic() < end and not sender.is_cancelled():
                time.sleep(0.01)
            if sender.is_cancelled():
                break
            tensor = pb_utils.Tensor("NUMBER", np.array([number], np.int32))
            sender.send(pb_utils.InferenceResponse([tensor]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
"""


def test_a_stream_that_is_given_up_ends(programs: Path, tmp_path: Path) -> None:
    models = shutil.copytree(EMBEDDING / "models", tmp_path / "models")
    (models / "countdown" / "1" / "model.py").write_text(SLOW_COUNTDOWN, encoding="utf-8")
    done = run_program(programs / "stream", models)  # not cancelled, it would take ten hours
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "5 4 3 2 1\n600 599\n"


def test_a_program_says_what_is_wrong(programs: Path, tmp_path: Path) -> None:
    assert run_program(programs / "infer").returncode == 2
    done = run_program(programs / "infer", tmp_path)
    assert done.returncode == 1
    assert "error: " in done.stderr and "digits" in done.stderr


def test_without_cmake(installation: Path, tmp_path: Path) -> None:
    flags = run_program(
        "pkg-config",
        "--cflags",
        "--libs",
        "nereid",
        PKG_CONFIG_PATH=str(installation / "lib" / "pkgconfig"),
    )
    assert flags.returncode == 0, flags.stderr
    sources = [EMBEDDING / "c" / file for file in ("infer.c", "embed.c")]
    program = tmp_path / "infer"
    built = run_program("cc", *sources, "-o", program, *flags.stdout.split(), "-pthread")
    assert built.returncode == 0, built.stderr
    done = run_program(program, EXAMPLE_MODELS, LD_LIBRARY_PATH=str(installation / "lib"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("this is a 3\n")


# -- the template of a backend -----------------------------------------------------------------


@pytest.fixture(scope="module")
def template(installation: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(TEMPLATE, tmp_path_factory.mktemp("template"), installation)


def test_the_template_passes_its_own_tests(template: Path) -> None:
    done = run_program("ctest", "--test-dir", template, "--output-on-failure")
    assert done.returncode == 0, done.stdout
    assert "100% tests passed, 0 tests failed out of 2" in done.stdout


def test_the_template_is_installed_where_the_server_looks(
    template: Path, installation: Path
) -> None:
    done = run_program("cmake", "--install", template)
    assert done.returncode == 0, done.stderr
    library = installation / "lib" / "nereid" / "backends" / "softmax" / "libtriton_softmax.so"
    assert library.exists()


def test_the_backend_of_the_template_serves(template: Path, server_factory) -> None:  # type: ignore[no-untyped-def]
    server: ServerProcess = server_factory(
        TEMPLATE / "models", f"--backend-directory={template / 'backends'}"
    )
    request = re.search(r"-d '(.*?)'\n", (TEMPLATE / "README.md").read_text(), re.DOTALL)
    assert request is not None
    answer = raw_http.post(server.http_url, "/v2/models/softmax/infer", request[1].encode())
    assert answer.status == 200, answer.body
    (output,) = json.loads(answer.body)["outputs"]
    assert output["name"] == "PROBABILITIES" and output["shape"] == [1, 3]
    assert output["data"] == pytest.approx([1 / 3] * 3)


@pytest.mark.parametrize("temperature", ["0", "warm", "nan"])
def test_the_backend_of_the_template_refuses_nonsense(
    template: Path, installation: Path, tmp_path: Path, temperature: str
) -> None:
    model = tmp_path / "softmax"
    (model / "1").mkdir(parents=True)
    config = (TEMPLATE / "models" / "softmax" / "config.pbtxt").read_text()
    (model / "config.pbtxt").write_text(
        config.replace('string_value: "1"', f'string_value: "{temperature}"')
    )
    done = run_program(
        installation / "bin" / "nereid",
        "run-model",
        f"--backend-directory={template / 'backends'}",
        model,
    )
    assert done.returncode == 1
    assert f"parameter 'temperature' of model 'softmax' is '{temperature}'" in done.stderr
