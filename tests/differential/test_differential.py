# SPDX-License-Identifier: Apache-2.0
"""Sends the same requests to Triton and to Nereid, and compares the answers.

docs/protocol/differences.tsv lists the allowed differences. Any other difference fails the case. A
row of the list that no case shows any more is a failure too.
"""

from __future__ import annotations

import pytest

from differential import golden
from differential.all_cases import ALL_CASES, BAD_CASES, GOLDEN_CASES, GOOD_CASES
from differential.cases import GrpcCase, HttpCase
from differential.conftest import Replies
from differential.differences import ELSEWHERE, read_table
from differential.observe import CRASH, compare, outcome, summary
from support.stage import PROJECT_ROOT

each_case = pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.id)


def test_enough_cases() -> None:
    ids = [case.id for case in ALL_CASES]
    assert len(ids) == len(set(ids))
    assert all("-good-" in case.id for case in GOOD_CASES)
    assert all("-bad-" in case.id for case in BAD_CASES)
    assert len(GOOD_CASES) >= 20
    assert len(BAD_CASES) >= 60


@pytest.mark.parametrize("case", GOLDEN_CASES, ids=lambda case: case.id)
def test_original_answers_as_recorded(case: HttpCase | GrpcCase, original: Replies) -> None:
    """The golden files contain the answers of the installed original."""
    changes = compare(case.id, golden.load(case), original.of(case))
    assert not changes, "\n".join(map(str, changes))


@each_case
def test_same_answer(case: HttpCase | GrpcCase, original: Replies, nereid: Replies) -> None:
    table = read_table()
    unlisted = [
        difference
        for difference in compare(case.id, original.of(case), nereid.of(case))
        if not any(row.allows(difference) for row in table)
    ]
    assert not unlisted, "not in docs/protocol/differences.tsv:\n" + "\n".join(map(str, unlisted))


@pytest.mark.parametrize("case", GOOD_CASES, ids=lambda case: case.id)
def test_good_case_is_answered(
    case: HttpCase | GrpcCase, original: Replies, nereid: Replies
) -> None:
    """A good case must succeed: equal errors would hide a model that neither server can load."""
    assert outcome(original.of(case)) == "ok", summary(original.of(case))
    assert outcome(nereid.of(case)) == "ok", summary(nereid.of(case))


@each_case
def test_nereid_survives(case: HttpCase | GrpcCase, nereid: Replies) -> None:
    assert outcome(nereid.of(case)) != CRASH


def test_every_listed_difference_occurs(original: Replies, nereid: Replies) -> None:
    found = [
        difference
        for case in ALL_CASES
        for difference in compare(case.id, original.of(case), nereid.of(case))
    ]
    stale = [
        row.id
        for row in read_table()
        if row.aspect != ELSEWHERE and not any(row.allows(difference) for difference in found)
    ]
    assert not stale, f"listed in docs/protocol/differences.tsv, but no case shows them: {stale}"


def test_differences_shown_elsewhere_have_their_test() -> None:
    for row in read_table():
        if row.aspect == ELSEWHERE:
            for reference in row.cases:
                path, _, name = reference.partition("::")
                file = PROJECT_ROOT / path
                assert file.exists(), f"{row.id}: there is no {path}"
                # A Python test, or one of GoogleTest.
                shown = f", {name})" if file.suffix == ".cc" else f"def {name}("
                assert shown in file.read_text(encoding="utf-8"), f"{row.id}: {reference}"
