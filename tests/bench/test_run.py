"""bench/run.py: its output files and its options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import run


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
