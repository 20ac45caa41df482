# SPDX-License-Identifier: Apache-2.0
"""Shared memory for the group "tensors": a segment for the requests of a model, one for its answers."""

from __future__ import annotations

import atexit
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support import raw_http

if TYPE_CHECKING:
    from racetrack.workloads import Model

FOLDER = Path("/dev/shm")
# Triton, release 2.51, has no such option: its clients may always use shared memory.
OPTIONS = {"nereid": ("--allow-client-shm=true",), "original": ()}


@dataclass(frozen=True)
class Segments:
    """Two segments. Their names are also those of the regions. Both servers use the same ones, since
    only one of them is loaded at a time."""

    input: str
    output: str

    @staticmethod
    def of(model: Model) -> Segments:
        stem = f"nereid_bench_{os.getpid()}_{model.name}"
        return Segments(f"{stem}_in", f"{stem}_out")

    @property
    def answer_file(self) -> Path:
        return FOLDER / self.output

    def write(self, tensor: bytes) -> None:
        """Makes both, unless they are there."""
        for name, content in ((self.input, tensor), (self.output, bytes(len(tensor)))):
            file = FOLDER / name
            if not file.exists():
                file.write_bytes(content)
                atexit.register(lambda file=file: file.unlink(missing_ok=True))

    def register(self, url: str) -> None:
        """Makes the regions known to a server, unless it knows them."""
        known = {region["name"] for region in _status(url)}
        for name in (self.input, self.output):
            if name in known:
                continue
            size = (FOLDER / name).stat().st_size
            body = {"key": f"/{name}", "offset": 0, "byte_size": size}
            path = f"/v2/systemsharedmemory/region/{name}/register"
            answer = raw_http.post_json(url, path, body)
            if answer.status != 200:
                raise RuntimeError(f"a region cannot be registered: {answer.body!r}")


def _status(url: str) -> list[dict[str, str]]:
    answer = raw_http.get(url, "/v2/systemsharedmemory/status")
    return answer.json() if answer.status == 200 else []
