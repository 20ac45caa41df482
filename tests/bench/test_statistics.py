# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/statistics.py: medians, spread, and the rows that count."""

from __future__ import annotations

import pytest
from bench.results import make_row, make_run

from racetrack.statistics import race, ratio, spread, summarise


def test_spread_is_relative_to_the_median() -> None:
    assert spread([90, 100, 120]) == pytest.approx(0.3)
    assert spread([7]) == 0
    assert spread([0, 0, 0]) == 0


def test_ratio_of_nothing_is_nothing() -> None:
    assert ratio(6, 3) == 2
    assert ratio(None, 3) is None
    assert ratio(6, None) is None
    assert ratio(6, 0) is None


def test_medians_shrug_off_an_outlier() -> None:
    summary = summarise([make_run(1000), make_run(1010), make_run(10)])
    assert summary.throughput == 1000
    assert summary.p50_us == 100
    assert summary.p99_us == 200
    assert summary.cpu_us == 20


def test_errors_add_up_and_the_busiest_client_counts() -> None:
    summary = summarise([make_run(errors=1), make_run(errors=2, client_cpu=0.95)])
    assert summary.errors == 3
    assert summary.client_cpu == 0.95
    assert summary.client_is_the_limit


def test_cpu_is_missing_where_a_run_has_none() -> None:
    run = make_run()
    del run["server_cpu_us"]
    assert summarise([make_run(), run]).cpu_us is None


def test_ratios_are_ours_over_the_peer() -> None:
    slow = {"p50": 400.0, "p99": 1000.0}
    result = race(make_row([make_run(3000)], [make_run(1000, latency_us=slow, server_cpu_us=40.0)]))
    assert result.throughput_ratio == 3
    assert result.p50_ratio == 0.25
    assert result.p99_ratio == 0.2
    assert result.cpu_ratio == 0.5
    assert result.counts


@pytest.mark.parametrize("change", [{"client_cpu": 0.91}, {"errors": 1}])
@pytest.mark.parametrize("ours", [True, False])
def test_a_row_does_not_count(change: dict[str, float], ours: bool) -> None:
    good, bad = [make_run()], [make_run(**change)]
    assert not race(make_row(bad, good) if ours else make_row(good, bad)).counts
