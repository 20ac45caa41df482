"""The two servers of the differential test, on the same repository with the same options."""

from __future__ import annotations

from pathlib import Path

from differential.original_server import prepare, start_original
from differential.repository import write_repository
from differential.target import Target
from support.nereid import start_nereid
from support.stage import backend_directory

# One model of the repository cannot load: the server has to serve the others.
OPTIONS = ("--exit-on-error=false",)


def original_target(folder: Path) -> Target:
    """The original with Nereid's backends."""
    layout = prepare(folder / "original")
    repository = write_repository(folder / "models")
    logs = folder / "original-log"
    return Target(
        lambda: start_original(layout, repository, logs, backend_directory(), None, OPTIONS),
        asks_again=True,
    )


def nereid_target(folder: Path) -> Target:
    """Nereid under the original's name, so that it gives the original's name in its metadata."""
    repository = write_repository(folder / "models")
    logs = folder / "nereid-log"
    return Target(lambda: start_nereid(repository, logs, OPTIONS, binary="tritonserver"))
