#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares two result files of bench/run.py: a branch with its base.

    bench/compare.py BASE.json HEAD.json [--max-loss PERCENT]

A file that does not exist is looked for in build/bench-results, where bench/run.py writes it.
Prints a Markdown table of Nereid's throughput, p50 and CPU in both files. A change is marked if it
is larger than the noise: the spread of the runs in either file, and the change of Triton
server, whose code is the same in both. Exit code 1: some row lost more than --max-loss percent of
throughput, and more than the noise.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from racetrack.results import find  # noqa: E402
from racetrack.statistics import Summary, race, ratio, summarise  # noqa: E402
from racetrack.table import markdown_table, number, times  # noqa: E402

HEAD = (
    "| row | throughput base | head | ratio | p50 µs base | head | ratio "
    "| CPU µs base | head | ratio | verdict |"
)
LEAST_NOISE = 0.03  # the difference between two runs of one program on a quiet machine


@dataclass(frozen=True)
class Change:
    """One row that is in both files."""

    key: str
    base: Summary
    head: Summary
    counts: bool
    # Triton's throughput in `head` relative to `base`, which shows the machine's change.
    machine: float

    @property
    def noise(self) -> float:
        """The spread of the runs, or the change of the machine if that is larger."""
        scatter = max(self.base.throughput_spread, self.head.throughput_spread)
        return max(scatter, abs(self.machine - 1), LEAST_NOISE)

    @property
    def loss(self) -> float:
        """The fraction of the throughput that was lost; 0 if it is within the noise."""
        change = 1 - self.head.throughput / self.base.throughput
        return change if change > self.noise else 0.0

    @property
    def verdict(self) -> str:
        if not self.counts:
            return "does not count"
        change = self.head.throughput / self.base.throughput - 1
        if abs(change) <= self.noise:
            return "same"
        return "**faster**" if change > 0 else "**SLOWER**"

    def line(self) -> list[str]:
        base, head = self.base, self.head
        return [
            self.key,
            number(base.throughput),
            number(head.throughput),
            times(head.throughput / base.throughput),
            number(base.p50_us),
            number(head.p50_us),
            times(ratio(head.p50_us, base.p50_us)),
            number(base.cpu_us),
            number(head.cpu_us),
            times(ratio(head.cpu_us, base.cpu_us)),
            self.verdict,
        ]


def changes(base: Mapping[str, Any], head: Mapping[str, Any]) -> list[Change]:
    """The rows that are in both files, in the order of `base`."""
    heads = {row["key"]: row for row in head["rows"]}
    found = []
    for row in base["rows"]:
        other = heads.get(row["key"])
        if other is None:
            continue
        before, after = race(row), race(other)
        found.append(
            Change(
                row["key"],
                summarise(row["runs"]["nereid"]),
                summarise(other["runs"]["nereid"]),
                before.counts and after.counts,
                after.peer.throughput / before.peer.throughput,
            )
        )
    return found


def render(found: Sequence[Change], base: Mapping[str, Any], head: Mapping[str, Any]) -> str:
    lines = [f"Base {base['commit']}, head {head['commit']}."]
    if base["host"]["kind"] != head["host"]["kind"]:
        lines.append(
            f"**Different machines** ({base['host']['kind']}, {head['host']['kind']}): "
            "the ratios say nothing."
        )
    drift = [change.machine for change in found]
    lines.append(
        "Triton, which did not change, ran at "
        f"{min(drift):.2f} to {max(drift):.2f} times its speed in the base: what is within that is "
        "the machine's doing."
    )
    lines.append(markdown_table(HEAD, [change.line() for change in found]))
    return "\n\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--max-loss", type=float, default=5.0, metavar="PERCENT")
    arguments = parser.parse_args(words)
    base = json.loads(find(arguments.base).read_text(encoding="utf-8"))
    head = json.loads(find(arguments.head).read_text(encoding="utf-8"))
    found = changes(base, head)
    if not found:
        print("the two files have no row in common", file=sys.stderr)
        return 2
    print(render(found, base, head))
    lost = [change for change in found if change.counts and change.loss * 100 > arguments.max_loss]
    for change in lost:
        print(f"lost {change.loss:.0%}: {change.key}", file=sys.stderr)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
