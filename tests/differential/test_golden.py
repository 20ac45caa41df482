# SPDX-License-Identifier: Apache-2.0
"""Compares Nereid with the recorded answers of Triton, without an installed original."""

from __future__ import annotations

import pytest

from differential import golden
from differential.all_cases import GOLDEN_CASES
from differential.cases import GrpcCase, HttpCase
from differential.conftest import Replies
from differential.differences import read_table
from differential.observe import compare
from python_models import golden as python_models_golden
from support.golden import FOLDER


@pytest.mark.parametrize("case", GOLDEN_CASES, ids=lambda case: case.id)
def test_as_the_original_answered(case: HttpCase | GrpcCase, nereid: Replies) -> None:
    table = read_table()
    unlisted = [
        difference
        for difference in compare(case.id, golden.load(case), nereid.of(case))
        if not any(row.allows(difference) for row in table)
    ]
    assert not unlisted, "not in docs/protocol/differences.tsv:\n" + "\n".join(map(str, unlisted))


def test_each_case_has_its_answer_and_no_others_are_kept() -> None:
    golden.GOLDEN.check_complete()


def test_each_file_belongs_to_a_group() -> None:
    groups = {*golden.GOLDEN.groups(), *python_models_golden.GOLDEN.groups()}
    assert {path.name for path in FOLDER.iterdir()} == {f"{group}.jsonl" for group in groups}
