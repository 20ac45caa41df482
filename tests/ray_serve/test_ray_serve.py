# SPDX-License-Identifier: Apache-2.0
"""examples/ray_serve under load: no request is lost while replicas come, go and die."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

pytest.importorskip("ray", reason="not installed: run 'tools/dev ray-check'")

from ray_serve.application import EXAMPLE, Application, kill  # noqa: E402
from ray_serve.load import Attempt, Load, Question  # noqa: E402

SECONDS = 60.0
MANY = 64  # more than one replica's QUEUE_LENGTH
FEW = 4
ROWS = 8
DIED = "500 b'Internal Server Error'"  # what Ray answers for a replica that died


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ray_serve") / "models"
    subprocess.run([sys.executable, EXAMPLE / "make_repository.py", folder], check=True)
    return folder


@pytest.fixture(scope="module")
def application(models: Path) -> Iterator[Application]:
    started = Application(models)
    try:
        yield started
    finally:
        started.stop()


def question(folder: Path, seed: int, by_model: bool) -> Question:
    """A request with one row, and the answer of ONNX Runtime alone."""
    row = np.random.default_rng(seed).standard_normal((1, 64), dtype=np.float32)
    session = onnxruntime.InferenceSession(folder / "1" / "model.onnx")
    (expected,) = session.run(None, {"x": row})

    def is_right(answer: bytes) -> bool:
        return np.allclose(json.loads(answer)["y"], expected, atol=1e-4)

    return Question(folder.name, json.dumps({"x": row.tolist()}).encode(), is_right, by_model)


def questions(models: Path, names: int, by_model: bool = False) -> list[Question]:
    folders = sorted(models.iterdir())[:names]
    return [question(folder, seed, by_model) for seed in range(ROWS) for folder in folders]


@pytest.mark.timeout(600)
def test_no_request_is_lost(application: Application, models: Path) -> None:
    """Scales from 1 to 2, loses a replica, is updated, and scales from 2 to 1, all under load."""
    assert application.nodes() == 2
    load = Load(application.port, questions(models, names=1))
    begin = time.monotonic()
    try:
        load.set_clients(FEW)
        application.wait_for_replicas(1)

        load.set_clients(MANY)
        application.wait_for_replicas(2)
        reports = application.reports(2)
        assert len({one["node"] for one in reports.values()}) == 2, "each node has a replica"
        batches = {process: one["models"] for process, one in reports.items()}

        before = time.monotonic()
        victim = next(iter(batches))
        killed = kill(victim)
        survivors = set(application.reports(2, but_not=victim))
        application.wait_for_replicas(2)
        recovered = time.monotonic()

        application.update(shutil.copytree(models, models.with_name("new_models")))
        application.wait_for_replicas(2)
        updated = time.monotonic()
        assert not survivors & set(application.reports(2)), "the update replaces all processes"

        load.set_clients(FEW)
        application.wait_for_replicas(1)
        while time.monotonic() < begin + SECONDS:
            time.sleep(0.1)
    finally:
        load.set_clients(0)
    end = time.monotonic()

    attempts = load.attempts()
    failed = [one for one in attempts if not one.ok]
    tell(attempts, failed, batches, {"all": (begin, end), "kill": (before, recovered), "update": (recovered, updated)})
    assert load.broken() == []
    assert [one for one in failed if not one.start <= killed <= one.end] == [], "were not with the killed process"
    assert [one for one in failed if one.what != DIED] == [], "failed for another reason"
    assert len(failed) <= MANY
    for counts in (one for of_models in batches.values() for one in of_models.values()):
        assert counts["executions"] < counts["inferences"], "Nereid has made no batches"


def tell(
    attempts: list[Attempt],
    failed: list[Attempt],
    batches: dict[int, dict[str, dict[str, int]]],
    spans: dict[str, tuple[float, float]],
) -> None:
    """Prints what README.md of the example reports."""
    for what, (begin, end) in spans.items():
        done = sum(begin <= one.end < end for one in attempts if one.ok)
        print(f"{what}: {done} requests in {end - begin:.1f} s, {done / (end - begin):.0f}/s")
    print(f"sent again: {len(failed)}, by cause {Counter(one.what[:60] for one in failed)}")
    print(f"answers by process: {Counter(one.what for one in attempts if one.ok)}")
    for process, of_models in batches.items():
        for name, counts in of_models.items():
            size = counts["inferences"] / max(1, counts["executions"])
            print(f"process {process}, {name}: {counts}, mean batch {size:.1f}")


@pytest.mark.timeout(300)
def test_models_take_turns(application: Application, models: Path) -> None:
    """Three models where a replica holds two: they are evicted and loaded again under load."""
    load = Load(application.port, questions(models, names=3, by_model=True))
    loaded: set[frozenset[str]] = set()
    try:
        load.set_clients(FEW)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            loaded.add(frozenset(application.report()["models"]))
    finally:
        load.set_clients(0)
    assert load.broken() == []
    assert [one for one in load.attempts() if not one.ok] == []
    assert max(map(len, loaded)) <= 3, "two, and one that is going"
    assert frozenset.union(*loaded) == {one.name for one in models.iterdir()}
    assert len(loaded) > 1, "none was ever evicted"
