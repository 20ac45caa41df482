# SPDX-License-Identifier: Apache-2.0
"""Lets a test stop the model at a point that the test names in a file, and find its process."""

import os
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parents[1]
MARKS = MODEL.parents[1] / "marks" / MODEL.name  # beside the repository


def here():
    """Notes that this process serves the model."""
    (MARKS / f"pid-{os.getpid()}").touch()


def stop(point):
    """If the test wants a stop at `point`, waits until it no longer does, possibly forever."""
    wanted = MARKS / f"stop-at-{point}"
    if wanted.exists():
        (MARKS / f"at-{point}-{os.getpid()}").touch()
        while wanted.exists():
            time.sleep(0.002)
