# SPDX-License-Identifier: Apache-2.0
"""Every case of the differential test, in the order in which they are sent."""

from __future__ import annotations

from differential import (
    cases_control,
    cases_ensembles,
    cases_grpc,
    cases_http_bad,
    cases_http_good,
    cases_log_settings,
    cases_readiness,
    cases_streams,
)

# The names are those of the files with Triton's answers (golden.py).
_GOOD = {
    "http-good": cases_http_good.good_cases(),
    "grpc": cases_grpc.good_cases(),
    "streams": cases_streams.good_cases(),
    "control": cases_control.good_cases(),
    "ensembles": cases_ensembles.good_cases(),
    "readiness": cases_readiness.good_cases(),
    "log-settings": cases_log_settings.good_cases(),
}
_BAD = {
    "http-bad": cases_http_bad.bad_cases(),
    "grpc": cases_grpc.bad_cases(),
    "streams": cases_streams.bad_cases(),
    "control": cases_control.bad_cases(),
    "ensembles": cases_ensembles.bad_cases(),
    "readiness": cases_readiness.bad_cases(),
    "log-settings": cases_log_settings.bad_cases(),
}
GOOD_CASES = [case for cases in _GOOD.values() for case in cases]
BAD_CASES = [case for cases in _BAD.values() for case in cases]
ALL_CASES = [*GOOD_CASES, *BAD_CASES]
# The cases whose answers are kept as files. Computed floats are not, because processors differ.
GOLDEN_CASES = [case for case in ALL_CASES if case.golden]
# The file of each of them.
GROUP_OF = {
    case.id: group
    for groups in (_GOOD, _BAD)
    for group, cases in groups.items()
    for case in cases
    if case.golden
}
