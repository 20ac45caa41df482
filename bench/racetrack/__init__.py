# SPDX-License-Identifier: Apache-2.0
"""The parts of bench/run.py and bench/compare.py. Helpers of the tests are used as they are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
