"""All cases, in the order in which they are sent."""

from __future__ import annotations

import os

from python_models import cases_calls, cases_life, cases_streams, cases_tensors
from python_models.steps import Case

ALL_CASES: tuple[Case, ...] = (
    *cases_tensors.CASES,
    *cases_streams.CASES,
    *cases_calls.CASES,
    *cases_life.CASES,
)
# The cases that Triton answers too.
GOLDEN_CASES = tuple(case for case in ALL_CASES if case.original)
# The cases for Triton's backend in each run of the tests. A few only, because its models take
# 1.5 s each to load, and its races sometimes crash a server. NEREID_PYTHON_ORIGINAL=all runs all.
_SAMPLE = frozenset(
    {
        "add-sub-grpc",
        "add-sub-http",
        "strings-http",
        "bf16",
        "types-all-grpc",
        "stream-final-alone-1000",
        "stream-error-then-final-2",
        "sequence",
        "bls-exec",
        "bls-ensemble",
        "bls-decoupled-all-4",
        "execute-raise",
        "execute-two-lines",
        "code-not_found-grpc",
        "auto-simple",
        "load-raises-in-initialize",
        "information-grpc",
    }
)
SAMPLE = tuple(
    case
    for case in GOLDEN_CASES
    if case.id in _SAMPLE or os.environ.get("NEREID_PYTHON_ORIGINAL") == "all"
)
OURS_ALONE = tuple(case for case in ALL_CASES if not case.original)
