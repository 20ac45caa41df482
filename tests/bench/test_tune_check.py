"""bench/tune.py: names of configurations, and how a choice is judged."""

from __future__ import annotations

from typing import Any

import pytest

import tune


def row(instances: int, throughput: float, p99_us: float, **more: Any) -> dict[str, Any]:
    return {
        "instances": instances,
        "max_batch_size": 0,
        "batching": False,
        "preferred_batch_sizes": [],
        "max_queue_delay_us": 0,
        "throughput": throughput,
        "p99_us": p99_us,
        **more,
    }


def test_names_are_those_of_the_command() -> None:
    assert tune.name_of(row(1, 0, 0)) == "1 instance"
    assert tune.name_of(row(2, 0, 0, max_batch_size=4)) == "2 instances, no batching"
    full = row(
        2,
        0,
        0,
        max_batch_size=4,
        batching=True,
        preferred_batch_sizes=[{"size": 2}, {"size": 4}],
        max_queue_delay_us=50,
    )
    assert tune.name_of(full) == "2 instances, batches of 4, preferred 2 4, delay 50 µs"


def test_the_choice_is_judged_by_what_the_exhaustive_search_measured() -> None:
    rows = [row(1, 100, 10), row(2, 190, 20), row(3, 200, 30), row(4, 400, 90)]
    tuned = tune.Search(2, "2 instances", [])
    verdict = tune.judge(tuned, tune.Search(20, "3 instances", rows), 50)
    assert verdict.share_of_best == pytest.approx(0.95)
    assert verdict.share_of_time == pytest.approx(0.1)
    assert tune.limit_of("batched") == 60_000
    assert tune.limit_of("digits_batched") == float("inf")
