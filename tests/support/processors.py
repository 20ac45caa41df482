# SPDX-License-Identifier: Apache-2.0
"""On which processors programs run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def only_one_processor() -> Iterator[None]:
    """Programs that the calling thread starts meanwhile may use only one processor."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
