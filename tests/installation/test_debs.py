# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: what they hold and depend on, on a fresh Debian without a compiler."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import tritonclient.grpc as grpc
import tritonclient.http as http

from support.console import Console
from support.minimal_root import MinimalRoot, minimal_archive
from support.notify_socket import NotifySocket
from support.poll import poll_until
from support.server_process import LOOPBACK, ServerProcess
from support.stage import EXAMPLE_MODELS

HERE = Path(__file__).resolve().parent
MODELS = "var/lib/nereid/models"
SETTINGS = "etc/default/nereid"
BACKENDS = "usr/lib/nereid/backends"
FREE_PORTS = "--http-port=0 --grpc-port=0 --metrics-port=0"
# Of the files, unpacked. The library of ONNX Runtime alone is 28 MiB.
MOST_MEBIBYTES = {
    "libtritonserver": 4,
    "nereid": 9,  # two programs, each with what both need; optimised by a profile 8.9
    "nereid-backend-fil": 1,
    "nereid-backend-identity": 1,
    "nereid-backend-onnxruntime": 32,
    "nereid-backend-python": 3,
    "nereid-dev": 3,
}

# Made where their runtimes are installed, as in CI.
FRAMEWORK_MEBIBYTES = {
    "nereid-backend-generative": 6,
    "nereid-backend-openvino": 110,
    "nereid-backend-pytorch": 460,
    "nereid-backend-tensorflow": 850,
}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a root of its own needs root")


def field(package: Path, name: str) -> str:
    return subprocess.run(
        ["dpkg-deb", "--field", package, name], capture_output=True, text=True, check=True
    ).stdout.strip()


def contents(package: Path) -> list[list[str]]:
    """The words of the archive's listing: mode, owner, bytes, date, time, name."""
    lines = subprocess.run(
        ["dpkg-deb", "--contents", package], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return [line.split() for line in lines]


def listing(package: Path) -> list[str]:
    return [" ".join(words[5:]).removeprefix("./") for words in contents(package)]


def described(package: Path) -> str:
    """Dependencies without versions, and files without folders, a line each."""
    needed = field(package, "Depends").split(",")
    depends = sorted({re.split(r"[ (|]", each.strip())[0] for each in needed})
    files = sorted(name for name in listing(package) if name and not name.endswith("/"))
    return "".join(f"  {line}\n" for line in (*(f"needs {name}" for name in depends), *files))


def test_files_and_dependencies(packages: dict[str, Path]) -> None:
    """packages.txt lists them; a change has to be meant."""
    shipped = {name: path for name, path in packages.items() if name in MOST_MEBIBYTES}
    text = "".join(f"{name}\n{described(path)}" for name, path in sorted(shipped.items()))
    expected = (HERE / "packages.txt").read_text()
    assert text == expected, "tests/installation/packages.txt differs"


@pytest.mark.parametrize("name", [*sorted(MOST_MEBIBYTES), *sorted(FRAMEWORK_MEBIBYTES)])
def test_size(packages: dict[str, Path], name: str) -> None:
    """Not by Installed-Size, for which CPack counts the file behind a link once more."""
    if name in FRAMEWORK_MEBIBYTES and name not in packages:
        pytest.skip("the runtime of this framework is not installed")
    most = (MOST_MEBIBYTES | FRAMEWORK_MEBIBYTES)[name] << 20
    assert 0 < sum(int(words[2]) for words in contents(packages[name])) <= most


# What each holds besides Nereid's own files, which its list of contents names with version and licence.
CARRIED = {
    "libtritonserver": {"rapidjson-dev": "MIT"},
    "nereid": {"libboost1.81-dev": "BSL-1.0", "rapidjson-dev": "MIT", "uplot": "MIT"},
    "nereid-backend-fil": {"rapidjson-dev": "MIT"},
    "nereid-backend-generative": {"openvino-tokenizers": "Apache-2.0", "rapidjson-dev": "MIT"},
    "nereid-backend-identity": {"rapidjson-dev": "MIT"},
    "nereid-backend-onnxruntime": {"onnxruntime": "MIT", "rapidjson-dev": "MIT"},
    "nereid-backend-openvino": {
        "openvino": "Apache-2.0",
        "onnxruntime-ep-openvino": "MIT",
        "rapidjson-dev": "MIT",
    },
    "nereid-backend-python": {"rapidjson-dev": "MIT"},
    "nereid-backend-pytorch": {
        "nvidia-cuda-cupti": "LicenseRef-NVIDIA-CUDA",
        "nvidia-cuda-runtime": "LicenseRef-NVIDIA-CUDA",
        "rapidjson-dev": "MIT",
        "torch": "BSD-3-Clause",
    },
    "nereid-backend-tensorflow": {"rapidjson-dev": "MIT", "tensorflow-cpu": "Apache-2.0"},
    "nereid-dev": {"rapidjson-dev": "MIT"},
}


@pytest.mark.parametrize("name", sorted(CARRIED))
def test_list_of_contents(packages: dict[str, Path], name: str) -> None:
    if name in FRAMEWORK_MEBIBYTES and name not in packages:
        pytest.skip("the runtime of this framework is not installed")
    archive = subprocess.run(
        ["dpkg-deb", "--fsys-tarfile", packages[name]], capture_output=True, check=True
    ).stdout
    member = f"./usr/share/doc/{name}/{name}.spdx.json"
    text = subprocess.run(
        ["tar", "--extract", "--to-stdout", member], input=archive, capture_output=True, check=True
    ).stdout
    document = json.loads(text)
    assert document["spdxVersion"] == "SPDX-2.3"
    whole, *parts = document["packages"]
    assert (whole["name"], whole["versionInfo"]) == (name, field(packages[name], "Version"))
    assert all(part["versionInfo"] for part in parts)
    licences = {part["name"]: part["licenseDeclared"] for part in parts}
    assert licences == CARRIED[name] | {"nereid": "Apache-2.0"}


@pytest.mark.parametrize("name", sorted(FRAMEWORK_MEBIBYTES))
def test_libraries_of_frameworks_are_found(
    packages: dict[str, Path], name: str, tmp_path: Path
) -> None:
    """Beside the backend, and not in the folders of the machine that made the package."""
    if name not in packages:
        pytest.skip("the runtime of this framework is not installed")
    subprocess.run(["dpkg-deb", "--extract", packages[name], tmp_path], check=True)
    libraries = [path for path in (tmp_path / BACKENDS).rglob("lib*.so*") if path.is_file()]
    assert any(path.name.startswith("libtriton_") for path in libraries)
    for library in libraries:
        dynamic = subprocess.run(
            ["readelf", "--dynamic", library], capture_output=True, text=True, check=True
        ).stdout
        for found in re.findall(r"Library r(?:un)?path: \[(.*)\]", dynamic):
            assert all(part.startswith("$ORIGIN") for part in found.split(":") if part), library
    shutil.rmtree(tmp_path)


def test_what_belongs_together(packages: dict[str, Path]) -> None:
    version = field(packages["nereid"], "Version")
    for name, package in packages.items():
        assert field(package, "Version") == version
        depends = field(package, "Depends")
        if name in ("nereid", "nereid-dev"):
            # These use more of the library than its C interface.
            assert f"libtritonserver (= {version})" in depends
        elif name != "libtritonserver":
            assert f"libtritonserver (>= {version.split('-')[0]})" in depends


@pytest.mark.timeout(900)  # minutes, where the machine is busy
def test_lintian(packages: dict[str, Path]) -> None:
    """Without the frameworks: lintian reads their gigabyte for a quarter of an hour."""
    shipped = [packages[name] for name in MOST_MEBIBYTES]
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on=error", "--tag-display-limit=0", *shipped],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def changed(package: Path, folder: Path, **fields: str) -> Path:
    """A copy of a package with other fields in its control file."""
    tree = folder / "tree"
    subprocess.run(["dpkg-deb", "--raw-extract", package, tree], check=True)
    control = tree / "DEBIAN/control"
    text = control.read_text()
    for name, value in fields.items():
        text = re.sub(rf"^{name}: .*$", f"{name}: {value}", text, flags=re.MULTILINE)
    control.write_text(text)
    copy = folder / f"changed-{package.name}"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, copy],
        check=True,
        capture_output=True,
    )
    shutil.rmtree(tree)
    return copy


class Service:
    """Starts what the installed unit starts, as its user, with the settings of its file."""

    def __init__(self, root: MinimalRoot, folder: Path) -> None:
        self.root = root
        self.folder = folder
        unit = (root.path / "usr/lib/systemd/system/nereid.service").read_text()
        self.values = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
        self.variables = dict(
            line.split("=", 1) for line in re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
        )
        self.started: list[ServerProcess] = []

    def words(self) -> list[str]:
        settings = (self.root.path / SETTINGS).read_text()
        variables = self.variables | dict(re.findall(r"^([A-Z_]+)=(.*)$", settings, re.MULTILINE))
        words: list[str] = []
        for word in shlex.split(self.values["ExecStart"]):
            if match := re.fullmatch(r"\$(\w+)", word):
                words += variables[match[1]].split()
            else:
                words.append(re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], word))
        return words

    def start(self, *options: str, **environment: str) -> ServerProcess:
        command = self.root.command([*self.words(), *options], self.values["User"])
        server = ServerProcess(
            command,
            self.folder / f"log-{len(self.started)}",
            self.root.environment(environment),
        )
        self.started.append(server)
        return server

    def failure(self, *options: str) -> str:
        """The log of a server that does not start."""
        server = self.start(*FREE_PORTS.split(), *options)
        assert server.wait_exit() == 1, server.log_text()
        return server.log_text()


@pytest.fixture(scope="module")
def root(
    tmp_path_factory: pytest.TempPathFactory, packages: dict[str, Path]
) -> Iterator[MinimalRoot]:
    """A fresh Debian with the packages, of which apt gets those that others need from the archive."""
    fresh = MinimalRoot(tmp_path_factory.mktemp("root"), minimal_archive())
    archive = fresh.add_archive(packages["nereid"].parent)
    fresh.install([packages["nereid"]])
    assert fresh.has("libtritonserver"), f"apt takes what it needs from {archive}"
    fresh.install([packages[name] for name in MOST_MEBIBYTES])
    yield fresh


@pytest.fixture
def service(root: MinimalRoot, tmp_path: Path) -> Iterator[Service]:
    """The service, with an empty folder of models; what a test starts ends with the test."""
    yield (running := Service(root, tmp_path))
    for server in running.started:
        server.kill()
    poll_until(
        "the service to end",
        lambda: not root.processes(),
        explain=lambda: f"still there: {root.processes()}",
    )
    for model in (root.path / MODELS).iterdir():
        shutil.rmtree(model)


def add_models(root: MinimalRoot) -> None:
    for model in EXAMPLE_MODELS.iterdir():
        shutil.copytree(model, root.path / MODELS / model.name)


@needs_root
def test_the_root_has_no_compiler(root: MinimalRoot) -> None:
    for name in ("cc", "g++", "cmake", "make"):
        assert root.run("which", name, check=False).returncode != 0


@needs_root
def test_headers_are_where_compilers_look(root: MinimalRoot) -> None:
    for name in ("include/triton/core/tritonserver.h", "lib/libnereid_backend_sdk.a"):
        assert (root.path / "usr" / name).is_file()


@needs_root
def test_the_service_serves_from_its_folder(root: MinimalRoot, service: Service) -> None:
    """Starts empty, then with the examples; says when it is ready and when it ends."""
    assert service.values["Type"] == "notify"
    socket = root.path / "run/notify"
    with NotifySocket(socket, seen_as="/run/notify") as manager:
        socket.chmod(0o666)
        for models in (False, True):
            if models:
                add_models(root)
            options = [*FREE_PORTS.split(), "--console-port=0"]
            server = service.start(*options, **manager.environment)
            assert manager.wait_for("READY")["READY"] == "1", server.log_text()
            server.wait_for()
            Console(server).check()
            if models:
                ask_over_both_protocols(server)
            # The process that was started is not the server, which is in a namespace of its own.
            root_child = subprocess.run(
                ["pgrep", "-P", str(server.process.pid)], capture_output=True, text=True, check=True
            )
            os.kill(int(root_child.stdout), signal.SIGTERM)
            assert manager.wait_for("STOPPING")["STOPPING"] == "1"
            assert server.wait_exit() == 0, server.log_text()


def ask_over_both_protocols(server: ServerProcess) -> None:
    image = np.zeros((1, 64), np.float32)
    for library, url in ((http, server.http_url), (grpc, server.grpc_url)):
        tensor = library.InferInput("image", [1, 64], "FP32")
        tensor.set_data_from_numpy(image)
        with library.InferenceServerClient(url) as client:
            answer = client.infer("digits", [tensor])
            assert answer.as_numpy("probabilities").sum() == pytest.approx(1, abs=1e-3)


@needs_root
def test_a_model_in_python(root: MinimalRoot, service: Service) -> None:
    """With the Python and the numpy of the system."""
    model = root.path / MODELS / "double"
    (model / "1").mkdir(parents=True)
    (model / "config.pbtxt").write_text(
        'backend: "python"\ninput { name: "IN" data_type: TYPE_FP32 dims: -1 }\n'
        'output { name: "OUT" data_type: TYPE_FP32 dims: -1 }\n'
    )
    (model / "1/model.py").write_text(
        "import triton_python_backend_utils as pb\n\n\n"
        "class TritonPythonModel:\n"
        "    def execute(self, requests):\n"
        "        tensors = [pb.get_input_tensor_by_name(r, 'IN').as_numpy() for r in requests]\n"
        "        return [pb.InferenceResponse([pb.Tensor('OUT', 2 * t)]) for t in tensors]\n"
    )
    server = service.start(*FREE_PORTS.split())
    server.wait_for()
    tensor = http.InferInput("IN", [2], "FP32")
    tensor.set_data_from_numpy(np.array([1, 2], np.float32))
    with http.InferenceServerClient(server.http_url) as client:
        assert client.infer("double", [tensor]).as_numpy("OUT").tolist() == [2, 4]


@needs_root
def test_the_service_is_enabled(root: MinimalRoot) -> None:
    assert (root.path / "etc/systemd/system/multi-user.target.wants/nereid.service").is_symlink()


@needs_root
def test_the_user_of_the_service(root: MinimalRoot) -> None:
    entry = root.run("getent", "passwd", "nereid").stdout.strip().split(":")
    assert entry[5:] == ["/var/lib/nereid", "/usr/sbin/nologin"]
    for name in ("bin/nereid", "lib/libtritonserver.so"):
        assert (root.path / "usr" / name).stat().st_uid == 0
    assert (root.path / MODELS).stat().st_uid == int(entry[2])


@needs_root
def test_no_permission_to_read_the_models(root: MinimalRoot, service: Service) -> None:
    folder = root.path / MODELS
    folder.chmod(0o700)
    os.chown(folder, 0, 0)
    try:
        log = service.failure()
        assert "failed to open directory /var/lib/nereid/models: Permission denied" in log
    finally:
        shutil.chown(folder, int(root.run("id", "-u", "nereid").stdout))
        folder.chmod(0o755)


@needs_root
def test_a_port_in_use(service: Service) -> None:
    server = service.start(*FREE_PORTS.split())
    port = server.port("http")
    assert f"Socket '{LOOPBACK}:{port}' already in use" in service.failure(f"--http-port={port}")


@needs_root
def test_a_missing_runtime(root: MinimalRoot, service: Service) -> None:
    add_models(root)
    runtime = root.path / BACKENDS / "onnxruntime/libonnxruntime.so.1"
    runtime.rename(runtime.with_suffix(".away"))
    try:
        log = service.failure()
    finally:
        runtime.with_suffix(".away").rename(runtime)
    assert f"no ONNX Runtime in '/{BACKENDS}/onnxruntime'" in log
    assert "libonnxruntime.so.1: cannot open shared object file" in log
    assert "`pip install onnxruntime` brings it" in log


@needs_root
def test_a_backend_that_is_not_installed(root: MinimalRoot, service: Service) -> None:
    (root.path / MODELS / "m/1").mkdir(parents=True)
    (root.path / MODELS / "m/config.pbtxt").write_text('backend: "nonesuch"\n')
    log = service.failure()
    assert "failed to load 'm'" in log
    assert "unable to find backend library for backend 'nonesuch'" in log
    assert f"/{BACKENDS}/nonesuch" in log


@needs_root
def test_wrong_architecture_of_a_backend(root: MinimalRoot, service: Service) -> None:
    add_models(root)
    library = root.path / BACKENDS / "onnxruntime/libtriton_onnxruntime.so"
    original = library.read_bytes()
    machine = 18  # offset of e_machine in an ELF file; 183: AArch64
    library.write_bytes(original[:machine] + bytes([183, 0]) + original[machine + 2 :])
    try:
        log = service.failure()
    finally:
        library.write_bytes(original)
    assert "libtriton_onnxruntime.so" in log
    assert "the file is built for AArch64, and this program for x86-64" in log


@needs_root
def test_wrong_architecture_of_a_package(
    root: MinimalRoot, packages: dict[str, Path], tmp_path: Path
) -> None:
    foreign = changed(packages["nereid-backend-identity"], tmp_path, Architecture="riscv64")
    (root.path / "packages" / foreign.name).write_bytes(foreign.read_bytes())
    done = root.run("dpkg", "--install", f"/packages/{foreign.name}", check=False)
    assert done.returncode != 0
    assert "package architecture (riscv64) does not match system (amd64)" in done.stdout


@needs_root
def test_an_upgrade_keeps_the_configuration(
    root: MinimalRoot, packages: dict[str, Path], service: Service, tmp_path: Path
) -> None:
    """The server that runs meanwhile goes on, since this root has no systemd to start it again."""
    add_models(root)
    server = service.start(*FREE_PORTS.split())
    server.wait_for()
    settings = root.path / SETTINGS
    shipped = settings.read_text()
    settings.write_text(shipped + "# ours\n")
    depends = field(packages["nereid"], "Depends")
    depends = depends.replace("libtritonserver (= ", "libtritonserver (>= ")
    newer = changed(packages["nereid"], tmp_path, Version="99.0-1", Depends=depends)
    said = root.install([newer]).stdout
    assert "a server that is running keeps the old version until it is started again" in said
    ask_over_both_protocols(server)
    assert root.run("dpkg-query", "-W", "-f=${Version}", "nereid").stdout == "99.0-1"
    assert settings.read_text() == shipped + "# ours\n"
    assert (root.path / MODELS).is_dir()


@needs_root
def test_nothing_is_left(root: MinimalRoot) -> None:
    """Runs last: takes the packages away, and the folder of models when it is empty."""
    for folder in ("var/cache/nereid", "var/log/nereid"):  # the service makes them
        (root.path / folder).mkdir(exist_ok=True)
        (root.path / folder / "file").touch()
    kept = root.path / MODELS / "mine"
    kept.mkdir()
    text = root.run("apt-get", "-qq", "purge", "--yes", *MOST_MEBIBYTES).stdout
    assert "/var/lib/nereid stays, because it is not empty" in text
    assert kept.is_dir()
    shutil.rmtree(root.path / "var/lib/nereid")
    assert root.run("getent", "passwd", "nereid", check=False).returncode != 0
    # What these packages depended on is still there.
    left = {name for name in root.files() - root.first_files if re.search("nereid|triton", name)}
    assert left == set()
