# SPDX-License-Identifier: Apache-2.0
"""bench/racetrack/attacks.py and hostile.py: what attackers send and count, and the page."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from bench.results import make_result, make_run

import run as program
from racetrack import attacks, hostile
from support.poll import poll_until



class Recorder(BaseHTTPRequestHandler):
    """Refuses every request, and records it."""

    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, dict[str, str], bytes]] = []

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length) if length < 1 << 25 else b""
        self.seen.append((self.path, dict(self.headers), body))
        self._answer(400, b"{}")

    def do_GET(self) -> None:
        self.seen.append((self.path, dict(self.headers), b""))
        self._answer(200, b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def victim() -> Iterator[attacks.Victim]:
    Recorder.seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield attacks.Victim(f"127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()


def attack_until(victim: attacks.Victim, name: str, status: str, count: int = 1) -> None:
    """Runs one client of the attack until it has got `count` answers with `status`."""

    async def attack() -> None:
        client = asyncio.ensure_future(attacks.ATTACKS[name].make()(victim))
        while victim.outcomes[status] < count and not client.done():
            await asyncio.sleep(0.01)
        client.cancel()
        await asyncio.gather(client, return_exceptions=True)

    asyncio.run(asyncio.wait_for(attack(), 60))
    assert victim.outcomes[status] >= count, victim.outcomes


def test_many_inputs(victim: attacks.Victim) -> None:
    attack_until(victim, "many-inputs", "400")
    path, _, body = Recorder.seen[0]
    inputs = json.loads(body)["inputs"]
    assert path == "/v2/models/identity_small/infer"
    assert len({tensor["name"] for tensor in inputs}) == 100_000


def test_bombs(victim: attacks.Victim) -> None:
    attack_until(victim, "bombs", "400")
    _, headers, body = Recorder.seen[0]
    assert headers["Content-Encoding"] == "gzip"
    assert len(body) < 1 << 17
    assert len(gzip.decompress(body)) == 60 << 20


def test_tiny_requests_go_to_the_slow_model(victim: attacks.Victim) -> None:
    attack_until(victim, "tiny-flood", "400", count=2)
    path, _, body = Recorder.seen[0]
    assert path == f"/v2/models/{attacks.SLOW_MODEL}/infer"
    assert json.loads(body)["inputs"][0]["name"] == "INPUT0"
    assert len(Recorder.seen) == victim.sent


def test_pipelined_flood(victim: attacks.Victim) -> None:
    attack_until(victim, "pipelined-flood", "200", count=500)
    assert victim.sent >= 500
    assert {path for path, _, _ in Recorder.seen} == {"/v2/health/live"}


def test_announced_bodies(victim: attacks.Victim) -> None:
    attack_until(victim, "announced-bodies", "400")
    assert Recorder.seen[0][1]["Content-Length"] == "2147483647"


def test_an_attack_ends_when_it_is_told_to(victim: attacks.Victim) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "racetrack.attacks", "tiny-flood", victim.address],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    poll_until("the attack has begun", lambda: Recorder.seen or process.poll() is not None)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    found = json.loads(said)
    assert found["sent"] >= 1 and set(found["outcomes"]) <= {"400", "closed"}


def make_row(quiet: float, attacked: float) -> dict[str, Any]:
    def runs(p99: float) -> list[dict[str, Any]]:
        return [make_run(latency_us={"p50": 50.0, "p99": value}) for value in (p99, p99, 9 * p99)]

    return {
        "attack": "bombs",
        "title": "many of them",
        "connections": 2,
        "quiet": runs(quiet),
        "attacked": runs(attacked),
        "outcomes": [{"sent": 20, "seconds": 10.0, "outcomes": {"400": 19, "closed": 1}}] * 3,
        "memory_mib": {"idle": 40.0, "peak": 90.0},
    }


def make_hostile(*rows: dict[str, Any]) -> dict[str, Any]:
    return {**make_result([]), "alternations": 3, "seconds": 3.0, "rows": list(rows)}


def test_medians_are_compared() -> None:
    assert hostile.growth(make_row(100.0, 150.0)) == 1.5


def test_failures_are_named() -> None:
    assert not hostile.failures(make_hostile(make_row(100.0, 200.0)))
    (sentence,) = hostile.failures(make_hostile(make_row(100.0, 300.0)))
    assert sentence == "bombs: the p99 is 3.00× the quiet one, 2 are allowed"
    broken = {**make_row(100.0, 100.0), "attacked": [make_run(errors=3)]}
    assert "bombs: 3 good requests failed" in hostile.failures(make_hostile(broken))


def test_the_page() -> None:
    page = hostile.render(make_hostile(make_row(100.0, 150.0), make_row(100.0, 450.0)))
    assert "400: 57, closed: 3" in page
    assert "4.50× **over**" in page
    assert "40 / 90" in page
    assert "**All within.**" in hostile.render(make_hostile(make_row(100.0, 150.0)))


def test_the_group_is_known() -> None:
    arguments = program.parse_arguments(["--group", "hostile", "--rows", "bombs"])
    assert arguments.group == program.HOSTILE


def test_it_writes_both_files(tmp_path: Path) -> None:
    program.write(make_hostile(make_row(1.0, 1.5)), tmp_path, complete=False, group="hostile")
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["hostile-2026-01-02-2x-cpu.json", "hostile-2026-01-02-2x-cpu.md"]
