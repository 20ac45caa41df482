# SPDX-License-Identifier: Apache-2.0
"""`make run` on a built tree, in a terminal: it is soon ready, answers right, and ends by
Ctrl-C."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from support.ports import free_ports
from support.terminal import CTRL_C, Terminal

PROJECT_ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 5

pytestmark = pytest.mark.skipif(
    "NEREID_STAGE" not in os.environ
    or Path(os.environ["NEREID_STAGE"]).resolve() != PROJECT_ROOT / "build" / "stage",
    reason="runs in `make test`, which has just staged the server",
)


def test_make_run_serves_until_ctrl_c() -> None:
    http, grpc, metrics = free_ports(3)
    options = [f"HTTP_PORT={http}", f"GRPC_PORT={grpc}", f"METRICS_PORT={metrics}"]
    terminal = Terminal(["make", "run", *options], PROJECT_ROOT)
    try:
        terminal.read_until(r"Ctrl-C ends the server")
        assert "right: image 3 is labelled 3" in terminal.text
        ready = re.search(r"ready after ([\d.]+) s", terminal.text)
        assert ready and float(ready[1]) < READY_SECONDS
        with socket.create_connection(("127.0.0.1", http), timeout=5):
            pass
        terminal.type(CTRL_C)
        assert terminal.exit_code() == 0, terminal.text
    except BaseException:
        terminal.terminate()
        raise
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", http), timeout=5)


def test_what_serves_is_built_without_the_workshop() -> None:
    build = PROJECT_ROOT / "build" / "release"
    inputs = {
        target: subprocess.run(
            ["ninja", "-C", build, "-t", "inputs", target], capture_output=True, text=True, check=True
        ).stdout
        for target in ("serving", "staged")
    }
    assert "apps/workshop/" in inputs["staged"]
    assert "apps/workshop/" not in inputs["serving"]
