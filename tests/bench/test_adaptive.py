# SPDX-License-Identifier: Apache-2.0
"""bench/adaptive.py and bench/racetrack/adaptive.py: when a trial falls short, and its page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from bench.results import make_result, make_run

import adaptive as program
from racetrack import adaptive, machine

# Goodput by variant, the same on each trace.
EVEN = {"adaptive": 1000.0, "delay_0": 990.0, "delay_100": 995.0, "delay_500": 960.0,
        "delay_2000": 500.0}  # fmt: skip


def make_trial(errors: int = 0, **traces: dict[str, float]) -> dict[str, Any]:
    """A result with two rounds that differ by 10; `traces` replaces values of EVEN."""

    def runs(trace: str, variant: str) -> list[dict[str, Any]]:
        goodput = {**EVEN, **traces.get(trace, {})}[variant]
        more = {"mean_batch": 3.0, "server_cpu": 0.4, "errors": errors}
        if variant == "adaptive":
            more |= {"chosen_delay_us": 281.0, "chosen_size": 64.0}
        return [make_run(goodput=goodput + by, **more) for by in (-5, 5)]

    return {
        **make_result([]),
        "model": "accelerator",
        "settings": {"rounds": 2, "seconds": 5.0, "rate": 1000, "target_us": 5000},
        "traces": {
            trace: {variant: runs(trace, variant) for variant in adaptive.VARIANTS}
            for trace in adaptive.TRACES
        },
    }


def test_it_holds() -> None:
    result = make_trial()
    assert adaptive.failures(result) == []
    assert adaptive.against_best(result, "step") == pytest.approx(1000 / 995 - 1)
    page = adaptive.render(result)
    assert "**Holds**" in page
    assert "does not count" not in page
    assert "| bursty, adaptive | 1,000 | +0.5% | 1% | 100 | 200 | 3.0 | 40% | 281/64 281/64 |" in page
    assert "| 2000 µs | 500 | +100.0% |" in page


def test_a_trial_that_others_disturbed() -> None:
    result = make_trial()
    result["traces"]["step"]["delay_0"][0]["other_cpu"] = 0.5
    assert "**Others used up to 50% of a core: this does not count.**" in adaptive.render(result)


def test_one_trace_on_which_a_fixed_delay_is_better() -> None:
    result = make_trial(bursty={"delay_500": 1030.0})
    assert adaptive.failures(result) == []
    result = make_trial(bursty={"delay_500": 1040.0})
    assert adaptive.failures(result) == ["bursty: 3.8% less than the best fixed delay"]
    assert "**Falls short:**" in adaptive.render(result)


def test_a_fixed_delay_that_is_as_good_over_all() -> None:
    result = make_trial(poisson={"delay_0": 1010.0}, step={"delay_0": 1005.0}, bursty={"delay_0": 990})
    assert adaptive.failures(result) == ["over all traces, a delay of 0 µs is at least as good"]


def test_requests_that_fail() -> None:
    assert "poisson, adaptive: 2 requests failed" in adaptive.failures(make_trial(errors=1))


def test_the_models(tmp_path: Path) -> None:
    for network in adaptive.MODELS:
        models = program.write_repository(tmp_path / network, network, 4321)
        assert tuple(models) == adaptive.VARIANTS
        config = (tmp_path / network / "adaptive" / "config.pbtxt").read_text()
        assert 'key: "nereid.target_p99_us" value: { string_value: "4321" }' in config
        assert "max_queue_delay" not in config
        config = (tmp_path / network / "delay_500" / "config.pbtxt").read_text()
        assert "max_queue_delay_microseconds: 500" in config
        assert "nereid.target_p99_us" not in config


def test_processor_time_is_part_of_what_the_machine_does() -> None:
    before, machine_before = machine.cpu_seconds(os.getpid()), machine.busy_seconds()
    while machine.cpu_seconds(os.getpid()) < before + 0.05:
        pass
    assert machine.busy_seconds() > machine_before


def test_it_writes_its_files(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    result = make_trial()
    program.write(result, tmp_path)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == [
        "adaptive-accelerator-2026-01-02-2x-cpu.json",
        "adaptive-accelerator-2026-01-02-2x-cpu.md",
        "adaptive-accelerator.svg",
    ]
    assert json.loads((tmp_path / written[0]).read_text()) == result
