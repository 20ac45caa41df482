"""Reads the table of allowed differences, docs/protocol/differences.md."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from differential.observe import Difference
from support.stage import PROJECT_ROOT

TABLE = PROJECT_ROOT / "docs" / "protocol" / "differences.md"
COLUMNS = ["id", "aspect", "cases", "Triton 2.51", "Nereid", "why"]
# Aspect of a row that is shown by another test, which its column 'cases' names.
ELSEWHERE = "elsewhere"


@dataclass(frozen=True)
class AllowedDifference:
    """One row. The answers are texts in which * matches anything."""

    id: str
    aspect: str
    cases: tuple[str, ...]
    original: str
    nereid: str
    why: str

    def allows(self, difference: Difference) -> bool:
        return (
            self.aspect == difference.aspect
            and any(fnmatchcase(difference.case, pattern) for pattern in self.cases)
            and _matches(self.original, difference.original)
            and _matches(self.nereid, difference.nereid)
        )


def read_table(path: Path = TABLE) -> list[AllowedDifference]:
    """All rows of the table. Fails if a row is not complete or an id occurs twice."""
    rows = []
    in_table = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        cells = _cells(line)
        if cells == COLUMNS:
            in_table = True
        elif not cells:
            in_table = False
        elif in_table and not set(cells[0]) <= set("-: "):
            rows.append(_row(cells, f"{path.name}:{number}"))
        else:
            stray = not in_table and len(cells) == len(COLUMNS)
            assert not stray, f"{path.name}:{number}: a row outside of the table"
    assert rows, f"{path} has no table with the columns {COLUMNS}"
    ids = [row.id for row in rows]
    assert len(ids) == len(set(ids)), f"{path}: an id occurs twice in {sorted(ids)}"
    return rows


def _row(cells: list[str], where: str) -> AllowedDifference:
    assert len(cells) == len(COLUMNS) and all(cells), f"{where}: {len(COLUMNS)} filled cells wanted"
    id_, aspect, cases, original, nereid, why = cells
    patterns = tuple(_plain(case) for case in cases.split(","))
    return AllowedDifference(id_, aspect, patterns, _plain(original), _plain(nereid), why)


def _cells(line: str) -> list[str]:
    if not line.startswith("|"):
        return []
    inner = re.split(r"(?<!\\)\|", line.strip().strip("|"))
    return [cell.strip().replace("\\|", "|") for cell in inner]


def _plain(cell: str) -> str:
    """The cell without the backticks of a code span around it."""
    text = cell.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == "`" else text


def _matches(pattern: str, text: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), text, re.DOTALL) is not None
