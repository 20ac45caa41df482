"""Lets a test stop the model at a point that it names in a file, and find its process there."""

import os
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parents[1]
MARKS = MODEL.parents[1] / "marks" / MODEL.name  # beside the repository


def here():
    """This process serves the model."""
    (MARKS / f"pid-{os.getpid()}").touch()


def stop(point):
    """Waits for ever at the point that is wanted, or until it is no longer wanted."""
    wanted = MARKS / f"stop-at-{point}"
    if wanted.exists():
        (MARKS / f"at-{point}-{os.getpid()}").touch()
        while wanted.exists():
            time.sleep(0.002)
