# SPDX-License-Identifier: Apache-2.0
"""Lets two programs have a core by turns so short that both meet the same speed of the machine.

Other guests of a machine change its speed by up to two times, for tenths of a second. Two
measurements of seconds, one after the other, differ by that; two whose slices alternate do not. A
program that does not have the core is stopped (SIGSTOP), wherever it is, and goes on from there.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

SLICE_SECONDS = 0.025


@dataclass(frozen=True)
class Slice:
    """The time in which a program had the core, in seconds of the monotonic clock."""

    start: float
    end: float


@dataclass
class Shares:
    """When each of two programs had the core."""

    first: list[Slice] = field(default_factory=list)
    second: list[Slice] = field(default_factory=list)


def had(slices: Sequence[Slice], start: float, end: float) -> float:
    """How many seconds between `start` and `end` are in the slices."""
    return sum(max(0.0, min(each.end, end) - max(each.start, start)) for each in slices)


def send(number: signal.Signals, processes: Sequence[int]) -> None:
    """To those that have not ended."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def alternate(
    first: Sequence[int],
    second: Sequence[int],
    running: Callable[[], bool],
    seconds: float = SLICE_SECONDS,
) -> Shares:
    """Stops and continues the processes of two programs by turns while `running`; all run
    afterwards."""
    shares = Shares()
    turns = ((first, second, shares.first), (second, first, shares.second))
    try:
        while running():
            for these, those, slices in turns:
                send(signal.SIGSTOP, those)
                start = time.monotonic()
                send(signal.SIGCONT, these)
                time.sleep(seconds)
                slices.append(Slice(start, time.monotonic()))
    finally:
        send(signal.SIGCONT, [*first, *second])
    return shares
