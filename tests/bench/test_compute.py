# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/compute.py: the compute time of a batch from a server's statistics."""

from __future__ import annotations

import pytest

from racetrack import compute, table


def test_it_finds_the_batch_size() -> None:
    def entry(size: int, count: int, ns: int) -> dict[str, object]:
        return {"batch_size": size, "compute_infer": {"count": count, "ns": ns}}

    statistics = {"model_stats": [{"batch_stats": [entry(1, 4, 400), entry(16, 5, 6000)]}]}
    assert compute.computed(statistics, 16) == (5, 6000)
    assert compute.computed(statistics, 64) == (0, 0)


def test_microseconds_are_those_between_two_readings() -> None:
    assert compute.us_per_batch((5, 6000), (7, 26000)) == 10
    with pytest.raises(RuntimeError, match="no such batch"):
        compute.us_per_batch((5, 6000), (5, 6000))


def test_the_copy_is_the_time_of_outputs() -> None:
    entry = {"compute_input": {"count": 3, "ns": 1}, "compute_output": {"count": 3, "ns": 600}}
    assert compute.copied({"model_stats": [{"inference_stats": entry}]}) == (3, 600)
    # A model that was never asked has no numbers.
    assert compute.copied({"model_stats": [{"inference_stats": {"compute_output": {}}}]}) == (0, 0)


def test_the_table_has_medians_and_ratios() -> None:
    row = {
        "title": "a network",
        "batch": 16,
        "us_per_batch": {
            "loop": [7],
            "paused": [9, 10, 90],
            "nereid": [10.2],
            "original": [12, 12],
        },
    }
    expected = ["a network", "16", "7.00", "10.0", "10.2", "1.020×", "12.0", "1.200×"]
    assert table.compute_line(row) == expected
    assert table.COMPUTE_HEAD.count("|") - 1 == len(expected)
