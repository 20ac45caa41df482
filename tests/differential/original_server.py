# SPDX-License-Identifier: Apache-2.0
"""Triton (2.51) from the nvidia-pytriton wheel, started without GPU support.

The wheel's libraries have hashed names, but backends need `libtritonserver.so`. So the server is
started from a folder of links in which that name refers to the wheel's library. The loader then
recognises the same file and gives the backend the copy that the server uses.
"""

from __future__ import annotations

import argparse
import importlib.machinery
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

if __package__ is None or __package__ == "":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.ports import free_ports  # noqa: E402
from support.server_process import LOOPBACK, ServerProcess  # noqa: E402
from support.stage import PROJECT_ROOT  # noqa: E402

# The wheel needs an older numpy than the tests, so it is in a separate folder.
INSTALL_FOLDER = PROJECT_ROOT / "build" / "deps" / "original"
# Its Python backend returns empty tensors under numpy 2, so its models get an older one.
NUMPY_FOLDER = PROJECT_ROOT / "build" / "deps" / "original-numpy"
HOW_TO_INSTALL = (
    "Triton is not installed. Run 'tools/setup.sh --test', or by hand, with the "
    "version that [pip-differential] in tools/dependencies.txt pins: "
    "'pip install --no-deps --target build/deps/original nvidia-pytriton==0.7.0'."
)


class OriginalMissing(AssertionError):
    """The wheel with Triton is not installed."""


@dataclass(frozen=True)
class OriginalLayout:
    """The folder of links, and the environment variables that the server needs."""

    binary: Path
    library_path: str
    backends: Path


def _wheel_folder() -> Path:
    """The folder of the wheel's server, in the project's own copy or in this Python environment."""
    search = [str(INSTALL_FOLDER), *sys.path]
    spec = importlib.machinery.PathFinder.find_spec("pytriton", search)
    if spec is None or not spec.submodule_search_locations:
        raise OriginalMissing(HOW_TO_INSTALL)
    return Path(next(iter(spec.submodule_search_locations))) / "tritonserver"


def _link(link: Path, target: Path) -> None:
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.is_symlink():
        link.unlink()
    link.symlink_to(target)


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise OriginalMissing(f"Expected one {pattern} in {folder}, found {found}.")
    return found[0]


def prepare(folder: Path) -> OriginalLayout:
    """Creates the links in `folder`; may be called again on the same folder.

    Raises OriginalMissing with a sentence that says how to install the wheel.
    """
    wheel = _wheel_folder()
    libraries = wheel.parents[1] / "nvidia_pytriton.libs"
    if not (wheel / "bin" / "tritonserver").exists() or not libraries.is_dir():
        raise OriginalMissing(HOW_TO_INSTALL)
    _link(folder / "lib" / "libtritonserver.so", _only(libraries, "libtritonserver*.so"))
    _link(folder / "bin" / "tritonserver", wheel / "bin" / "tritonserver")
    python_backend = folder / "backends" / "python"
    for source in (wheel / "backends" / "python").iterdir():
        _link(python_backend / source.name, source)
    stubs = wheel / "python_backend_stubs" / f"{sys.version_info.major}.{sys.version_info.minor}"
    _link(python_backend / "triton_python_backend_stub", stubs / "triton_python_backend_stub")
    if NUMPY_FOLDER.is_dir():
        # The stub ignores PYTHONPATH, but it looks for modules in its own folder.
        for package in NUMPY_FOLDER.glob("numpy*"):
            _link(python_backend / package.name, package)
    return OriginalLayout(
        binary=folder / "bin" / "tritonserver",
        library_path=os.pathsep.join([str(folder / "lib"), str(libraries)]),
        backends=folder / "backends",
    )


def simulate_gpus(layout: OriginalLayout, simulator: Path) -> None:
    """Puts the simulated driver and runtime library of CUDA (tests/support/simulated_cuda) in the place of
    those that the wheel brings along."""
    libraries = layout.binary.parents[1] / "lib"
    _link(libraries / "libcuda.so.1", simulator / "libcuda.so.1")
    runtime = _only(_wheel_folder().parents[1] / "nvidia_pytriton.libs", "libcudart*.so*").name
    _link(libraries / runtime, simulator / "libcudart.so.12")
    # The program looks first in ../lib of its own place, where links do not count.
    program = layout.binary.resolve()
    layout.binary.unlink()
    shutil.copy(program, layout.binary)


def library_path_for_nereid(folder: Path, library: Path) -> str:
    """The LD_LIBRARY_PATH for running the wheel's Python backend in Nereid. The backend needs the
    server's library under its hashed name; a link of that name in `folder` refers to `library`."""
    libraries = _wheel_folder().parents[1] / "nvidia_pytriton.libs"
    server = _only(libraries, "libtritonserver*.so").name
    for source in libraries.iterdir():
        _link(folder / source.name, library if source.name == server else source)
    return str(folder)


def start_original(
    layout: OriginalLayout,
    repository: Path,
    log_directory: Path,
    backend_directory: Path | None = None,
    ports: Sequence[int] | None = None,
    options: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> ServerProcess:
    """Starts Triton on loopback. `ports`: HTTP, gRPC, metrics; free ones by default.

    `backend_directory` is the folder with NAME/libtriton_NAME.so; the wheel's own python backend
    by default. `environment`: variables added to this process's environment.
    """
    http_port, grpc_port, metrics_port = ports or free_ports(3)
    inherited = os.environ.get("LD_LIBRARY_PATH")
    library_path = layout.library_path + (os.pathsep + inherited if inherited else "")
    command = [
        layout.binary,
        f"--model-repository={repository}",
        f"--backend-directory={backend_directory or layout.backends}",
        f"--http-address={LOOPBACK}",
        f"--grpc-address={LOOPBACK}",
        f"--http-port={http_port}",
        f"--grpc-port={grpc_port}",
        f"--metrics-port={metrics_port}",
        *options,
    ]
    env = {**(environment or {}), "LD_LIBRARY_PATH": library_path}
    return ServerProcess(command, log_directory, env)


def main() -> int:
    """Runs Triton in the foreground, for trying things by hand."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where the links go")
    parser.add_argument("--model-repository", type=Path, required=True)
    parser.add_argument("--backend-directory", type=Path)
    parser.add_argument("--ports", type=int, nargs=3, default=[8000, 8001, 8002])
    parser.add_argument("options", nargs="*", help="further options of the server, after --")
    arguments = parser.parse_args()
    server = start_original(
        prepare(arguments.folder),
        arguments.model_repository.resolve(),
        arguments.folder / "log",
        arguments.backend_directory,
        arguments.ports,
        arguments.options,
    )
    try:
        server.wait_for("/v2/health/live")
        print(f"HTTP {server.http_url}, gRPC {server.grpc_url}, metrics {server.metrics_url}")
        return server.process.wait()
    except KeyboardInterrupt:
        server.stop()
        return 0


if __name__ == "__main__":
    sys.exit(main())
