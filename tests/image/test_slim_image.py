# SPDX-License-Identifier: Apache-2.0
"""The image without Python, and the server in it."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import numpy as np
import tritonclient.grpc
import tritonclient.http

from image.conftest import ContainerFactory
from image.container import Container, Image, run_inside
from support.console import Console
from support.repository import ModelRepository
from support.stage import EXAMPLE_MODELS

LOADER = {"amd64": "/lib64/ld-linux-x86-64.so.2", "arm64": "/lib/ld-linux-aarch64.so.1"}


def assert_digits(container: Container) -> None:
    """The official clients get the same answer over both protocols."""
    image = np.arange(64, dtype=np.float32).reshape(1, 64) % 17
    answers = []
    for module, url in (
        (tritonclient.http, container.http_url),
        (tritonclient.grpc, container.grpc_url),
    ):
        tensor = module.InferInput("image", [1, 64], "FP32")
        tensor.set_data_from_numpy(image)
        with module.InferenceServerClient(url) as client:
            answers.append(client.infer("digits", [tensor]).as_numpy("digit").tolist())
    assert answers[0] == answers[1]


def test_it_has_no_programs_but_ours(slim: Image) -> None:
    programs = {
        path.name
        for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin")
        for path in (slim.root / folder).glob("*")
    }
    assert programs == set()
    assert {path.name for path in (slim.root / "opt/nereid/bin").iterdir()} == {
        "nereid",
        "tritonserver",
    }


def test_every_library_finds_those_it_needs(slim: Image, tmp_path: Path) -> None:
    ours = (slim.root / "opt/nereid").rglob("*.so*")
    files = [slim.root / "opt/nereid/bin/nereid", *ours]
    # Loaded when it is needed, to send traces.
    files += (slim.root / "usr/lib").glob("*-linux-gnu/libcurl.so.4")
    assert len(files) > 5
    loader = LOADER[str(slim.config["architecture"])]
    for file in files:
        inner = "/" + str(file.relative_to(slim.root))
        # Plug-ins find the server's library in the process that loads them.
        command = [loader, "--library-path", "/opt/nereid/lib", "--list", inner]
        done = run_inside(slim, command, tmp_path)
        missing = [line.strip() for line in done.stdout.splitlines() if "not found" in line]
        assert (done.returncode, missing) == (0, []), (inner, done.stderr)


def test_it_serves_and_ends(slim: Image, containers: ContainerFactory, tmp_path: Path) -> None:
    container = containers(slim, {EXAMPLE_MODELS: "/models"})
    container.wait_for()
    assert_digits(container)
    for url in (f"http://{container.http_url}", f"grpc://{container.grpc_url}"):
        done = run_inside(slim, ["nereid", "probe", "--model=digits", f"--url={url}"], tmp_path)
        assert (done.returncode, done.stdout) == (0, f"Model 'digits' at {url} is ready.\n")
    container.send_signal(signal.SIGTERM)
    assert container.wait_exit() == 0
    container.wait_for_log("signal 15 received: stopping")
    done = run_inside(slim, ["nereid", "probe", f"--url={url}"], tmp_path)
    assert done.returncode == 1


def test_the_console(slim: Image, containers: ContainerFactory) -> None:
    command = ["nereid", "--model-repository=/models", "--console-port=0"]
    container = containers(slim, {EXAMPLE_MODELS: "/models"}, command)
    container.wait_for()
    Console(container).check()


def test_the_command_of_existing_manifests(slim: Image, containers: ContainerFactory) -> None:
    command = ["/opt/tritonserver/bin/tritonserver", "--model-store=/models", "--log-verbose=0"]
    container = containers(slim, {EXAMPLE_MODELS: "/models"}, command)
    container.wait_for()
    assert_digits(container)


def test_the_folder_of_one_model(slim: Image, containers: ContainerFactory) -> None:
    env = {"MODEL_NAME": "digits"}
    container = containers(slim, {EXAMPLE_MODELS / "digits": "/mnt/models"}, env=env)
    container.wait_for()
    assert_digits(container)


def test_no_permission_on_the_models(
    slim: Image, containers: ContainerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity("echo")
    model_repository.root.chmod(0o700)
    container = containers(slim, {model_repository.root: "/models"})
    assert container.wait_exit() == 1
    assert (
        "repository path is not a valid directory: '/models': " in container.log_text()
        and "ermission denied" in container.log_text()
    )


def test_a_backend_for_another_processor(
    slim: Image, containers: ContainerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add_identity("echo", backend="foreign")
    library = folder / "libtriton_foreign.so"
    shutil.copy(slim.root / "opt/nereid/backends/identity/libtriton_identity.so", library)
    with library.open("r+b") as file:
        file.seek(18)  # e_machine
        file.write((183).to_bytes(2, "little"))  # AArch64
    container = containers(slim, {model_repository.root: "/models"})
    assert container.wait_exit() == 1
    container.wait_for_log("libtriton_foreign.so")
    container.wait_for_log("is built for AArch64, and this program for ")


def test_a_python_model_needs_the_other_image(
    slim: Image, containers: ContainerFactory, model_repository: ModelRepository
) -> None:
    folder = model_repository.add("model", 'backend: "python"')
    (folder / "1" / "model.py").write_text("", encoding="utf-8")
    container = containers(slim, {model_repository.root: "/models"})
    assert container.wait_exit() == 1
    container.wait_for_log("unable to find backend library for backend 'python'")
