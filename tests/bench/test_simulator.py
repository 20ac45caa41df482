"""bench/simulator.py: how predictions are judged."""

from __future__ import annotations

import pytest

import simulator
from simulator import Figures, Pair


def test_the_medians_of_predictions_and_runs_are_compared() -> None:
    runs = [Figures(100, 10, 30), Figures(120, 20, 50), Figures(80, 40, 40)]
    guesses = [Figures(105, 22, 30), Figures(105, 22, 31), Figures(200, 90, 12)]
    good = Pair("m", "poisson", guesses, runs)
    bad = Pair("n", "constant", [Figures(150, 10, 52)], runs)
    assert good.error("throughput") == pytest.approx(0.05)
    assert good.error("p50") == pytest.approx(0.1)
    assert good.p99_within_spread() and not bad.p99_within_spread()
    text = simulator.summary([good, bad])
    assert "Throughput: median error 27.5%, within 10% in 1 of 2; the worst is n" in text
    assert "p99: within the spread of the runs in 1 of 2." in text
    assert "| n | constant | 150 | 100 | 50.0% |" in simulator.line(bad)
    misses = simulator.missed([good, bad])
    assert [miss.split(":")[0] for miss in misses] == [
        "throughput of n with constant arrivals",
        "p50 of n with constant arrivals",
        "p99 of n with constant arrivals is outside the runs",
    ]


def test_a_spread_has_the_resolution_of_the_histogram() -> None:
    runs = [Figures(100, 10, 200), Figures(100, 10, 200)]
    assert Pair("m", "constant", [Figures(100, 10, 197)], runs).p99_within_spread()
    assert not Pair("m", "constant", [Figures(100, 10, 195)], runs).p99_within_spread()
