# SPDX-License-Identifier: Apache-2.0
"""bench/on_demand.py and bench/racetrack/on_demand.py: the accesses, the best possible, and the verdict."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import islice, product
from typing import Any

import pytest

import on_demand as program
from racetrack import on_demand
from racetrack.on_demand import MIB, Limits, Phase

LIMITS = Limits(models=200, fit=10, footprint=8 * MIB, budget=84 * MIB, base=30 * MIB, allowance=16 * MIB)


def make_phase(**changes: Any) -> Phase:
    values: dict[str, Any] = {
        "pattern": "uniform",
        "seconds": 2.0,
        "order": list(range(20)) * 2,
        "loads": 40,
        "latency_ms": [1.0] * 40,
        "resident": [50 * MIB, LIMITS.resident],
        "counted": [92 * MIB],
    }
    return Phase(**{**values, **changes})


def most_hits(order: Sequence[int], fit: int) -> int:
    """By trying every choice."""
    states: dict[frozenset[int], int] = {frozenset(): 0}
    for model in order:
        following: dict[frozenset[int], int] = {}
        for there, found in states.items():
            if model in there:
                options = [(there, found + 1)]
            elif len(there) < fit:
                options = [(there | {model}, found)]
            else:
                options = [(there - {victim} | {model}, found) for victim in there]
            for state, count in options:
                following[state] = max(count, following.get(state, 0))
        states = following
    return max(states.values())


def test_the_best_possible_is_the_best_of_all() -> None:
    for order in product(range(4), repeat=6):
        assert on_demand.best_hits(order, 2) == most_hits(order, 2)
        assert on_demand.lru_hits(order, 2) <= most_hits(order, 2)


def test_the_adversary_defeats_who_forgets_the_least_recently_used() -> None:
    order = list(islice(on_demand.accesses("adversarial", 200, 10, 1), 600))
    assert len(set(order)) == 12
    assert on_demand.lru_hits(order, 10) == 0
    assert on_demand.best_hits(order, 10) > 400


def test_accesses() -> None:
    skewed = Counter(islice(on_demand.accesses("skewed", 200, 10, 1), 20_000))
    (_, most), *_, (_, least) = skewed.most_common()
    assert most > 20 * least
    uniform = Counter(islice(on_demand.accesses("uniform", 200, 10, 1), 20_000))
    assert len(uniform) == 200
    assert max(uniform.values()) < 3 * min(uniform.values())


def test_a_storm_that_passes() -> None:
    assert on_demand.failures([make_phase()], LIMITS) == []
    table, memory = on_demand.tables([make_phase()], LIMITS)
    assert "| uniform | 40 | 40 | 20.0 | 0%" in table
    assert "138 MiB at most" in memory


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"wrong": ["a", "b"]}, "uniform: 2 wrong answers, the first: a"),
        ({"lost": ["c"]}, "uniform: 1 requests were lost, the first: c"),
        ({"resident": [LIMITS.resident + MIB]}, "uniform: 139 MiB were resident, 138 are allowed"),
        ({"counted": [93 * MIB]}, "uniform: footprints of 93 MiB were loaded"),
        ({"order": []}, "uniform: no request was answered"),
        ({"loads": 8}, "uniform: 8 loads cannot have served 20 models"),
    ],
)
def test_failures(changes: dict[str, Any], text: str) -> None:
    assert any(text in found for found in on_demand.failures([make_phase(**changes)], LIMITS))


class Answers:
    """A connection that gives these answers."""

    def __init__(self, *answers: tuple[int, bytes, bytes]) -> None:
        self._answers = list(answers)

    async def ask(self, asked: bytes) -> tuple[int, bytes, bytes]:
        assert asked.startswith(b"POST /v2/models/table_003/infer ")
        return self._answers.pop(0)


def ask(*answers: tuple[int, bytes, bytes]) -> Phase:
    phase = Phase("uniform")
    asyncio.run(program.ask_until_served(Answers(*answers), phase, 3, 1))  # type: ignore[arg-type]
    return phase


def test_a_client_tries_again_and_checks_the_answer() -> None:
    right = b'{"outputs":[{"data":[7922.0]}]}'
    phase = ask((503, b"Retry-After: 1\r\n", b""), (200, b"", right))
    assert (phase.retries, phase.wrong) == (1, [])
    assert "503 without Retry-After" in ask((503, b"", b""), (200, b"", right)).wrong[0]
    assert ask((200, b"", b'{"outputs":[{"data":[7921.0]}]}')).wrong
    assert ask((404, b"", b"{}")).wrong
