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

GOOD_CASES = [
    *cases_http_good.good_cases(),
    *cases_grpc.good_cases(),
    *cases_streams.good_cases(),
    *cases_control.good_cases(),
    *cases_ensembles.good_cases(),
    *cases_readiness.good_cases(),
    *cases_log_settings.good_cases(),
]
BAD_CASES = [
    *cases_http_bad.bad_cases(),
    *cases_grpc.bad_cases(),
    *cases_streams.bad_cases(),
    *cases_control.bad_cases(),
    *cases_ensembles.bad_cases(),
    *cases_readiness.bad_cases(),
    *cases_log_settings.bad_cases(),
]
ALL_CASES = [*GOOD_CASES, *BAD_CASES]
# The cases whose answers are kept as files. Computed floats are not, because processors differ.
GOLDEN_CASES = [case for case in ALL_CASES if case.golden]
