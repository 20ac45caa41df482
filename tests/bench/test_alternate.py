# SPDX-License-Identifier: Apache-2.0
"""Two programs that alternate on a core."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from racetrack.alternate import Slice, alternate, had
from support.poll import poll_until


@pytest.fixture
def sleepers() -> Iterator[list[int]]:
    """Four processes that do nothing."""
    command = [sys.executable, "-c", "import time\ntime.sleep(600)"]
    processes = [subprocess.Popen(command) for _ in range(4)]
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def stopped(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"


def test_the_time_in_slices_is_counted_between_two_times() -> None:
    slices = [Slice(1, 2), Slice(4, 6), Slice(8, 9)]
    assert had(slices, 0, 10) == 4
    assert had(slices, 1.5, 5) == 1.5
    assert had(slices, 4.5, 5) == 0.5
    assert had(slices, 2, 4) == 0
    assert had([], 0, 1) == 0


def test_one_of_two_programs_is_stopped_at_a_time(sleepers: list[int]) -> None:
    first, second = sleepers[:2], sleepers[2:]
    looks = 0

    def running() -> bool:
        """Called when the second program has had its slice."""
        nonlocal looks
        looks += 1
        if looks > 1:
            poll_until("the first program is stopped", lambda: all(map(stopped, first)))
            assert not any(map(stopped, second))
        return looks < 4

    start = time.monotonic()
    shares = alternate(first, second, running, seconds=0.001)
    assert len(shares.first) == len(shares.second) == 3
    in_time = [each for pair in zip(shares.first, shares.second) for each in pair]
    times = [moment for each in in_time for moment in (each.start, each.end)]
    assert times == sorted(times)
    assert start <= times[0] and times[-1] <= time.monotonic()
    poll_until("all run afterwards", lambda: not any(map(stopped, sleepers)))


def test_both_programs_run_after_an_error(sleepers: list[int]) -> None:
    looks = iter([True])
    with pytest.raises(StopIteration):
        alternate(sleepers[:2], sleepers[2:], lambda: next(looks), seconds=0.001)
    poll_until("all run afterwards", lambda: not any(map(stopped, sleepers)))


def test_the_others_run_after_one_has_ended(sleepers: list[int]) -> None:
    def running() -> bool:
        os.kill(sleepers[0], signal.SIGKILL)
        os.waitpid(sleepers[0], 0)
        raise RuntimeError("a program has ended")

    with pytest.raises(RuntimeError, match="a program has ended"):
        alternate(sleepers[:2], sleepers[2:], running)
    poll_until("the others run", lambda: not any(map(stopped, sleepers[1:])))
