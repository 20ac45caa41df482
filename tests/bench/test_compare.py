# SPDX-License-Identifier: Apache-2.0
"""bench/compare.py: a branch with its base."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.results import make_result, make_row, make_run

import compare
from racetrack.results import RESULTS, find


def result_of(*throughputs: float, peer: float = 1000.0, **changes: Any) -> dict[str, Any]:
    ours = [make_run(value, **changes) for value in throughputs]
    return make_result([make_row(ours, [make_run(peer)] * len(ours))])


def run(tmp_path: Path, base: dict[str, Any], head: dict[str, Any], *options: str) -> int:
    files = []
    for name, content in (("base", base), ("head", head)):
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(content))
    return compare.main([str(path) for path in files] + list(options))


def test_a_name_alone_is_looked_for_among_the_results(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("{}")
    assert find(Path("there.json"), tmp_path) == tmp_path / "there.json"
    assert find(tmp_path / "there.json", tmp_path / "elsewhere") == tmp_path / "there.json"
    assert RESULTS.parts[-2:] == ("build", "bench-results")


@pytest.mark.parametrize(
    ("base", "head", "verdict"),
    [
        ((1000, 1000), (1200, 1200), "**faster**"),
        ((1000, 1000), (800, 800), "**SLOWER**"),
        ((1000, 1000), (1020, 1020), "same"),
        ((900, 1100), (1150, 1150), "same"),  # the base itself has a spread of a fifth
    ],
)
def test_verdicts(base: tuple[float, ...], head: tuple[float, ...], verdict: str) -> None:
    (change,) = compare.changes(result_of(*base), result_of(*head))
    assert change.verdict == verdict


def test_what_the_machine_did_is_noise() -> None:
    (change,) = compare.changes(result_of(1000), result_of(1200, peer=1250.0))
    assert change.verdict == "same"


def test_a_row_that_does_not_count_gets_no_verdict() -> None:
    (change,) = compare.changes(result_of(1000), result_of(100, client_cpu=0.99))
    assert change.verdict == "does not count"


def test_a_loss_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, result_of(1000), result_of(900)) == 1
    assert "lost 10%" in capsys.readouterr().err


def test_a_loss_that_is_allowed_does_not(tmp_path: Path) -> None:
    assert run(tmp_path, result_of(1000), result_of(900), "--max-loss", "15") == 0


def test_a_loss_within_the_noise_does_not(tmp_path: Path) -> None:
    assert run(tmp_path, result_of(900, 1000, 1100), result_of(900)) == 0


def test_a_loss_that_does_not_count_does_not(tmp_path: Path) -> None:
    assert run(tmp_path, result_of(1000), result_of(100, client_cpu=0.99)) == 0


def test_it_shows_what_the_machine_did(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, result_of(1000), result_of(1500, peer=1250.0)) == 0
    out = capsys.readouterr().out
    assert "1.25 to 1.25 times its speed" in out
    assert "1.50×" in out


def test_it_warns_of_different_machines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = result_of(1000)
    head["host"]["kind"] = "64x-other"
    assert run(tmp_path, result_of(1000), head) == 0
    assert "Different machines" in capsys.readouterr().out


def test_files_without_a_common_row_cannot_be_compared(tmp_path: Path) -> None:
    other = make_result([make_row([make_run()], [make_run()], key="another")])
    assert run(tmp_path, result_of(1000), other) == 2
