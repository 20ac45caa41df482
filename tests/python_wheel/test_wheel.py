# SPDX-License-Identifier: Apache-2.0
"""The wheel, installed: the program, the models, the functions, and what goes wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import tritonclient.grpc
import tritonclient.http

from support.console import Console
from support.nereid import FREE_PORTS
from support.server_process import ServerProcess
from support.stage import EXAMPLE_MODELS, PROJECT_ROOT
from python_wheel.conftest import Environment, make_environment

MOST_MEGABYTES = 13

FUNCTION = Path(__file__).with_name("function.py")
EXAMPLE = PROJECT_ROOT / "examples" / "embedding" / "python" / "in_process.py"


def test_its_content(wheel: Path) -> None:
    assert wheel.name == "nereid_server-0.1.0-cp39-abi3-manylinux_2_35_x86_64.whl"
    assert wheel.stat().st_size < MOST_MEGABYTES * 1e6
    names = zipfile.ZipFile(wheel).namelist()
    for wanted in (
        "nereid_server/__init__.py",
        "nereid_server/_native.abi3.so",
        "nereid_server/_native.pyi",
        "nereid_server/py.typed",
        "nereid_server/_server/bin/nereid",
        "nereid_server/_server/libexec/nereid-backend-check",
        "nereid_server/_server/libexec/nereid-workshop",
        "nereid_server/_server/lib/libtritonserver.so",
        "nereid_server/_server/include/triton/core/tritonserver.h",
        "nereid_server/_server/backends/fil/libtriton_fil.so",
        "nereid_server/_server/backends/onnxruntime/libtriton_onnxruntime.so",
        "nereid_server/_server/backends/python/libtriton_python.so",
        "nereid_server-0.1.0.dist-info/licenses/LICENSE",
        "nereid_server-0.1.0.dist-info/licenses/libprotobuf32.txt",
    ):
        assert wanted in names
    assert not [name for name in names if "testing" in name or "libonnxruntime" in name or "__pycache__" in name]


def test_its_list_of_contents(wheel: Path) -> None:
    """What auditwheel has copied is listed with version and licence, and nothing else of Debian's."""
    archive = zipfile.ZipFile(wheel)
    document = json.loads(archive.read("nereid_server-0.1.0.dist-info/sboms/nereid-server.spdx.json"))
    assert document["spdxVersion"] == "SPDX-2.3"
    whole, *parts = document["packages"]
    assert (whole["name"], whole["versionInfo"]) == ("nereid-server", "0.1.0")
    assert all(part["versionInfo"] and part["licenseDeclared"] for part in parts)
    names = {part["name"] for part in parts}
    compiled_in = {"libboost1.81-dev", "rapidjson-dev", "uplot"}
    assert {"nereid"} | compiled_in <= names
    notices = {match[1] for name in archive.namelist() if (match := re.search(r"/licenses/(.*)\.txt$", name))}
    assert names - compiled_in - {"nereid"} == notices
    # libprotobuf-92983d5d.so.32.0.12 is of libprotobuf32, libabsl_time-... of libabsl20220623.
    for library in (name for name in archive.namelist() if name.startswith("nereid_server.libs/lib")):
        stem = re.split(r"[-_]", library.split("/")[1])[0].replace("libcrypto", "libssl")
        assert any(name.startswith(stem) for name in notices), library


def test_the_program(environment: Environment) -> None:
    assert environment.run("nereid", "--version").stdout == "nereid 0.1.0\n"
    assert environment.run("python", "-m", "nereid_server", "check", str(EXAMPLE_MODELS)).returncode == 0


def test_a_backend_is_checked(environment: Environment) -> None:
    where = "import nereid_server, pathlib; print(pathlib.Path(nereid_server.__file__).parent / '_server')"
    installed = environment.run("python", "-c", where).stdout.strip()
    library = f"{installed}/backends/identity/libtriton_identity.so"
    done = environment.run("nereid", "backend-check", library, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_onnx_models(environment: Environment, tmp_path: Path) -> None:
    command = [environment.folder / "bin" / "nereid", f"--model-repository={EXAMPLE_MODELS}", *FREE_PORTS]
    server = ServerProcess([*command, "--console-port=0"], tmp_path, environment.variables())
    try:
        server.wait_for()
        Console(server).check()
        image = np.zeros((1, 64), np.float32)
        for protocol, url in ((tritonclient.http, server.http_url), (tritonclient.grpc, server.grpc_url)):
            with protocol.InferenceServerClient(url) as client:
                tensor = protocol.InferInput("image", [1, 64], "FP32")
                tensor.set_data_from_numpy(image)
                assert client.infer("digits", [tensor]).as_numpy("probabilities").shape == (1, 10)
    finally:
        server.stop()


def test_functions(environment: Environment) -> None:
    assert environment.run("python", str(FUNCTION)).stdout == "[2.0, 4.0]\n"


def test_in_the_process(environment: Environment) -> None:
    program = (
        "import nereid_server, numpy as np\n"
        f"with nereid_server.Server(models={str(EXAMPLE_MODELS)!r}) as server:\n"
        "    answer = server.model('digits').infer({'image': np.zeros((1, 64), np.float32)})\n"
        "    print(np.asarray(answer['probabilities']).shape)\n"
    )
    assert environment.run("python", "-c", program).stdout == "(1, 10)\n"


def test_ports_in_the_process(environment: Environment) -> None:
    program = (
        "import nereid_server, urllib.request\n"
        f"with nereid_server.Server(models={str(EXAMPLE_MODELS)!r}, http_port=0) as server:\n"
        "    url = f'http://127.0.0.1:{server.http_port}/v2/models/digits/ready'\n"
        "    print(urllib.request.urlopen(url).read().decode())\n"
    )
    assert '"ready":true' in environment.run("python", "-c", program).stdout


def test_the_example_for_embedding(environment: Environment) -> None:
    """Requests, asyncio, streams, sequences, metrics: with nothing but the wheel."""
    said = environment.run("python", str(EXAMPLE)).stdout
    assert said.startswith("digit: 3\nof 100 answers right: 100\ncountdown: [3, 2, 1]\n"), said


def test_the_names_of_the_original(environment: Environment) -> None:
    program = (
        "from nereid_server import tritonserver\n"
        f"options = tritonserver.Options(model_repository={str(EXAMPLE_MODELS)!r})\n"
        "server = tritonserver.Server(options).start(wait_until_ready=True)\n"
        "print(server.model('digits').ready())\n"
        "server.stop()\n"
    )
    assert environment.run("python", "-c", program).stdout == "True\n"


def test_without_onnx_runtime(environment: Environment) -> None:
    environment.pip("uninstall", "--yes", "onnxruntime")
    done = environment.run("nereid", "run-model", str(EXAMPLE_MODELS / "digits"), check=False)
    assert done.returncode == 1
    assert "no ONNX Runtime in '" in done.stderr
    assert "`pip install onnxruntime` brings it to a Python environment" in done.stderr


def test_another_processor(wheel: Path, tmp_path: Path) -> None:
    """pip's own sentence."""
    other = tmp_path / wheel.name.replace("x86_64", "s390x")
    shutil.copyfile(wheel, other)
    environment = make_environment(sys.executable, tmp_path / "environment")
    done = environment.pip("install", "--no-deps", str(other), check=False)
    assert done.returncode == 1
    assert f"ERROR: {other.name} is not a supported wheel on this platform." in done.stderr


def test_python_that_is_too_old(wheel: Path, tmp_path: Path) -> None:
    """pip's own sentence."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version=3.8", f"--dest={tmp_path}", str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"{wheel.name} is not a supported wheel on this platform." in done.stderr
