# SPDX-License-Identifier: Apache-2.0
"""bench/loading.py: the models, the checks while they are loaded, and the page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import loading as program
import numpy as np
import onnxruntime
import pytest
from racetrack import loading, probes, small_models
from racetrack.probes import CHECKS, HttpConnection, Sample, http_request


def make_result(**changes: Any) -> dict[str, Any]:
    checks = {
        f"{protocol}/{check}": {"count": 200, "failed": 0, "p50": 100.0, "p99": 900.0, "max": 2000.0}
        for protocol, check in CHECKS
    }
    result = {
        "when": "2026-01-02",
        "commit": "abc1234",
        "host": {
            "kind": "2x-cpu",
            "cores": 2,
            "processor": "CPU",
            "system": "Linux 6",
            "load_average_before": [0.1, 0.2, 0.3],
        },
        "rounds": 3,
        "models": 500,
        "checks_first": True,
        "file_bytes": 9876,
        "seconds": {
            way: {"nereid": [1.5, 1.0, 2.0], "original": [3.0, 3.0, 3.0]} for way in loading.WAYS
        },
        "memory_mib": {"nereid": 120.0, "original": 130.0},
        "latency_us": {
            name: {when: {key: dict(seen) for key, seen in checks.items()} for when in loading.TIMES}
            for name in ("nereid", "original")
        },
    }
    return {**result, **changes}


def test_each_network_is_small_and_another_one(tmp_path: Path) -> None:
    root = small_models.write(tmp_path, 3)
    files = [root / small_models.name_of(i) / "1" / "model.onnx" for i in range(3)]
    assert sorted(path.name for path in root.iterdir()) == ["small_000", "small_001", "small_002"]
    assert all(9_000 < file.stat().st_size < 11_000 for file in files)
    x = np.ones((1, small_models.WIDTH), np.float32)
    answers = []
    for number, file in enumerate(files):
        (y,) = onnxruntime.InferenceSession(str(file)).run(["y"], {"x": x})
        np.testing.assert_array_equal(y, x @ small_models.weights(number))
        answers.append(y)
    assert not np.array_equal(answers[0], answers[1])


class FakeClock:
    """A clock that moves only when code waits or when a check takes time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds


def test_checks_fall_due_at_a_fixed_rate() -> None:
    clock, stop = FakeClock(), threading.Event()
    left = [0.001, 0.035, 0.001]  # the server's times for the answers

    def ask() -> bool:
        clock.now += left.pop(0)
        if not left:
            stop.set()
        return True

    found = probes.ask_until(stop, ask, clock, clock.wait, period=0.01)
    # Checks that fell due during the slow one are not sent, but charged with the remaining time.
    expected = [(0, 1), (10, 35), (20, 25), (30, 15), (40, 5), (50, 1)]
    assert [(round((due - 100) * 1e3), round(took * 1e3)) for due, took, _ in found] == expected
    assert all(good for _, _, good in found)


def test_a_check_without_an_answer_is_a_wrong_one() -> None:
    clock, stop = FakeClock(), threading.Event()

    def ask() -> bool:
        stop.set()
        raise ConnectionError("gone")

    assert probes.ask_until(stop, ask, clock, clock.wait) == [(100.0, 0.0, False)]


def test_samples_of_a_time() -> None:
    samples = [Sample("http", "index", due, 0.001, True) for due in (1.0, 2.0, 3.0)]
    assert probes.between(samples, 1.5, 3.0) == [samples[1]]
    grouped = loading.group(samples)
    assert grouped["http/index"] == [(1000.0, True)] * 3
    assert grouped["grpc/index"] == []


def test_percentiles_are_of_all_checks() -> None:
    seen = loading.latencies([(float(value), value != 7) for value in range(1, 201)])
    assert seen == {"count": 200, "failed": 1, "p50": 100.0, "p99": 198.0, "max": 200.0}
    assert loading.latencies([]) == {"count": 0, "failed": 0}


def test_the_aims() -> None:
    assert loading.failures(make_result()) == []
    slow = make_result()
    slow["seconds"]["start"]["nereid"] = [5.1, 5.2, 1.0]
    slow["latency_us"]["nereid"]["poll"]["grpc/index"]["p99"] = 5001.0
    slow["latency_us"]["nereid"]["idle"]["grpc/index"]["p99"] = 5001.0  # not one of the aims
    slow["latency_us"]["nereid"]["explicit"]["http/model ready"]["failed"] = 2
    slow["latency_us"]["original"]["poll"]["grpc/index"]["p99"] = 1e6
    assert loading.failures(slow) == [
        "the server is started on them: 5.10 s, 5 are allowed",
        "load requests over HTTP, http/model ready: 2 wrong answers",
        "they appear in a repository that is polled, grpc/index: p99 of 5,001 µs",
    ]


def test_the_page() -> None:
    page = loading.render(make_result())
    assert "500 models" in page
    assert "Both are met." in page
    assert "| load requests over HTTP | 1.50 | 3.00 | 0.50× | 1.00; 1.50; 2.00 |" in page
    assert "| HTTP index | 100 | 100 | 1.00× | 900 | 900 | 1.00× |" in page
    assert "waited for processors" not in page
    empty = make_result(checks_first=False)
    assert "waited for processors" in loading.render(empty)
    empty["latency_us"]["original"]["poll"]["http/index"] = {"count": 0, "failed": 0}
    assert "| HTTP index | 100 | - | - |" in loading.render(empty)
    empty["seconds"]["poll"]["nereid"] = [9.0]
    assert "**Missed:** they appear in a repository that is polled: 9.00 s" in loading.render(empty)


def test_it_writes_both_files(tmp_path: Path) -> None:
    program.write(make_result(), tmp_path / "results")
    written = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert written == ["load-2026-01-02-2x-cpu.json", "load-2026-01-02-2x-cpu.md"]
    assert json.loads((tmp_path / "results" / written[0]).read_text()) == make_result()


def test_quick_is_one_round() -> None:
    assert program.parse_arguments([]).rounds == 5
    assert program.parse_arguments(["--quick"]).rounds == 1
    with pytest.raises(SystemExit):
        program.parse_arguments(["--models=0"])


class Server(BaseHTTPRequestHandler):
    """Accepts all loads except that of small_002. The index shows one more model each time."""

    protocol_version = "HTTP/1.1"
    looks = 0

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v2/repository/index":
            entries = [{"name": "m", "state": "READY"}] * min(Server.looks, 3)
            self._answer(200, json.dumps(entries, separators=(",", ":")).encode())
            Server.looks += 1
        else:
            refused = "small_002" in self.path
            self._answer(400 if refused else 200, b"no" if refused else b"")

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    Server.looks = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_a_connection_is_kept(address: str) -> None:
    connection = HttpConnection(address)
    request = http_request("POST", "/v2/repository/models/small_000/load", b"{}")
    assert [connection.ask(request) for _ in range(2)] == [(200, b"")] * 2
    refused = http_request("POST", "/v2/repository/models/small_002/load", b"{}")
    assert connection.ask(refused) == (400, b"no")
    connection.close()


def test_a_load_that_is_refused_is_no_result(address: str) -> None:
    program.request_loads(address, 2)
    with pytest.raises(RuntimeError, match="small_002: 400"):
        program.request_loads(address, 3)


def test_watching_until_all_are_ready(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "WATCH_SECONDS", 0)
    first, last = program.watch(address, 2)
    assert Server.looks == 4  # none, the resident one, one more, two more
    assert first < last
