"""bench/simulator.py: the table of `nereid tune`, and how predictions are judged."""

from __future__ import annotations

import pytest

import simulator
from simulator import Figures, Pair

TABLE = """\
                 configuration  predicted/s      p50      p99  measured/s      p50      p99  clients  batch  memory  errors
today  2 instances, batches of 8, delay 2000 µs          399  15.4 ms  20.3 ms         394  15.6 ms  1.05 s        -   5.10  33 MiB       0
    >                2 instances          410   900 ns   144 µs         400  15.6 ms  22.5 ms        -   5.10  33 MiB       0
"""


def test_the_row_of_today() -> None:
    predicted, measured = simulator.today_of(TABLE)
    assert predicted == Figures(399, 15_400, 20_300)
    assert measured == Figures(394, 15_600, 1_050_000)


def test_today_may_be_what_was_chosen() -> None:
    chosen = "\n".join(line for line in TABLE.splitlines() if not line.startswith("today"))
    assert simulator.today_of(chosen)[0] == Figures(410, 0.9, 144)


def test_predictions_are_judged_by_the_median_of_the_runs() -> None:
    runs = [Figures(100, 10, 30), Figures(120, 20, 50), Figures(80, 40, 40)]
    good = Pair("m", "poisson", Figures(105, 22, 30), runs)
    bad = Pair("n", "constant", Figures(150, 10, 51), runs)
    assert good.error("throughput") == pytest.approx(0.05)
    assert good.error("p50") == pytest.approx(0.1)
    assert good.p99_within_spread() and not bad.p99_within_spread()
    text = simulator.summary([good, bad])
    assert "Throughput: median error 27.5%, within 10% in 1 of 2; the worst is n" in text
    assert "p99: within the spread of the runs in 1 of 2." in text
    assert "| n | constant | 150 | 100 | 50.0% |" in simulator.table([good, bad])
