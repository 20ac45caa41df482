# SPDX-License-Identifier: Apache-2.0
"""Waits without fixed sleeps: polls until a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.02


def poll_until(
    what: str,
    probe: Callable[[], T],
    deadline_seconds: float = 30.0,
    explain: Callable[[], str] = lambda: "",
) -> T:
    """Returns the first truthy answer of `probe`; fails with `what` after the deadline.

    `explain` is called once, after the deadline, for details that help to understand the failure.
    """
    deadline = time.monotonic() + deadline_seconds
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() >= deadline:
            raise AssertionError(f"{what}: not within {deadline_seconds} s. {explain()}")
        time.sleep(POLL_SECONDS)
