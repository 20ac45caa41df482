# SPDX-License-Identifier: Apache-2.0
"""The folder in which bench/ writes its results, and in which bench/compare.py looks for them."""

from __future__ import annotations

from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]

# Not tracked by git. For a release, pages and plots are copied to bench/results.
RESULTS = PROJECT_ROOT / "build" / "bench-results"


def find(path: Path, folder: Path = RESULTS) -> Path:
    """`path` or, if it does not exist, the file of that name in `folder`."""
    return path if path.exists() else folder / path
