# SPDX-License-Identifier: Apache-2.0
"""bench/soak.py and bench/racetrack/soak.py: when a soak fails, and its output files."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from bench.results import make_result, make_run

import soak as program
from racetrack import soak
from racetrack.load import RunningLoad


def windows(p50: Sequence[float], p99: float = 500.0, **changes: Any) -> list[dict[str, Any]]:
    return [make_run(latency_us={"p50": value, "p99": p99}, **changes) for value in p50]


def make_soak(
    p50: Sequence[float] = (100.0,) * 9, end: float = 51.0, **changes: Any
) -> dict[str, Any]:
    stream = {"title": "HTTP small", "rate": 1000, "windows": windows(p50, **changes)}
    return {
        **make_result([]),
        "minutes": 1.5,
        "window_seconds": 10.0,
        "streams": [stream],
        "memory_mib": {"idle": 40.0, "base": 50.0, "peak": 90.0, "end": end},
    }


@pytest.mark.parametrize(
    ("values", "slope"),
    [((), 0), ((5,), 0), ((1, 3, 5), 2), ((4, 4, 4, 4), 0), ((1, 2, 3, 400, 5), 1)],
)
def test_theil_sen(values: Sequence[float], slope: float) -> None:
    assert soak.theil_sen(values) == slope


@pytest.mark.parametrize(
    "p50",
    [
        (100.0,) * 9,
        (100, 108, 95, 104, 99, 107, 103, 105, 100),
        (100, 100, 100, 100, 100, 100, 100, 100, 900),  # one disturbed window
        (100, 101, 102, 103, 104, 105, 106, 107, 108),  # rises by less than the limit
        (200, 190, 180, 170, 160, 150, 140, 130, 120),
        (100, 100, 100, 50, 50, 50, 120, 120, 120),  # a temporary step, no trend
    ],
)
def test_latency_that_does_not_rise(p50: Sequence[float]) -> None:
    assert soak.failures(make_soak(p50)) == []


def test_latency_that_rises() -> None:
    (wrong,) = soak.failures(make_soak([100 + 3 * i for i in range(9)]))
    assert wrong == "HTTP small: p50 rose from 103 to 121 µs (+17%, 10% are allowed)"


def test_the_tail_may_rise_by_more() -> None:
    result = make_soak()
    for i, window in enumerate(result["streams"][0]["windows"]):
        window["latency_us"]["p99"] = 500 + 25 * i
    assert soak.failures(result) == []
    for i, window in enumerate(result["streams"][0]["windows"]):
        window["latency_us"]["p99"] = 500 + 100 * i
    (wrong,) = soak.failures(result)
    assert "p99 rose" in wrong


def test_requests_that_fail() -> None:
    assert soak.failures(make_soak(errors=2)) == ["HTTP small: 18 requests failed"]


@pytest.mark.parametrize(("end", "count"), [(20.0, 0), (54.9, 0), (55.1, 1)])
def test_memory_that_does_not_come_back(end: float, count: int) -> None:
    assert len(soak.failures(make_soak(end=end))) == count


def test_the_page() -> None:
    page = soak.render(make_soak())
    assert "**Passed.**" in page
    assert "| HTTP small | 1000 | 1,000 | 100 | 100 | +0% | +0% | 500 | 500 | +0% | +0% | 0 |" in page
    assert "| 40.0 | 50.0 | 90.0 | 51.0 | +2.0% |" in page
    failed = soak.render(make_soak([100 + 3 * i for i in range(9)], client_cpu=0.95))
    assert "**FAILED:**" in failed
    assert "+17% **rises**" in failed
    assert "may be its own" in failed


def test_it_writes_both_files(tmp_path: Path) -> None:
    result = make_soak()
    program.write(result, tmp_path / "results")
    written = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert written == ["soak-2026-01-02-2x-cpu.json", "soak-2026-01-02-2x-cpu.md"]
    assert json.loads((tmp_path / "results" / written[0]).read_text()) == result


def test_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    assert program.windows_of(program.parse_arguments([]).minutes) == 60
    assert program.windows_of(program.parse_arguments(["--minutes=0.5"]).minutes) == 3
    with pytest.raises(SystemExit):
        program.parse_arguments(["--minutes=0.4"])
    assert "3 windows" in capsys.readouterr().err


def test_a_running_load() -> None:
    cores = frozenset(os.sched_getaffinity(0))
    lines = "print('{\"a\": 1}'); print('{\"a\": 2}')"
    with RunningLoad("a", [sys.executable, "-c", lines], cores) as load:
        load._process.wait()
        assert not load.running()
        assert load.results() == [{"a": 1}, {"a": 2}]
    with RunningLoad("a", [sys.executable, "-c", "raise SystemExit('broken')"], cores) as load:
        load._process.wait()
        with pytest.raises(RuntimeError, match="load a: broken"):
            load.running()
    with RunningLoad("a", ["sleep", "60"], cores) as load:
        assert load.running()
    assert load._process.returncode == -signal.SIGKILL
