# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer, the original project's own load generator, as a second opinion on ours.

The binary is in an old wheel of tritonclient. It needs two libraries that only Triton
server's wheel contains; a folder with links to both is put on the loader's path.
"""

from __future__ import annotations

import csv
import os
import subprocess
from pathlib import Path

from differential.original_server import INSTALL_FOLDER
from racetrack.machine import Placement, on_cores
from racetrack.workloads import Row
from support.stage import PROJECT_ROOT

FOLDER = PROJECT_ROOT / "build" / "deps" / "perf_analyzer"
NEEDED = {"libb64.so.0d": "libb64*.so*", "libcudart.so.12": "libcudart*.so*"}
SECONDS = 120


class NotAvailable(Exception):
    """perf_analyzer cannot be started here."""


def prepare(work: Path) -> tuple[Path, dict[str, str]]:
    """The binary, and the environment that it needs. Raises NotAvailable."""
    binaries = [path for path in FOLDER.rglob("perf_analyzer") if path.is_file()]
    if not binaries:
        raise NotAvailable("not installed: tools/setup.sh --bench")
    libraries = work / "perf_analyzer-lib"
    libraries.mkdir(parents=True, exist_ok=True)
    for name, pattern in NEEDED.items():
        found = sorted((INSTALL_FOLDER / "nvidia_pytriton.libs").glob(pattern))
        if not found:
            raise NotAvailable(f"no {pattern} in Triton's wheel")
        link = libraries / name
        link.unlink(missing_ok=True)
        link.symlink_to(found[0])
    path = os.pathsep.join([str(libraries), os.environ.get("LD_LIBRARY_PATH", "")]).strip(":")
    return binaries[0], {**os.environ, "LD_LIBRARY_PATH": path}


def throughput(work: Path, row: Row, address: str, placement: Placement) -> float:
    """Requests per second that perf_analyzer reaches. Raises NotAvailable with its output."""
    binary, environment = prepare(work)
    report = work / "perf_analyzer.csv"
    report.unlink(missing_ok=True)
    command = [
        str(binary),
        "-m",
        row.model.name,
        "-u",
        address,
        "-i",
        row.protocol,
        "--concurrency-range",
        str(row.concurrency),
        "--measurement-interval",
        "2000",
        "--stability-percentage",
        "30",
        "-f",
        str(report),
    ]
    with on_cores(placement.client):
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotAvailable(str(error)) from error
    if not report.exists():
        raise NotAvailable((done.stderr or done.stdout).strip()[-300:])
    with report.open(newline="") as file:
        return float(next(csv.DictReader(file))["Inferences/Second"])
