# SPDX-License-Identifier: Apache-2.0
"""Makes the parts of bench/ importable in the same way as its scripts do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from bench.results import make_result, make_row, make_run

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))


@pytest.fixture
def result() -> dict[str, Any]:
    """One row, on which Nereid is three times as fast."""
    ours = [make_run(value) for value in (2900.0, 3000.0, 3100.0)]
    return make_result([make_row(ours, [make_run(1000.0)] * 3)])
