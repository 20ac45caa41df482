"""The three ways to run the same models: our backend in our server, the original's backend in our
server, and in the original."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from differential import original_server
from python_models.cases_life import LATER
from python_models.session import Session
from support.nereid import start_nereid
from support.server_process import ServerProcess
from support.stage import backend_directory

MODELS = Path(__file__).resolve().parent / "models"
OURS = "ours"  # our backend, in our server
BINARY = "binary"  # the original's backend, in our server
ORIGINAL = "original"  # the original's backend, in the original
OPTIONS = ("--model-control-mode=explicit", "--exit-on-error=false")
# The interpreter that the original's backend brings is Debian's, and it finds its library by the
# first python3 on the path.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}


def why_not(kind: str) -> str:
    """Why there is no server of this kind; empty where there is one."""
    if kind == OURS:
        if not (backend_directory() / "python").is_dir():
            return "the backend python is not staged: make stage"
        return ""
    if not original_server.INSTALL_FOLDER.is_dir():
        return "the original server is not installed: tools/setup.sh --test"
    if not original_server.NUMPY_FOLDER.is_dir():
        return "the numpy of the original is not installed: tools/setup.sh --test"
    return ""


def write_repository(root: Path) -> Path:
    """All models, and the options that load those which are there from the start."""
    shutil.copytree(MODELS, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def load_options() -> list[str]:
    names = sorted(folder.name for folder in MODELS.iterdir() if folder.is_dir())
    return [f"--load-model={name}" for name in names if name not in LATER]


def start(kind: str, repository: Path, folder: Path) -> tuple[ServerProcess, dict[str, Path]]:
    """The server, and the folders whose names may be in its answers."""
    options = [*OPTIONS, *load_options()]
    if kind == OURS:
        server = start_nereid(repository, folder / "log", options)
        return server, {"backends": backend_directory()}
    layout = original_server.prepare(folder / "original")
    folders = {"backends": layout.backends}
    if kind == ORIGINAL:
        server = original_server.start_original(
            layout, repository, folder / "log", None, None, options, ENVIRONMENT
        )
        return server, folders
    options.append(f"--backend-directory={layout.backends}")
    environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", "")}
    return start_nereid(repository, folder / "log", options, environment), folders


@contextmanager
def running(kind: str, folder: Path) -> Iterator[Session]:
    """A server with all models, until the block ends."""
    repository = write_repository(folder / "models")
    server, folders = start(kind, repository, folder)
    try:
        server.wait_for("/v2/health/live")
        session = Session(server, repository, folders)
        try:
            yield session
        finally:
            session.close()
    finally:
        # The original takes a second for each of its processes to stop, one after the other.
        server.stop() if kind == OURS else server.kill()
