# SPDX-License-Identifier: Apache-2.0
"""What the other load generators print is read as it should be, and their errors are noticed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import generators
from racetrack import other_generators
from racetrack.machine import Placement
from racetrack.other_generators import Failed, Load, Measured, Request

PLACEMENT = Placement("here", frozenset({0}), frozenset({0}))
LOAD = Load("http", "m", "127.0.0.1:1", concurrency=2, seconds=2)


@pytest.fixture
def prints(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """`output`: what the program prints; `command`: what was started."""
    state: dict[str, Any] = {"output": "", "command": []}

    def run(command: list[str], *_: Any, **__: Any) -> str:
        state["command"] = command
        return str(state["output"])

    monkeypatch.setattr(other_generators, "run", run)
    return state


def test_nereid_bench(prints: dict[str, Any]) -> None:
    row = {"errors": 0, "throughput": 5.0, "latency_us": {"p50": 1, "p90": 2, "p99": 3}}
    prints["output"] = json.dumps({"rows": [row]})
    assert other_generators.nereid(LOAD, PLACEMENT) == Measured(5.0, (1, 2, 3))
    assert "--concurrency=2" in prints["command"]
    row.update(errors=1, errors_by_text=[])
    prints["output"] = json.dumps({"rows": [row]})
    with pytest.raises(Failed):
        other_generators.nereid(LOAD, PLACEMENT)


def test_wrk(prints: dict[str, Any], tmp_path: Path) -> None:
    request = Request(tmp_path / "body", 7)
    prints["output"] = "Running\nRESULT 5.5 1.0 2.0 3.0 0\n"
    assert other_generators.wrk(LOAD, request, tmp_path, PLACEMENT) == Measured(5.5, (1, 2, 3))
    assert '["Inference-Header-Content-Length"] = "7"' in (tmp_path / "request.lua").read_text()
    prints["output"] = "RESULT 5.5 1.0 2.0 3.0 9\n"
    with pytest.raises(Failed):
        other_generators.wrk(LOAD, request, tmp_path, PLACEMENT)


def test_h2load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = "1\t200\t10\n2\t200\t20\n"

    def run(command: list[str], *_: Any) -> str:
        (tmp_path / "h2load.log").write_text(lines)
        return "summary"

    monkeypatch.setattr(other_generators, "run", run)
    request = Request(tmp_path / "body", 7)
    measured = other_generators.h2load(LOAD, request, tmp_path, PLACEMENT)
    assert measured.throughput == 1
    assert measured.percentiles[0] == 15
    lines = "1\t500\t10\n"
    with pytest.raises(Failed):
        other_generators.h2load(LOAD, request, tmp_path, PLACEMENT)


def test_medians() -> None:
    runs = [Measured(1, (1, 5, 9)), Measured(3, (3, 3, 3)), Measured(2, (9, 9, 1))]
    assert generators.medians(runs) == Measured(2, (3, 5, 3))
