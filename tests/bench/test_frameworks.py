# SPDX-License-Identifier: Apache-2.0
"""The evaluation of the bench's group "frameworks"."""

from __future__ import annotations

from typing import Any

import pytest

from racetrack import frameworks, frameworks_page
from racetrack.alternate import Shares, Slice


def row(
    key: str, network: str, compute: float = 1.0, throughput: float = 1.0, errors: int = 0
) -> dict[str, Any]:
    """A row with compute times and rows per second, given relative to the framework alone."""
    turn = {"ours": 100.0 * throughput, "theirs": 100.0, "formed": 4.0, "errors": errors}
    return {
        "key": key,
        "network": network,
        "title": network,
        "compute": [
            {
                "rows": rows,
                "ours": [50.0 * compute, 80.0 * compute],
                "theirs": [50.0, 80.0],
                "bare": [40.0, 64.0],
            }
            for rows in frameworks.ROWS
        ],
        "throughput": {"turns": [turn, turn]},
    }


def result(*rows: dict[str, Any], four: float = 110.0, amx: bool = False) -> dict[str, Any]:
    return {
        "commit": "0",
        "when": "2026-01-01",
        "turns": 2,
        "wanted": "",
        "host": {
            "cores": 2,
            "processor": "p",
            "system": "s",
            "amx": amx,
            "load_average_before": [0.0],
        },
        "rows": list(rows),
        "memory_mib": {"onnxruntime": {"1": 100.0, "4": four}},
    }


def test_all_within() -> None:
    found = result(row("onnxruntime/mlp", "mlp", 1.04, 0.1), row("x/resnet18", "resnet18", 2, 0.98))
    assert frameworks_page.failures(found) == []
    assert "**All within.**" in frameworks_page.render(found)


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (result(row("x/mlp", "mlp", 1.06)), "1.06 times the framework's compute time"),
        (result(row("x/resnet18", "resnet18", 1, 0.96)), "96.0% of the framework in a loop"),
        (result(row("x/mlp", "mlp", errors=1)), "x/mlp: requests failed"),
        (result(row("x/mlp", "mlp"), four=140), "1.40 times the memory of one"),
    ],
)
def test_what_falls_short_is_told(made: dict[str, Any], words: str) -> None:
    assert any(words in sentence for sentence in frameworks_page.failures(made))
    assert words in frameworks_page.render(made)


def test_small_networks_are_shown_behind_a_bare_server() -> None:
    page = frameworks_page.render(result(row("x/mlp", "mlp"), row("x/resnet18", "resnet18")))
    assert "| x/mlp | 8 | 65.0 | 65.0 | 1.000 | 52.0 | 1.250 |" in page
    assert page.count("1.250") == len(frameworks.ROWS)


def test_a_round_has_the_sizes_that_were_formed() -> None:
    sizes = frameworks.one_round({8: 300, 3: 99, 1: 1})
    assert {size: sizes.count(size) for size in sizes} == {8: 48, 3: 16}
    assert sizes != sorted(sizes)
    assert len(frameworks.one_round({1: 1, 2: 1, 3: 1, 4: 1, 5: 1})) == frameworks.ROUND
    few = frameworks.one_round({8: 57, 1: 2})
    assert few.count(1) == 2


def test_batches_are_counted_by_size() -> None:
    rows = [{"batch_size": 1, "compute_infer": {"count": "3"}}, {"batch_size": 8, "compute_infer": {"count": 2}}]
    found = {"model_stats": [{"batch_stats": rows}]}
    assert frameworks.batches(found) == {1: 3, 8: 2}


def test_rows_are_counted_in_the_time_that_a_program_had_the_core() -> None:
    shares = Shares(
        first=[Slice(0, 10), Slice(20, 30), Slice(40, 50)],
        second=[Slice(10, 20), Slice(30, 40), Slice(50, 60)],
    )
    # The load's last answer counts, and not its end. It had the core from 5 to 10 and from 20 to 25.
    run = {"requests": 28, "began": 5, "seconds": 60, "seconds_to_last": 20}
    # Those of 3 and 30 are not within the load; the one of 12 ended where the count begins.
    ends = [(1, 3.0), (2, 12.0), (4, 18.0), (5, 20.0), (6, 30.0)]
    found = frameworks.rows_per_second(run, ends, [8, 1], shares)
    assert found == {"ours": 2.8, "theirs": (8 + 1 + 8) / 8}


def test_the_sizes_of_a_loop_recur() -> None:
    assert [frameworks.rows_until(runs, [8, 3, 1]) for runs in range(6)] == [0, 8, 11, 12, 20, 23]


def test_rows_are_chosen_by_any_of_several_texts() -> None:
    keys = ["onnxruntime/mlp", "onnxruntime/resnet18", "openvino/encoder", "openvino/resnet18_bf16"]
    chosen = [key for key in keys if frameworks.chosen(key, "onnxruntime/resnet18,encoder")]
    assert chosen == ["onnxruntime/resnet18", "openvino/encoder"]
    assert all(frameworks.chosen(key, "") for key in keys)


def test_a_page_of_chosen_rows_says_so() -> None:
    made = {**result(row("x/mlp", "mlp")), "wanted": "x/mlp", "memory_mib": {}}
    page = frameworks_page.render(made)
    assert "Only rows that hold x/mlp." in page
    assert frameworks_page.MEMORY_HEAD not in page
    assert "Only rows" not in frameworks_page.render(result(row("x/mlp", "mlp")))


def test_bf16_counts_where_the_processor_has_amx() -> None:
    rows = row("onnxruntime/resnet18", "resnet18"), row("openvino/resnet18_bf16", "resnet18", 0.5)
    assert frameworks_page.bf16_speed_up(rows, 0) == 2
    assert frameworks_page.failures(result(*rows)) == []
    assert "bf16: 2.0 times ONNX Runtime" in frameworks_page.failures(result(*rows, amx=True))[0]


def test_with_amx_bf16_is_judged_by_its_speed() -> None:
    fast = row("onnxruntime/resnet18", "resnet18"), row("openvino/resnet18_bf16", "resnet18", 0.2, 0.95)
    with_amx = result(*fast, amx=True)
    assert frameworks_page.failures(with_amx) == []
    assert "but for bf16 5 times the speed of ONNX Runtime; four" in frameworks_page.render(with_amx)
    without = result(*fast)
    assert "95.0% of the framework in a loop" in frameworks_page.failures(without)[0]
    assert "but for bf16" not in frameworks_page.render(without)


def test_ratios_are_of_turns() -> None:
    compute = {"ours": [10.0, 40.0, 90.0], "theirs": [10.0, 20.0, 90.0]}
    assert frameworks_page.compute_ratio(compute) == 1
