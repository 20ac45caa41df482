# SPDX-License-Identifier: Apache-2.0
"""docs/protocol/differences.md, the page for users, is in step with the lists that the tests read."""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import filter as matching

from differential.differences import TABLE, read_table
from python_models.compare import rows as python_rows

PAGE = TABLE.with_suffix(".md")
QUESTIONS = range(20, 31)  # the page is for people: more belong into the lists alone


def rows_of_page() -> dict[str, list[str]]:
    """The ids that each row names, by its question."""
    rows = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0] != "question" and set(line) - set("|-"):
            assert len(cells) == 4, line
            rows[cells[0]] = re.findall(r"`([^`]+)`", cells[3])
    return rows


def listed() -> list[str]:
    return [row.id for row in read_table()] + [f"python:{row.id}" for row in python_rows()]


def test_the_page_has_what_users_ask_about() -> None:
    assert len(rows_of_page()) in QUESTIONS


def test_each_row_names_lines_of_the_lists() -> None:
    ids = listed()
    for question, names in rows_of_page().items():
        assert names, f"{question} names no line"
        for name in names:
            assert matching(ids, name), f"{question} names {name}, which is not listed"


def test_no_line_is_named_twice() -> None:
    ids = listed()
    named = Counter(
        id for names in rows_of_page().values() for name in names for id in matching(ids, name)
    )
    assert not [id for id, times in named.items() if times > 1]
