# SPDX-License-Identifier: Apache-2.0
"""The files with Triton's answers (tests/support/golden.py): one line for each case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.golden import Golden, load, store

GROUP_OF = {"a1": "a", "b1": "b", "a2": "a"}


def golden(folder: Path) -> Golden:
    return Golden(GROUP_OF, "record", folder)


def answered(case: str, text: str = "yes") -> dict[str, Any]:
    return {"request": (case,), "answer": text}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert golden(tmp_path).record(answered, ["*"]) == len(GROUP_OF)
    return tmp_path


def test_a_line_for_each_case_in_their_order(folder: Path) -> None:
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == (
        '{"id": "a1", "request": ["a1"], "answer": "yes"}\n'
        '{"id": "a2", "request": ["a2"], "answer": "yes"}\n'
    )
    golden(folder).check_complete()


def test_a_case_is_recorded_alone(folder: Path) -> None:
    before = (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert golden(folder).record(lambda case: answered(case, "no"), ["a2", "nobody"]) == 1
    after = (folder / "a.jsonl").read_text(encoding="utf-8").splitlines()
    assert (after[0], after[1]) == (before[0], before[1].replace("yes", "no"))


def test_cases_are_asked_in_the_order_in_which_they_are_sent(tmp_path: Path) -> None:
    asked = []
    golden(tmp_path).record(lambda case: asked.append(case) or answered(case), ["*"])
    assert asked == ["a1", "b1", "a2"]


def test_an_answer_that_means_the_same_stays(folder: Path) -> None:
    def lower(document: dict[str, Any]) -> str:
        return document["answer"].lower()

    def same(old: dict[str, Any], new: dict[str, Any]) -> bool:
        return lower(old) == lower(new)

    before = (folder / "a.jsonl").read_text(encoding="utf-8")
    golden(folder).record(lambda case: answered(case, "YES"), ["*"], same)
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == before
    golden(folder).record(lambda case: answered(case, "YES"), ["*"])
    assert "YES" in (folder / "a.jsonl").read_text(encoding="utf-8")


def test_a_server_that_fails_leaves_the_old_answers(folder: Path) -> None:
    def fails(case: str) -> dict[str, Any]:
        assert case != "a2", "dead"
        return answered(case, "no")

    with pytest.raises(AssertionError, match="dead"):
        golden(folder).record(fails, ["*"])
    assert "no" not in (folder / "a.jsonl").read_text(encoding="utf-8")


def test_a_request_that_has_changed_is_told(folder: Path) -> None:
    assert golden(folder).document("a1", ("a1",), "request")["answer"] == "yes"
    with pytest.raises(AssertionError, match="has changed.* run 'record a1'"):
        golden(folder).document("a1", ("other",), "request")


@pytest.mark.parametrize(
    ("ids", "complaint"),
    [
        (["a1", "gone", "a2"], "gone: .'gone'"),
        (["a1"], "no answers to .'a2'"),
        (["a2", "a1"], "order"),
        (["a1", "a1", "a2"], "a second a1"),
    ],
)
def test_what_a_file_must_not_be(folder: Path, ids: list[str], complaint: str) -> None:
    store(folder / "a.jsonl", [{"id": id} for id in ids])
    with pytest.raises(AssertionError, match=complaint):
        golden(folder).check_complete()


def test_texts_may_hold_other_ends_of_lines(tmp_path: Path) -> None:
    document = {"id": "a", "answer": "x\u2028y\x85z\r\n"}
    store(tmp_path / "a.jsonl", [document])
    assert load(tmp_path / "a.jsonl") == {"a": document}
