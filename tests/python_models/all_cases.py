# SPDX-License-Identifier: Apache-2.0
"""All cases, in the order in which they are sent."""

from __future__ import annotations

import os

from python_models import cases_calls, cases_life, cases_streams, cases_tensors
from python_models.steps import Case

# The names are those of the files with Triton's answers (golden.py).
_GROUPS = {
    "python-tensors": cases_tensors.CASES,
    "python-streams": cases_streams.CASES,
    "python-calls": cases_calls.CASES,
    "python-life": cases_life.CASES,
}
ALL_CASES: tuple[Case, ...] = tuple(case for cases in _GROUPS.values() for case in cases)
# The cases that Triton answers too.
GOLDEN_CASES = tuple(case for case in ALL_CASES if case.original)
GROUP_OF = {
    case.id: group for group, cases in _GROUPS.items() for case in cases if case.original
}
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
