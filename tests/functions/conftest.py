# SPDX-License-Identifier: Apache-2.0
"""The staged Python package, and one server of functions for all tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from support.stage import python_package

sys.path.insert(0, str(python_package()))

import nereid_server  # noqa: E402

from functions import served  # noqa: E402

FREE_PORTS = {"host": "127.0.0.1", "http_port": 0, "grpc_port": 0, "metrics_port": 0}


@pytest.fixture(scope="session")
def server() -> Iterator[nereid_server.ServedFunctions]:
    """All functions of served.py."""
    functions = [
        served.double,
        served.rows,
        served.greet,
        served.count,
        served.count_slowly,
        served.counted,
        served.counted_async,
        served.found_async,
        served.listed,
        served.no_iterator,
        served.halve,
        served.meet,
        served.refuse,
        served.fail,
        served.declare_wrongly,
        served.Scale,
        nereid_server.function(served.Scale(3.0), name="scale_by_three"),
        served.moments,
    ]
    with nereid_server.serve(*functions, **FREE_PORTS, blocking=False) as started:
        yield started
