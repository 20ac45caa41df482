# SPDX-License-Identifier: Apache-2.0
"""Reading trace files of Triton's format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Trace:
    """What a file says about one id."""

    id: int
    model: str = ""
    version: int = 0
    request_id: str = ""
    parent: int = 0
    times: dict[str, list[int]] = field(default_factory=dict)
    tensors: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    @property
    def activities(self) -> set[str]:
        return set(self.times)


def read(path: Path) -> dict[int, Trace]:
    """The traces of a file by id."""
    traces: dict[int, Trace] = {}
    for item in json.loads(path.read_text(encoding="utf-8")):
        trace = traces.setdefault(item["id"], Trace(item["id"]))
        if "model_name" in item:
            trace.model = item["model_name"]
            trace.version = item["model_version"]
            trace.request_id = item.get("request_id", "")
            trace.parent = item.get("parent_id", 0)
        for stamp in item.get("timestamps", []):
            trace.times.setdefault(stamp["name"], []).append(stamp["ns"])
        if "activity" in item:
            trace.tensors.append((item["activity"], item["tensor"]))
    return traces


def counts(folder: Path) -> dict[str, int]:
    """How many client's requests each file of the folder holds, by its name."""
    return {
        path.name: sum(1 for trace in read(path).values() if trace.parent == 0)
        for path in sorted(folder.iterdir())
        if path.suffix != ".part"  # is being written
    }


def numbers(text: str) -> Iterator[float]:
    """The elements of a tensor that has no strings."""
    return (float(number) for number in text.split(","))
