# SPDX-License-Identifier: Apache-2.0
"""The three ways to run the same models: our backend in our server, Triton's backend in our
server, and in Triton."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from differential import original_server
from python_models.cases_life import LATER
from python_models.session import Session
from python_models.steps import Case, models_of
from support import raw_http
from support.nereid import start_nereid
from support.server_process import ServerProcess
from support.stage import backend_directory, stage_root

MODELS = Path(__file__).resolve().parent / "models"
OURS = "ours"  # our backend, in our server
BINARY = "binary"  # Triton's backend, in our server
ORIGINAL = "original"  # Triton's backend, in Triton
OPTIONS = ("--model-control-mode=explicit", "--exit-on-error=false")
_TRIES = 12
_LOST = "Socket closed|Connection refused|Connection reset|[Ff]ailed to connect|Deadline Exceeded"
_PREFIX = "shm-region-prefix-name"  # for files that Triton's backend leaves in /dev/shm
# The stub of Triton's backend is built for Debian's interpreter. It finds Python's library by
# the first python3 on the path.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}

# Our backend uses the first python3 on the path: the interpreter of the tests, which has numpy.
OUR_ENVIRONMENT = {
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "PYTHONDONTWRITEBYTECODE": "1",
}


def why_not(kind: str) -> str:
    """The reason why there is no server of this kind; empty if there is one."""
    if kind == OURS:
        if not (backend_directory() / "python").is_dir():
            return "the backend python is not staged: make stage"
        return ""
    if not original_server.INSTALL_FOLDER.is_dir():
        return "Triton is not installed: tools/setup.sh --test"
    if not original_server.NUMPY_FOLDER.is_dir():
        return "the numpy of Triton is not installed: tools/setup.sh --test"
    return ""


def write_repository(root: Path) -> Path:
    """Writes all models."""
    shutil.copytree(MODELS, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def _prefix(folder: Path) -> str:
    return f"{folder.name}_{os.getpid()}_"


def start(
    kind: str, repository: Path, folder: Path, more: Sequence[str] = ()
) -> tuple[ServerProcess, dict[str, Path]]:
    """Starts a server with `more` options; returns it, and the folders whose paths may occur in its
    answers."""
    options = [*OPTIONS, *more, f"--backend-config=python,{_PREFIX}={_prefix(folder)}"]
    if kind == OURS:
        server = start_nereid(repository, folder / "log", options, OUR_ENVIRONMENT)
        return server, {"backends": backend_directory()}
    layout = original_server.prepare(folder / "original")
    folders = {"backends": layout.backends}
    if kind == ORIGINAL:
        server = original_server.start_original(
            layout, repository, folder / "log", None, None, options, ENVIRONMENT
        )
        return server, folders
    options.append(f"--backend-directory={layout.backends}")
    library = stage_root() / "lib" / "libtritonserver.so"
    path = original_server.library_path_for_nereid(folder / "libraries", library)
    environment = {**ENVIRONMENT, "LD_LIBRARY_PATH": path}
    return start_nereid(repository, folder / "log", options, environment), folders


class Runner:
    """A server of one kind, started when it is first needed. Models are loaded when a case needs
    them.

    Triton's backend has races. Some crash its server (boost::interprocess::lock_exception):
    then the server is started again, and the case is repeated. In Triton, the case is also
    repeated when a request fails without an answer of the server. Our backend gets one try. Not
    thread-safe.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self._kind = kind
        self._folder = folder
        self._repository = write_repository(folder / "models")
        self._server: ServerProcess | None = None
        self._session: Session | None = None
        self._loaded: set[str] = set()

    def answers(self, case: Case) -> list[Any]:
        for _ in range(1 if self._kind == OURS else _TRIES):
            outcome = self._outcome(case)
            if not self._is_lost(outcome):
                if isinstance(outcome, Exception):
                    raise outcome
                return outcome
            log = self._server.log_text()[-2000:] if self._server else ""
            self._stop_what_is_left()
        raise AssertionError(f"{case.id}: {outcome}\nThe end of the server's log:\n{log}")

    def _outcome(self, case: Case) -> list[Any] | Exception:
        try:
            session = self._started()
            self._load(models_of(case) - LATER)
            return session.answers(case)
        except Exception as error:  # its meaning depends on whether the server still runs
            return error

    def _started(self) -> Session:
        if self._session is None:
            self._server, folders = start(self._kind, self._repository, self._folder)
            self._server.wait_for("/v2/health/live")
            self._session = Session(self._server, self._repository, folders)
            self._loaded = set()
        return self._session

    def load_all(self, names: set[str]) -> None:
        """Loads the models, four at a time."""
        self._started()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda name: self._load({name}), sorted(names - LATER)))

    def _load(self, names: set[str]) -> None:
        assert self._server is not None
        for name in sorted(names - self._loaded):
            path = f"/v2/repository/models/{name}/load"
            answer = raw_http.post(self._server.http_url, path)
            assert answer.status == 200, f"{name}: {answer.error()}"
            self._loaded.add(name)

    def _is_lost(self, outcome: list[Any] | Exception) -> bool:
        """Whether the outcome says nothing about the case, so that it may be repeated."""
        failed = isinstance(outcome, Exception) or re.search(_LOST, repr(outcome)) is not None
        if failed and self._kind == ORIGINAL:
            return True
        if self._server is None or self._session is None:  # it did not start: no race of a backend
            return False
        if failed:  # answers fail a moment before the process ends
            with suppress(AssertionError):
                self._server.wait_exit(3)
        return not self._server.is_alive()

    def stop(self) -> None:
        if self._server is not None:
            if self._kind == OURS:
                self._server.stop()
            self._stop_what_is_left()

    def _stop_what_is_left(self) -> None:
        """Kills the server, because Triton's backend would need a second per process to end.
        Removes the files that it leaves in /dev/shm."""
        if self._session is not None:
            self._session.close()
        if self._server is not None:
            self._server.kill()
        self._server = self._session = None
        for left in Path("/dev/shm").glob(f"{_prefix(self._folder)}*"):
            left.unlink()
