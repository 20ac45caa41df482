#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The race: Nereid against Triton, on this machine, in one run. `make bench`.

    bench/run.py [--quick] [--rows TEXT] [--placements pinned,unpinned] [--tools BUILD] [--out DIR]

Needs build/stage (NEREID_STAGE names another), the target bench_tools, and tools/setup.sh --bench.
Writes DATE-HOST.json and .md and the plot into build/bench-results; for groups of rows other than
the race GROUP-DATE-HOST.json and .md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack import (  # noqa: E402
    compute,
    hostile,
    machine,
    perf_analyzer,
    python_models,
    python_page,
    shared_memory,
    table,
    tls,
)
from racetrack.attacks import ATTACKS  # noqa: E402
from racetrack.contestants import NAMES, Contestant, start  # noqa: E402
from racetrack.load import Tools, load, measure_limits  # noqa: E402
from racetrack.machine import Placement  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.workloads import (  # noqa: E402
    GROUPS,
    IDENTITY_SMALL,
    Group,
    Row,
    write_bare_repository,
    write_files,
)
from support.certificates import make_certificate  # noqa: E402
from support.stage import PROJECT_ROOT  # noqa: E402

RACE, TENSORS = "race", "tensors"
# Groups that are measured in another way. Attacks on our server besides well-behaved clients
# (racetrack/hostile.py):
HOSTILE = "hostile"
# Models of each staged framework, compared with that framework (racetrack/frameworks.py):
FRAMEWORKS = "frameworks"
# Python models with our backend and Triton's (racetrack/python_models.py):
PYTHON = "python"
HOSTILE_SECONDS = 3.0  # per measurement: 3,000 requests, of which 30 are above the p99

# The options that are tried with Triton; the faster ones are used.
ORIGINAL_OPTIONS: tuple[tuple[str, ...], ...] = ((), ("--http-thread-count=2",))
TRIAL = Row(IDENTITY_SMALL, "http", "binary", 16)
# With one request in flight, perf_analyzer itself does not limit the throughput.
CROSS_CHECKED = tuple(Row(IDENTITY_SMALL, protocol, "binary", 1) for protocol in ("http", "grpc"))


@dataclass(frozen=True)
class Settings:
    """The durations and repetitions of the measurements."""

    alternations: int
    seconds: float
    warmup: float
    starts: int
    limit_runs: int
    settle_seconds: float  # from the end of the load to the last reading of the memory
    placements: tuple[str, ...]

    @staticmethod
    def quick(placements: Sequence[str] | None) -> Settings:
        return Settings(2, 0.7, 0.15, 2, 1, 3, tuple(placements or ["pinned"]))

    @staticmethod
    def full(placements: Sequence[str] | None) -> Settings:
        return Settings(5, 1, 0.3, 7, 2, 30, tuple(placements or ["pinned", "unpinned"]))


class Track:
    """One run: the models, the settings, and the folders."""

    def __init__(
        self,
        work: Path,
        build: Path,
        settings: Settings,
        nereid_options: Sequence[str],
        group: Group,
    ) -> None:
        self.work = work
        self.settings = settings
        self.tools = Tools(build, settings.seconds, settings.warmup)
        self.group = group
        self.repository = group.write_repository(work / "models")
        self.bare_repository = write_bare_repository(work / "bare")
        self.placements = machine.placements()
        self.options: dict[str, tuple[str, ...]] = {
            "nereid": tuple(nereid_options),
            "original": (),
        }
        if group.shared:
            for name, options in shared_memory.OPTIONS.items():
                self.options[name] += options
        if group.tls:
            for name, options in tls.options(*make_certificate(work)).items():
                self.options[name] += options

    def start(
        self, name: str, placement: str = "pinned", repository: Path | None = None
    ) -> Contestant:
        where = self.placements[placement]
        models = self.repository if repository is None else repository
        return start(name, models, self.work, where, self.options[name])

    def load(self, row: Row, contestant: Contestant, placement: Placement) -> dict[str, Any]:
        if row.tls and contestant.name == "original":
            row = replace(row, protocol="grpc")  # it has no TLS on its HTTP port
        files = write_files(self.work / "requests", self.repository, row)
        if files.segments is not None:
            files.segments.register(contestant.http)
        address = contestant.address(row.protocol)
        run = partial(load, self.tools, row, files, address, contestant.pid, placement)
        return compute.with_copy(run, contestant, row) if row.shared else run()

    def choose_original_options(self) -> None:
        """Tries the options of ORIGINAL_OPTIONS and keeps the faster."""
        found: dict[tuple[str, ...], float] = {}
        for options in ORIGINAL_OPTIONS:
            self.options["original"] = options
            server = self.start("original")
            try:
                pinned = self.placements["pinned"]
                runs = [self.load(TRIAL, server, pinned) for _ in range(2)]
            finally:
                server.stop()
            found[options] = statistics.median(run["throughput"] for run in runs)
            say(f"Triton, {' '.join(options) or 'default'}: {found[options]:,.0f}/s")
        self.options["original"] = max(found, key=lambda options: found[options])

    def starts(self, repository: Path) -> dict[str, dict[str, list[float]]]:
        """Seconds until each server is ready, and its resident memory a moment later."""
        found: dict[str, dict[str, list[float]]] = {
            name: {"seconds_to_ready": [], "idle_mib": []} for name in NAMES
        }
        for _ in range(self.settings.starts):
            for name in NAMES:
                server = self.start(name, repository=repository)
                time.sleep(0.2)
                found[name]["idle_mib"].append(machine.memory_mib(server.pid)["rss"])
                server.stop()
                found[name]["seconds_to_ready"].append(server.seconds_to_ready)
        for name in NAMES:
            median = statistics.median(found[name]["seconds_to_ready"])
            say(f"{name}: ready after {median:.3f} s with {repository.name}")
        return found

    @contextmanager
    def contestants(self, placement: str) -> Iterator[dict[str, Contestant]]:
        """Both servers at once; the one without requests sleeps. They size their thread pools by
        the cores they see, so each placement has its own servers."""
        running: dict[str, Contestant] = {}
        try:
            for name in NAMES:
                running[name] = self.start(name, placement)
            yield running
        finally:
            for server in running.values():
                server.stop()

    def race(
        self, row: Row, placement: Placement, running: Mapping[str, Contestant]
    ) -> dict[str, Any]:
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in NAMES}
        for _ in range(self.settings.alternations):
            for name in NAMES:
                runs[name].append(self.load(row, running[name], placement))
        files = write_files(self.work / "requests", self.repository, row)
        limits = measure_limits(
            self.tools, row, files, self.repository, placement, self.settings.limit_runs
        )
        result = {
            "key": f"{row.key}/{placement.name}",
            "model": row.model.name,
            "title": row.title,
            "protocol": row.protocol,
            "form": row.form,
            "concurrency": row.concurrency,
            "rate": row.rate,
            "placement": placement.name,
            "runs": runs,
            "limit": limits[0] if limits else None,
            "other_limits": limits[1:],
        }
        line = table.row_line(result)
        say(f"{placement.name}: {line[0]}, {line[1]}: {line[2]}/s, {line[4]}; p50 {line[5]}, {line[7]}")
        return result

    def race_all(
        self, rows: Sequence[Row], placement: str, running: Mapping[str, Contestant]
    ) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
        """All rows, and the memory of each server before, at its peak, and afterwards."""
        memory = {name: {"idle": machine.memory_mib(running[name].pid)["rss"]} for name in NAMES}
        results = [self.race(row, self.placements[placement], running) for row in rows]
        time.sleep(self.settings.settle_seconds)
        for name in NAMES:
            found = machine.memory_mib(running[name].pid)
            memory[name] |= {"peak": found["peak"], "after": found["rss"]}
        return results, memory

    def compare_compute(self, running: Mapping[str, Contestant]) -> list[dict[str, Any]]:
        """The compute time of a batch in each server and in the bare runtime (compute.py)."""
        found = []
        pinned = self.placements["pinned"]
        turns = min(3, self.settings.alternations)
        for row in self.group.compute_rows:
            files = write_files(self.work / "requests", self.repository, row)
            found.append(
                compute.compare(self.tools, row, files, self.repository, running, pinned, turns)
            )
            say(f"compute time: {', '.join(table.compute_line(found[-1]))}")
        return found

    def cross_check(
        self, running: Mapping[str, Contestant], notes: list[str]
    ) -> list[dict[str, Any]]:
        """Measures the same row with perf_analyzer and with our own load generator."""
        checks = []
        pinned = self.placements["pinned"]
        for row in CROSS_CHECKED:
            for name, server in running.items():
                try:
                    theirs = perf_analyzer.throughput(
                        self.work, row, server.address(row.protocol), pinned
                    )
                except perf_analyzer.NotAvailable as error:
                    notes.append(f"perf_analyzer, {row.key}, {name}: {error}")
                    continue
                checks.append(
                    {
                        "server": name,
                        "protocol": row.protocol,
                        "title": row.title,
                        "concurrency": row.concurrency,
                        "perf_analyzer": theirs,
                        "loadgen": self.load(row, server, pinned)["throughput"],
                    }
                )
        return checks


def say(text: str) -> None:
    print(f"bench: {text}", flush=True)


def run(track: Track, rows: Sequence[Row]) -> dict[str, Any]:
    """The whole race; returns the content of the result file."""
    host = machine.describe()
    when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    notes: list[str] = []
    if track.group.tls:
        notes.append("Triton has no TLS for HTTP: it answers over gRPC in every row.")
    else:
        track.choose_original_options()
    bare, full = track.starts(track.bare_repository), track.starts(track.repository)
    results: list[dict[str, Any]] = []
    memory: dict[str, dict[str, dict[str, float]]] = {}
    for placement in track.settings.placements:
        with track.contestants(placement) as running:
            found, memory[placement] = track.race_all(rows, placement, running)
        results += found
    with track.contestants("pinned") as running:
        compute_rows = track.compare_compute(running)
        checks = [] if track.group.tls else track.cross_check(running, notes)
    host["load_average_after"] = list(os.getloadavg())
    settings = track.settings
    return {
        "format": 1,
        "when": when,
        "commit": machine.commit(PROJECT_ROOT),
        "host": host,
        "settings": {
            "alternations": settings.alternations,
            "seconds": settings.seconds,
            "placements": list(settings.placements),
            "nereid_options": list(track.options["nereid"]),
            "original_options": list(track.options["original"]),
        },
        "servers": {
            name: {
                "seconds_to_ready": full[name]["seconds_to_ready"],
                "bare": bare[name],
                "memory_mib": memory[track.settings.placements[0]][name],
            }
            for name in NAMES
        },
        "rows": results,
        "compute": compute_rows,
        "cross_check": checks,
        "notes": notes,
    }


def run_hostile(
    work: Path, tools: Tools, settings: Settings, attacks: Sequence[str], options: Sequence[str]
) -> dict[str, Any]:
    """The group "hostile": our server alone, with clients that misbehave."""
    host = machine.describe()
    measurement = hostile.Measurement(work, tools, options)
    rows = []
    for name in attacks:
        rows.append(measurement.one(name, settings.alternations))
        line = hostile.row_line(rows[-1])
        say(f"{name}: p99 {line[6]} µs quiet, {line[7]} attacked, {line[8]}; told {line[3]}")
    return {
        "format": 1,
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": machine.commit(PROJECT_ROOT),
        "host": host | {"load_average_after": list(os.getloadavg())},
        "alternations": settings.alternations,
        "seconds": tools.seconds,
        "rows": rows,
    }


def run_frameworks(
    work: Path, tools: Tools, settings: Settings, wanted: str, options: Sequence[str]
) -> dict[str, Any]:
    """The group "frameworks": our server compared with each framework alone."""
    from racetrack import entrants, frameworks, frameworks_page  # imported here, because they need the frameworks

    host = machine.describe()
    measurement = frameworks.Measurement(work, tools, settings.alternations, options)
    rows, memory = [], {}
    for name in entrants.staged():
        found = measurement.framework(name, wanted)
        for row in found:
            say(", ".join(frameworks_page.row_line(row)))
        rows += found
        if any(row["network"] == frameworks.MEMORY_NETWORK for row in found):
            memory[name] = measurement.memory(name)
            say(f"{name}: {memory[name]} MiB by instances")
    return {
        "format": 1,
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": machine.commit(PROJECT_ROOT),
        "host": host
        | {
            "load_average_after": list(os.getloadavg()),
            "amx": "amx_bf16" in Path("/proc/cpuinfo").read_text(),
        },
        "turns": settings.alternations,
        "wanted": wanted,
        "rows": rows,
        "memory_mib": memory,
    }


def run_python(
    work: Path, tools: Tools, settings: Settings, wanted: str, options: Sequence[str]
) -> dict[str, Any]:
    """The group "python": each server with its own Python backend. With `wanted`, only rows."""
    host = machine.describe()
    measurement = python_models.Measurement(work, tools, settings.alternations, options)
    rows = []
    for row in measurement.rows(wanted):
        say(", ".join(python_page.row_line(row)))
        rows.append(row)
    starts, memory = {}, {}
    if not wanted:
        starts = measurement.starts()
        say("; ".join(", ".join(python_page.start_line(*one)) for one in starts.items()))
        memory = measurement.memory()
        say(f"MiB: {memory}")
    return {
        "format": 1,
        "when": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "commit": machine.commit(PROJECT_ROOT),
        "host": host | {"load_average_after": list(os.getloadavg())},
        "turns": settings.alternations,
        "seconds": tools.seconds,
        "rows": rows,
        "starts": starts,
        "memory_mib": memory,
    }


def page_of(group: str, result: Mapping[str, Any]) -> str:
    if group == HOSTILE:
        return hostile.render(result)
    if group == FRAMEWORKS:
        from racetrack import frameworks_page

        return frameworks_page.render(result)
    if group == PYTHON:
        return python_page.render(result)
    return table.render(result)


def write(
    result: Mapping[str, Any], folder: Path, complete: bool, group: str = RACE
) -> None:
    """Writes JSON and Markdown, and the plot if all its points were measured."""
    folder.mkdir(parents=True, exist_ok=True)
    prefix = "" if group == RACE else f"{group}-"
    stem = folder / f"{prefix}{result['when']}-{result['host']['kind']}"
    json_file, markdown_file = Path(f"{stem}.json"), Path(f"{stem}.md")
    json_file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    markdown_file.write_text(page_of(group, result), encoding="utf-8")
    written = [json_file, markdown_file]
    if complete:
        from racetrack import plot  # imported here, because only this needs matplotlib

        written += plot.draw(result, folder)
    print()
    print(markdown_file.read_text(encoding="utf-8"))
    say("wrote " + ", ".join(path.name for path in written))


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--quick", action="store_true", help="two short alternations, pinned only")
    parser.add_argument(
        "--group",
        choices=[*GROUPS, HOSTILE, FRAMEWORKS, PYTHON],
        help="which rows; by default the race and, without --quick, the tensors",
    )
    parser.add_argument(
        "--rows",
        default="",
        help="only rows whose key holds this text; with --group frameworks, one of these texts, which "
        "commas separate",
    )
    parser.add_argument("--placements", type=lambda text: text.split(","))
    parser.add_argument("--tools", type=Path, default=PROJECT_ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--nereid-option", action="append", default=[], help="may be repeated")
    return parser.parse_args(words)


def main_hostile(arguments: argparse.Namespace) -> int:
    attacks = [name for name in ATTACKS if arguments.rows in name]
    if not attacks:
        print(f"no attack holds {arguments.rows!r}", file=sys.stderr)
        return 2
    settings = (Settings.quick if arguments.quick else Settings.full)(arguments.placements)
    tools = Tools(arguments.tools, HOSTILE_SECONDS, settings.warmup)
    with tempfile.TemporaryDirectory(prefix="nereid-bench-") as work:
        result = run_hostile(Path(work), tools, settings, attacks, arguments.nereid_option)
    write(result, arguments.out, complete=False, group=HOSTILE)
    return 0


def main_frameworks(arguments: argparse.Namespace) -> int:
    settings = (Settings.quick if arguments.quick else Settings.full)(arguments.placements)
    tools = Tools(arguments.tools, settings.seconds, settings.warmup)
    with tempfile.TemporaryDirectory(prefix="nereid-bench-") as work:
        options = arguments.nereid_option
        result = run_frameworks(Path(work), tools, settings, arguments.rows, options)
    if not result["rows"]:
        print(f"no network of a staged framework holds {arguments.rows!r}", file=sys.stderr)
        return 2
    write(result, arguments.out, complete=False, group=FRAMEWORKS)
    return 0


def main_python(arguments: argparse.Namespace) -> int:
    settings = (Settings.quick if arguments.quick else Settings.full)(arguments.placements)
    tools = Tools(arguments.tools, settings.seconds, settings.warmup)
    with tempfile.TemporaryDirectory(prefix="nereid-bench-") as work:
        options = arguments.nereid_option
        result = run_python(Path(work), tools, settings, arguments.rows, options)
    if not result["rows"]:
        print(f"no row holds {arguments.rows!r}", file=sys.stderr)
        return 2
    write(result, arguments.out, complete=False, group=PYTHON)
    return 0


def main() -> int:
    arguments = parse_arguments()
    machine.exit_at_sigterm()
    if arguments.group == PYTHON:
        return main_python(arguments)
    if arguments.group == FRAMEWORKS:
        return main_frameworks(arguments)
    if arguments.group == HOSTILE:
        return main_hostile(arguments)
    names = [arguments.group] if arguments.group else groups_of(arguments)
    chosen = {name: rows for name in names if (rows := rows_of(name, arguments.rows))}
    if not chosen:
        print(f"no row holds {arguments.rows!r}", file=sys.stderr)
        return 2
    for name, rows in chosen.items():
        race_group(name, rows, arguments)
    return 0


def groups_of(arguments: argparse.Namespace) -> Sequence[str]:
    """The groups that are raced if none is named."""
    return [RACE] if arguments.quick else [RACE, TENSORS]


def rows_of(group: str, text: str) -> Sequence[Row]:
    return [row for row in GROUPS[group].rows if text in row.key]


def race_group(name: str, rows: Sequence[Row], arguments: argparse.Namespace) -> None:
    group = GROUPS[name]
    choose = Settings.quick if arguments.quick else Settings.full
    settings = choose(arguments.placements)
    with tempfile.TemporaryDirectory(prefix="nereid-bench-") as work:
        track = Track(Path(work), arguments.tools, settings, arguments.nereid_option, group)
        result = run(track, rows)
    whole = name == RACE and len(rows) == len(group.rows)
    complete = whole and "pinned" in settings.placements
    write(result, arguments.out, complete, name)


if __name__ == "__main__":
    sys.exit(main())
