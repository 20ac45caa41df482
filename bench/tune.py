#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`nereid tune` beside an exhaustive search over the same configurations, in one run.

    bench/tune.py [--seconds S] [--model NAME ...] [--rounds N] [--write]

Five models and an ensemble, configured as Triton's documentation has it: one instance, batches without
delay. For each: how much of the best configuration's throughput the choice reaches, in what share of the time,
and how much more than with that configuration. Writes tune-DATE-HOST.md into build/bench-results, with --write
into bench/results. Exit status 1: a limit is missed. Needs build/stage; `tools/dev tune-check`.

The exhaustive search is `nereid tune` that measures every configuration, each on a server of its own, and like any
run up to three of them twice. Its time is that of the measurements: what the same command takes when it knows all
results is subtracted. Then the three best,
the choice and today's configuration are measured again, in turns; medians of these rounds decide, and their time
counts for nobody.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))
sys.path.insert(0, str(ROOT / "tests"))

from racetrack.pages import Page  # noqa: E402
from racetrack.results import RESULTS  # noqa: E402
from racetrack.tuned_models import SUBJECTS, Subject, write_models  # noqa: E402
from support.stage import server_binary  # noqa: E402

EVERYTHING = 1000  # more configurations than there are
FINALISTS = 3
LEAST_OF_BEST = 0.95
MOST_OF_TIME = 0.2

Row = dict[str, Any]  # a measured configuration in the state of `nereid tune`


@dataclass(frozen=True)
class Search:
    seconds: float
    chosen: str  # as `nereid tune` names it
    rows: list[Row]  # what was measured


@dataclass(frozen=True)
class Verdict:
    """`of_best` and `of_today`: the throughput of the choice divided by theirs; `of_time`: its time, likewise."""

    subject: Subject
    configurations: int
    chosen: str
    best: str
    of_best: float
    of_today: float
    seconds: float
    of_time: float

    def holds(self) -> bool:
        return self.of_best >= LEAST_OF_BEST and self.of_time <= MOST_OF_TIME


def search(subject: Subject, repository: Path, seconds: float, measure: int | None, state: Path) -> Search:
    command = [
        str(server_binary()),
        "tune",
        subject.name,
        f"--model-repository={repository}",
        *subject.options,
        f"--seconds={seconds}",
        f"--state={state}",
    ]
    if measure is not None:
        command.append(f"--measure={measure}")
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    took = time.monotonic() - begin
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    (line,) = [line for line in done.stdout.splitlines() if "best one: " in line]
    rows = json.loads(state.read_text())["measured"]
    return Search(took, line.split("best one: ")[1].rstrip("."), rows)


def name_of_model(row: Row) -> str:
    count, threads = row["instances"], row["threads"]
    name = f"{count} instance{'' if count == 1 else 's'}"
    engine = [row["backend"]] if row["backend"] else []
    if threads:
        engine.append(f"{threads} thread{'' if threads == 1 else 's'}")
    if engine:
        name += " of " + " with ".join(engine)
    if row["max_batch_size"] == 0:
        return name
    if not row["batching"]:
        return name + ", no batching"
    name += f", batches of {row['max_batch_size']}"
    if row["preferred_batch_sizes"]:
        name += " ".join([", preferred", *(str(s["size"]) for s in row["preferred_batch_sizes"])])
    if row["max_queue_delay_us"]:
        name += f", delay {row['max_queue_delay_us']} µs"
    return name


def name_of(row: Row, members: Sequence[str]) -> str:
    """As `nereid tune` names a configuration. `members`: of an ensemble."""
    names = [name_of_model(model) for model in row["models"]]
    if not members:
        return names[0]
    return "; ".join(f"{member}: {name}" for member, name in zip(members, names, strict=True))


def best_first(rows: Sequence[Row], p99_us: float) -> list[Row]:
    """Those that keep the limit, by throughput; then the others, by p99."""
    return sorted(
        rows, key=lambda r: (0, -r["throughput"]) if r["p99_us"] <= p99_us else (1, r["p99_us"])
    )


def finalists(rows: Sequence[Row], subject: Subject, chosen: str) -> list[str]:
    """Names of the configurations that are measured again. The first row is today's configuration."""
    names = [name_of(row, subject.members) for row in best_first(rows, subject.p99_us)[:FINALISTS]]
    return list(dict.fromkeys([name_of(rows[0], subject.members), chosen, *names]))


def median_rows(rounds: Sequence[Sequence[Row]]) -> list[Row]:
    """Of each configuration, the medians of its throughput and p99."""
    together: dict[str, list[Row]] = {}
    for row in (row for rows in rounds for row in rows):
        together.setdefault(json.dumps(row["models"]), []).append(row)
    return [
        {**same[0], **{key: statistics.median(row[key] for row in same) for key in ("throughput", "p99_us")}}
        for same in together.values()
    ]


def judge(subject: Subject, tuned: Search, exhaustive: Search, again: Sequence[Row]) -> Verdict:
    """`again`: the finalists' medians, today's configuration among them."""
    by_name = {name_of(row, subject.members): row for row in again}
    best = best_first(again, subject.p99_us)[0]
    choice = by_name[tuned.chosen]
    today = by_name[name_of(exhaustive.rows[0], subject.members)]
    keeps = choice["p99_us"] <= subject.p99_us or best["p99_us"] > subject.p99_us
    return Verdict(
        subject,
        len(exhaustive.rows),
        tuned.chosen,
        name_of(best, subject.members),
        choice["throughput"] / best["throughput"] if keeps else 0.0,
        choice["throughput"] / today["throughput"],
        tuned.seconds,
        tuned.seconds / exhaustive.seconds,
    )


def compare(subject: Subject, repository: Path, seconds: float, rounds: int, work: Path) -> Verdict:
    def say(what: str) -> None:
        print(f"tune-check: {subject.name}: {what}", file=sys.stderr, flush=True)

    say("nereid tune")
    tuned_state = work / f"{subject.name}.tuned"
    tuned = search(subject, repository, seconds, None, tuned_state)
    # With the same execution times, the configurations are the same.
    learned = json.loads(tuned_state.read_text())
    state = work / f"{subject.name}.all"

    def everything(known: Sequence[Row]) -> Search:
        state.write_text(json.dumps({**learned, "measured": known}))
        return search(subject, repository, seconds, EVERYTHING, state)

    say("every configuration")
    measured = everything([])
    nothing = everything(measured.rows)
    exhaustive = Search(measured.seconds - nothing.seconds, measured.chosen, measured.rows)
    names = finalists(exhaustive.rows, subject, tuned.chosen)
    others = [row for row in exhaustive.rows if name_of(row, subject.members) not in names]
    again = []
    for number in range(rounds):
        say(f"the best ones again, round {number + 1} of {rounds}")
        again.append(everything(others).rows[len(others) :])
    return judge(subject, tuned, exhaustive, median_rows(again))


def render(page: Page, verdicts: Sequence[Verdict], seconds: float, rounds: int) -> str:
    about = (
        f"Load generator and server share the processors. Measurements of {seconds:g} s; throughputs are medians of "
        f"{rounds} rounds in which the best configurations of the search, the choice and today's configuration took "
        "turns. *The defaults* are one instance and batches without delay, as Triton's documentation has them."
    )
    lines = [
        "| model | load | configurations | chosen | throughput, of the best | of the defaults | time "
        "| of the exhaustive search | |",
        "|---|---|--:|---|--:|--:|--:|--:|---|",
    ]
    for v in verdicts:
        lines.append(
            f"| {v.subject.name}: {v.subject.about} | {' '.join(v.subject.options)} | {v.configurations} | {v.chosen} "
            f"| {v.of_best:.1%} | {v.of_today:.2f} × | {v.seconds:.1f} s | {v.of_time:.1%} "
            f"| {'holds' if v.holds() else f'missed; the best one: {v.best}'} |"
        )
    limits = (
        f"Limits: at least {LEAST_OF_BEST:.0%} of the best, in at most {MOST_OF_TIME:.0%} of the time. How it is "
        "measured: `bench/tune.py`."
    )
    return page.text(about, "\n".join(lines), limits)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1, help="of a measurement")
    parser.add_argument("--rounds", type=int, default=3, help="of measurements that decide")
    parser.add_argument("--model", nargs="+", choices=[s.name for s in SUBJECTS], help="only these")
    parser.add_argument("--write", action="store_true", help="the page goes into bench/results")
    options = parser.parse_args()
    page = Page("tune", "nereid tune beside an exhaustive search")
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="nereid-tune-") as folder:
        work = Path(folder)
        repository = write_models(work / "models")
        for subject in SUBJECTS:
            if options.model and subject.name not in options.model:
                continue
            verdicts.append(compare(subject, repository, options.seconds, options.rounds, work))
    told = render(page, verdicts, options.seconds, options.rounds)
    page.write(told, ROOT / "bench" / "results" if options.write else RESULTS)
    return 0 if all(verdict.holds() for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
