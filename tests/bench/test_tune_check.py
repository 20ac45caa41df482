# SPDX-License-Identifier: Apache-2.0
"""bench/tune.py: names of configurations, which are measured again, and how a choice is judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tune
from racetrack.pages import Page
from racetrack.tuned_models import SUBJECTS, Subject, write_models

LIMITED = Subject("m", "a model", ("--concurrency=2", "--p99-ms=0.05"))


def model(instances: int, **more: Any) -> dict[str, Any]:
    return {
        "instances": instances,
        "threads": 0,
        "backend": "",
        "max_batch_size": 0,
        "batching": False,
        "preferred_batch_sizes": [],
        "max_queue_delay_us": 0,
        **more,
    }


def row(instances: int, throughput: float, p99_us: float) -> dict[str, Any]:
    return {"models": [model(instances)], "throughput": throughput, "p99_us": p99_us}


ROWS = [row(1, 100, 10), row(2, 190, 20), row(3, 200, 30), row(5, 50, 5), row(4, 400, 90)]


def test_names_are_those_of_the_command() -> None:
    assert tune.name_of_model(model(1)) == "1 instance"
    assert tune.name_of_model(model(2, max_batch_size=4)) == "2 instances, no batching"
    full = model(
        2,
        threads=1,
        max_batch_size=4,
        batching=True,
        preferred_batch_sizes=[{"size": 2}, {"size": 4}],
        max_queue_delay_us=50,
    )
    name = "2 instances of 1 thread, batches of 4, preferred 2 4, delay 50 µs"
    assert tune.name_of_model(full) == name
    other = model(1, threads=2, backend="openvino")
    assert tune.name_of_model(other) == "1 instance of openvino with 2 threads"
    assert tune.name_of({"models": [model(1), full]}, ("a", "b")) == f"a: 1 instance; b: {name}"


def test_todays_configuration_the_choice_and_the_best_are_measured_again() -> None:
    names = tune.finalists(ROWS, LIMITED, "5 instances")
    assert names == ["1 instance", "5 instances", "3 instances", "2 instances"]
    assert tune.finalists(ROWS, LIMITED, "2 instances")[1] == "2 instances"
    free = Subject("m", "a model", ())
    assert tune.finalists(ROWS, free, "1 instance") == ["1 instance", "4 instances", "3 instances", "2 instances"]


def test_medians_of_the_rounds() -> None:
    rounds = [[row(1, value, 10 * value), row(2, 5, 5)] for value in (1, 9, 2)]
    assert tune.median_rows(rounds) == [row(1, 2, 20), row(2, 5, 5)]


def verdict(chosen: str, again: list[dict[str, Any]], seconds: float = 2) -> tune.Verdict:
    tuned = tune.Search(seconds, chosen, [])
    return tune.judge(LIMITED, tuned, tune.Search(20, "3 instances", ROWS), again)


def test_the_choice_is_judged_by_what_was_measured_again() -> None:
    again = [row(1, 100, 10), row(2, 152, 20), row(3, 160, 30)]
    found = verdict("2 instances", again)
    assert (found.of_best, found.of_today, found.of_time) == pytest.approx((0.95, 1.52, 0.1))
    assert (found.configurations, found.best) == (5, "3 instances")
    assert found.holds()
    assert not verdict("2 instances", again, seconds=4.1).holds()
    assert not verdict("2 instances", [row(1, 100, 10), row(2, 151, 20), row(3, 160, 30)]).holds()
    # A choice beyond the limit reaches nothing, unless none keeps it.
    assert verdict("2 instances", [row(1, 100, 10), row(2, 170, 60)]).of_best == 0
    assert verdict("2 instances", [row(1, 100, 80), row(2, 170, 60)]).of_best == 1


def test_the_page_says_what_was_missed() -> None:
    again = [row(1, 100, 10), row(2, 152, 20), row(3, 160, 30)]
    verdicts = [verdict("2 instances", again), verdict("1 instance", again)]
    text = tune.render(Page("tune", "Title"), verdicts, 1, 3)
    assert text.startswith("# Title, ")
    holds, missed = (line for line in text.splitlines() if line.startswith("| m:"))
    assert holds.endswith("| 2 instances | 95.0% | 1.52 × | 2.0 s | 10.0% | holds |")
    assert missed.endswith("| 62.5% | 1.00 × | 2.0 s | 10.0% | missed; the best one: 3 instances |")


def test_the_models_are_configured_as_the_original_documents(tmp_path: Path) -> None:
    root = write_models(tmp_path / "models")
    for subject in SUBJECTS:
        for name in subject.members or (subject.name,):
            text = (root / name / "config.pbtxt").read_text()
            assert "count: 1" in text
            assert text.count("dynamic_batching { }") == text.count("dynamic_batching") == 1
    assert [subject.p99_us for subject in SUBJECTS[:2]] == [60_000, float("inf")]
