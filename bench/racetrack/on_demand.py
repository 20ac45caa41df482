# SPDX-License-Identifier: Apache-2.0
"""Models beyond memory under a storm of requests: the accesses, the best possible, and the verdict."""

from __future__ import annotations

import bisect
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from racetrack.table import markdown_table, percent

PATTERNS = ("skewed", "uniform", "adversarial")
# How many more models than fit the adversary asks for, one after the other: a cache that forgets the
# least recently used one then never has what comes next.
TOO_MANY = 2
MIB = 1 << 20


def accesses(pattern: str, models: int, fit: int, seed: int) -> Iterator[int]:
    """The models that the clients ask for, without end."""
    chosen = random.Random(seed)
    if pattern == "skewed":  # Zipf's law: the model of rank r is asked for 1/r as often as the first
        sums = list(accumulate(1 / rank for rank in range(1, models + 1)))
        ranks = chosen.sample(range(models), models)
        while True:
            yield ranks[bisect.bisect_left(sums, chosen.random() * sums[-1])]
    elif pattern == "uniform":
        while True:
            yield chosen.randrange(models)
    else:
        circle = chosen.sample(range(models), min(models, fit + TOO_MANY))
        while True:
            yield from circle


def hits(order: Sequence[int], fit: int, leaves: Callable[[dict[int, int], dict[int, int]], int]) -> int:
    """How many accesses find their model, of which `fit` fit at a time. `leaves` chooses who leaves
    from the models that are there, by when each was used last and when it is used next."""
    next_use = [len(order)] * len(order)
    seen: dict[int, int] = {}
    for at in range(len(order) - 1, -1, -1):
        next_use[at] = seen.get(order[at], len(order) + order[at])
        seen[order[at]] = at
    last: dict[int, int] = {}
    coming: dict[int, int] = {}
    found = 0
    for at, model in enumerate(order):
        if model in last:
            found += 1
        elif len(last) >= fit:
            victim = leaves(last, coming)
            del last[victim], coming[victim]
        last[model] = at
        coming[model] = next_use[at]
    return found


def best_hits(order: Sequence[int], fit: int) -> int:
    """Belady's: who is needed last leaves. Nobody who must load at each miss has more hits."""
    return hits(order, fit, lambda last, coming: max(coming, key=coming.__getitem__))


def lru_hits(order: Sequence[int], fit: int) -> int:
    return hits(order, fit, lambda last, coming: min(last, key=last.__getitem__))


@dataclass
class Phase:
    """What one pattern of accesses has shown."""

    pattern: str
    seconds: float = 0.0
    order: list[int] = field(default_factory=list)  # the models, in the order of the requests
    wrong: list[str] = field(default_factory=list)  # answers that are not what the model computes
    lost: list[str] = field(default_factory=list)  # requests without an answer
    retries: int = 0  # answers that said when to try again
    loads: int = 0
    latency_ms: list[float] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)  # bytes, sampled
    counted: list[int] = field(default_factory=list)  # bytes of footprints, sampled


@dataclass(frozen=True)
class Limits:
    models: int
    fit: int  # models that fit into the budget
    footprint: int  # of one model, bytes
    budget: int
    base: int  # resident before the storm, without the models, bytes
    allowance: int  # for requests and what allocators keep, bytes
    files: int = 0  # of models that are read at the same time as another one, bytes

    @property
    def resident(self) -> int:
        return self.base + self.budget + self.footprint + self.files + self.allowance


def hit_rate(phase: Phase) -> float:
    return 1 - phase.loads / len(phase.order) if phase.order else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def failures(phases: Sequence[Phase], limits: Limits) -> list[str]:
    """One sentence for each failure; empty if the storm passed."""
    found = []
    for phase in phases:
        name = phase.pattern
        if not phase.order:
            found.append(f"{name}: no request was answered")
        if phase.wrong:
            found.append(f"{name}: {len(phase.wrong)} wrong answers, the first: {phase.wrong[0]}")
        if phase.lost:
            found.append(f"{name}: {len(phase.lost)} requests were lost, the first: {phase.lost[0]}")
        if (most := max(phase.resident, default=0)) > limits.resident:
            found.append(
                f"{name}: {most / MIB:.0f} MiB were resident, {limits.resident / MIB:.0f} are allowed"
            )
        if (most := max(phase.counted, default=0)) > limits.budget + limits.footprint:
            found.append(
                f"{name}: footprints of {most / MIB:.0f} MiB were loaded, the budget and one model are "
                f"{(limits.budget + limits.footprint) / MIB:.0f}"
            )
        # Fewer loads than the best possible means that the storm was not what it should be.
        least = len(set(phase.order))
        if phase.loads < least - limits.fit - 1:
            found.append(f"{name}: {phase.loads} loads cannot have served {least} models")
    return found


def line(phase: Phase, limits: Limits) -> list[str]:
    count = len(phase.order) or 1
    return [
        phase.pattern,
        f"{len(phase.order):,}",
        f"{phase.loads:,}",
        f"{phase.loads / phase.seconds:.1f}",
        percent(hit_rate(phase)),
        percent(best_hits(phase.order, limits.fit) / count),
        percent(lru_hits(phase.order, limits.fit) / count),
        f"{percentile(phase.latency_ms, 0.5):,.1f}",
        f"{percentile(phase.latency_ms, 0.99):,.0f}",
        f"{phase.retries:,}",
        f"{len(phase.wrong)} / {len(phase.lost)}",
        f"{max(phase.resident, default=0) / MIB:.0f}",
    ]


def tables(phases: Sequence[Phase], limits: Limits) -> list[str]:
    head = (
        "| accesses | requests | loads | loads/s | hit rate | best possible | LRU, one at a time "
        "| p50 ms | p99 ms | tried again | wrong / lost | most resident MiB |"
    )
    memory = (
        f"Resident memory: {limits.base / MIB:.0f} MiB without models, budget {limits.budget / MIB:.0f}, one "
        f"model {limits.footprint / MIB:.1f}, files of others that are loaded at the same time {limits.files / MIB:.0f}, "
        f"allowance {limits.allowance / MIB:.0f}: "
        f"{limits.resident / MIB:.0f} MiB at most."
    )
    return [markdown_table(head, [line(phase, limits) for phase in phases]), memory]
