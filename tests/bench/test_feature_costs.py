# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/feature_page.py: what a feature costs, and whether that is within its limit."""

from __future__ import annotations

import pytest
from bench.results import make_run

from racetrack.feature_page import Cost, render
from racetrack.statistics import interval_of_median

HOST = {"processor": "a processor", "load_average_before": [0.25, 0, 0]}


def cost(*differences: float, limit: float | None = 3.0) -> Cost:
    """Of a feature that costs so many percent in each round, on a machine that gets slower."""
    found = Cost("traces", "http", limit)
    for number, percent in enumerate(differences):
        nothing = 10.0 + number
        on = make_run(server_cpu_us=(nothing + 0.5) * (1 + percent / 100))
        found.add(on, make_run(server_cpu_us=nothing), make_run(server_cpu_us=nothing + 1))
    return found


def test_a_difference_is_to_the_runs_before_and_after() -> None:
    found = cost(1, 2, 2, 2, 90, 2, 1, 2)
    assert found.cpu.middle == pytest.approx(2)
    assert found.cpu.low == pytest.approx(1)
    assert not found.missed
    assert found.p99.middle == 0


def test_a_limit_that_is_missed() -> None:
    assert cost(4, 2, 5).missed
    assert not cost(4, 2, 5, limit=None).missed


def test_wrong_answers_are_no_measurement() -> None:
    with pytest.raises(RuntimeError, match="traces over http: answers were wrong"):
        cost().add(make_run(errors=1), make_run(), make_run())


def test_the_page() -> None:
    page = render([cost(1, 1), cost(4, 4), cost(9, 9, limit=None)], "2026-01-02", HOST, "abc", 2)
    assert "commit abc" in page and "Load average before: 0.25" in page
    assert "+1.0 % (+1.0 to +1.0) | 3 % | held |" in page
    assert "+4.0 % (+4.0 to +4.0) | 3 % | **missed** |" in page
    assert "+9.0 % (+9.0 to +9.0) |  |  |" in page


@pytest.mark.parametrize(("count", "low", "high"), [(1, 1, 1), (5, 1, 5), (10, 2, 9), (20, 6, 15)])
def test_the_interval_of_a_median(count: int, low: float, high: float) -> None:
    """The ranks of the tables of statisticians."""
    found = interval_of_median(range(1, count + 1))
    assert (found.low, found.high) == (low, high)
