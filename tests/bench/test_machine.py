# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/machine.py: cores, memory, names."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from racetrack import machine
from support.poll import poll_until


def test_placements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3, 1, 5})
    found = machine.placements()
    assert found["pinned"].server == {1}
    assert found["pinned"].client == {3}
    assert found["unpinned"].server == found["unpinned"].client == {1, 3, 5}


def test_one_core_is_no_race_track(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0})
    with pytest.raises(RuntimeError, match="two cores"):
        machine.placements()


def test_on_cores_puts_the_cores_back() -> None:
    before = os.sched_getaffinity(0)
    one = frozenset({min(before)})
    with pytest.raises(ZeroDivisionError), machine.on_cores(one):
        assert os.sched_getaffinity(0) == one
        raise ZeroDivisionError
    assert os.sched_getaffinity(0) == before


def test_memory_of_this_process() -> None:
    memory = machine.memory_mib(os.getpid())
    assert 1 < memory["rss"] <= memory["peak"]


def test_the_kind_of_host_can_be_a_file_name() -> None:
    assert re.fullmatch(r"\d+x-[a-z0-9-]+", machine.host_kind())


def test_no_commit_outside_of_git(tmp_path: Path) -> None:
    assert machine.commit(tmp_path) == "unknown"


def test_a_tree_has_the_descendants(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "import subprocess\nsubprocess.run(['sleep', '600'])"
    with subprocess.Popen([sys.executable, "-c", script]) as process:
        try:
            poll_until("a child", lambda: len(machine.tree(process.pid)) == 2)
            _, child = machine.tree(process.pid)
            assert {process.pid, child} < set(machine.tree(os.getpid()))
            assert machine.pss_mib(process.pid) > 1
            monkeypatch.setattr(machine, "pss_mib", {process.pid: 5.0, child: 0.5}.get)
            assert machine.tree_mib(process.pid) == 5.5
        finally:
            for pid in reversed(machine.tree(process.pid)):
                os.kill(pid, signal.SIGKILL)
    assert machine.tree(process.pid) == [process.pid]  # it has gone
