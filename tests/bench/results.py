# SPDX-License-Identifier: Apache-2.0
"""Hand-made result files."""

from __future__ import annotations

from typing import Any


def make_run(throughput: float = 1000.0, **changes: Any) -> dict[str, Any]:
    """A measurement as nereid_loadgen prints it."""
    latency = {"mean": 110.0, "p50": 100.0, "p90": 150.0, "p99": 200.0, "p999": 300.0, "max": 400.0}
    run = {
        "throughput": throughput,
        "latency_us": latency,
        "client_cpu": 0.5,
        "server_cpu_us": 20.0,
        "errors": 0,
    }
    return {**run, **changes}


def make_row(ours: list[dict[str, Any]], peer: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    row = {
        "key": "identity_small/http/binary/16/pinned",
        "model": "identity_small",
        "title": "identity, 16 floats",
        "protocol": "http",
        "form": "binary",
        "concurrency": 16,
        "rate": 0,
        "placement": "pinned",
        "runs": {"nereid": ours, "original": peer},
        "limit": {"what": "bare http echo", "runs": [make_run(10_000.0, server_cpu_us=4.0)]},
    }
    return {**row, **changes}


def make_result(rows: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    server = {
        "seconds_to_ready": [0.3, 0.1, 0.2],
        "bare": {"seconds_to_ready": [0.1, 0.1, 0.1], "idle_mib": [10.0]},
        "memory_mib": {"idle": 20.0, "peak": 90.0, "after": 30.0},
    }
    peer = {
        "seconds_to_ready": [1.0, 1.0, 1.0],
        "bare": {"seconds_to_ready": [0.5, 0.5, 0.5], "idle_mib": [40.0]},
        "memory_mib": {"idle": 100.0, "peak": 180.0, "after": 120.0},
    }
    result = {
        "format": 1,
        "when": "2026-01-02",
        "commit": "abc1234",
        "host": {
            "kind": "2x-cpu",
            "cores": 2,
            "processor": "CPU",
            "system": "Linux 6",
            "load_average_before": [0.1, 0.2, 0.3],
        },
        "settings": {
            "alternations": 3,
            "seconds": 2,
            "placements": ["pinned"],
            "nereid_options": [],
            "original_options": ["--http-thread-count=2"],
        },
        "servers": {"nereid": server, "original": peer},
        "rows": rows,
        "cross_check": [],
        "notes": [],
    }
    return {**result, **changes}
