# SPDX-License-Identifier: Apache-2.0
"""The servers of the differential test: each kind for Triton and for Nereid, on the same
repository with the same options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from differential.answers import GrpcReply, HttpReply
from differential.cases import (
    MAIN,
    NOWHERE,
    ON_DEMAND,
    UNDISTURBED,
    UNREADABLE,
    VERSIONLESS,
    GrpcCase,
    HttpCase,
)
from differential.managed_repository import LOADED, write_managed_repository
from differential.original_server import prepare, start_original
from differential.repository import write_repository
from differential.target import Target
from support.nereid import start_nereid
from support.repository import ModelRepository
from support.stage import backend_directory


@dataclass(frozen=True)
class Kind:
    write: Callable[[Path], Path]
    options: tuple[str, ...]
    wait_for: str = "/v2/health/live"


# One model of the repository cannot be loaded; the server has to serve the others.
def _write_unreadable(root: Path) -> Path:
    models = ModelRepository(root)
    models.add_identity("echo")
    models.add("no_config", "nonsense {")
    return models.root


def _write_versionless(root: Path) -> Path:
    models = ModelRepository(root)
    models.add_identity("echo")
    models.add_identity("no_versions", versions=())
    return models.root


_GOES_ON = "--exit-on-error=false"
_EXPLICIT = "--model-control-mode=explicit"
_LOADS = tuple(f"--load-model={name}" for name in LOADED)
KINDS = {
    MAIN: Kind(write_repository, (_GOES_ON,)),
    ON_DEMAND: Kind(write_managed_repository, (_GOES_ON, _EXPLICIT, *_LOADS)),
    UNDISTURBED: Kind(write_managed_repository, (_GOES_ON, _EXPLICIT)),
    UNREADABLE: Kind(_write_unreadable, (_GOES_ON,)),
    VERSIONLESS: Kind(_write_versionless, (_GOES_ON,)),
    NOWHERE: Kind(lambda root: root, (_GOES_ON,), wait_for="/v2"),
}


class Targets:
    """Sends each case to its server. Not thread-safe."""

    def __init__(self, targets: Mapping[str, Target]) -> None:
        self._targets = targets

    def send(self, case: HttpCase | GrpcCase) -> HttpReply | GrpcReply:
        return self._targets[case.server].send(case)

    def stop(self, expect_clean_exit: bool) -> None:
        for target in self._targets.values():
            target.stop(expect_clean_exit)


def original_targets(folder: Path) -> Targets:
    """Triton with Nereid's backends."""
    layout = prepare(folder / "original")

    def target(kind: str) -> Target:
        repository = KINDS[kind].write(folder / kind / "models")
        logs = folder / kind / "original-log"
        options = KINDS[kind].options
        return Target(
            lambda: start_original(layout, repository, logs, backend_directory(), None, options),
            KINDS[kind].wait_for,
            asks_again=True,
        )

    return Targets({kind: target(kind) for kind in KINDS})


def nereid_targets(folder: Path) -> Targets:
    """Nereid under Triton's name, so that its metadata contains Triton's name."""

    def target(kind: str) -> Target:
        repository = KINDS[kind].write(folder / kind / "models")
        logs = folder / kind / "nereid-log"
        options = KINDS[kind].options
        return Target(
            lambda: start_nereid(repository, logs, options, binary="tritonserver"),
            KINDS[kind].wait_for,
        )

    return Targets({kind: target(kind) for kind in KINDS})
