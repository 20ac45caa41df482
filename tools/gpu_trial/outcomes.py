# SPDX-License-Identifier: Apache-2.0
"""What the checks of a step gave, and the page that tells it."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

STATES = ("passed", "failed", "cannot")


class Cannot(Exception):
    """A check cannot run here. The text says what is missing."""


@dataclass
class Outcome:
    check: str
    state: str
    text: str = ""
    numbers: dict[str, float] = field(default_factory=dict)
    seconds: float = 0.0


Check = Callable[[], Mapping[str, float] | None]


def run_checks(
    checks: Sequence[tuple[str, Check]],
    save: Callable[[list[Outcome]], None],
    seconds: float,
    clock: Callable[[], float] = time.monotonic,
) -> list[Outcome]:
    """Runs each check, whatever became of those before it, and saves after each, so that what was
    found is there if the machine goes away. A check that would begin after `seconds` does not."""
    started = clock()
    outcomes: list[Outcome] = []
    for name, check in checks:
        began = clock()
        if began - started > seconds:
            outcome = Outcome(name, "cannot", f"the step's {seconds:.0f} s were over")
        else:
            try:
                outcome = Outcome(name, "passed", numbers=dict(check() or {}))
            except Cannot as reason:
                outcome = Outcome(name, "cannot", str(reason))
            except Exception:  # each check is on its own
                outcome = Outcome(name, "failed", traceback.format_exc(limit=4).strip())
        outcome.seconds = clock() - began
        outcomes.append(outcome)
        save(outcomes)
    return outcomes


def save_step(folder: Path, step: str, machine: Mapping[str, str], outcomes: list[Outcome]) -> None:
    document = {
        "step": step,
        "machine": dict(machine),
        "outcomes": [asdict(each) for each in outcomes],
    }
    (folder / f"{step}.json").write_text(json.dumps(document, indent=1) + "\n")


def page(documents: Sequence[Mapping[str, object]]) -> str:
    """One page of all steps that have run. `documents`: as save_step writes them."""
    lines = ["# A trial on a GPU", ""]
    for document in documents:
        machine = document["machine"]
        assert isinstance(machine, dict)
        lines += [f"## Step `{document['step']}`", ""]
        lines += [f"- {name}: {value}" for name, value in machine.items()]
        lines += ["", "| check | outcome | seconds | numbers |", "|---|---|---|---|"]
        texts = []
        outcomes = document["outcomes"]
        assert isinstance(outcomes, list)
        for each in outcomes:
            numbers = ", ".join(f"{name} {value:g}" for name, value in each["numbers"].items())
            lines.append(f"| {each['check']} | {each['state']} | {each['seconds']:.1f} | {numbers} |")
            if each["text"]:
                texts += ["", f"`{each['check']}` {each['state']}:", "", "~~~", each["text"], "~~~"]
        lines += [*texts, ""]
    return "\n".join(lines)
