# SPDX-License-Identifier: Apache-2.0
"""Reads the table of allowed differences, docs/protocol/differences.tsv (differential/README.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from differential.observe import Difference
from support.stage import PROJECT_ROOT

TABLE = PROJECT_ROOT / "docs" / "protocol" / "differences.tsv"
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
    head, *lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    assert head.split("\t") == COLUMNS, f"{path.name}: the first line is not {COLUMNS}"
    rows = [_row(line.split("\t"), f"{path.name}:{n}") for n, line in enumerate(lines, start=2)]
    assert rows, f"{path.name} has no rows"
    ids = [row.id for row in rows]
    assert len(ids) == len(set(ids)), f"{path.name}: an id occurs twice in {sorted(ids)}"
    return rows


def _row(cells: list[str], where: str) -> AllowedDifference:
    assert len(cells) == len(COLUMNS), f"{where}: {len(COLUMNS)} cells wanted, with tabs between"
    assert all(cell == cell.strip() for cell in cells), f"{where}: blanks around a cell"
    id_, aspect, cases, original, nereid, why = cells
    assert id_ and aspect and cases and why, f"{where}: only the answers may be empty"
    assert original != nereid or original == "*" or aspect == ELSEWHERE, f"{where}: no difference"
    return AllowedDifference(id_, aspect, tuple(cases.split(", ")), original, nereid, why)


def _matches(pattern: str, text: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), text, re.DOTALL) is not None
