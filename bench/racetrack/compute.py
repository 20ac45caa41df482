"""The compute time of a batch inside a server, compared with the same ONNX Runtime alone.

One request is sent at a time, with as many rows as the batch shall have, so that nothing else runs
during the computation. The compute time comes from the server's own statistics. The bare runtime is
measured twice: in a loop without pauses, and with pauses as long as those between two executions of
Nereid.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from racetrack.contestants import NAMES, Contestant
from racetrack.load import Tools, load, onnx_us_per_run
from racetrack.machine import Placement
from racetrack.workloads import Files, Row


def compare(
    tools: Tools,
    row: Row,
    files: Files,
    repository: Path,
    running: Mapping[str, Contestant],
    placement: Placement,
    alternations: int,
) -> dict[str, Any]:
    """Microseconds per batch of the runtime alone and of each server, measured in turns."""
    found: dict[str, list[float]] = {"loop": [], "paused": [], **{name: [] for name in NAMES}}

    def alone(pause_us: int) -> float:
        return onnx_us_per_run(tools, row, row.batch, repository, placement, pause_us)

    for _ in range(alternations):
        pauses = []
        for name in NAMES:
            server = running[name]
            before = _computed(server.http, row)
            run = load(tools, row, files, server.address(row.protocol), server.pid, placement)
            found[name].append(us_per_batch(before, _computed(server.http, row)))
            pauses.append(run["latency_us"]["p50"] - found[name][-1])
        found["loop"].append(alone(0))
        found["paused"].append(alone(max(1, round(pauses[0]))))
    return {"key": row.key, "title": row.model.title, "batch": row.batch, "us_per_batch": found}


def us_per_batch(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Microseconds per batch between two readings of count and nanoseconds.

    Raises RuntimeError if nothing was computed between them.
    """
    count, nanoseconds = after[0] - before[0], after[1] - before[1]
    if count <= 0:
        raise RuntimeError("the server has executed no batch of this size")
    return nanoseconds / count / 1000


def _computed(address: str, row: Row) -> tuple[int, int]:
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", f"/v2/models/{row.model.name}/stats")
        return computed(json.loads(connection.getresponse().read()), row.batch)
    finally:
        connection.close()


def computed(statistics: Mapping[str, Any], batch: int) -> tuple[int, int]:
    """The number of batches of this size so far, and their compute time in nanoseconds."""
    (model,) = statistics["model_stats"]
    for entry in model["batch_stats"]:
        if int(entry["batch_size"]) == batch:
            return int(entry["compute_infer"]["count"]), int(entry["compute_infer"]["ns"])
    return 0, 0
