# SPDX-License-Identifier: Apache-2.0
"""The compute time of a batch inside a server, compared with the same ONNX Runtime alone.

One request is sent at a time, with as many rows as the batch shall have, so that nothing else runs
during the computation. The compute time comes from the server's own statistics. The bare runtime is
measured twice: in a loop without pauses, and with pauses as long as those between two executions of
Nereid.
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Mapping
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
            before = computed(model_statistics(server.http, row.model.name), row.batch)
            run = load(tools, row, files, server.address(row.protocol), server.pid, placement)
            after = computed(model_statistics(server.http, row.model.name), row.batch)
            found[name].append(us_per_batch(before, after))
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
        raise RuntimeError("the server has executed no such batch")
    return nanoseconds / count / 1000


def model_statistics(address: str, model: str) -> dict[str, Any]:
    """What a server answers about a model."""
    connection = http.client.HTTPConnection(address, timeout=10)
    try:
        connection.request("GET", f"/v2/models/{model}/stats")
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


def with_copy(
    run: Callable[[], dict[str, Any]], server: Contestant, row: Row
) -> dict[str, Any]:
    """What `run` measures, and the time per request in which the backend has written outputs."""
    before = copied(model_statistics(server.http, row.model.name))
    measured = run()
    after = copied(model_statistics(server.http, row.model.name))
    return {**measured, "copy_us": us_per_batch(before, after)}


def copied(statistics: Mapping[str, Any]) -> tuple[int, int]:
    """The number of requests so far, and the nanoseconds for which the backend has written their
    outputs. The backend `identity` does nothing then but copy tensors."""
    (model,) = statistics["model_stats"]
    entry = model["inference_stats"]["compute_output"]
    return int(entry.get("count", 0)), int(entry.get("ns", 0))


def computed(statistics: Mapping[str, Any], batch: int) -> tuple[int, int]:
    """The number of batches of this size so far, and their compute time in nanoseconds."""
    (model,) = statistics["model_stats"]
    for entry in model["batch_stats"]:
        if int(entry["batch_size"]) == batch:
            return int(entry["compute_infer"]["count"]), int(entry["compute_infer"]["ns"])
    return 0, 0
