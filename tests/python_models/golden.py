"""Answers of Triton with its own Python backend: tests/golden/python-2.51/CASE.json.

`python -m python_models.golden` in tests/ writes them again from the installed original.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from python_models.all_cases import GOLDEN_CASES
from python_models.steps import Case
from support.stage import PROJECT_ROOT

FOLDER = PROJECT_ROOT / "tests" / "golden" / "python-2.51"
HOW = "run 'python -m python_models.golden' in tests/"


def load(case: Case) -> list[Any]:
    """The stored answers to a case. Fails if there are none, or if the case has changed since."""
    path = FOLDER / f"{case.id}.json"
    assert path.exists(), f"There is no golden answer to {case.id}: {HOW}."
    document = json.loads(path.read_text(encoding="utf-8"))
    assert document["steps"] == case.request_text(), f"The steps of {case.id} have changed: {HOW}."
    return document["answers"]


def store(case: Case, answers: list[Any]) -> None:
    document = {"steps": case.request_text(), "answers": answers}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (FOLDER / f"{case.id}.json").write_text(text, encoding="utf-8")


def main() -> int:
    from python_models.servers import ORIGINAL, Runner

    FOLDER.mkdir(parents=True, exist_ok=True)
    for stale in FOLDER.glob("*.json"):
        stale.unlink()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(ORIGINAL, Path(folder))
        try:
            for case in GOLDEN_CASES:
                store(case, runner.answers(case))
        finally:
            runner.stop()
    print(f"{len(GOLDEN_CASES)} answers in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
