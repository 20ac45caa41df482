#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a request costs besides computing: allocations, locks, clock reads and system calls, ours and
those of the libraries. `tools/dev bench-costs`.

    bench/request_costs.py [--rows=TEXT] [--places=KIND] [--tools=BUILD] [--out=DIR]

Needs build/stage (NEREID_STAGE names another) and the target bench_tools. Writes
costs-DATE-HOST.md into build/bench-results. `--places=allocations` also prints which functions the
calls of that kind come from.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import signal
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import call_counts, machine  # noqa: E402
from racetrack.call_counts import KINDS, OURS, Calls  # noqa: E402
from racetrack.contestants import Contestant, start  # noqa: E402
from racetrack.load import Tools, start_load  # noqa: E402
from racetrack.machine import Placement  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.workloads import IDENTITY_SMALL, SMALL, Model, Row, write_files  # noqa: E402
from support.poll import poll_until  # noqa: E402
from support.repository import ModelRepository  # noqa: E402
from support.stage import PROJECT_ROOT  # noqa: E402

# Executed by the I/O thread in one batch with what came in the same turn, and by the thread of an
# instance, which forms the batch after a delay.
BATCHED = Model("identity_batched", "batched, I/O thread", "INPUT0", "OUTPUT0", (1, SMALL))
DELAYED = Model("identity_delayed", "batched, instance", "INPUT0", "OUTPUT0", (1, SMALL))
FORMS = (("http", "binary"), ("http", "json"), ("grpc", "binary"))
ROWS = (
    *(Row(IDENTITY_SMALL, protocol, form, 1) for protocol, form in FORMS),
    *(
        Row(model, protocol, form, concurrency)
        for model in (BATCHED, DELAYED)
        for protocol, form in FORMS
        for concurrency in (16, 64)
    ),
)
# To look at stacks slows the server down, which must not keep it from executing on I/O threads.
OPTIONS = ("--inline-execution-max-us=10000",)
COUNTING_SECONDS = 1.0
WARMUP_SECONDS = 1.0


@dataclass(frozen=True)
class Counted:
    """The calls of one row."""

    row: Row
    requests: int
    batch: float  # mean size
    calls: list[Calls]

    def per_request(self) -> dict[str, dict[str, float]]:
        return call_counts.per_request(self.calls, self.requests)


def write_repository(root: Path) -> Path:
    models = ModelRepository(root)
    models.add_identity("identity_small", "FP32", (SMALL,))
    batching = "dynamic_batching { }"
    models.add_identity(BATCHED.name, "FP32", (SMALL,), 64, extra=batching)
    delayed = "dynamic_batching { max_queue_delay_microseconds: 100 }"
    models.add_identity(DELAYED.name, "FP32", (SMALL,), 64, extra=delayed)
    return root


def statistics(server: Contestant, model: Model) -> tuple[int, int]:
    """Requests that were answered, and the executions for them."""
    url = f"http://{server.http}/v2/models/{model.name}/stats"
    with urllib.request.urlopen(url, timeout=10) as answer:
        stats = json.load(answer)["model_stats"][0]
    return stats["inference_count"], stats["execution_count"]


def count_row(
    tools: Tools, row: Row, work: Path, server: Contestant, placement: Placement, output: Path
) -> tuple[int, float]:
    """Has the calls of a row counted. Returns the number of its requests, and their mean batch."""
    files = write_files(work / "files", work / "models", row)
    with start_load(tools, row, files, server.address(row.protocol), placement, 100):
        time.sleep(WARMUP_SECONDS)
        before = statistics(server, row.model)
        size = output.stat().st_size if output.exists() else 0
        os.kill(server.pid, signal.SIGRTMIN + 4)
        time.sleep(COUNTING_SECONDS)
        os.kill(server.pid, signal.SIGRTMIN + 5)
        after = statistics(server, row.model)
        poll_until("the counts", lambda: output.exists() and output.stat().st_size > size, 10)
    requests, executions = (late - early for late, early in zip(after, before))
    return requests, requests / max(1, executions)


def count_all(tools: Tools, rows: Sequence[Row]) -> list[Counted]:
    counter = tools.program("libcall_counter.so")
    placement = machine.placements()["pinned"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        output = work / "counts"
        write_repository(work / "models")
        environment = {"LD_PRELOAD": str(counter), "NEREID_CALL_COUNTS": str(output)}
        server = start(
            "nereid", work / "models", work, placement, OPTIONS, environment=environment
        )
        try:
            found = []
            for row in rows:
                print(f"costs: {row.key}", flush=True)
                found.append(count_row(tools, row, work, server, placement, output))
            maps = Path(f"/proc/{server.pid}/maps").read_text()
        finally:
            server.stop()
        counts = call_counts.read_counts(output, maps)
    return [
        Counted(row, requests, batch, calls)
        for row, (requests, batch), calls in zip(rows, found, counts)
    ]


def cell(owners: dict[str, float]) -> str:
    """Ours, and behind them those of others; small numbers are left out."""
    others = [(owner, count) for owner, count in owners.items() if owner != OURS and count >= 0.05]
    others.sort(key=lambda item: -item[1])
    ours = f"{owners.get(OURS, 0):.1f}"
    return " + ".join((ours, *(f"{owner} {count:.1f}" for owner, count in others)))


def page(counted: Sequence[Counted]) -> str:
    lines = [
        "Per request: ours + those of others",
        "",
        f"| request | in flight | batch | {' | '.join(KINDS)} |",
        "|---|--:|--:|" + "---|" * len(KINDS),
    ]
    for one in counted:
        row = one.row
        name = f"{row.protocol.upper()} {row.form}, {row.model.title}"
        cells = " | ".join(cell(owners) for owners in one.per_request().values())
        lines.append(f"| {name} | {row.concurrency} | {one.batch:.1f} | {cells} |")
    return "\n".join(lines) + "\n"


def print_places(one: Counted, kind: str) -> None:
    owners = one.per_request()[kind]
    for owner in sorted(owners):
        print(f"\n== {one.row.key}: {kind}, {owner}: {owners[owner]:.2f} per request")
        for stack, count in call_counts.places(one.calls, kind, owner).most_common():
            if count / one.requests >= 0.02:
                print(f"{count / one.requests:6.2f}  " + stack.replace("\n", "\n          <- "))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="", help="only rows whose key contains this text")
    parser.add_argument("--places", choices=KINDS)
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    tools = Tools(arguments.tools, seconds=1.0, warmup=0.2)
    counted = count_all(tools, [row for row in ROWS if arguments.rows in row.key])
    text = page(counted)
    print(text)
    if arguments.places:
        for one in counted:
            print_places(one, arguments.places)
    arguments.out.mkdir(parents=True, exist_ok=True)
    today = datetime.date.today().isoformat()
    (arguments.out / f"costs-{today}-{machine.host_kind()}.md").write_text(text)


if __name__ == "__main__":
    main()
