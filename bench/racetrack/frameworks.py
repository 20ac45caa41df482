# SPDX-License-Identifier: Apache-2.0
"""Models of several frameworks: compares Nereid with each framework alone. Measures one network.

Server and framework have one core and one thread. A network has three figures: the compute time of
a batch of 1 and of 8 rows in the server, compared with the framework with the same pauses between
its runs, in turns (those of small networks are short, many, and by several pairs of processes,
because the speed of a program depends by some percent on where its memory lies); and the rows per
second that 16 clients get, compared with the framework in a loop without pauses, while
the two alternate many times a second (alternate.py). The loop has the batch sizes that the server
formed, as often as it formed them: a row of a small batch takes longer, and a change of the size
costs time in some frameworks.

Small networks are also measured behind a bare server: the framework's thread reads requests from a
socket and answers them, with nothing but system calls. If the framework is slower there than with idle
pauses, that is the price of the socket. If it is slower only in Nereid, Nereid itself costs that.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.http

from racetrack import machine
from racetrack.alternate import Shares, alternate, had
from racetrack.compute import computed, model_statistics, us_per_batch
from racetrack.contestants import Contestant, start
from racetrack.entrants import Builder, Entrant
from racetrack.load import CHECKS, FrameworkLoop, RunningLoad, Tools, load, start_load
from racetrack.workloads import Files, Row, input_shape, write_http_body
from support.poll import poll_until

ROWS = (1, 8)  # rows per request when the compute time is measured
CLIENTS = 16
# Runs of the loop after which the batch sizes recur: about a turn of a large network, in which the
# server forms one or two small batches.
ROUND = 64
# Networks that are judged by compute time, because they compute no longer than the protocol takes.
SMALL = ("mlp", "transformer")
# The compute time of small networks is compared in many short turns: the speed of a machine with
# other guests changes by the second, and two equal measurements of a second differ by up to 30 %.
SMALL_TURNS = 10  # of a pair of processes
SMALL_SECONDS = 0.2
SMALL_WARMUP = 0.05
# Rows per second are counted while server and framework alternate, each for half of this time.
ALTERNATING_SECONDS = 24.0
SHORT_SECONDS = 6.0  # where they are not judged
COMPUTE_SECONDS = 3.0  # of a turn in which their compute time is measured
MEMORY_NETWORK = "resnet18"
MEMORY_INSTANCES = (1, 4)


def chosen(key: str, wanted: str) -> bool:
    """Whether a key contains one of the texts in `wanted`, which commas separate."""
    return any(text in key for text in wanted.split(","))


def values_of(row: Row) -> np.ndarray:
    """The input values; the programs of the frameworks use the same."""
    shape = input_shape(row)
    return (np.arange(int(np.prod(shape))) % 17).astype(np.float32).reshape(shape)


def write_request(folder: Path, row: Row, address: str) -> Files:
    """Writes the request, and as the expected answer the server's first one, which tests check."""
    folder.mkdir(parents=True, exist_ok=True)
    values = values_of(row)
    tensor = tritonclient.http.InferInput(row.model.input_name, list(values.shape), "FP32")
    tensor.set_data_from_numpy(values)
    wanted = [tritonclient.http.InferRequestedOutput(row.model.output_name, binary_data=True)]
    with tritonclient.http.InferenceServerClient(address) as client:
        answer = client.infer(row.model.name, [tensor], outputs=wanted)
    name = f"{row.model.name}-rows{row.batch}"
    head = folder / f"{name}.head"
    head.write_text(json.dumps(answer.get_response(), separators=(",", ":")))
    expect = folder / f"{name}.expect"
    expect.write_bytes(answer.as_numpy(row.model.output_name).tobytes())
    body = folder / f"{name}.body"
    return Files(body, expect, write_http_body(body, row, values), head, values.nbytes)


def batches(found: Mapping[str, Any]) -> Counter[int]:
    """Executions so far by batch size."""
    (model,) = found["model_stats"]
    return Counter(
        {int(row["batch_size"]): int(row["compute_infer"]["count"]) for row in model["batch_stats"]}
    )


def rows_until(runs: int, sizes: Sequence[int]) -> int:
    """The rows of the first runs of a loop in which these batch sizes recur."""
    return runs // len(sizes) * sum(sizes) + sum(sizes[: runs % len(sizes)])


def rows_per_second(
    run: Mapping[str, Any],
    ends: Sequence[tuple[int, float]],
    sizes: Sequence[int],
    shares: Shares,
) -> dict[str, float]:
    """Rows per second of the server and of the framework alone in the time that each had the core,
    while the load ran: until its last answer, since a batch is under way at its end that nobody
    counts. `ends`: numbers of runs of the framework, whose `sizes` recur, and when they ended."""
    start, last = run["began"], run["began"] + run["seconds_to_last"]
    within = [(runs, end) for runs, end in ends if start <= end <= last]
    (runs_before, first_end), (runs_after, last_end) = within[0], within[-1]
    rows = rows_until(runs_after, sizes) - rows_until(runs_before, sizes)
    return {
        "ours": run["requests"] / had(shares.first, start, last),
        "theirs": rows / had(shares.second, first_end, last_end),
    }


def one_round(formed: Mapping[int, int]) -> list[int]:
    """Batch sizes for a round of the loop: about as often as they were formed, and mixed, because
    a change of the size costs time, too."""
    total = sum(formed.values())
    due = {size: ROUND * count / total for size, count in formed.items()}
    times = {size: int(share) for size, share in due.items()}
    # What the fractions leave goes to the largest of them.
    for size in sorted(due, key=lambda size: times[size] - due[size])[: ROUND - sum(times.values())]:
        times[size] += 1
    sizes = [size for size, count in sorted(times.items()) for _ in range(count)]
    random.Random(1).shuffle(sizes)
    return sizes


def joined(
    before: list[dict[str, Any]] | None, found: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """The compute times of both, by number of rows."""
    if before is None:
        return found
    return [
        {key: value if key == "rows" else was[key] + value for key, value in one.items()}
        for was, one in zip(before, found, strict=True)
    ]


class Measurement:
    """The settings that all networks of a run share."""

    def __init__(self, work: Path, tools: Tools, turns: int, options: Sequence[str]) -> None:
        self._work = work
        self._tools = tools
        self._turns = turns
        self._options = options
        self._placement = machine.placements()["pinned"]

    def framework(self, name: str, wanted: str) -> list[dict[str, Any]]:
        """The networks of a framework that are `chosen`, in one server."""
        entrants = Builder(self._work / f"models-{name}", self._work).build(name)
        entrants = [entrant for entrant in entrants if chosen(entrant.key, wanted)]
        if not entrants:
            return []
        small = [entrant for entrant in entrants if entrant.network in SMALL]
        compute: dict[str, list[dict[str, Any]]] = {}
        for _ in range(self._turns if small else 0):
            with self._running(name) as server:
                for entrant in small:
                    found = [self._compute(entrant, server, rows, SMALL_TURNS) for rows in ROWS]
                    compute[entrant.key] = joined(compute.get(entrant.key), found)
        with self._running(name) as server:
            return [self._one(entrant, server, compute.get(entrant.key)) for entrant in entrants]

    def memory(self, name: str) -> dict[str, float]:
        """MiB of a server with one model after a load, by the number of instances."""
        found = {}
        for instances in MEMORY_INSTANCES:
            root = self._work / f"memory-{name}-{instances}"
            entrants = Builder(root / "all", self._work, instances).build(name)
            (entrant,) = [e for e in entrants if e.key == f"{name}/{MEMORY_NETWORK}"]
            (root / "one").mkdir()
            (root / "all" / entrant.model.name).rename(root / "one" / entrant.model.name)
            server = self._start(root / "one")
            try:
                row = Row(entrant.model, "http", "binary", max(MEMORY_INSTANCES), seconds=3)
                files = write_request(root / "requests", row, server.http)
                load(self._tools, row, files, server.http, server.pid, self._placement)
                found[str(instances)] = machine.tree_mib(server.pid)
            finally:
                server.stop()
        return found

    def _start(self, repository: Path) -> Contestant:
        return start("nereid", repository, self._work, self._placement, self._options)

    @contextmanager
    def _running(self, name: str) -> Iterator[Contestant]:
        """A server with the networks of a framework."""
        server = self._start(self._work / f"models-{name}")
        try:
            yield server
        finally:
            server.stop()

    def _one(
        self, entrant: Entrant, server: Contestant, compute: list[dict[str, Any]] | None
    ) -> dict[str, Any]:
        """`compute`: what is measured already."""
        if compute is None:
            compute = [self._compute(entrant, server, rows, self._turns) for rows in ROWS]
        return {
            "key": entrant.key,
            "network": entrant.network,
            "title": entrant.model.title,
            "compute": compute,
            "throughput": self._throughput(entrant, server),
        }

    def _loop(
        self, entrant: Entrant, sizes: Sequence[int], seconds: str, pause_us: int
    ) -> list[str | Path]:
        """The command that runs the framework alone, with batches of these sizes in turn."""
        batch = "+".join(str(size) for size in sizes)
        return [
            self._tools.program(entrant.loop),
            entrant.file,
            entrant.model.input_name,
            entrant.model.output_name,
            ",".join([batch, *(str(dim) for dim in entrant.model.shape[1:])]),
            seconds,
            str(pause_us),
            *entrant.options,
        ]

    def _compute(
        self, entrant: Entrant, server: Contestant, rows: int, turns: int
    ) -> dict[str, Any]:
        small = entrant.network in SMALL
        tools = self._tools
        if small:
            tools = replace(tools, seconds=SMALL_SECONDS, warmup=SMALL_WARMUP)
        seconds = 0.0 if small else COMPUTE_SECONDS
        row = Row(entrant.model, "http", "binary", 1, batch=rows, seconds=seconds)
        files = write_request(self._work / "requests", row, server.http)

        def send(address: str, pid: int) -> dict[str, Any]:
            return load(tools, row, files, address, pid, self._placement)

        times: dict[str, list[float]] = {"ours": [], "theirs": []} | ({"bare": []} if small else {})
        command = self._loop(entrant, [rows], "-", 0)
        with FrameworkLoop(command, self._placement.server) as alone:
            for _ in range(turns):
                before = computed(model_statistics(server.http, row.model.name), rows)
                run = send(server.http, server.pid)
                after = computed(model_statistics(server.http, row.model.name), rows)
                ours = us_per_batch(before, after)
                times["ours"].append(ours)
                pause = max(1, round(run["latency_us"]["p50"] - ours))
                times["theirs"].append(alone.us_per_run(max(tools.seconds, seconds), pause))
                if small:
                    times["bare"].append(alone.us_per_request(files, send))
        return {"rows": rows, **times}

    def _throughput(self, entrant: Entrant, server: Contestant) -> dict[str, Any]:
        row = Row(entrant.model, "http", "binary", CLIENTS)
        files = write_request(self._work / "requests", row, server.http)
        # The framework gets what was formed in the turn before. A short one, which does not count,
        # is before the first.
        turns = [self._turn(entrant, row, files, server, [ROWS[-1]], SHORT_SECONDS)]
        seconds = SHORT_SECONDS if entrant.network in SMALL else ALTERNATING_SECONDS
        for _ in range(self._turns):
            sizes = one_round(turns[-1]["sizes"])
            turns.append(self._turn(entrant, row, files, server, sizes, seconds))
        return {"turns": turns[1:]}

    def _turn(
        self,
        entrant: Entrant,
        row: Row,
        files: Files,
        server: Contestant,
        sizes: Sequence[int],
        seconds: float,
    ) -> dict[str, Any]:
        """Server and framework alternate for some seconds."""
        tools = replace(self._tools, seconds=seconds)
        command = self._loop(entrant, sizes, "ends", 0)
        before = batches(model_statistics(server.http, row.model.name))
        with RunningLoad("of the framework", command, self._placement.server) as alone:
            poll_until("the framework's first run", lambda: alone.running() and alone.results())
            with (
                start_load(tools, row, files, server.http, self._placement, 1) as ours,
                machine.on_cores(self._placement.client),
            ):
                shares = alternate(
                    machine.tree(server.pid), [alone.pid], lambda: alone.running() and ours.running()
                )
                (run,) = ours.results()
            ends = alone.results()
        formed = batches(model_statistics(server.http, row.model.name)) - before
        formed[1] -= CHECKS * CLIENTS
        formed = +formed
        return {
            **rows_per_second(run, ends, sizes, shares),
            "formed": sum(size * count for size, count in formed.items()) / formed.total(),
            "sizes": dict(sorted(formed.items())),
            "errors": run["errors"],
        }
