# SPDX-License-Identifier: Apache-2.0
"""The servers and a store of their answers, for the whole test run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from python_models.all_cases import ALL_CASES, SAMPLE
from python_models.servers import BINARY, ORIGINAL, OURS, Runner, why_not
from python_models.steps import Case, models_of

def _ask_all(kind: str, folder: Path) -> dict[str, list[Any]]:
    cases = ALL_CASES if kind == OURS else SAMPLE
    runner = Runner(kind, folder)
    try:
        if kind == OURS:
            runner.load_all({model for case in cases for model in models_of(case)})
        return {case.id: runner.answers(case) for case in cases}
    finally:
        runner.stop()


Answers = Callable[[Case], list[Any]]


def answers_to(known: Mapping[str, list[Any]], case: Case) -> list[Any]:
    """The answers to a case, of which there is one for each step. Skips a case that was not sent."""
    if case.id not in known:
        pytest.skip("not in the sample")
    answers = known[case.id]
    assert len(answers) == len(case.steps), f"{len(answers)} answers to {len(case.steps)} steps"
    return answers


@pytest.fixture(scope="session")
def answers_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Answers]]:
    """A function that returns the answers of a kind of server. The first call for a kind sends all
    its cases in their order, because some models keep a state."""
    known: dict[str, dict[str, list[Any]]] = {}

    def of(kind: str) -> Answers:
        if reason := why_not(kind):
            pytest.skip(reason)
        if kind not in known:
            known[kind] = _ask_all(kind, tmp_path_factory.mktemp(f"python_{kind}"))
        return partial(answers_to, known[kind])

    yield of


@pytest.fixture(params=[OURS, BINARY])
def of_nereid(request: pytest.FixtureRequest, answers_of: Callable[[str], Answers]) -> Answers:
    """The answers of Nereid, with each of the two backends."""
    return answers_of(request.param)


@pytest.fixture
def of_ours(answers_of: Callable[[str], Answers]) -> Answers:
    return answers_of(OURS)


@pytest.fixture
def of_original(answers_of: Callable[[str], Answers]) -> Answers:
    return answers_of(ORIGINAL)
