"""Clients infer while everything about their model changes: not one request may fail.

The seed is fixed, so the same things happen in the same order; how they fall together with the
requests is chance. By hand, for longer or another order:

    NEREID_CHAOS_SECONDS=60 NEREID_CHAOS_SEED=7 pytest tests/e2e/test_model_chaos.py
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from conftest import ServerFactory
from support import raw_http
from support.infer import assert_serving
from support.model_control import EXPLICIT, Clients, group, index
from support.poll import poll_until
from support.repository import ModelRepository
from support.server_process import ServerProcess

SECONDS = float(os.environ.get("NEREID_CHAOS_SECONDS", "5"))
SEED = int(os.environ.get("NEREID_CHAOS_SEED", "1"))
MODEL = "echo"


class Chaos:
    """Does one thing after the other to the model, each of which leaves it serving."""

    def __init__(self, server: ServerProcess, repository: ModelRepository, seed: int) -> None:
        self.log: list[str] = []
        self._server = server
        self._repository = repository
        self._folder = repository.root / MODEL
        self._random = random.Random(seed)
        self._count = 1

    def _load(self, model: str = MODEL) -> int:
        path = f"/v2/repository/models/{model}/load"
        return raw_http.post(self._server.http_url, path).status

    def _write(self, **changes: object) -> None:
        settings = {"extra": group(self._count), "versions": (), **changes}
        self._repository.add_identity(MODEL, **settings)  # type: ignore[arg-type]

    def change_instances(self) -> None:
        self._count = self._random.randint(1, 4)
        self._write()
        assert self._load() == 200

    def touch(self) -> None:
        newest = max(self._folder.glob("[0-9]*"), key=lambda version: int(version.name))
        (newest / "weights").write_bytes(self._random.randbytes(64))
        assert self._load() == 200

    def swap_version(self) -> None:
        numbers = sorted(int(version.name) for version in self._folder.glob("[0-9]*"))
        (self._folder / str(numbers[-1] + 1)).mkdir()
        assert self._load() == 200
        for old in numbers[:-1]:
            shutil.rmtree(self._folder / str(old))

    def corrupt_and_repair(self) -> None:
        (self._folder / "config.pbtxt").write_text("nonsense {", encoding="utf-8")
        assert self._load() == 400
        self._write()
        assert self._load() == 200

    def break_backend(self) -> None:
        self._write(backend="nowhere")
        assert self._load() == 400
        self._write()
        assert self._load() == 200

    def load_another(self) -> None:
        name = f"other_{self._random.randint(0, 2)}"
        self._repository.add_identity(name)
        assert self._load(name) == 200
        path = f"/v2/repository/models/{name}/unload"
        assert raw_http.post(self._server.http_url, path).status == 200

    def step(self) -> None:
        actions: list[Callable[[], None]] = [
            self.change_instances,
            self.touch,
            self.swap_version,
            self.corrupt_and_repair,
            self.break_backend,
            self.load_another,
        ]
        action = self._random.choice(actions)
        self.log.append(action.__name__)
        action()


def resident_bytes(server: ServerProcess) -> int:
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def test_no_request_fails_whatever_happens(
    server_factory: ServerFactory, model_repository: ModelRepository
) -> None:
    model_repository.add_identity(MODEL, extra=group(1))
    server = server_factory(model_repository, EXPLICIT, f"--load-model={MODEL}")
    chaos = Chaos(server, model_repository, SEED)
    base = 0
    with Clients(server, MODEL) as clients:
        clients.wait_for_more()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or len(chaos.log) < 12:
            chaos.step()
            if len(chaos.log) == 12:
                base = resident_bytes(server)
    assert not clients.failures, (clients.failures[:3], chaos.log[-5:])
    assert_serving(server.http_url, MODEL)

    def only_one_serves() -> bool:
        states = [state for (name, _), (state, _) in index(server).items() if name == MODEL]
        return states.count("READY") == 1 and "UNLOADING" not in states

    poll_until("all replaced versions gone", only_one_serves)
    # Short runs have no slope to speak of; a leak of whole models would still show.
    assert resident_bytes(server) < base * 1.25 + (16 << 20), chaos.log
