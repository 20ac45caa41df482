# SPDX-License-Identifier: Apache-2.0
"""`nereid capacity`: fleets of known times, a recording, wrong files; times that `nereid tune`
measures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.repository import ModelRepository
from support.stage import server_binary

TENSOR = {"data_type": "TYPE_FP32", "dims": [1]}
CONFIG = {
    "name": "m",
    "backend": "identity",
    "max_batch_size": 4,
    "input": [{"name": "INPUT0", **TENSOR}],
    "output": [{"name": "OUTPUT0", **TENSOR}],
}
EXECUTION_MS = 20


@pytest.fixture
def times(tmp_path: Path) -> Path:
    """A state of `nereid tune`: any batch takes 20 ms, a request 1 ms besides."""
    points = [{"at": size, "value": EXECUTION_MS * 1000.0} for size in (1, 4)]
    execution = {
        "by_batch_us": points,
        "slowdown": [{"units": 1, "by_instances": [{"at": 1, "value": 1.0}]}],
        "overhead_us": 1e3,
    }
    state = {
        "nereid_tune": 3,
        "key": "m",
        "models": [{"config": json.dumps(CONFIG), "times": [execution]}],
        "measured": [],
    }
    file = tmp_path / "times"
    file.write_text(json.dumps(state))
    return file


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [str(server_binary()), "capacity", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def answer(*arguments: object) -> Any:
    done = run(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_the_fewest_nodes(times: Path) -> None:
    """A node serves 50 requests per second one by one."""
    load = ("m", f"--times={times}", "--rate=180", "--arrivals=constant", "--p99-ms=25")
    found = answer(*load)
    assert found["nodes_needed"] == 4
    assert [row["nodes"] for row in found["fleets"]] == [1, 2, 3, 4]
    assert found["fleets"][3]["p99_us"] == pytest.approx(21_000, abs=1)
    assert found["fleets"][2]["throughput"] == pytest.approx(150, rel=0.02)
    text = run(*load)
    assert "4 nodes keep a p99 of at most 25.0 ms.\n" in text.stdout
    few = run(*load, "--max-nodes=3")
    assert few.returncode == 1
    assert "Not even 3 nodes keep a p99 of at most 25.0 ms" in few.stdout


def test_another_configuration(times: Path, tmp_path: Path) -> None:
    """Batches of four serve four times as much."""
    folder = ModelRepository(tmp_path).add_identity(
        "other", "FP32", (1,), max_batch_size=4, extra="dynamic_batching { }"
    )
    load = ("m", f"--times={times}", "--rate=120", "--arrivals=constant", "--p99-ms=50")
    assert answer(*load)["nodes_needed"] == 3
    assert answer(*load, f"--config={folder}/config.pbtxt")["nodes_needed"] == 1


def test_an_autoscaler(times: Path) -> None:
    found = answer(
        "m",
        f"--times={times}",
        "--day=10,150,10",
        "--seconds=3600",
        "--target=2",
        "--max-nodes=8",
        "--shrink-seconds=60",
        "--p99-ms=200",
    )
    ready = [period["ready"] for period in found["periods"]]
    assert (ready[0], ready[-1]) == (1, 1)
    assert max(ready) > 3
    (fleet,) = found["fleets"]
    assert 3600 < fleet["node_seconds"] < 8 * 3600
    assert fleet["unserved"] == 0


def test_a_recording(times: Path, tmp_path: Path) -> None:
    """Two requests at a time, twice."""
    recording = tmp_path / "recording.jsonl"
    model = {"model": 1, "name": "m", "version": 1, "config": CONFIG, "instances": []}
    requests = [
        {"request": 1, "start": at * 1_000_000, "size": 1, "outcome": "ok"}
        for at in (1, 1, 101, 101)
    ]
    lines = [{"nereid_recording": 1}, model, *requests]
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = answer("m", f"--times={times}", f"--recording={recording}", "--p99-ms=25")
    assert (found["requests"], found["nodes_needed"]) == (4, 2)


def test_what_is_wrong(times: Path, tmp_path: Path) -> None:
    wrong = run("m", "--rate=1")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("nereid capacity: --times is missing: ")
    wrong = run("other", f"--times={times}")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        f"nereid capacity: --times={times}: it is of the model 'm', not of 'other'\n",
    )
    (tmp_path / "no").write_text("{}")
    wrong = run("m", f"--times={tmp_path}/no")
    assert (wrong.returncode, wrong.stderr) == (
        2,
        f"nereid capacity: --times={tmp_path}/no: it is not a state file of `nereid tune` of version 3\n",
    )


def test_times_that_tune_has_measured(tmp_path: Path) -> None:
    models = ModelRepository(tmp_path / "models")
    models.add_identity(
        "waits", "FP32", (1,), parameters={"execute_delay_ms": str(EXECUTION_MS)}
    )
    tuned = subprocess.run(
        [
            str(server_binary()),
            "tune",
            "waits",
            f"--model-repository={models.root}",
            "--max-instances=1",
            "--measure=1",
            "--concurrency=1",
            "--seconds=0.3",
            f"--state={tmp_path}/times",
        ],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert tuned.returncode == 0, tuned.stderr
    found = answer("waits", f"--times={tmp_path}/times", "--rate=60", "--p99-ms=1000")
    assert found["nodes_needed"] == 2  # also where an execution took half as long again
    assert found["memory_mib"] > 1
