# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/pages.py: the head of a page, and where it is written."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from racetrack import pages
from support.stage import PROJECT_ROOT

BENCH = PROJECT_ROOT / "bench"


@pytest.mark.parametrize(("load", "quiet"), [(0.2, True), (0.9, False)])
def test_a_page_says_whether_the_machine_was_quiet(
    monkeypatch: pytest.MonkeyPatch, load: float, quiet: bool
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    text = pages.Page("kind", "A title").text("About it.", "table")
    assert text.startswith("# A title, 20")
    assert f"load average before {load:.2f}." in text
    assert ("was not quiet" in text) != quiet
    assert text.endswith("About it.\n\ntable\n")


@pytest.mark.parametrize(("seconds", "said"), [(0.5, None), (5.0, "gave 5.0% of the processor time to others")])
def test_a_page_says_what_the_host_took(
    monkeypatch: pytest.MonkeyPatch, seconds: float, said: str | None
) -> None:
    busy, stolen = iter((1000.0, 1100.0)), iter((7.0, 7.0 + seconds))
    monkeypatch.setattr("racetrack.machine.busy_seconds", lambda: next(busy))
    monkeypatch.setattr("racetrack.machine.stolen_seconds", lambda: next(stolen))
    text = pages.Page("kind", "A title").text("About it.", "table")
    assert ("was shared" in text) == (said is not None)
    assert (said or "") in text


def test_misses_come_before_the_tables() -> None:
    text = pages.Page("kind", "A title").text("About.", "table", misses=["a row: 2, 1 is wanted"])
    assert text.endswith("About.\n\n- missed: a row: 2, 1 is wanted\n\ntable\n")


def test_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = pages.Page("kind", "A title").write("text\n", tmp_path / "new")
    assert path.read_text() == "text\n"
    assert path.name.startswith("kind-20") and path.suffix == ".md"
    assert str(path) in capsys.readouterr().out


def test_the_last_page_of_each_group_is_kept_and_shown() -> None:
    kept = {path.name for path in (BENCH / "results").iterdir() if path.suffix != ".json"}
    groups = Counter(re.sub(r"(?:^|-)20\d\d-.*", "", name) for name in kept)
    assert [group for group, times in groups.items() if times > 1] == []
    documents = [PROJECT_ROOT / "README.md", BENCH / "README.md", *(PROJECT_ROOT / "docs").rglob("*.md")]
    text = "".join(path.read_text(encoding="utf-8") for path in documents)
    assert [name for name in kept if f"results/{name})" not in text] == []


def test_the_readme_is_short() -> None:
    assert len((BENCH / "README.md").read_text(encoding="utf-8").splitlines()) <= 200
