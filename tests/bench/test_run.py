# SPDX-License-Identifier: Apache-2.0
"""bench/run.py: its output files and its options."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import run
from support.stage import PROJECT_ROOT


def test_quick_is_shorter() -> None:
    quick, full = run.Settings.quick(None), run.Settings.full(None)
    assert quick.alternations * quick.seconds < full.alternations * full.seconds
    assert full.alternations >= 5
    assert quick.placements == ("pinned",)
    assert full.placements == ("pinned", "unpinned")


def test_placements_can_be_chosen() -> None:
    arguments = run.parse_arguments(["--placements", "unpinned,pinned"])
    assert run.Settings.full(arguments.placements).placements == ("unpinned", "pinned")


def test_it_writes_both_files(tmp_path: Path, result: dict[str, Any]) -> None:
    run.write(result, tmp_path / "results", complete=False)
    written = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert written == ["2026-01-02-2x-cpu.json", "2026-01-02-2x-cpu.md"]
    assert json.loads((tmp_path / "results" / written[0]).read_text()) == result
    run.write(result, tmp_path / "results", complete=False, group="streams")
    assert (tmp_path / "results" / "streams-2026-01-02-2x-cpu.md").exists()
    assert "3.00×" in (tmp_path / "results" / written[1]).read_text()


def test_the_tensors_belong_to_the_race() -> None:
    assert run.groups_of(run.parse_arguments([])) == ["race", "tensors"]
    assert run.groups_of(run.parse_arguments(["--quick"])) == ["race"]
    assert run.rows_of("tensors", "mlp/http") == []


# Stands in for a race: makes the segments of a row, as the race does, and waits.
PROGRAM = """
import sys, time
import run
from racetrack.workloads import GROUPS, write_files

def race(track, rows):
    row = next(row for row in rows if row.shared)
    files = write_files(track.work / "requests", track.repository, row)
    print(files.segments.answer_file, flush=True)
    time.sleep(60)

run.run = race
sys.argv = ["run.py", "--group", "tensors"]
sys.exit(run.main())
"""


def test_sigterm_leaves_no_segments_behind() -> None:
    folders = os.pathsep.join([str(PROJECT_ROOT / "bench"), str(PROJECT_ROOT / "tests")])
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": folders},
    )
    assert program.stdout is not None
    try:
        segment = Path(program.stdout.readline().strip())
        assert segment.is_file()
        program.terminate()
        assert program.wait(timeout=30) == 128 + signal.SIGTERM
        assert not segment.exists()
    finally:
        program.kill()
