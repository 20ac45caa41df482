# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/load.py: the commands for the echo servers, and programs that run a framework."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from racetrack import load
from racetrack.machine import Placement
from racetrack.workloads import IDENTITY_SMALL, REPEAT, Files, Row

UNARY = Row(IDENTITY_SMALL, "grpc", "binary", 1)
STREAM = Row(REPEAT, "grpc", "binary", 1, responses=10)
PLACEMENT = Placement("pinned", frozenset({0}), frozenset({0}))


@pytest.fixture
def tools(tmp_path: Path) -> load.Tools:
    (tmp_path / "bench").mkdir()
    for echo in (load.HTTP_ECHO, load.NGHTTP2_ECHO, load.GRPC_ECHO):
        (tmp_path / "bench" / echo.program).touch()
    return load.Tools(tmp_path, 1, 0)


def test_which_echo_is_the_limit_of_a_row() -> None:
    assert load.echoes(Row(IDENTITY_SMALL, "http", "binary", 1)) == (load.HTTP_ECHO,)
    assert load.echoes(UNARY) == (load.NGHTTP2_ECHO, load.GRPC_ECHO)
    assert load.echoes(STREAM) == (load.NGHTTP2_ECHO,)


def test_the_command_of_an_echo(tools: load.Tools, tmp_path: Path) -> None:
    files = Files(tmp_path / "b", tmp_path / "e", None, tmp_path / "head", 40)
    for echo in load.echoes(UNARY):
        assert load.echo_command(tools, echo, UNARY, files) == [
            str(tmp_path / "bench" / echo.program),
            f"--head={tmp_path / 'head'}",
            "--tail-bytes=40",
        ]
    assert load.echo_command(tools, load.NGHTTP2_ECHO, STREAM, files)[1:] == [
        f"--head={tmp_path / 'head'}",
        "--tail-bytes=40",
        "--responses=10",
    ]


def test_rows_without_an_echo_have_no_limit(tools: load.Tools, tmp_path: Path) -> None:
    files = Files(tmp_path / "b", tmp_path / "e", None, None, 40)
    row = Row(IDENTITY_SMALL, "http", "json", 1)
    assert load.measure_limits(tools, row, files, tmp_path, PLACEMENT, 1) == []
    paced = Row(IDENTITY_SMALL, "grpc", "binary", 64, rate=8000)
    files = Files(tmp_path / "b", tmp_path / "e", None, tmp_path / "head", 40)
    assert load.measure_limits(tools, paced, files, tmp_path, PLACEMENT, 1) == []


# Answers as a framework's loop does, with what it is asked for.
LOOP = """
import json, sys
for line in sys.stdin:
    seconds, pause = line.split()
    if pause == "13":
        sys.exit("no such model")
    print(json.dumps({"us_per_run": float(seconds) + int(pause)}), flush=True)
"""


def test_a_framework_is_measured_as_often_as_asked() -> None:
    cores = frozenset(os.sched_getaffinity(0))
    with load.FrameworkLoop([sys.executable, "-c", LOOP], cores) as alone:
        assert alone.us_per_run(0.5, 200) == 200.5
        assert alone.us_per_run(3, 7) == 10
        for _ in range(2):
            with pytest.raises(RuntimeError, match="no such model"):
                alone.us_per_run(1, 13)


# Behind its server, one run takes as many microseconds as the names of the files are long.
SERVED = """
import json, sys
word, head, tail = sys.stdin.readline().split()
assert word == "http"
print(json.dumps({"port": 8}), flush=True)
print(json.dumps({"us_per_run": len(head + tail)}), flush=True)
"""


def test_a_framework_is_measured_behind_a_bare_server(tmp_path: Path) -> None:
    cores = frozenset(os.sched_getaffinity(0))
    files = Files(tmp_path / "b", Path("tail"), None, Path("head"), 40)
    sent = []
    with load.FrameworkLoop([sys.executable, "-c", SERVED], cores) as alone:
        assert alone.us_per_request(files, lambda address, pid: sent.append((address, pid))) == 8
        assert sent == [("127.0.0.1:8", alone._process.pid)]
        with pytest.raises(RuntimeError, match="ended with 0"):
            alone.us_per_request(files, lambda *_: sent.clear())
        assert sent


# Half a line, and then many whole ones.
LINES = """
import sys, time
print("[", end="", flush=True)
time.sleep(0.1)
print("0]", flush=True)
for number in range(1, 50_000):
    print(f"[{number}]", flush=True)
"""


def test_results_are_read_while_a_program_writes() -> None:
    cores = frozenset(os.sched_getaffinity(0))
    with load.RunningLoad("of a test", [sys.executable, "-c", LINES], cores) as writer:
        while writer.running():
            found = writer.results()
            assert found == [[number] for number in range(len(found))]
        assert len(writer.results()) == 50_000
