"""Where the programs of bench/ leave what they measured, and where bench/compare.py looks for it."""

from __future__ import annotations

from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parents[2]

# Outside of the repository's files: of a release, pages and plots are copied to bench/results.
RESULTS = PROJECT_ROOT / "build" / "bench-results"


def find(path: Path, folder: Path = RESULTS) -> Path:
    """`path`, or the file of that name in `folder` where there is none."""
    return path if path.exists() else folder / path
