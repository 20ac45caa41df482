# SPDX-License-Identifier: Apache-2.0
"""The same Python models with our backend and with Triton's: answers and error texts are
equal, except for the differences that docs/protocol/python-differences.tsv lists."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any

import pytest

from differential.differences import ELSEWHERE
from python_models import golden
from python_models.all_cases import ALL_CASES, GOLDEN_CASES, OURS_ALONE
from python_models.compare import allowed, compare, rows, unlisted
from python_models.conftest import Answers, answers_to
from python_models.servers import MODELS, OURS
from python_models.steps import Case
from support.stage import PROJECT_ROOT

# The first test of a kind waits until all its cases have been sent.
pytestmark = pytest.mark.timeout(900)
each_golden = pytest.mark.parametrize("case", GOLDEN_CASES, ids=lambda case: case.id)


def test_enough_models_and_cases() -> None:
    assert sum((folder / "config.pbtxt").exists() for folder in MODELS.iterdir()) >= 40
    ids = [case.id for case in ALL_CASES]
    assert len(ids) == len(set(ids))


def test_a_case_without_answers_is_no_skip() -> None:
    case = ALL_CASES[0]
    with pytest.raises(pytest.skip.Exception):
        answers_to({}, case)
    with pytest.raises(AssertionError):
        answers_to({case.id: []}, case)


@each_golden
def test_as_the_original_answered(case: Case, of_nereid: Answers) -> None:
    found = unlisted(compare(case.id, golden.load(case), of_nereid(case)))
    assert not found, "not in docs/protocol/python-differences.tsv:\n" + "\n".join(map(str, found))


@pytest.mark.thorough
@each_golden
def test_the_original_answers_as_recorded(case: Case, of_original: Answers) -> None:
    changes = compare(case.id, golden.load(case), of_original(case))
    assert not changes, "\n".join(map(str, changes))


@pytest.mark.parametrize("case", OURS_ALONE, ids=lambda case: case.id)
def test_what_only_we_answer(case: Case, of_ours: Answers) -> None:
    for answer, expected in zip(of_ours(case), case.expected, strict=True):
        texts = _texts(answer)
        assert any(fnmatchcase(text, expected) for text in texts), (expected, texts)


def _texts(answer: Any) -> list[str]:
    if isinstance(answer, dict):
        return [text for value in answer.values() for text in _texts(value)]
    if isinstance(answer, list):
        return [text for value in answer for text in _texts(value)]
    return [answer] if isinstance(answer, str) else []


def test_each_case_has_its_answer_and_no_others_are_kept() -> None:
    golden.GOLDEN.check_complete()


def test_every_listed_difference_occurs(answers_of: Callable[[str], Answers]) -> None:
    answers = answers_of(OURS)
    found = [
        difference
        for case in GOLDEN_CASES
        for difference in compare(case.id, golden.load(case), answers(case))
    ]
    stale = [
        row.id
        for row in rows()
        if row.aspect != ELSEWHERE and not any(allowed(row, difference) for difference in found)
    ]
    assert not stale, f"listed in docs/protocol/python-differences.tsv, but no case shows them: {stale}"


def test_differences_shown_elsewhere_have_their_test() -> None:
    for row in rows():
        if row.aspect == ELSEWHERE:
            for reference in row.cases:
                path, _, name = reference.partition("::")
                source = (PROJECT_ROOT / path).read_text(encoding="utf-8")
                assert f"def {name}(" in source, f"{row.id}: {reference}"
