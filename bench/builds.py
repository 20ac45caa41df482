#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two builds of this server, beside each other: requests per second of the race's rows.

    bench/builds.py BASE HEAD [--models=openvino] [--rows=mlp,digits/http] [--seconds=10] [--turns=5]
                    [--placement=unpinned] [--tools=BUILD]

BASE and HEAD are staged installations (`make stage` writes build/stage; copy it before a change).
Both run at once and alternate on one core many times a second (racetrack/alternate.py), each with a
load of its own on the other core, so that both meet the same speed of the machine. bench/README.md
says how small a difference is seen. Latencies mean nothing here: a stopped server answers late.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import entrants, frameworks, machine, workloads  # noqa: E402
from racetrack.alternate import alternate, had  # noqa: E402
from racetrack.contestants import Contestant, start  # noqa: E402
from racetrack.load import Tools, start_load  # noqa: E402
from racetrack.machine import Placement  # noqa: E402
from racetrack.workloads import Files, Row  # noqa: E402

from support.stage import PROJECT_ROOT  # noqa: E402


@contextmanager
def running(
    stages: Sequence[Path], repository: Path, work: Path, placement: Placement
) -> Iterator[list[Contestant]]:
    """The servers of these installations, all with the same models."""
    servers: list[Contestant] = []
    before = os.environ.get("NEREID_STAGE")
    try:
        for number, stage in enumerate(stages):
            os.environ["NEREID_STAGE"] = str(stage)
            folder = work / f"server-{number}"
            folder.mkdir(parents=True)
            servers.append(start("nereid", repository, folder, placement))
        yield servers
    finally:
        os.environ.pop("NEREID_STAGE")
        if before is not None:
            os.environ["NEREID_STAGE"] = before
        for server in servers:
            server.stop()


def turn(
    row: Row, tools: Tools, files: Files, servers: Sequence[Contestant], placement: Placement
) -> list[float]:
    """Requests per second of the two servers, in the time in which each had the core."""
    base, head = (server.address(row.protocol) for server in servers)
    with (
        start_load(tools, row, files, base, placement, 1) as first,
        start_load(tools, row, files, head, placement, 1) as second,
        machine.on_cores(placement.client),
    ):
        shares = alternate(
            *(machine.tree(server.pid) for server in servers),
            lambda: first.running() or second.running(),
        )
        runs = [load.results()[0] for load in (first, second)]
    for run in runs:
        if run["errors"]:
            raise SystemExit(f"{row.key}: {run['errors']} requests failed")
    return [
        run["requests"] / had(slices, run["began"], run["began"] + run["seconds_to_last"])
        for run, slices in zip(runs, (shares.first, shares.second))
    ]


@dataclass(frozen=True)
class Models:
    """A model repository, the rows of its models, and how their requests are written."""

    repository: Path
    rows: Sequence[Row]
    files: Callable[[Row, str], Files]  # the row, and the HTTP address of a server


def race_models(work: Path) -> Models:
    """Those of the race; rows at a fixed rate say nothing here."""
    repository = workloads.write_repository(work / "models")
    return Models(
        repository,
        [row for row in workloads.ROWS if not row.rate],
        lambda row, _: workloads.write_files(work / "requests", repository, row),
    )


def framework_models(name: str, work: Path) -> Models:
    """Those of a framework, which both installations need."""
    repository = work / "models"
    return Models(
        repository,
        [
            Row(entrant.model, "http", "binary", clients)
            for entrant in entrants.Builder(repository, work).build(name)
            for clients in (1, frameworks.CLIENTS)
        ],
        lambda row, address: frameworks.write_request(work / "requests", row, address),
    )


def compare(models: Models, rows: Sequence[Row], options: argparse.Namespace, work: Path) -> None:
    """Prints a line per row."""
    placement = machine.placements()[options.placement]
    tools = Tools(options.tools, options.seconds, 1.0)
    with running([options.base, options.head], models.repository, work, placement) as servers:
        for row in rows:
            files = models.files(row, servers[0].http)
            turns = [turn(row, tools, files, servers, placement) for _ in range(options.turns)]
            ratios = [head / base for base, head in turns]
            base, head = (statistics.median(column) for column in zip(*turns))
            print(
                f"{row.key}: {base:,.0f} and {head:,.0f} a second,"
                f" {statistics.median(ratios):.3f} times"
                f" ({min(ratios):.3f} to {max(ratios):.3f})",
                flush=True,
            )


def installation(path: str) -> Path:
    """Raises ArgumentTypeError if there is no server."""
    if not (Path(path) / "bin" / "nereid").exists():
        raise argparse.ArgumentTypeError(f"there is no server in {path}: name a staged installation")
    return Path(path).resolve()


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares two builds of the server.")
    parser.add_argument("base", type=installation)
    parser.add_argument("head", type=installation)
    parser.add_argument("--models", choices=("race", *entrants.FRAMEWORKS), default="race")
    parser.add_argument("--rows", default="/", help="parts of the keys of rows, with commas between")
    parser.add_argument("--seconds", type=float, default=10.0, help="of a turn, for both servers")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--placement", choices=machine.placements(), default="pinned")
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    options = parser.parse_args()
    race = options.models == "race"
    for stage in (options.base, options.head):
        if not race and not (stage / "backends" / options.models).is_dir():
            parser.error(f"{stage} has no backend {options.models!r}")
    machine.exit_at_sigterm()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        models = race_models(work) if race else framework_models(options.models, work)
        rows = [row for row in models.rows if frameworks.chosen(row.key, options.rows)]
        if not rows:
            keys = ", ".join(row.key for row in models.rows)
            parser.error(f"no row has {options.rows!r} in its key; there are {keys}")
        compare(models, rows, options, work)


if __name__ == "__main__":
    main()
