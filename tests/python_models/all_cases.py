"""All cases, in the order in which they are sent."""

from __future__ import annotations

from python_models import cases_calls, cases_life, cases_streams, cases_tensors
from python_models.steps import Case

ALL_CASES: tuple[Case, ...] = (
    *cases_tensors.CASES,
    *cases_streams.CASES,
    *cases_calls.CASES,
    *cases_life.CASES,
)
# Those that the original answers too.
GOLDEN_CASES = tuple(case for case in ALL_CASES if case.original)
OURS_ALONE = tuple(case for case in ALL_CASES if not case.original)
