# SPDX-License-Identifier: Apache-2.0
"""bench/simulator.py: how predictions are judged."""

from __future__ import annotations

import pytest

import simulator
from simulator import Figures, Pair


def test_the_medians_of_predictions_and_runs_are_compared() -> None:
    runs = [Figures(100, 10, 30), Figures(120, 20, 50), Figures(80, 40, 40)]
    guesses = [Figures(105, 22, 30), Figures(105, 22, 31), Figures(200, 90, 12)]
    good = Pair("m", "poisson", guesses, runs, stolen=0.0)
    bad = Pair("n", "constant", [Figures(150, 10, 52)], runs, stolen=0.04)
    assert good.error("throughput") == pytest.approx(0.05)
    assert good.error("p50") == pytest.approx(0.1)
    assert good.p99_within_spread() and not bad.p99_within_spread()
    text = simulator.summary([good, bad])
    assert "Throughput: median error 27.5%, within 10% in 1 of 2; the worst is n" in text
    assert "p99: within the spread of the runs in 1 of 2." in text
    assert "| n | constant | 150 | 100 | 50.0% |" in simulator.line(bad)
    assert simulator.line(bad).endswith("| no | 4% |")
    misses = simulator.missed([good, bad])
    assert [miss.split(":")[0] for miss in misses] == [
        "throughput of n with constant arrivals",
        "p50 of n with constant arrivals",
        "p99 is outside the runs in 1 of 2",
    ]
    # One of so many is what chance gives.
    assert len(simulator.missed([good] * 5 + [bad])) == 2


def test_a_spread_has_the_resolution_of_the_histogram() -> None:
    runs = [Figures(100, 10, 200), Figures(100, 10, 200)]

    def within(p99: float) -> bool:
        return Pair("m", "constant", [Figures(100, 10, p99)], runs, stolen=0.0).p99_within_spread()

    assert within(197) and not within(195)


@pytest.mark.parametrize(
    ("shares", "kept", "times"), [((0.02, 0.0), 0.02, 1), ((0.2, 0.1), 0.1, 2), ((0.04, 0.5), 0.04, 2)]
)
def test_what_the_host_disturbed_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, shares: tuple[float, float], kept: float, times: int
) -> None:
    pairs = [Pair("m", "poisson", [], [], stolen=share) for share in shares]
    left = iter(pairs)
    monkeypatch.setattr(simulator, "compare", lambda *_: next(left))
    assert simulator.compare_quietly().stolen == kept
    assert len(list(left)) == 2 - times
